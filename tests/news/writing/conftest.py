"""A language model on loopback, and a database for what it is asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mariadb_fixtures import make_tables
from model_server import ModelServer, served_model
from qiaocrawl.storage import Database


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with served_model() as server:
        yield server


@pytest.fixture
def database(database: Database) -> Database:
    make_tables(database)
    return database
