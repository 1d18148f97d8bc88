"""Work on a whole table beside running crawls: a batch a transaction, each kept when it is done."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from qiaocrawl.storage.database import Database
from qiaocrawl.storage.error_kinds import DriverError, ErrorKind, classify

T = TypeVar("T")

_TRIES = 10
_PAUSE_SECONDS = 0.05


def in_transaction(database: Database, work: Callable[[Connection], T]) -> T:
    """What *work* gives, in a transaction of its own; again where another one was in the way.

    Raises:
        DriverError: as *work* does, for any other reason or too often.
    """
    for tries_left in reversed(range(_TRIES)):
        try:
            with database.engine.begin() as c:
                return work(c)
        except (DriverError, DBAPIError) as error:
            if not tries_left or classify(error) is not ErrorKind.CONTENTION:
                raise
            # Whoever was in the way gets a moment.
            time.sleep(_PAUSE_SECONDS)
    raise AssertionError("the last try returns or raises")
