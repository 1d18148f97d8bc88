"""One thread and one connection for writing, one of each for reading.

Operations are functions of a connection. The writer takes all that are queued into one
transaction (group commit); their futures resolve after the commit. After an error that passes, a
deadlock or a lost connection, the whole group is played again, so operations must be idempotent
and must change nothing outside the database.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from qiaocrawl.errors import DatabaseLostError, StorageError
from qiaocrawl.language import _
from qiaocrawl.storage.database import Database, SqliteLog, write_back
from qiaocrawl.storage.engine import begin_reading
from qiaocrawl.storage.sql import ErrorKind, as_storage_error, classify

logger = logging.getLogger(__name__)

T = TypeVar("T")

Operation = Callable[[Connection], T]

# Deadlocks end after one or two tries (measured: 397 in 600 transactions, none above 4 tries).
_MAX_CONTENTION_TRIES = 12
_FIRST_PAUSE_SECONDS = 0.02
_LONGEST_PAUSE_SECONDS = 5.0
# A connection that was cut is back at once; only a longer outage is worth a log line.
_OUTAGE_SECONDS = 0.5


@dataclass(slots=True)
class _Task(Generic[T]):
    operation: Operation[T]
    first: Operation[object] | None = None
    future: Future[T] = field(default_factory=Future)


class _Tries:
    """Decides after each failure of one transaction whether it is played again."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self._count = 0

    def may_try_again(self, fault: ErrorKind, patience_seconds: float) -> bool:
        self._count += 1
        if fault is ErrorKind.CONTENTION:
            return self._count < _MAX_CONTENTION_TRIES
        return fault is ErrorKind.OUTAGE and self.spent_seconds < patience_seconds

    @property
    def spent_seconds(self) -> float:
        return time.monotonic() - self._since

    @property
    def pause_seconds(self) -> float:
        grown = _FIRST_PAUSE_SECONDS * 2.0 ** min(self._count - 1, 20)
        # Jitter, so that two transactions that collided do not collide again.
        return min(grown, _LONGEST_PAUSE_SECONDS) * random.uniform(0.5, 1.0)


class _ConnectionThread:
    """A thread that owns a connection and runs transactions on it, first in, first out."""

    reads = False

    def __init__(
        self, database: Database, *, outage_seconds: float, capacity: int, max_group: int
    ) -> None:
        self._database = database
        self._outage_seconds = outage_seconds
        self._max_group = max_group
        self._queue: queue.Queue[_Task[Any] | None] = queue.Queue(capacity)
        self._connection: Connection | None = None
        self._log: SqliteLog | None = None
        self._given_up: BaseException | None = None
        self._is_away = False
        self._is_hurried = threading.Event()
        self._is_abandoned = False
        self._group: list[_Task[Any]] = []
        self._groups_done = 0
        self._closing = False
        self._has_ended = False
        # close() and submit() exclude each other: a task behind the end mark would never run.
        self._submit_lock = threading.Lock()
        self._thread = threading.Thread(
            target=self._run, name=f"qiaocrawl-{type(self).__name__.lower()}", daemon=True
        )
        database.limits_patience.append(self.limit_wait)
        self._thread.start()

    # --- the caller's side ------------------------------------------------------------

    @property
    def backlog(self) -> int:
        """Operations queued and not yet begun (approximate). Near capacity: stop adding."""
        return self._queue.qsize()

    @property
    def is_away(self) -> bool:
        """Whether the database has been waited for longer than half a second."""
        return self._is_away

    def submit(self, operation: Operation[T], first: Operation[object] | None = None) -> Future[T]:
        """Queue *operation*; its future resolves when its transaction is over.

        Blocks while the queue is full: an event loop looks at :attr:`backlog` first.

        Args:
            first: runs before all operations of the transaction, once even if several name it.
                For a lock that all workers take: waiting for it while holding rows that others
                need would deadlock.

        Raises:
            StorageError: closed already.
        """
        task = _Task(operation, first)
        with self._submit_lock:
            if self._closing:
                raise StorageError(_("{kind} of the database is closed", kind=type(self).__name__))
            self._queue.put(task)
        return task.future

    def run(self, operation: Operation[T]) -> T:
        """Run *operation* and wait for it."""
        return self.submit(operation).result()

    def limit_wait(self, seconds: float) -> None:
        """Wait no longer than *seconds* for a database that is away, since the run has to end.

        What a hanging server holds longer than that fails, though it may still be committed later.
        """
        self._outage_seconds = min(seconds, self._outage_seconds)
        self._is_hurried.set()
        if self._database.file is not None:
            return  # a file does not hang; a commit under way is nearly done
        timer = threading.Timer(seconds, self._abandon_unless, args=[self._groups_done])
        timer.daemon = True
        timer.start()

    def _abandon_unless(self, groups_done: int) -> None:
        """Give up unless a group was finished after the first *groups_done*."""
        if self._groups_done > groups_done or not self._group:
            return
        self._given_up = self._given_up or StorageError(
            _(
                "database {shown_url} hangs, and there is no time to wait for it",
                shown_url=self._database.shown_url,
            )
        )
        self._is_abandoned = True
        for task in self._group:
            _fail(task, self._given_up)
        while not self._queue.empty():
            if (waiting := self._queue.get()) is not None:
                _fail(waiting, self._given_up)

    def close(self) -> None:
        """Run what is queued, then end. A second call does nothing."""
        with self._submit_lock:
            if not self._closing:
                self._closing = True
                self._queue.put(None)
        # Polls: an abandoned thread may hang in the driver and never be joined.
        while self._thread.is_alive() and not self._is_abandoned:
            self._thread.join(0.1)

    # --- the thread's side --------------------------------------------------------------

    def _run(self) -> None:
        try:
            while (group := self._next_group()) is not None:
                self._run_group(group)
        finally:
            self._drop_connection()

    def _next_group(self) -> list[_Task[Any]] | None:
        task = None if self._has_ended else self._queue.get()
        if task is None:
            return None
        group = [task]
        self._gather(group)
        return group

    def _gather(self, group: list[_Task[Any]]) -> None:
        """Add what may share the first task's transaction."""

    def _run_group(self, group: list[_Task[Any]]) -> None:
        live = [task for task in group if task.future.set_running_or_notify_cancel()]
        if not live:
            return
        self._group = live
        self._run_live(live)
        self._group = []
        self._groups_done += 1

    def _run_live(self, live: list[_Task[Any]]) -> None:
        error = self._try_group(live)
        if error is None:
            return
        if len(live) > 1 and self._given_up is None:
            # One of them is at fault: each runs again by itself, so that it fails alone.
            for task in live:
                self._run_live([task])
            return
        for task in live:
            _fail(task, error)

    def _try_group(self, group: list[_Task[Any]]) -> BaseException | None:
        """Play *group* until it is committed; otherwise the error that stopped it."""
        tries = _Tries()
        while self._given_up is None:
            try:
                # Each time: SQLite writes without an error into a file that was deleted.
                self._check_files()
                results = self._transaction(group)
            except Exception as error:  # what an operation raises belongs to its future
                fault = classify(error)
                self._drop_connection()
                if not tries.may_try_again(fault, self._outage_seconds):
                    return self._stopped_by(error, fault, tries.spent_seconds)
                if fault is ErrorKind.OUTAGE and tries.spent_seconds > _OUTAGE_SECONDS:
                    self._note_outage(error)
                self._is_hurried.wait(tries.pause_seconds)
                self._is_hurried.clear()
                continue
            self._note_return()
            # Only after the commit: what a future reports as done survives a kill.
            for task, result in zip(group, results, strict=True):
                with contextlib.suppress(InvalidStateError):  # given up meanwhile
                    task.future.set_result(result)
            return None
        return self._given_up

    def _stopped_by(
        self, error: BaseException, fault: ErrorKind, spent_seconds: float
    ) -> BaseException:
        """The error callers get for *error*. After an outage or a loss nothing is tried again."""
        wrapped = as_storage_error(error, self._database.shown_url)
        if fault is ErrorKind.OUTAGE:
            wrapped = StorageError(
                _(
                    "database {shown_url} was waited for {spent_seconds:.0f} s "
                    "(QIAO_STORAGE_OUTAGE_SECONDS): {wrapped}; once this is mended, the "
                    "same command goes on",
                    shown_url=self._database.shown_url,
                    spent_seconds=spent_seconds,
                    wrapped=wrapped,
                )
            )
            wrapped.__cause__ = error
        if fault in (ErrorKind.OUTAGE, ErrorKind.LOST):
            self._given_up = wrapped
        return wrapped

    def _check_files(self) -> None:
        if self._database.file is not None:
            self._database.file.check()
        if self._log is None or self._connection is None:
            return
        try:
            self._log.check()
        except DatabaseLostError:
            # The open connection can still read the deleted log: save what it holds.
            write_back(self._connection)
            raise

    def _transaction(self, group: list[_Task[Any]]) -> list[Any]:
        connection = self._connection or self._connect()
        with connection.begin():
            self._note_log()
            for first in dict.fromkeys(task.first for task in group if task.first is not None):
                first(connection)
            return [task.operation(connection) for task in group]

    def _connect(self) -> Connection:
        connection = self._database.engine.connect()
        self._connection = begin_reading(connection) if self.reads else connection
        return self._connection

    def _note_log(self) -> None:
        """Remember the files beside the database, which are there once a transaction began."""
        if self._log is None and self._database.file is not None:
            self._log = SqliteLog(self._database.file)

    def _drop_connection(self) -> None:
        self._log = None
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            # Its cache may hold what was rolled back, and the connection itself may be broken.
            connection.invalidate()
            connection.close()
        except SQLAlchemyError as error:
            logger.debug("closing a broken connection: %s", error)

    def _note_outage(self, error: BaseException) -> None:
        # A thread that was given up may not log: the process may be at its end.
        if not self._is_away and not self._is_abandoned:
            self._is_away = True
            logger.warning(
                "database %s does not answer, waiting up to %.0f s: %s",
                self._database.shown_url,
                self._outage_seconds,
                as_storage_error(error, self._database.shown_url),
            )

    def _note_return(self) -> None:
        if self._is_away and not self._is_abandoned:
            self._is_away = False
            logger.warning("database %s answers again", self._database.shown_url)


class Writer(_ConnectionThread):
    """Runs operations in transactions of its own thread, many to a commit.

    Args:
        outage_seconds: how long a database that is away is waited for before the operations
            waiting for it fail with StorageError.
        capacity: operations that may be queued.
        max_group: operations in one transaction.
        linger_seconds: how long a transaction waits for company. A commit costs about as much
            as one page's statements, so a few milliseconds save more than they delay.
    """

    def __init__(
        self,
        database: Database,
        *,
        outage_seconds: float = 300.0,
        capacity: int = 4096,
        max_group: int = 64,
        linger_seconds: float = 0.005,
    ) -> None:
        self._linger_seconds = linger_seconds
        super().__init__(
            database, outage_seconds=outage_seconds, capacity=capacity, max_group=max_group
        )

    def _gather(self, group: list[_Task[Any]]) -> None:
        # One sleep, whatever comes: waiting for each task wakes this thread as often, and every
        # time it takes the interpreter from the event loop.
        time.sleep(self._linger_seconds)
        while len(group) < self._max_group:
            try:
                task = self._queue.get_nowait()
            except queue.Empty:
                return
            if task is None:
                self._has_ended = True
                return
            group.append(task)


class Reader(_ConnectionThread):
    """Runs reads on its own thread and connection, each seeing the latest commit.

    Its transactions are rolled back: it cannot write.
    """

    reads = True

    def __init__(
        self, database: Database, *, outage_seconds: float = 60.0, capacity: int = 4096
    ) -> None:
        super().__init__(database, outage_seconds=outage_seconds, capacity=capacity, max_group=1)

    def _transaction(self, group: list[_Task[Any]]) -> list[Any]:
        connection = self._connection or self._connect()
        with connection.begin() as transaction:
            results = [task.operation(connection) for task in group]
            # A commit would be as right, but a rollback proves that nothing was written.
            transaction.rollback()
        return results


def _fail(task: _Task[Any], error: BaseException) -> None:
    with contextlib.suppress(InvalidStateError):  # given up before
        task.future.set_exception(error)


# --- Futures of other threads, awaited in an event loop: many results, one wake-up ----------------
# ``asyncio.wrap_future`` wakes the loop for every future, through a socket. Here a
# result that comes while others are on their way goes with them: a commit of twenty
# pages wakes the loop once.


def in_loop(source: Future[T]) -> asyncio.Future[T]:
    """*source* as a future of the running loop; cancelling it cancels *source*."""
    loop = asyncio.get_running_loop()
    inbox = _inboxes.get(loop)
    if inbox is None:
        inbox = _inboxes[loop] = _Inbox()
    waiting: asyncio.Future[T] = loop.create_future()
    waiting.add_done_callback(lambda future: source.cancel() if future.cancelled() else None)
    source.add_done_callback(lambda done: inbox.put(loop, waiting, done))
    return waiting


class _Inbox:
    """What other threads have done for one loop and it has not heard of yet."""

    def __init__(self) -> None:
        self._done: deque[tuple[asyncio.Future[Any], Future[Any]]] = deque()
        self._is_called = False

    def put(
        self, loop: asyncio.AbstractEventLoop, waiting: asyncio.Future[Any], source: Future[Any]
    ) -> None:
        """*source* is done, which *waiting* of *loop* is to hear; any thread may say so."""
        # In this order: the loop lowers the flag before it looks, so nothing is overlooked. Two
        # threads that both find it lowered call twice, which does no harm.
        self._done.append((waiting, source))
        if self._is_called:
            return
        self._is_called = True
        try:
            loop.call_soon_threadsafe(self._hand_out)
        except RuntimeError:
            # The loop is closed: nobody waits any more.
            self._done.clear()

    def _hand_out(self) -> None:
        self._is_called = False
        while self._done:
            _settle(*self._done.popleft())


def _settle(waiting: asyncio.Future[Any], source: Future[Any]) -> None:
    if waiting.done():
        return
    try:
        result = source.result()
    except CancelledError:
        waiting.cancel()
    except StopIteration as error:
        # No future of a loop takes one, and those behind it would not be told.
        failure = RuntimeError("StopIteration was raised by another thread")
        failure.__cause__ = error
        waiting.set_exception(failure)
    except BaseException as error:
        waiting.set_exception(error)
    else:
        waiting.set_result(result)


# Weak keys, and no inbox keeps its loop: a process may run several one after the other.
_inboxes: WeakKeyDictionary[asyncio.AbstractEventLoop, _Inbox] = WeakKeyDictionary()
