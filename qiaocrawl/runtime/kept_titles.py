"""Indexes of titles in files of the user's cache folder, so that a start need not cut titles anew.

A file is named by a mark in the log of titles (see :mod:`qiaocrawl.storage.titles.title_log`).
It is believed only by a database that has this mark, by a program that would make the same index
(its recipe), and if its check sums are right. So a file can be lost, or never finished, at the
cost of time alone.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
from sqlalchemy import Connection

from qiaocrawl.dedup import TitleIndex
from qiaocrawl.dedup.vocabulary import SavedState, pack, unpack
from qiaocrawl.machine import try_lock_file
from qiaocrawl.options.project import user_cache_folder
from qiaocrawl.storage.titles import title_log

_log = logging.getLogger(__name__)

_SUFFIX, _DRAFT, _LOCK = ".npz", ".part", "lock"
_HEADER = "header"
# A file not taken up for so long is deleted when another one is written.
_UNUSED_SECONDS = 30 * 86400


@dataclass(frozen=True, slots=True)
class Kept:
    """An index as of an entry of the log.

    Attributes:
        seq: the entry; all up to it are in the index.
        taken_out: keys of titles that an operator took out.
    """

    index: TitleIndex
    seq: int
    taken_out: frozenset[bytes]


class KeptTitles:
    """The files in *folder*; None is ``qiaocrawl/titles`` in the user's cache folder."""

    def __init__(self, folder: Path | None = None) -> None:
        # An account without a home keeps nothing.
        with suppress(RuntimeError):
            folder = folder or user_cache_folder() / "titles"
        self._folder = folder

    def restore(self, c: Connection, make: Callable[[], TitleIndex]) -> Kept | None:
        """The index of the newest file that *c*'s database and *make* agree with, if any.

        Args:
            make: makes the empty index that is to be filled.
        """
        marks = title_log.marks(c)
        # A recipe is a digest of many files: a store without marks need not wait for it.
        if not marks:
            return None
        recipe, newest = make().recipe, title_log.newest(c)
        for mark, seq in marks.items():
            # No entry as new as the mark: somebody deleted rows by hand.
            if seq <= newest and (kept := self._read(mark, seq, recipe, make)) is not None:
                return kept
        return None

    def write(self, c: Connection, mark: bytes, kept: Kept) -> bool:
        """Write *kept* under *mark*, which stands in *c*'s database at its place.

        Returns:
            False where it cannot be written, or another process writes one just now.
        """
        if self._folder is None:
            return False
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _try_lock(self._folder / _LOCK) as is_mine:
                if is_mine:
                    self._delete_old()
                    self._write(mark, kept)
                    self._delete_replaced(c, mark, kept)
                return is_mine
        except OSError as error:
            _log.warning("the index of titles cannot be kept in %s: %s", self._folder, error)
            return False

    # --- reading ------------------------------------------------------------------------------

    def _read(
        self, mark: bytes, seq: int, recipe: str, make: Callable[[], TitleIndex]
    ) -> Kept | None:
        path = self._path(mark)
        if path is None:
            return None
        try:
            with _open_state(path) as state:
                taken_out = _taken_out(state, mark, seq, recipe)
                if taken_out is None:
                    return None
                index = make()
                index.restore(state)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            # It is another machine's or user's.
            return None
        except _DamagedFileError as error:
            _log.warning("%s is damaged (%s); titles are read from the database", path, error)
            with suppress(OSError):
                path.unlink(missing_ok=True)
            return None
        with suppress(OSError):
            os.utime(path)
        return Kept(index, seq, taken_out)

    def _path(self, mark: bytes) -> Path | None:
        return None if self._folder is None else self._folder / f"{mark.hex()}{_SUFFIX}"

    # --- writing ------------------------------------------------------------------------------

    def _write(self, mark: bytes, kept: Kept) -> None:
        assert (path := self._path(mark)) is not None
        state = kept.index.to_state()
        header = {
            "mark": mark.hex(),
            "seq": kept.seq,
            "recipe": kept.index.recipe,
            "taken_out": sorted(key.hex() for key in kept.taken_out),
            "arrays": sorted(state),
        }
        arrays: dict[str, Any] = {_HEADER: pack(header)} | state
        with NamedTemporaryFile(dir=self._folder, suffix=_DRAFT, delete=False) as file:
            draft = Path(file.name)
            try:
                # Beside its place and renamed: no process opens half a file. Nothing waits for
                # the disk: what a power cut leaves of it has a wrong check sum.
                np.savez(file, allow_pickle=False, **arrays)
                file.close()
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)

    def _delete_old(self) -> None:
        """Drafts, since the lock is ours and so their writers are dead; and what nobody uses."""
        assert self._folder is not None
        for path in self._folder.iterdir():
            with suppress(OSError):
                unused_seconds = time.time() - path.stat().st_mtime
                if path.suffix == _DRAFT or (
                    path.suffix == _SUFFIX and unused_seconds > _UNUSED_SECONDS
                ):
                    path.unlink()

    def _delete_replaced(self, c: Connection, mark: bytes, kept: Kept) -> None:
        """Older files of the same database and recipe. Who is reading one goes on."""
        for old, seq in title_log.marks(c).items():
            path = self._path(old)
            if old == mark or seq > kept.seq or path is None:
                continue
            # Most are not here. A damaged one is found when it is to be read.
            with suppress(OSError, _DamagedFileError), _open_state(path) as state:
                if _taken_out(state, old, seq, kept.index.recipe) is not None:
                    path.unlink()


def _taken_out(state: SavedState, mark: bytes, seq: int, recipe: str) -> frozenset[bytes] | None:
    """The titles that were taken out; None for a file of something else.

    Raises:
        ValueError: it has not the arrays that were written.
    """
    header = unpack(state[_HEADER])
    if (header["mark"], header["seq"], header["recipe"]) != (mark.hex(), seq, recipe):
        return None
    # The check sums are of the arrays, not of their names; and some indexes do without some.
    if {_HEADER, *header["arrays"]} != set(state):
        raise ValueError("not all of its arrays are there")
    return frozenset(map(bytes.fromhex, header["taken_out"]))


class _DamagedFileError(Exception):
    """A file of an index that cannot be taken up; says why."""


@contextmanager
def _open_state(path: Path) -> Iterator[SavedState]:
    # numpy leaves a file open that turns out to be no archive.
    with path.open("rb") as file:
        try:
            with np.load(file, allow_pickle=False) as state:
                yield state
        except Exception as error:
            # Damaged bytes can be anything, and each layer that reads them has errors of its own:
            # the archive, headers of arrays, their names and sizes, JSON within.
            raise _DamagedFileError(str(error)) from error


@contextmanager
def _try_lock(path: Path) -> Iterator[bool]:
    """Hold *path* for this process, unless another does; whether it is ours."""
    with path.open("ab") as file:
        try:
            try_lock_file(file.fileno())
        except BlockingIOError:
            yield False
        else:
            yield True
