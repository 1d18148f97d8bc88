"""The console on each kind of database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from console_client import Desk, desk_at
from qiaocrawl.storage import Database


@pytest.fixture
def desk(database: Database, database_url: str) -> Iterator[Desk]:
    """A console over an empty database, nobody logged in."""
    with desk_at(database_url) as opened:
        yield opened


@pytest.fixture
def sqlite_desk(tmp_path) -> Iterator[Desk]:  # type: ignore[no-untyped-def]
    """The same on SQLite only, for what is no matter of the database."""
    url = f"sqlite:///{tmp_path / 'console.db'}"
    with Database.open(url) as database:
        database.upgrade()
    with desk_at(url) as opened:
        yield opened
