"""A private MariaDB server in a folder of its own, on loopback, for tests and measurements."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pymysql

_START_SECONDS = 180
_STOP_SECONDS = 180
_LOOPBACK = "127.0.0.1"
_ROOT_EVERYWHERE = """FLUSH PRIVILEGES;
CREATE USER root@'%';
GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;
"""
# Below those the kernel gives to connections: while the server is away nobody takes its port.
_PORTS = range(20_000, 32_000)


class NoServerError(Exception):
    """MariaDB is not installed."""


class MariaDB:
    """A private server in a temporary folder, listening on loopback only.

    Args:
        host: the address it listens on instead.
        inside: what the server's command begins with, to run it in a network of its own.
    """

    def __init__(self, folder: Path, host: str = _LOOPBACK, inside: Sequence[str] = ()) -> None:
        self.folder = folder
        self.host = host
        self._inside = inside
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Process id of the running server."""
        assert self._process is not None
        return self._process.pid

    def install(self) -> None:
        """Write the system tables."""
        command = [
            "mariadb-install-db",
            "--no-defaults",
            *self._user(),
            f"--datadir={self.folder / 'data'}",
            "--skip-test-db",
            "--auth-root-authentication-method=normal",
        ]
        # Two that install at a time take each other's temporary tables away.
        environment = {**os.environ, "TMPDIR": str(self.folder)}
        result = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment
        )
        if result.returncode:
            raise RuntimeError(f"mariadb-install-db failed: {result.stdout}{result.stderr}")
        if self.host != _LOOPBACK:
            self._let_in()

    def _let_in(self) -> None:
        """Let root in over the network: at first it is known on the server's own machine only."""
        command = [server_program(), "--no-defaults", *self._user(), "--bootstrap",
                   f"--datadir={self.folder / 'data'}"]  # fmt: skip
        subprocess.run(command, input=_ROOT_EVERYWHERE, capture_output=True, text=True, check=True)

    def start(self, *arguments: str) -> None:
        """Start the server and wait until it answers."""
        command = [
            *self._inside, *self._program(), "--no-defaults", *self._user(),
            f"--datadir={self.folder / 'data'}",
            f"--socket={self.folder / 's'}", f"--pid-file={self.folder / 'pid'}",
            f"--tmpdir={self.folder}",
            f"--port={self.port}", f"--bind-address={self.host}", "--skip-name-resolve",
            "--character-set-server=utf8mb4", "--innodb-buffer-pool-size=64M",
            "--performance-schema=OFF", *self._options(), *arguments,
        ]  # fmt: skip
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        self._wait()

    def stop(self) -> None:
        """Ask the server to stop and wait for it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_STOP_SECONDS)
            self._process = None

    def kill(self) -> None:
        """End the server with -9, as when its machine loses power."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    @contextmanager
    def halted(self) -> Iterator[None]:
        """The server hangs meanwhile: it takes connections and bytes and answers nothing."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            # One thread takes the signal and tells the others: on a busy machine that takes time.
            while any(state != "T" for state in self._thread_states()):
                time.sleep(0.001)
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def _thread_states(self) -> list[str]:
        """The scheduler's letter for each thread: R runs, S sleeps, T is stopped."""
        states = []
        for file in Path(f"/proc/{self.pid}/task").glob("*/stat"):
            # A thread may end while its neighbours are looked at.
            with suppress(OSError):
                # The second field, the name in brackets, may hold spaces.
                states.append(file.read_text("utf-8").rpartition(") ")[2][:1])
        return states

    def connect(self, database: str | None = None) -> pymysql.Connection:
        """A connection as root."""
        return pymysql.connect(
            host=self.host, port=self.port, user="root", database=database, autocommit=True,
            connect_timeout=60,
        )  # fmt: skip

    def execute(self, sql: str) -> None:
        """Run one statement as root."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(sql)

    def url(self, database: str) -> str:
        """The SQLAlchemy URL of *database*."""
        return f"mysql+pymysql://root@{self.host}:{self.port}/{database}"

    def _program(self) -> list[str]:
        """What starts the server."""
        return [server_program()]

    def _options(self) -> list[str]:
        """Options of this kind of server."""
        return ["--innodb-log-file-size=32M"]

    def _wait(self) -> None:
        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                self.connect().close()
                return
            except pymysql.OperationalError:
                assert self._process is not None
                if self._process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError((self.folder / "log").read_text("utf-8")) from None
                time.sleep(0.05)

    @staticmethod
    def _user() -> list[str]:
        return ["--user=root"] if os.geteuid() == 0 else []


def server_program() -> str:
    """Path of the server.

    Raises:
        NoServerError: there is none.
    """
    # Distributions put servers into sbin, which is on root's PATH only.
    program = shutil.which("mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None or shutil.which("mariadb-install-db") is None:
        raise NoServerError("MariaDB is not installed (apt-get install mariadb-server)")
    return program


def _free_port() -> int:
    # Not the shared numbers: those of all workers of a test run begin alike.
    draw = random.SystemRandom()
    while True:
        port = draw.choice(_PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
