"""Fixtures: a private MariaDB server and a fresh database for every test, on both kinds.

``database_url`` runs a test once on SQLite and once on MariaDB, each time with an empty
database; ``database`` is the same, opened and with its tables. Where no MariaDB server is
installed, its half is skipped and says so.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.mariadb_server import MariaDB, NoServerError, server_program
from qiaocrawl.storage import Database

_names = itertools.count(1)


def _fast_folder() -> str | None:
    # Tables in memory: every test makes its own database.
    shared = Path("/dev/shm")
    roomy = shared.is_dir() and os.access(shared, os.W_OK)
    return str(shared) if roomy and shutil.disk_usage(shared).free > 1 << 30 else None


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDB]:
    """The server of this test run; skips where MariaDB is not installed."""
    try:
        server_program()
    except NoServerError as error:
        pytest.skip(str(error))
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
