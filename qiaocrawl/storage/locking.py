"""One crawl at a time on a SQLite file: an operating-system lock that dies with its process."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import socket
import struct
import sys
import time
import weakref
from hashlib import sha256
from pathlib import Path

from qiaocrawl.errors import CrawlLockedError
from qiaocrawl.language import _

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
        self._fd: int | None = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
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
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)
        _held.add(self)

    def _take(self, fd: int, until: float) -> None:
        """Take the lock; OSError when another process holds it beyond *until*."""
        is_said = False
        while True:
            try:
                # flock belongs to the open file; fcntl locks go when any descriptor closes.
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
        holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
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
            fcntl.flock(self._fd, fcntl.LOCK_UN)
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
