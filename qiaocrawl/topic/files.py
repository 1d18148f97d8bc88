"""Files of a pack: read with a size limit, written so that they are whole or not there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from qiaocrawl.errors import RowFault, TopicError
from qiaocrawl.language import _

ZIP_MAGIC = b"PK\x03\x04"
OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""Old ``.xls`` files, and new ones behind a password."""

MAX_FILE_BYTES = 8 * 1024 * 1024
"""Twenty thousand full rows fit; a larger file is not a list somebody wrote."""

MAX_ROWS = 20_000
"""Rows of one table, the header included."""

MAX_SCANNED_CELLS = 2_000_000
"""Of one table, blank ones too: a sheet may name its last row or column only, and a CSV file
be all delimiters."""


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table as it was read: blank rows left out, each row with its 1-based line."""

    rows: tuple[tuple[int, tuple[str, ...]], ...]
    faults: tuple[RowFault, ...] = ()


def read_limited(path: Path, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """The bytes of a file of at most *max_bytes*.

    Raises:
        TopicError: no such file, not readable, no regular file, or too large.
    """
    try:
        if not path.is_file():
            word = _("is no file") if path.exists() else _("does not exist")
            raise TopicError(f"{str(path)!r} {word}")
        with path.open("rb") as file:
            # One byte more than allowed tells a file that is too large without a look at its size.
            data = file.read(max_bytes + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise TopicError(_("cannot read {path!r}: {error}", path=str(path), error=error)) from error
    if len(data) > max_bytes:
        raise TopicError(
            _("{path!r} is larger than {max_bytes} bytes", path=str(path), max_bytes=max_bytes)
        )
    return data


def write_whole(path: Path, data: bytes) -> None:
    """Write *data* beside *path* and rename it into place.

    Raises:
        TopicError: the folder cannot be written.
    """
    try:
        with _beside(path) as temporary:
            temporary.write_bytes(data)
            os.replace(temporary, path)
    except (OSError, ValueError) as error:
        raise TopicError(
            _("cannot write {path!r}: {error}", path=str(path), error=error)
        ) from error


def replace_folder(folder: Path, fill: Callable[[Path], None]) -> None:
    """Put a folder made by *fill* in the place of *folder*; the old one stays if that fails.

    *fill* gets an empty folder beside the target. Between the two renames at the end the
    old folder lies beside as ``.NAME.*/old``.

    Raises:
        TopicError: the parent folder cannot be written.
    """
    folder = folder.resolve()  # a symbolic link keeps pointing at the new folder
    try:
        with _beside(folder) as temporary:
            temporary.mkdir()
            fill(temporary)
            _swap(temporary, folder)
    except (OSError, ValueError) as error:
        raise TopicError(
            _("cannot write {folder!r}: {error}", folder=str(folder), error=error)
        ) from error


def _swap(new: Path, folder: Path) -> None:
    old = new.with_name("old")
    existed = folder.exists()
    if existed:
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        if existed:
            old.rename(folder)
        raise


@contextlib.contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A path of the same name in a folder of its own on the same file system, then removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name[:40]}.", dir=path.parent) as own:
        yield Path(own) / "new"
