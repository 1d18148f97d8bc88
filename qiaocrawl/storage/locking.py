"""One crawl at a time on a SQLite file: an operating-system lock that dies with its process."""

from __future__ import annotations

import fcntl
import os
import weakref
from pathlib import Path

from qiaocrawl.errors import CrawlLockedError


class CrawlLock:
    """Holds ``<database file>.crawl-lock`` until :meth:`release` or the end of the process.

    Raises:
        CrawlLockedError: another crawl holds it; the message names its process.
    """

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(database.name + ".crawl-lock")
        self._fd: int | None = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._fd, 32, 0).decode("ascii", "replace").strip()
            self._close()
            raise CrawlLockedError(
                f"another crawl (process {holder or 'unknown'}) runs on {database}; SQLite takes "
                "one crawl at a time: wait for it, or use MariaDB for several"
            ) from error
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)
        _held.add(self)

    def release(self) -> None:
        """Let the lock go; the file stays (removing it would race with the next holder)."""
        if self._fd is not None:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        self._close()

    def _close(self) -> None:
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
