"""Keepers: threads that look after jobs, the search index, metrics or messages all the time.

Each writes when it looked last, so that others see when one is dead or cannot look: the page Jobs
and ``qiaocrawl health``.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from qiaocrawl.errors import StorageError
from qiaocrawl.language import N_
from qiaocrawl.storage.database import Database
from qiaocrawl.storage.engine import latest_due
from qiaocrawl.storage.schema import keeper
from qiaocrawl.storage.values import clean_word

logger = logging.getLogger(__name__)

JOBS, SEARCH, METRICS, MESSAGES = "jobs", "search index", "metrics", "messages"
GROUPS, COUNTS = "word groups", "counts"
KEEPER_NAMES = {
    JOBS: N_("jobs and schedules"),
    SEARCH: N_("search index"),
    METRICS: N_("metrics"),
    MESSAGES: N_("messages of warnings"),
    GROUPS: N_("groups of words"),
    COUNTS: N_("counts of lists"),
}
"""What they look after, as people are told."""
SILENT_AFTER_SECONDS = 180.0
"""One that has not looked for so long does not look any more, or cannot."""
_WRITTEN_SECONDS = 30.0
# Of a machine that is gone, such as a container by another name.
_FORGOTTEN_SECONDS = 86_400.0


class StoredKeeper(NamedTuple):
    """A keeper as its row has it.

    Attributes:
        looked_at: epoch seconds of its last look that came to its end.
        trouble: what keeps it from looking, or what it could not do; "" for nothing.
    """

    name: str
    machine: str
    looked_at: float
    trouble: str

    def is_silent(self, now: float) -> bool:
        """Whether it has not looked for long; a look in the future is one of a wrong clock."""
        is_late = now - self.looked_at > SILENT_AFTER_SECONDS
        return is_late or self.looked_at > latest_due(now, SILENT_AFTER_SECONDS)


def stored_keepers(c: Connection) -> list[StoredKeeper]:
    """All keepers that have not ended in order."""
    columns = keeper.c
    statement = select(columns.name, columns.machine, columns.looked_at, columns.trouble)
    return [StoredKeeper(*row) for row in c.execute(statement.order_by(columns.name))]


def error_of(work: Callable[[], object]) -> BaseException | None:
    """What *work* raises, whatever that is; None where it raises nothing.

    For what nobody else does: a keeper tells of the error and goes on. (A panic of a library in
    another language is no ``Exception``.)
    """
    try:
        work()
    except BaseException as error:
        return error
    return None


class KeeperLog:
    """Writes when the keeper *name* of this machine looks, and logs each of its troubles once.

    That it cannot write is no trouble: a keeper of metrics may read only.
    """

    def __init__(self, database: Database, name: str) -> None:
        self._database, self._name = database, name
        self._machine = socket.gethostname()
        self._written_at = float("-inf")
        self._trouble = ""

    def note_look(self, trouble: str = "") -> None:
        """It has looked; *trouble* is what it could not do."""
        is_due = time.monotonic() - self._written_at >= _WRITTEN_SECONDS
        if is_due or trouble != self._trouble:
            self._write(trouble, looked_at=time.time())
        self._trouble = trouble

    def note_failure(self, error: BaseException) -> None:
        """It could not look. It goes on, and is to try again."""
        # SQLAlchemy adds its statement and an address to what the driver says.
        said = str(getattr(error, "orig", None) or error).splitlines()
        trouble = said[0] if said and said[0] else type(error).__name__
        if trouble != self._trouble:
            is_known = isinstance(error, StorageError | SQLAlchemyError)
            logger.warning(
                "%s: not looked after, tried again: %s",
                self._name,
                trouble,
                exc_info=None if is_known else error,
            )
            self._write(trouble, looked_at=None)
        self._trouble = trouble

    def note_end(self) -> None:
        """It ends in order: nobody is to miss it."""
        if (error := error_of(self._remove)) is not None:
            logger.debug("%s: its end is not written: %s", self._name, error)

    def _remove(self) -> None:
        mine = keeper.c.name == self._name, keeper.c.machine == self._machine
        with self._database.engine.begin() as c:
            c.execute(delete(keeper).where(*mine))

    def _write(self, trouble: str, *, looked_at: float | None) -> None:
        error = error_of(lambda: self._put(trouble, looked_at))
        if error is not None:
            # Whatever it is: who looks after others must not end by what only tells of it.
            logger.debug("%s: its look is not written: %s", self._name, error)
            return
        self._written_at = time.monotonic()

    def _put(self, trouble: str, looked_at: float | None) -> None:
        machine = clean_word(self._machine, 255)
        mine = keeper.c.name == self._name, keeper.c.machine == machine
        values: dict[str, object] = {"trouble": clean_word(trouble, 500)}
        if looked_at is not None:
            values["looked_at"] = looked_at
        now = time.time()
        with self._database.engine.begin() as c:
            if not c.execute(update(keeper).where(*mine).values(values)).rowcount:
                c.execute(
                    insert(keeper).values(
                        {"name": self._name, "machine": machine, "looked_at": now, **values}
                    )
                )
            gone = keeper.c.looked_at < now - _FORGOTTEN_SECONDS
            c.execute(
                delete(keeper).where(keeper.c.name == self._name, keeper.c.machine != machine, gone)
            )
