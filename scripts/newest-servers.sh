#!/bin/sh
# Fetches the newest MariaDB and MySQL that Debian has and unpacks them into a folder, to be
# started beside the system by tests. Nothing is installed.
# Usage: scripts/newest-servers.sh FOLDER
# FOLDER/mariadb and FOLDER/mysql appear when they are whole; what is there is not fetched again.
# Exit code 1, with the reason in words, where one of them cannot be had.
set -u

[ $# -eq 1 ] || { echo "usage: scripts/newest-servers.sh FOLDER" >&2; exit 1; }
mkdir -p "$1" || exit 1
folder=$(cd "$1" && pwd)
failed=0

# unpacked NAME SUITE PACKAGE PROGRAM: FOLDER/NAME holds PACKAGE of SUITE and all it needs.
unpacked() {
    name=$1 suite=$2 package=$3 program=$4
    [ ! -x "$folder/$name/usr/sbin/$program" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "no $package of Debian $suite: no apt-get on this machine"
        return 1
    fi
    work=$(mktemp -d "$folder/.$name.XXXXXX") || return 1
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/root"
    : >"$work/installed" # Nothing is taken for installed: the C library comes along.
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb [signed-by=$keys] http://deb.debian.org/debian $suite main" >"$work/sources"
    apt() {
        apt-get -qq -o Dir::Etc::sourcelist="$work/sources" -o Dir::Etc::sourceparts=/dev/null \
            -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" \
            -o Dir::State::status="$work/installed" -o APT::Sandbox::User=root \
            -o Debug::NoLocking=1 "$@"
    }
    if apt update && apt install --yes --no-install-recommends --download-only "$package"; then
        for file in "$work"/cache/archives/*.deb; do
            dpkg-deb -x "$file" "$work/root" || { rm -rf "$work"; return 1; }
        done
        mv "$work/root" "$folder/$name"
    fi >"$work/log" 2>&1
    if [ ! -x "$folder/$name/usr/sbin/$program" ]; then
        echo "no $package of Debian $suite: $(tail -n 1 "$work/log")"
        rm -rf "$work"
        return 1
    fi
    rm -rf "$work"
}

unpacked mariadb trixie mariadb-server-core mariadbd || failed=1
unpacked mysql sid mysql-server-core mysqld || failed=1
exit $failed
