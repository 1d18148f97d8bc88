"""Feeds an order in memory from the database, and writes its best scores back.

First the newest visits of the log, then all waiting rows; from then on what other workers add.
Reading happens on the reader's thread, and the order takes it in small pieces, so that a page
that was just fetched does not wait for long.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Protocol, TypeVar

from sqlalchemy import Connection

from qiaocrawl.errors import StorageError
from qiaocrawl.frontier.in_memory_frontier import InMemoryFrontier
from qiaocrawl.storage.frontier import visit_log
from qiaocrawl.storage.frontier.scope import Scope
from qiaocrawl.storage.frontier.visit_log import LoggedVisit

# --- Finds the new rows of the log of visits: those after a place, and late ones before it --------
# Numbers are given when a row is written, not when it is committed, so a row may become visible
# after one with a higher number; at most a transaction's duration later.

LOOK_BACK_SECONDS = 120.0
"""A row that becomes visible later than this after a higher one is missed until a restart."""


class VisitReader:
    """Remembers which rows were read.

    Args:
        token: of this process; its own rows are not new to it.
        start: place behind which reading begins.
    """

    def __init__(self, token: int, start: int) -> None:
        self._token = token
        self._seen: dict[int, float] = {}
        self.floor = start
        """Read on behind this place."""

    @property
    def newest(self) -> int:
        """The highest number read so far."""
        return max(self._seen, default=self.floor)

    def unread_numbers(self, heads: Iterable[tuple[int, int]], now: float) -> list[int]:
        """The numbers among *heads* (number, token) that are new here, to be read.

        Args:
            now: seconds of a clock that does not jump.
        """
        new = [(seq, token) for seq, token in heads if seq not in self._seen and seq > self.floor]
        # Own rows are ticked off unread: the order has learnt from those pages already.
        self.have_read((seq for seq, token in new if token == self._token), now)
        return [seq for seq, token in new if token != self._token]

    def have_read(self, seqs: Iterable[int], now: float) -> None:
        """These rows were taken in; they are no longer new."""
        self._seen.update((seq, now) for seq in seqs)

    def forget_old(self, now: float) -> None:
        """Forget rows that are too old to look back to."""
        old = [seq for seq, at in self._seen.items() if at < now - LOOK_BACK_SECONDS]
        # Rows that become visible this late stay unread; the floor must move, or the memory would
        # grow with the log.
        if old:
            self.floor = max(self.floor, *old)
            self._seen = {seq: at for seq, at in self._seen.items() if seq > self.floor}


# --- Feeds an order in memory from the database, and writes its best scores back ------------------

T = TypeVar("T")

NEW_ROWS_SECONDS = 60.0
"""How often rows are looked for that no visit mentions: targets of redirects, say."""
ALL_ROWS_SECONDS = 30.0
"""How often, at most, all rows are read again."""
KEEP_SCORES_SECONDS = 300.0
"""How often the best scores are written to their rows."""

_HEADS_AT_A_TIME = 20_000
# Taken in at once: a page that was just fetched waits no longer than for these.
_VISITS_AT_A_TIME = 25
_ROWS_AT_A_TIME = 2_000
_SCORES_KEPT = 2_000
# Small, since each row is locked until the commit and other workers want to lease it.
_SCORES_A_TRANSACTION = 200


class Store(Protocol):
    """Reads and writes off the event loop, as :class:`~qiaocrawl.runtime.runtime.Runtime` does."""

    async def read(self, operation: Callable[[Connection], T]) -> T:
        """What *operation* reads."""
        ...

    async def write(self, operation: Callable[[Connection], T]) -> T:
        """Run *operation* in a transaction."""
        ...


class Run(Protocol):
    """Runs work in the thread of the order."""

    def __call__(self, work: Callable[[], T]) -> Awaitable[T]:
        """What *work* gives."""
        ...


class OrderFeed:
    """Feeds *in_memory*.

    Args:
        in_memory: what is fed; touched through *run* only.
        store: the database.
        rows: queue and topic of the crawl.
        run: the thread of the order.
        tell: lets the order learn from a row of the log; called in that thread.
    """

    def __init__(
        self,
        in_memory: InMemoryFrontier,
        store: Store,
        rows: Scope,
        run: Run,
        tell: Callable[[LoggedVisit], object],
    ) -> None:
        self._in_memory = in_memory
        self._store = store
        self._rows = rows
        self._run = run
        self._tell = tell
        self._reader = VisitReader(0, 0)
        self._newest_row = 0
        self._done_at: dict[str, float] = {}
        self.wants_all_rows = False
        """Whether rows wait that the order does not know."""

    @property
    def newest(self) -> int:
        """Place in the log up to which it was read."""
        return self._reader.newest

    async def begin(self, token: int, most_visits: int) -> None:
        """Make the order of the newest *most_visits* visits and all rows that wait.

        Args:
            token: of this worker; its own visits are known already.
        """
        start = await self._store.read(
            lambda c: visit_log.start_of_newest_visits(c, self._rows, most_visits)
        )
        # The log is read from here on: older visits are skipped, so the order knows the
        # newest ones only.
        self._reader = VisitReader(token, start)
        # One rescoring at the end of the reading instead of one every few visits of the log.
        await self._run(self._in_memory.begin_telling)
        await self.read_log()
        await self._read_all_rows()
        # Marks both as just done: begin() has read everything.
        for task in ("new rows", "scores"):
            self._is_due(task, 0.0)

    async def tend(self) -> None:
        """Take in what is new; to be called every few seconds."""
        await self.read_log()
        if self.wants_all_rows and self._is_due("all rows", ALL_ROWS_SECONDS):
            # Cleared before reading, so that a row missed meanwhile can set it again.
            self.wants_all_rows = False
            try:
                await self._read_all_rows()
            except StorageError:
                self.wants_all_rows = True
                raise
        elif self._is_due("new rows", NEW_ROWS_SECONDS):
            await self._read_rows()
        if self._is_due("scores", KEEP_SCORES_SECONDS):
            await self.keep_scores()

    def _is_due(self, task: str, seconds: float) -> bool:
        now = time.monotonic()
        due = now - self._done_at.get(task, -1e9) >= seconds
        if due:
            self._done_at[task] = now
        return due

    # --- the log ----------------------------------------------------------------------------

    async def read_log(self) -> None:
        """Take in the visits that have come to light."""
        # Not from the newest id on: rows may become visible out of order (see VisitReader).
        after = self._reader.floor
        while True:
            heads = await self._store.read(partial(self._heads, after=after))
            unread = self._reader.unread_numbers(heads, time.monotonic())
            for start in range(0, len(unread), _VISITS_AT_A_TIME):
                some = unread[start : start + _VISITS_AT_A_TIME]
                await self._take_in(some)
                # Set only after they were taken in: after a failure they are read again.
                self._reader.have_read(some, time.monotonic())
            if len(heads) < _HEADS_AT_A_TIME:
                break
            after = heads[-1][0]
        self._reader.forget_old(time.monotonic())

    def _heads(self, c: Connection, after: int) -> list[tuple[int, int]]:
        return visit_log.visit_heads_since(c, self._rows, after, _HEADS_AT_A_TIME)

    async def _take_in(self, seqs: Sequence[int]) -> None:
        rows = await self._store.read(partial(visit_log.load_visits, seqs=seqs))

        def tell() -> None:
            for row in rows:
                self._tell(row)

        await self._run(tell)

    # --- rows that wait -----------------------------------------------------------------------

    async def _read_all_rows(self) -> None:
        await self._run(self._in_memory.begin_reading)
        # From the first row on: rows change their state without getting a new id.
        self._newest_row = 0
        complete = await self._read_rows()
        await self._run(partial(self._in_memory.end_reading, complete=complete))

    async def _read_rows(self) -> bool:
        """Read on from the newest row; False where there was no room for all of them."""
        while True:
            rows = await self._store.read(self._next_rows)
            if not await self._run(partial(self._in_memory.found_waiting, rows)):
                return False
            if rows:
                self._newest_row = rows[-1].id
            if len(rows) < _ROWS_AT_A_TIME:
                return True

    def _next_rows(self, c: Connection) -> list[visit_log.PendingUrl]:
        return visit_log.waiting_after(c, self._rows, self._newest_row, _ROWS_AT_A_TIME)

    async def keep_scores(self) -> None:
        """Write the best scores to their rows, some at a time."""
        best = await self._run(partial(self._in_memory.best_scores, _SCORES_KEPT))
        for start in range(0, len(best), _SCORES_A_TRANSACTION):
            some = best[start : start + _SCORES_A_TRANSACTION]
            await self._store.write(partial(visit_log.keep_scores, scope=self._rows, scores=some))
