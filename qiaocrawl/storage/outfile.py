"""Files that appear under their name only when they are whole; and standard output."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qiaocrawl.errors import StorageError
from qiaocrawl.language import _

_STDOUT = Path("/dev/fd/1")
_NAMES_OF_STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def is_stdout(target: Path) -> bool:
    """Whether *target* is what people write for standard output."""
    return str(target) in _NAMES_OF_STDOUT


@contextmanager
def standard_output(suffix: str = "", *, in_order: bool = False) -> Iterator[Path]:
    """A path to write to; what is written there comes out of standard output.

    Args:
        suffix: of the path's name.
        in_order: it is written from beginning to end, so that a pipe can have it at once; else
            the whole comes when the block ends without an error.

    Raises:
        StorageError: whoever reads it has gone, or it cannot be written.
    """
    try:
        if in_order and _is_stream():
            yield _STDOUT
            return
        with tempfile.TemporaryDirectory(prefix="qiaocrawl-") as folder:
            part = Path(folder) / f"out{suffix}"
            yield part
            # Not opened by its name: that would cut a file to which the shell appends.
            with part.open("rb") as whole, open(os.dup(1), "wb") as out:
                shutil.copyfileobj(whole, out)
    except OSError as error:
        raise StorageError(_("cannot write standard output: {error}", error=error)) from error


def _is_stream() -> bool:
    mode = os.fstat(1).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


@contextmanager
def growing_file(target: Path) -> Iterator[Path]:
    """A path to write to; it becomes *target* when the block ends without an error.

    Raises:
        StorageError: the file cannot be written, or *target* is a device or the like, in whose
            place no file may be put.
    """
    if target == _STDOUT and _is_stream():
        yield target  # of standard_output()
        return
    if str(target) == "-":
        # A file of this name is never what was meant.
        raise StorageError(
            _("- stands for standard output, where `qiaocrawl export` alone writes: name a file")
        )
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
        # After an error the half is removed; after os.replace there is nothing left to remove.
        part.unlink(missing_ok=True)
