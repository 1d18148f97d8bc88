"""The cache folder for indexes of recorded webs, shared by processes."""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from qiaocrawl.errors import ReplayError
from qiaocrawl.language import _
from qiaocrawl.options.project import user_cache_folder
from qiaocrawl.replay.recording_index import IndexWriter, Limits

_log = logging.getLogger(__name__)

# A cache file not opened for this long is deleted when another one is written.
_UNUSED_SECONDS = 30 * 86400
_SUFFIX = ".pack"
# Lock files stay: whoever locks a deleted one excludes nobody.
_LOCK_SUFFIX = ".lock"


def default_folder() -> Path:
    """``qiaocrawl/replay`` in the user's cache folder.

    Raises:
        ReplayError: the account has no home.
    """
    try:
        return user_cache_folder() / "replay"
    except RuntimeError:
        raise ReplayError(
            _("this account has no home: set XDG_CACHE_HOME to a folder that can be written")
        ) from None


class IndexCache:
    """Cache files by fingerprint in *folder*."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or default_folder()

    def index_file(
        self, fingerprint: str, source: str, limits: Limits, fill: Callable[[IndexWriter], None]
    ) -> Path:
        """The complete cache file of *fingerprint*, made by *fill* when it is not there.

        It is written beside its place and renamed, so that no process ever opens half a
        file; processes that need the same one wait for the first instead of repeating it.

        Raises:
            ReplayError: the folder cannot be written, or what *fill* raises.
        """
        index_file = self._folder / f"{fingerprint}{_SUFFIX}"
        if _touch(index_file):
            return index_file
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise ReplayError(
                _(
                    "cache folder {folder!r} cannot be made: {reason}; set XDG_CACHE_HOME to a "
                    "folder that can be written",
                    folder=str(self._folder),
                    reason=error.strerror,
                )
            ) from error
        with _locked(self._folder / f"{fingerprint}{_LOCK_SUFFIX}"):
            if not _touch(index_file):
                self._write(index_file, source, limits, fill)
        return index_file

    def forget(self, index_file: Path) -> None:
        """Delete a cache file that turned out to be damaged."""
        index_file.unlink(missing_ok=True)

    def _write(
        self, index_file: Path, source: str, limits: Limits, fill: Callable[[IndexWriter], None]
    ) -> None:
        self._delete_old(index_file.stem)
        _log.info("unpacking recorded web %s into %s", source, self._folder)
        started = time.monotonic()
        with NamedTemporaryFile(
            dir=self._folder, prefix=f"{index_file.stem}.", delete=False
        ) as file:
            draft = Path(file.name)
        try:
            writer = IndexWriter(draft, limits)
            try:
                fill(writer)
                pages = writer.finish(source)
            finally:
                writer.close()
            _flush(draft)
            draft.replace(index_file)
        finally:
            draft.unlink(missing_ok=True)
        _log.info("unpacked %d pages in %.1f s", pages, time.monotonic() - started)

    def _delete_old(self, fingerprint: str) -> None:
        """Drafts left by killed processes, and what nobody opened for a month."""
        for path in self._folder.iterdir():
            if path.suffix == _LOCK_SUFFIX:
                continue
            # We hold this fingerprint's lock, so a draft of it was left by a killed process.
            left = path.name.startswith(f"{fingerprint}.")
            try:
                if left or time.time() - path.stat().st_mtime > _UNUSED_SECONDS:
                    path.unlink(missing_ok=True)
            except OSError as error:
                _log.info("%s was not deleted: %s", path, error)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold *path* for this process; the lock goes when the process ends, however it ends."""
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _touch(index_file: Path) -> bool:
    """Mark *index_file* as used now; False when it is not there."""
    try:
        os.utime(index_file)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except PermissionError:
        # A cache file of another user cannot be touched, but serves as well.
        return True
    return True


def _flush(path: Path) -> None:
    """Data before the name: after a power cut the file is whole or not there."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
