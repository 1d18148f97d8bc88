"""Backups of the database: those there are, and one that is made while people go on working."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from qiaocrawl.errors import JobError
from qiaocrawl.language import _, language, using_language
from qiaocrawl.storage import Database
from qiaocrawl.storage.backup import backup
from qiaocrawl.storage.engine import sqlite_path
from qiaocrawl.storage.keepers import error_of
from qiaocrawl.text.zones import SHANGHAI

FOLDER = Path("backups")
"""Below the working folder; the timer of `qiaocrawl units` writes there, too."""
_ENDINGS = (".db", ".sql", ".sql.gz")
_SQLITE_PAGE_BYTES = 4096
# What else may be written meanwhile.
_SPARE = 1.1

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoredBackup:
    """A backup that is whole: files have their names only then."""

    name: str
    size_bytes: int
    made_at: datetime


@dataclass(frozen=True, slots=True)
class Making:
    """A backup under way, or the last one that was asked for here.

    Attributes:
        done_bytes, total_bytes: a total of 0 is not known, as of a dump.
        error: why there is none; "" while it goes on, and where it is there.
    """

    name: str
    started_at: float
    done_bytes: int = 0
    total_bytes: int = 0
    is_over: bool = False
    error: str = ""


def list_backups(folder: Path = FOLDER) -> list[StoredBackup]:
    """The backups in *folder*, the newest first; [] where there is no such folder."""
    found = []
    try:
        files = [file for file in folder.iterdir() if file.name.endswith(_ENDINGS)]
    except OSError:
        return []
    for file in files:
        try:
            facts = file.stat()
        except OSError:
            continue  # gone meanwhile
        made_at = datetime.fromtimestamp(facts.st_mtime, UTC)
        found.append(StoredBackup(file.name, facts.st_size, made_at))
    return sorted(found, key=lambda one: (one.made_at, one.name), reverse=True)


def free_bytes(folder: Path = FOLDER) -> int:
    """What the disk of *folder* has left."""
    return shutil.disk_usage(folder if folder.exists() else folder.absolute().parent).free


class BackupMaker:
    """Makes one backup at a time, in a thread of its own."""

    def __init__(self, database: Database, folder: Path = FOLDER) -> None:
        self._database = database
        self._folder = folder
        self._lock = threading.Lock()
        self._is_closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._making: Making | None = None

    @property
    def folder(self) -> Path:
        """Where they are."""
        return self._folder

    @property
    def making(self) -> Making | None:
        """The one under way, else the last one that was asked for; None for none."""
        return self._making

    def start(self) -> str:
        """Begin with a backup; returns its name.

        Raises:
            JobError: one is under way, the disk has not enough left, or the folder cannot be
                made.
        """
        with self._lock:
            if self._making is not None and not self._making.is_over:
                raise JobError(_("A backup is under way: {name}", name=self._making.name))
            self._require_room()
            suffix = "db" if self._database.dialect == "sqlite" else "sql.gz"
            name = f"{datetime.now(SHANGHAI):%Y-%m-%d-%H%M%S}.{suffix}"
            try:
                self._folder.mkdir(mode=0o700, exist_ok=True)
            except OSError as error:
                raise JobError(f"{self._folder}: {error.strerror}") from None
            self._making = Making(name, time.time())
            work = self._make
            self._thread = threading.Thread(
                target=work, args=(name, language()), name="backup", daemon=True
            )
            self._thread.start()
        return name

    def _require_room(self) -> None:
        if self._database.dialect != "sqlite":
            return  # the server's files are not here, and a dump is packed
        size = sqlite_path(self._database.engine.url).stat().st_size
        left = free_bytes(self._folder)
        if left < _SPARE * size:
            raise JobError(
                _(
                    "The disk has {left} MB left, and a backup needs about {size} MB.",
                    left=left // 10**6,
                    size=int(_SPARE * size) // 10**6 + 1,
                )
            )

    def _make(self, name: str, speaks: str) -> None:
        error = ""
        with using_language(speaks):
            # A thread: nobody else would hear of it.
            fault = error_of(partial(backup, self._database, self._folder / name, self._tell))
            if isinstance(fault, _ClosingError):
                error = _("the console was stopped")
            elif fault is not None:
                error = str(fault) or type(fault).__name__
                logger.error("the backup %s failed: %s", name, error)
        self._change(lambda making: replace(making, is_over=True, error=error))

    def _tell(self, done: int, total: int) -> None:
        if self._is_closing.is_set():
            raise _ClosingError
        page = _SQLITE_PAGE_BYTES if total else 1
        self._change(
            lambda making: replace(making, done_bytes=done * page, total_bytes=total * page)
        )

    def _change(self, change: Callable[[Making], Making]) -> None:
        with self._lock:
            assert self._making is not None
            self._making = change(self._making)

    def close(self) -> None:
        """Give up one that is under way, and wait for its end: nothing half made stays."""
        self._is_closing.set()
        if self._thread is not None:
            self._thread.join()


class _ClosingError(Exception):
    """The process ends."""
