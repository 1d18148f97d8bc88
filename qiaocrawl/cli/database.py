"""The database of a command: its option, and connections to it that end in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from qiaocrawl.errors import StorageError
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.options.project import note_database
from qiaocrawl.storage import Database
from qiaocrawl.storage.sql import unreachable

DatabaseUrl = Annotated[
    str, typer.Option("--database", help="Database URL instead of QIAO_DATABASE_URL.")
]


@contextmanager
def opened_database(url: str, *, may_make: bool = False) -> Iterator[Database]:
    """The database at *url*, or at QIAO_DATABASE_URL for ""; its errors become StorageError.

    Args:
        may_make: a SQLite file that is missing is made; else it is an error.

    Raises:
        ConfigError: a wrong URL.
        StorageError: the database cannot be opened, or a statement failed.
    """
    note_database(url)
    options = Options.from_environment({"QIAO_DATABASE_URL": url} if url else None)
    with Database.open(
        options["QIAO_DATABASE_URL"],
        must_exist=not may_make,
        cache_mb=options["QIAO_SQLITE_CACHE_MB"],
    ) as database:
        try:
            yield database
        except SQLAlchemyError as error:
            raise unreachable(error, database.shown_url) from error
        except UnicodeEncodeError as error:
            raise StorageError(
                _("{text!r} is no UTF-8 text and cannot be stored", text=error.object)
            ) from error


@contextmanager
def connection_to(url: str) -> Iterator[Connection]:
    """A connection that reads :func:`opened_database`, whose schema must be this version's.

    On SQLite no crawl waits for it, however long it reads.
    """
    with opened_database(url) as opened:
        opened.require_current()
        with opened.reading() as c:
            yield c


@contextmanager
def transaction_on(url: str) -> Iterator[Connection]:
    """A connection to :func:`opened_database` in a transaction that is committed at the end."""
    with opened_database(url) as opened:
        opened.require_current()
        with opened.engine.begin() as c:
            yield c
