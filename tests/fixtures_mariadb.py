"""Fixtures: a private MariaDB server and a fresh database for every test, on both kinds.

``database_url`` runs a test once on SQLite and once on MariaDB, each time with an empty
database; ``database`` is the same, opened and with its tables. Where no MariaDB server is
installed, its half is skipped and says so.
"""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pymysql
import pytest

from qiaocrawl.storage import Database

_START_SECONDS = 60
_names = itertools.count(1)


class MariaDB:
    """A private server in a temporary folder, listening on loopback only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Process id of the running server."""
        assert self._process is not None
        return self._process.pid

    def install(self) -> None:
        """Write the system tables."""
        command = ["mariadb-install-db", "--no-defaults", *self._user(),
                   f"--datadir={self.folder / 'data'}", "--skip-test-db",
                   "--auth-root-authentication-method=normal"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            raise RuntimeError(f"mariadb-install-db failed: {result.stdout}{result.stderr}")

    def start(self, *arguments: str) -> None:
        """Start the server and wait until it answers."""
        command = [
            _server(), "--no-defaults", *self._user(), f"--datadir={self.folder / 'data'}",
            f"--socket={self.folder / 's'}", f"--pid-file={self.folder / 'pid'}",
            f"--port={self.port}", "--bind-address=127.0.0.1", "--skip-name-resolve",
            "--character-set-server=utf8mb4", "--innodb-buffer-pool-size=64M",
            "--innodb-log-file-size=32M", "--performance-schema=OFF", *arguments,
        ]  # fmt: skip
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        self._wait()

    def stop(self) -> None:
        """Ask the server to stop and wait for it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(60)
            self._process = None

    def connect(self, database: str | None = None) -> pymysql.Connection:
        """A connection as root."""
        return pymysql.connect(host="127.0.0.1", port=self.port, user="root", database=database,
                               autocommit=True)

    def execute(self, sql: str) -> None:
        """Run one statement as root."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(sql)

    def url(self, database: str) -> str:
        """The SQLAlchemy URL of *database*."""
        return f"mysql+pymysql://root@127.0.0.1:{self.port}/{database}"

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


def _server() -> str:
    # Distributions put servers into sbin, which is on root's PATH only.
    found = shutil.which("mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None or shutil.which("mariadb-install-db") is None:
        pytest.skip("MariaDB is not installed (apt-get install mariadb-server)")
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _fast_folder() -> str | None:
    # Tables in memory: every test makes its own database.
    shared = Path("/dev/shm")
    roomy = shared.is_dir() and os.access(shared, os.W_OK)
    return str(shared) if roomy and shutil.disk_usage(shared).free > 1 << 30 else None


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDB]:
    """The server of this test run; skips where MariaDB is not installed."""
    _server()
    # Not pytest's own folder: the socket's path must stay below 108 characters.
    with tempfile.TemporaryDirectory(prefix="qiao-", dir=_fast_folder()) as name:
        server = MariaDB(Path(name))
        server.install()
        server.start()
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture
def mariadb_url(mariadb: MariaDB) -> Iterator[str]:
    """The URL of a fresh, empty MariaDB database, dropped after the test."""
    name = f"qiao_{os.getpid()}_{next(_names)}"
    mariadb.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    yield mariadb.url(name)
    mariadb.execute(f"DROP DATABASE {name}")


@pytest.fixture(params=["sqlite", pytest.param("mariadb", marks=pytest.mark.mariadb)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a fresh, empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store' / 'qiao.db'}"
    url: str = request.getfixturevalue("mariadb_url")
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A fresh database with its tables, opened."""
    with Database.open(database_url) as opened:
        opened.upgrade()
        yield opened
