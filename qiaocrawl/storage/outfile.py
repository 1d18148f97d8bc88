"""Files that appear under their name only when they are whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qiaocrawl.errors import StorageError
from qiaocrawl.language import _

SQLITE_ENDINGS = ("-journal", "-wal", "-shm")
"""Of what SQLite keeps beside a file it writes to."""


@contextmanager
def growing_file(target: Path) -> Iterator[Path]:
    """A path to write to; it becomes *target* when the block ends without an error.

    Raises:
        StorageError: the file cannot be written, or *target* is a device or the like, in whose
            place no file may be put.
    """
    if target.exists() and not target.is_file():
        raise StorageError(
            _("cannot write {target!r}: it is there and no file", target=str(target))
        )
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Opened now, not at the first write: a folder without rights is reported before an
        # hour of export.
        part.touch()
    except OSError as error:
        raise StorageError(
            _("cannot write {target!r}: {error}", target=str(target), error=error)
        ) from error
    try:
        yield part
        # Atomic on one file system, which is why the part lies beside its target.
        os.replace(part, target)
    except OSError as error:
        raise StorageError(
            _("cannot write {target!r}: {error}", target=str(target), error=error)
        ) from error
    finally:
        # After an error the half is removed, with what SQLite had beside it; after os.replace there
        # is nothing left to remove.
        for ending in ("", *SQLITE_ENDINGS):
            part.with_name(part.name + ending).unlink(missing_ok=True)


@contextmanager
def growing_folder(folder: Path) -> Iterator[Path]:
    """*folder*, in which the block may make files: after an error none of them is left."""
    before = {file.name for file in folder.iterdir()} if folder.is_dir() else None
    try:
        yield folder
    except BaseException:
        if before is None:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            for file in folder.iterdir():
                if file.name not in before:
                    file.unlink(missing_ok=True)
        raise
