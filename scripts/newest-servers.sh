#!/bin/sh
# Fetches the newest MariaDB and MySQL that Debian has and unpacks them into a folder, to be
# started beside the system by tests. Nothing is installed.
# Usage: scripts/newest-servers.sh FOLDER
# FOLDER/mariadb and FOLDER/mysql appear when they are whole; what is there is not fetched again.
# Exit code 1, with the reason in words, where one of them cannot be had.
set -u

[ $# -eq 1 ] || { echo "usage: scripts/newest-servers.sh FOLDER" >&2; exit 1; }
unpack=$(dirname "$0")/unpack-debian.sh
failed=0
"$unpack" "$1/mariadb" trixie usr/sbin/mariadbd mariadb-server-core || failed=1
"$unpack" "$1/mysql" sid usr/sbin/mysqld mysql-server-core || failed=1
exit $failed
