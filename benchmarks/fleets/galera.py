"""A Galera cluster of MariaDB on one machine: members on loopback, or in networks of their own.

Members begin as copies of one empty database, so that none needs a state transfer; what one that
was away has missed, it gets from the others' write-set cache.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

from benchmarks.fleets.network import ClusterNetwork
from benchmarks.mariadb_server import MariaDB, NoServerError, server_program

_PROVIDERS = ("/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so")
_POSITION = re.compile(r"Recovered position:\s*(\S+)")
_SYNCED_SECONDS = 120.0
# A server runs wsrep_sst_METHOD on both sides of a transfer. All that this one hands over is the
# position from which the joiner takes the write sets that it lacks: never a whole copy.
_TRANSFER = """#!/bin/sh
while [ $# -gt 0 ]; do
    case "$1" in
        --role) role="$2" ;; --address) address="$2" ;; --datadir) data="${2%/}" ;;
        --gtid) gtid="$2" ;; --bypass) bypass=yes ;;
    esac
    shift
done
folder=$(dirname "$data")
if [ "$role" = joiner ]; then
    rm -f "$folder/position"
    echo "ready 127.0.0.1:1/$(basename "$folder")"
    while [ ! -s "$folder/position" ]; do sleep 0.1; done
    cat "$folder/position"
    exit 0
fi
[ "$bypass" = yes ] || exit 22
joiner="$(dirname "$folder")/$(basename "$address")"
echo "continue"
echo "$gtid" > "$joiner/position.new" && mv "$joiner/position.new" "$joiner/position"
echo "done $gtid"
"""


class Galera:
    """*size* members; the first of them begins the cluster.

    Args:
        network: where each member is a machine by itself; without it all are on loopback.
        settings: more of Galera's own options, such as its time-outs.
    """

    def __init__(
        self, folder: Path, size: int, network: ClusterNetwork | None = None, settings: str = ""
    ) -> None:
        self.network, self._settings = network, settings
        if network is None:
            self.members = [MariaDB(folder / f"m{number}") for number in range(size)]
        else:
            self.members = [
                MariaDB(folder / f"m{number}", network.office(number), network.inside(number))
                for number in range(size)
            ]
        scripts = folder / "scripts"
        scripts.mkdir(parents=True)
        (scripts / "wsrep_sst_incremental").write_text(_TRANSFER)
        (scripts / "wsrep_sst_incremental").chmod(0o700)
        self._scripts = scripts
        self._group_ports = [_two_free_ports() for _ in self.members]

    def start(self) -> None:
        """Make the members, start them, and wait until all are in."""
        first, *others = self.members
        first.folder.mkdir(parents=True)
        first.install()
        # An orderly end writes down where the cluster stands: the others begin there.
        self._start(0, "--wsrep-new-cluster")
        self.wait_until_synced(0)
        first.stop()
        for other in others:
            shutil.copytree(first.folder / "data", other.folder / "data")
        self._start(0, "--wsrep-new-cluster")
        for number in range(1, len(self.members)):
            self._start(number)
            self.wait_until_synced(number)

    def restart(self, number: int) -> None:
        """Bring a member back that was killed: from its last transaction on."""
        member = self.members[number]
        command = [server_program(), "--no-defaults", "--user=root", "--wsrep-recover",
                   f"--datadir={member.folder / 'data'}", f"--socket={member.folder / 's'}",
                   f"--pid-file={member.folder / 'pid'}", "--skip-networking",
                   "--innodb-log-file-size=32M", *self._options(number)]  # fmt: skip
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        position = _POSITION.search(said.stdout + said.stderr)
        if position is None:
            raise RuntimeError(f"no position recovered: {said.stderr[-2000:]}")
        self._start(number, f"--wsrep-start-position={position[1]}")
        self.wait_until_synced(number)

    def _start(self, number: int, *arguments: str) -> None:
        before = os.environ.get("PATH", "")
        os.environ["PATH"] = f"{self._scripts}:{before}"
        try:
            self.members[number].start(*self._options(number), *arguments)
        finally:
            os.environ["PATH"] = before

    def stop(self) -> None:
        """Stop all members, the first last."""
        for member in reversed(self.members):
            member.stop()

    def status(self, number: int, name: str) -> str:
        """What a member says of itself, such as ``wsrep_cluster_size``."""
        with self.members[number].connect() as connection, connection.cursor() as cursor:
            cursor.execute("SHOW GLOBAL STATUS LIKE %s", (name,))
            row = cursor.fetchone()
        return str(row[1]) if row else ""

    def wait_until_synced(self, number: int) -> None:
        """Until a member has all that the others have.

        Raises:
            TimeoutError: it does not get there.
        """
        deadline = time.monotonic() + _SYNCED_SECONDS
        while self.status(number, "wsrep_local_state_comment") != "Synced":
            if time.monotonic() > deadline:
                raise TimeoutError(self.status(number, "wsrep_local_state_comment"))
            time.sleep(0.1)

    def wait_until_joined(self, number: int) -> None:
        """Until a member sees all the others again, and has what they have.

        Raises:
            TimeoutError: it does not get there.
        """
        deadline = time.monotonic() + _SYNCED_SECONDS
        while self.status(number, "wsrep_cluster_size") != str(len(self.members)):
            if time.monotonic() > deadline:
                raise TimeoutError(self.status(number, "wsrep_cluster_size"))
            time.sleep(0.1)
        self.wait_until_synced(number)

    def differing_tables(self, database: str) -> list[str]:
        """Tables of which members hold different rows; none is being written to."""
        checksums: list[dict[str, int]] = []
        for number, member in enumerate(self.members):
            self.wait_until_synced(number)
            with member.connect(database) as connection, connection.cursor() as cursor:
                # The next statement waits for all that the others had committed before.
                cursor.execute("SET SESSION wsrep_sync_wait = 15")
                cursor.execute("SHOW TABLES")
                tables = [row[0] for row in cursor.fetchall()]
                cursor.execute(f"CHECKSUM TABLE {', '.join(tables)}")
                checksums.append(dict(cursor.fetchall()))
        first, *others = checksums
        return [name for name, sum_ in first.items() if any(o.get(name) != sum_ for o in others)]

    def _options(self, number: int) -> list[str]:
        hosts = [self._group_host(member) for member in range(len(self.members))]
        addresses = ",".join(map("{}:{}".format, hosts, self._group_ports))
        host, port = hosts[number], self._group_ports[number]
        provider = [
            f"gmcast.listen_addr=tcp://{host}:{port}", f"ist.recv_addr={host}:{port + 1}",
            f"base_host={host}", f"base_port={port}", *filter(None, [self._settings]),
        ]  # fmt: skip
        return [
            "--wsrep-on=ON", f"--wsrep-provider={provider_library()}",
            f"--wsrep-cluster-address=gcomm://{addresses}", f"--wsrep-node-name=m{number}",
            f"--wsrep-node-address={host}:{port}", "--wsrep-cluster-name=fleet",
            f"--wsrep-provider-options={';'.join(provider)}",
            "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--wsrep-slave-threads=2",
            "--wsrep-sst-method=incremental",
        ]  # fmt: skip

    def _group_host(self, number: int) -> str:
        return "127.0.0.1" if self.network is None else self.network.cluster(number)


def has_galera() -> bool:
    """Whether server and library are installed."""
    try:
        server_program()
        provider_library()
    except NoServerError:
        return False
    return True


def provider_library() -> str:
    """Path of Galera's library.

    Raises:
        NoServerError: it is not installed.
    """
    for path in _PROVIDERS:
        if Path(path).exists():
            return path
    raise NoServerError("Galera is not installed (apt-get install galera-4)")


def _two_free_ports() -> int:
    """The first of two ports beside each other that nobody has."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port: int = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port
