#!/bin/sh
# Sets up what the tests need beside Python packages: a MariaDB server, Galera, Chromium, a C compiler,
# OpenSSL, a Chinese font, and the newest MariaDB and MySQL in .servers. What cannot be set up is named, and
# the tests that need it are skipped visibly.
# Always ends with exit code 0: the other tests run all the same.
set -u
cd "$(dirname "$0")/.."

missing=0

# need NAME PACKAGES TEST-COMMAND...: installs PACKAGES when TEST-COMMAND fails.
need() {
    name=$1 packages=$2
    shift 2
    if "$@" >/dev/null 2>&1; then
        echo "ok: $name"
        return
    fi
    # shellcheck disable=SC2086 # several packages in one text
    scripts/apt-install.sh $packages && "$@" >/dev/null 2>&1 && echo "ok: $name" && return
    echo "NOT SET UP: $name; the tests that need it will be skipped"
    missing=$((missing + 1))
}

have() {
    for program in "$@"; do
        command -v "$program" >/dev/null 2>&1 || [ -x "/usr/sbin/$program" ] || return 1
    done
}

has_chinese_font() { find /usr/share/fonts -name 'Noto*CJK*' 2>/dev/null | grep -q .; }

# The server's core package: programs only. No service is made or started; the tests start
# servers of their own in temporary folders. Backups need mariadb-dump, from the client.
need "MariaDB server" "mariadb-server-core mariadb-client-core mariadb-client" \
    have mariadbd mariadb-install-db my_print_defaults mariadb-dump
need "Galera cluster" "galera-4" test -e /usr/lib/galera/libgalera_smm.so
need "Chromium" "chromium" have chromium
# Inner loops as machine code, which is compared with the same as Python.
need "C compiler" "gcc libc6-dev python3-dev" scripts/can-compile.sh
# A time-stamping authority on loopback.
need "OpenSSL" "openssl" have openssl
need "Chinese font" "fonts-noto-cjk" has_chinese_font

if scripts/newest-servers.sh .servers; then
    echo "ok: newest MariaDB and MySQL"
else
    echo "NOT SET UP: newest MariaDB and MySQL; the tests that need them will be skipped"
    missing=$((missing + 1))
fi

[ "$missing" -eq 0 ] || echo "$missing needs not set up (see above)"
exit 0
