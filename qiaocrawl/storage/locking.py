"""One crawl at a time on a SQLite file: an operating-system lock that dies with its process."""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import socket
import struct
import sys
import threading
import time
import weakref
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from qiaocrawl.errors import CrawlLockedError
from qiaocrawl.language import _
from qiaocrawl.machine import (
    share_lock_of_file,
    try_lock_file,
    unlock_file,
)
from qiaocrawl.storage.engine import clock, sqlite_path
from qiaocrawl.storage.frontier.workers import ALIVE_SECONDS
from qiaocrawl.storage.values import from_time, to_stored_time

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.5
# EWOULDBLOCK comes from flock, EADDRINUSE from the socket's name.
_TAKEN = {errno.EWOULDBLOCK, errno.EADDRINUSE}


class CrawlLock:
    """Holds ``<database file>.NAME-lock`` until :meth:`release` or the end of the process.

    On Linux it also binds an abstract socket named after the path, which ends with the process
    and cannot be deleted: so no crawl starts on a new file while another still writes to
    the deleted one.

    Args:
        wait_seconds: how long another crawl is waited for.
        name: ``crawl`` for a spider, ``run`` for a round of several, which each hold the former.

    Raises:
        CrawlLockedError: another crawl holds it then; the message names its process.
    """

    def __init__(self, database: Path, wait_seconds: float = 0.0, name: str = "crawl") -> None:
        # Resolved: two links to one file are one database.
        database = database.resolve()
        self.path = database.with_name(f"{database.name}.{name}-lock")
        # Hashed: a socket's name ends at 108 bytes, a path may be longer. The leading NUL
        # makes it abstract.
        self._name = f"\0qiaocrawl {name} {sha256(os.fsencode(database)).hexdigest()}"
        self._socket: socket.socket | None = None
        self._fd: int | None = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._take(self._fd, time.monotonic() + wait_seconds)
        except OSError as error:
            holder = self._holder(self._fd)
            self._close()
            waited = _("after {seconds:g} s still ", seconds=wait_seconds) if wait_seconds else ""
            raise CrawlLockedError(
                _(
                    "another crawl (process {holder}) {waited}runs on {database}; SQLite "
                    "takes one crawl at a time: wait for it (QIAO_LOCK_WAIT_SECONDS), or "
                    "use MariaDB for several",
                    holder=holder,
                    waited=waited,
                    database=database,
                )
            ) from error
        # The process is written for people only; the lock itself is the kernel's.
        os.ftruncate(self._fd, 0)
        os.lseek(self._fd, 0, os.SEEK_SET)
        os.write(self._fd, f"{os.getpid()}\n".encode())
        _held.add(self)

    def _take(self, fd: int, until: float) -> None:
        """Take the lock; OSError when another process holds it beyond *until*."""
        is_said = False
        while True:
            try:
                try_lock_file(fd)
                self._socket = self._bound()
                return
            except OSError as error:
                if error.errno not in _TAKEN or time.monotonic() >= until:
                    raise
            if not is_said:
                is_said = True
                logger.warning("waiting for the crawl of process %s to end", self._holder(fd))
            time.sleep(_POLL_SECONDS)

    def _bound(self) -> socket.socket | None:
        """A socket bound to the path's name; None where there are no abstract sockets."""
        if not sys.platform.startswith("linux"):
            return None
        named = socket.socket(socket.AF_UNIX)
        try:
            named.bind(self._name)
        except OSError:
            named.close()
            raise
        # Listening, so that _peer() can connect and ask the kernel for the owner's process id.
        named.listen(1)
        return named

    def _holder(self, fd: int) -> str:
        os.lseek(fd, 0, os.SEEK_SET)
        holder = os.read(fd, 32).decode("ascii", "replace").strip()
        return self._peer() or holder or "unknown"

    def _peer(self) -> str:
        """The process that holds the socket's name; "" when none does."""
        if not sys.platform.startswith("linux"):
            return ""
        with socket.socket(socket.AF_UNIX) as connection:
            # The holder never accepts, so its queue may be full: connect must not block.
            connection.setblocking(False)
            try:
                connection.connect(self._name)
                peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            except OSError:
                return ""
        # struct ucred: pid, uid, gid.
        return str(struct.unpack("3i", peer)[0])

    def release(self) -> None:
        """Release the lock; the file stays (removing it would race with the next holder)."""
        if self._fd is not None:
            unlock_file(self._fd)
        self._close()

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def forget_in_child(self) -> None:
        """Close a forked child's copy, which would keep the lock alive after its parent."""
        self._close()


_held: weakref.WeakSet[CrawlLock] = weakref.WeakSet()


def _forget_all_in_child() -> None:
    for lock in list(_held):
        lock.forget_in_child()


os.register_at_fork(after_in_child=_forget_all_in_child)


# --- Who works on a database now, crawls and consoles, also on one of another version's schema ----

_MOST_CONSOLES = 16
"""Of one MariaDB database."""
_LOOK_SECONDS = 30.0
# Nothing runs longer without a new record; older ones without an end died.
_RUN_DAYS = 7.0


def who_runs(c: Connection) -> list[str]:
    """Crawls that go on, in words; [] when nobody does.

    Only columns of the first release are read: the schema may be older than this program.
    """
    tables = set(inspect(c).get_table_names())
    found = _runs(c) if "run" in tables else []
    if not found and "collector" in tables:
        found = _collectors(c)
    if not found and c.dialect.name == "sqlite":
        found = _lock_holders(sqlite_path(c.engine.url))
    return found


def lives(pid: int) -> bool:
    """Whether *pid* is a crawl on this machine; where that cannot be told, any process is."""
    try:
        # Signal 0 asks whether the process is there, without touching it.
        os.kill(pid, 0)
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except ProcessLookupError:
        return False
    except OSError:
        return True
    # The process id may have been given to another program since; its command line tells.
    return b"crawl" in command or not command


def _runs(c: Connection) -> list[str]:
    """Runs without an end whose process is there, as far as this machine can see."""
    since = to_stored_time(datetime.now(UTC) - timedelta(days=_RUN_DAYS))
    rows = c.execute(
        text(
            "SELECT id, spider, pid, machine, started_at FROM run"
            " WHERE finished_at IS NULL AND started_at >= :since ORDER BY id"
        ),
        {"since": str(since) if c.dialect.name == "sqlite" else since},
    )
    here = socket.gethostname()
    return [
        _(
            "run {id} of {spider} (process {pid} on {machine}, since {time} UTC)",
            id=run_id,
            spider=spider,
            pid=pid,
            machine=machine,
            time=f"{from_time(started_at):%m-%d %H:%M}",
        )
        for run_id, spider, pid, machine, started_at in rows
        if machine == here and pid != os.getpid() and lives(pid)
    ]


def _collectors(c: Connection) -> list[str]:
    """Workers that gave a sign of life, on any machine."""
    rows = c.execute(
        text(
            "SELECT o.token, r.id, r.spider, r.pid, r.machine FROM collector o"
            " LEFT JOIN run r ON r.id = o.run_id WHERE o.seen_at >= :since"
        ),
        {"since": clock(c) - ALIVE_SECONDS},
    )
    return [
        _(
            "run {id} of {spider} (process {pid} on {machine})",
            id=run_id,
            spider=spider,
            pid=pid,
            machine=machine,
        )
        if run_id is not None
        else _("a worker (token {token})", token=token)
        for token, run_id, spider, pid, machine in rows
    ]


def _lock_holders(path: Path) -> list[str]:
    """Who holds the lock of a crawl or of a round: what a record does not tell yet."""
    for name in ("crawl", "run"):
        try:
            CrawlLock(path, name=name).release()
        except CrawlLockedError as error:
            return [str(error)]
    return []


# --- Consoles -----------------------------------------------------------------------------------


def who_serves(engine: Engine) -> list[str]:
    """Consoles that serve the database of *engine*, in words that say how to end them."""
    if engine.dialect.name == "sqlite":
        return _serving_file(sqlite_path(engine.url))
    with engine.connect() as c:
        names = _lock_names(c)
        asked = ", ".join(f"IS_USED_LOCK(:n{number})" for number in range(len(names)))
        named = {f"n{number}": name for number, name in enumerate(names)}
        holders = [holder for holder in c.execute(text(f"SELECT {asked}"), named).one() if holder]
        hosts = [
            c.execute(
                text("SELECT host FROM information_schema.processlist WHERE id = :id"),
                {"id": holder},
            ).scalar()
            for holder in holders
        ]
    return [
        _(
            "a console (on {host}): end it there by Ctrl-C, or stop its service",
            host=(host or "?").rpartition(":")[0] or host,
        )
        for host in hosts
    ]


def _serving_file(database: Path) -> list[str]:
    path = _console_file(database)
    try:
        fd = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return []
    try:
        with suppress(BlockingIOError):
            try_lock_file(fd)
            return []
        os.lseek(fd, 0, os.SEEK_SET)
        lines = os.read(fd, 65_536).decode("utf-8", "replace").split("\n")
    finally:
        os.close(fd)
    written = [line.partition(" ")[::2] for line in lines if line]
    return [
        _(
            "a console (process {pid}, {address}): end it by Ctrl-C where it runs, or by "
            "`kill {pid}`",
            pid=pid,
            address=address,
        )
        for pid, address in written
        if pid.isdigit() and _is_there(int(pid))
    ] or [_("a console: end it by Ctrl-C where it runs")]


def _is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists() or not Path("/proc/self").exists()


def _console_file(database: Path) -> Path:
    # Resolved: two links to one file are one database.
    database = database.resolve()
    return database.with_name(f"{database.name}.console-lock")


def _lock_names(c: Connection) -> list[str]:
    # Locks are the server's, not the database's; a name ends at 64 characters.
    key = hashlib.sha256((c.engine.url.database or "").encode()).hexdigest()[:16]
    return [f"qiaocrawl console {key} {number}" for number in range(_MOST_CONSOLES)]


class ConsoleSign:
    """Lets :func:`who_serves` see a console, until :meth:`close` or the end of its process.

    Several consoles may serve one database. Beside a SQLite file it is a lock of the operating
    system that all consoles share; on a server a named lock of a connection of its own.

    Args:
        address: where the console is, for people.
    """

    def __init__(self, engine: Engine, address: str) -> None:
        self._engine = engine
        self._fd: int | None = None
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None
        if engine.dialect.name == "sqlite":
            self._sign_file(sqlite_path(engine.url), address)
        else:
            self._thread = threading.Thread(target=self._keep, name="console sign", daemon=True)
            self._thread.start()

    def _sign_file(self, database: Path, address: str) -> None:
        try:
            self._fd = os.open(
                _console_file(database),
                os.O_RDWR | os.O_CREAT | os.O_APPEND,
                0o600,
            )
            with suppress(BlockingIOError):
                # Nobody else is there: what ended without a word is forgotten.
                try_lock_file(self._fd)
                os.ftruncate(self._fd, 0)
            share_lock_of_file(self._fd)
            os.write(self._fd, f"{os.getpid()} {address}\n".encode())
        except OSError as error:
            logger.warning("other programs cannot see this console: %s", error)

    def _keep(self) -> None:
        """Hold a lock of the server; taken again after it was away."""
        while not self._is_over.is_set():
            try:
                with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
                    self._hold(c)
            except SQLAlchemyError as error:
                logger.debug("no sign of this console: %s", error)
            self._is_over.wait(_LOOK_SECONDS)

    def _hold(self, c: Connection) -> None:
        # A connection of its own, which is closed with what it holds and not given back.
        c.detach()
        take, give_back = text("SELECT GET_LOCK(:name, 0)"), text("SELECT RELEASE_LOCK(:name)")
        for name in _lock_names(c):
            if c.execute(take, {"name": name}).scalar() == 1:
                break
        while not self._is_over.wait(_LOOK_SECONDS):
            c.execute(text("SELECT 1"))
        # A busy server would see the end of its connection later than others ask who serves.
        c.execute(give_back, {"name": name})

    def close(self) -> None:
        """Take the sign away."""
        self._is_over.set()
        if self._thread is not None:
            self._thread.join()
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
