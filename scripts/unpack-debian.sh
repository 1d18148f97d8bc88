#!/bin/sh
# Fetches packages of any Debian with all they need and unpacks them into a folder, to be used
# beside the system. Nothing is installed.
# Usage: scripts/unpack-debian.sh FOLDER SUITE PROGRAM PACKAGE...
# FOLDER appears when it is whole, with PROGRAM (a path in it); what is there is not fetched again.
# Exit code 1, with the reason in words, where that cannot be had.
set -u

[ $# -ge 4 ] || { echo "usage: scripts/unpack-debian.sh FOLDER SUITE PROGRAM PACKAGE..." >&2; exit 1; }
target=$1 suite=$2 program=$3
shift 3
[ ! -x "$target/$program" ] || exit 0
if ! command -v apt-get >/dev/null 2>&1; then
    echo "no $* of Debian $suite: no apt-get on this machine"
    exit 1
fi
mkdir -p "$(dirname "$target")" || exit 1
work=$(mktemp -d "$(cd "$(dirname "$target")" && pwd)/.$(basename "$target").XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
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
unpacked() {
    apt update && apt install --yes --no-install-recommends --download-only "$@" || return 1
    for file in "$work"/cache/archives/*.deb; do
        dpkg-deb -x "$file" "$work/root" || return 1
    done
    [ -x "$work/root/$program" ] || { echo "$* brings no $program"; return 1; }
    mv -T "$work/root" "$target"
}
if ! unpacked "$@" >"$work/log" 2>&1; then
    echo "no $* of Debian $suite: $(tail -n 1 "$work/log")"
    exit 1
fi
