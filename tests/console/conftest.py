"""The console on each kind of database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from console_client import Desk, desk_at
from fresh_schema import make_tables
from model_server import ModelServer, served_model
from qiaocrawl.storage import Database


@pytest.fixture(autouse=True)
def _no_job_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is ordered here is looked at as a row: no process is started on a slow machine."""
    monkeypatch.setattr("qiaocrawl.console.keepers._TICK_SECONDS", 3600.0)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a console writes where it runs, such as backups, is not written into the tree."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A language model on loopback, set up for whatever reads the environment."""
    with served_model() as server:
        for name, value in server.options().items():
            monkeypatch.setenv(name, str(value))
        yield server


@pytest.fixture
def desk(database: Database, database_url: str, tmp_path: Path) -> Iterator[Desk]:
    """A console over an empty database, nobody logged in."""
    # Not in the project's own `data`, where the index of a MariaDB database would be.
    with desk_at(database_url, search_dir=str(tmp_path / "search")) as opened:
        yield opened


@pytest.fixture
def sqlite_desk(tmp_path: Path) -> Iterator[Desk]:
    """The same on SQLite only, for what is no matter of the database."""
    url = f"sqlite:///{tmp_path / 'console.db'}"
    with Database.open(url) as database:
        make_tables(database)
    with desk_at(url) as opened:
        yield opened
