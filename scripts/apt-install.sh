#!/bin/sh
# Installs Debian packages where that is possible without asking anybody.
# Usage: scripts/apt-install.sh PACKAGE...
# Exit code 1, with the reason in words, where it is not.
set -eu

if ! command -v apt-get >/dev/null 2>&1; then
    echo "cannot install $*: no apt-get on this machine"
    exit 1
elif [ "$(id -u)" -eq 0 ]; then
    as_root=
elif sudo -n true >/dev/null 2>&1; then
    as_root="sudo -n"
else
    echo "cannot install $*: neither root nor sudo without a password"
    exit 1
fi

# apt-get asks nothing and leaves services alone; recommended packages are not needed.
install() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 \
        -o DPkg::Lock::Timeout=120 install --yes --no-install-recommends "$@" >/dev/null
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "installing $* (apt)"
# On a fresh machine the lists of packages are missing or old: try, refresh, try again.
if ! install "$@" 2>"$log"; then
    $as_root apt-get -qq -o DPkg::Lock::Timeout=120 update >/dev/null 2>>"$log" || true
    if ! install "$@" 2>>"$log"; then
        echo "cannot install $*: apt-get failed:"
        tail -n 5 "$log"
        exit 1
    fi
fi
