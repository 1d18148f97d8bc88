"""A recorded web, opened: answers by URL."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import TracebackType
from typing import Any

from qiaocrawl.errors import ReplayError
from qiaocrawl.fetch.replay.page_folder import (
    GRAPH_NAMES,
    find_graph,
    find_tar,
    graph_files,
    page_path,
    read_page_folder,
)
from qiaocrawl.fetch.replay.recording_index import (
    BEST_FIRST,
    INDEX_FORMAT,
    IndexWriter,
    Limits,
    RecordedPage,
    decompress,
    exact_key,
    loose_key,
)
from qiaocrawl.fetch.replay.warc import SUFFIXES, find_warcs, read_warcs
from qiaocrawl.language import _
from qiaocrawl.machine import lock_file
from qiaocrawl.options.project import user_cache_folder
from qiaocrawl.urls import canonical_url

_ANSWER = (
    "SELECT status, headers, data, url FROM record JOIN body ON body.id = record.body"
    " WHERE {column} = ? ORDER BY {order} LIMIT 1"
)
_BY_EXACT = _ANSWER.format(column="exact", order=BEST_FIRST)
_URLS_BY_LOOSE = "SELECT DISTINCT url FROM record WHERE loose = ?"
_BY_CANONICAL = _ANSWER.format(column="canonical", order=BEST_FIRST)


class RecordedWeb:
    """The answers of a recorded web, by URL. Threads may share it; processes open their own.

    Args:
        index_file: the cache file that :func:`~qiaocrawl.fetch.replay.web.open_recording` keeps.
        source: what was recorded, for messages.
    """

    def __init__(self, index_file: Path, source: str) -> None:
        self.source = source
        self._lock = threading.Lock()
        try:
            # Complete files never change, so no lock on the file is needed to read.
            self._db = sqlite3.connect(
                f"{index_file.absolute().as_uri()}?mode=ro&immutable=1",
                uri=True,
                check_same_thread=False,
            )
        except sqlite3.Error as error:
            raise ReplayError(
                _(
                    "{index_file}: cache of {source} cannot be opened: {error}",
                    index_file=index_file,
                    source=source,
                    error=error,
                )
            ) from error
        try:
            self._read_meta(index_file)
        except BaseException:
            self._db.close()
            raise

    def _read_meta(self, index_file: Path) -> None:
        try:
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            meta = {
                name: json.loads(value)
                for name, value in self._db.execute("SELECT name, value FROM meta")
            }
        except (sqlite3.Error, ValueError) as error:
            raise ReplayError(
                _(
                    "{index_file}: cache of {source} is damaged: {error}",
                    index_file=index_file,
                    source=self.source,
                    error=error,
                )
            ) from error
        if version != INDEX_FORMAT or "pages" not in meta:
            raise ReplayError(
                _(
                    "{index_file}: cache of {source} is incomplete",
                    index_file=index_file,
                    source=self.source,
                )
            )
        self._pages = int(meta["pages"])
        self.faults: Mapping[str, int] = meta.get("faults", {})
        """What could not be read, counted by kind (``truncated``, ``too_large``, ...)."""

    def get(self, url: str) -> RecordedPage | None:
        """The recorded answer of *url*; None when it was not recorded.

        The URL as written comes first, then its canonical form. A URL that was only
        recorded under the other scheme, or with or without the slash at its end, is
        answered as servers answer it: 301 with the recorded URL in ``location``. Two
        recorded pages are never taken for one.
        """
        url = url.partition("#")[0]
        row = self._row(_BY_EXACT, exact_key(url))
        if row is None:
            canonical = canonical_url(url)
            if canonical is None:
                return None
            row = self._row(_BY_CANONICAL, exact_key(canonical))
            if row is None:
                return self._variant(url, canonical)
        status, headers, data, recorded_url = row
        pairs = tuple((name, value) for name, value in json.loads(headers))
        return RecordedPage(status, pairs, decompress(data), recorded_url)

    def urls(self) -> Iterator[str]:
        """Every recorded URL once, as it was written."""
        with self._lock:
            rows = self._db.execute("SELECT min(url) FROM record GROUP BY exact ORDER BY min(id)")
            urls = [url for (url,) in rows]
        yield from urls

    def __len__(self) -> int:
        """Distinct recorded URLs."""
        return self._pages

    def close(self) -> None:
        """Close the cache file; it stays for the next opening."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> RecordedWeb:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _row(self, query: str, key: bytes) -> Any:
        return next(iter(self._rows(query, key)), None)

    def _rows(self, query: str, key: bytes) -> list[Any]:
        try:
            with self._lock:
                return self._db.execute(query, (key,)).fetchall()
        except sqlite3.Error as error:
            raise ReplayError(
                _("recorded web {source} cannot be read: {error}", source=self.source, error=error)
            ) from error

    def _variant(self, url: str, canonical: str) -> RecordedPage | None:
        """A redirect to the recorded spelling: the same scheme rather than the other one."""
        rows = self._rows(_URLS_BY_LOOSE, loose_key(canonical))
        if not rows:
            return None
        scheme = canonical.partition("//")[0]
        recorded = min((row[0] for row in rows), key=lambda r: (not r.startswith(scheme), r))
        return RecordedPage(301, (("location", recorded),), b"", url)


# --- The cache folder for indexes of recorded webs, shared by processes ---------------------------

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
        with _lock_file(self._folder / f"{fingerprint}{_LOCK_SUFFIX}"):
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
def _lock_file(path: Path) -> Iterator[None]:
    """Hold *path* for this process; the lock goes when the process ends, however it ends."""
    with path.open("ab") as file:
        lock_file(file.fileno())
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


# --- Opens a recorded web: recognises its format, unpacks it once, opens the cached index ---------

DEFAULT_LIMITS = Limits()


def open_recording(
    path: str | Path, *, cache_dir: Path | None = None, limits: Limits = DEFAULT_LIMITS
) -> RecordedWeb:
    """Open the recorded web at *path*.

    Args:
        path: a folder with ``graph.jsonl.xz`` and ``pages.tar.xz`` (or ``pages/``), a
            ``.warc`` or ``.warc.gz`` file, or a folder of such files.
        cache_dir: where the unpacked form is kept; None for ``qiaocrawl/replay`` in
            ``$XDG_CACHE_HOME`` (``~/.cache`` without it).
        limits: how much may come out of it.

    Raises:
        ReplayError: it is not there, is none of these, or cannot be read or unpacked.
    """
    source = Path(path).expanduser().absolute()
    try:
        fingerprint, fill = _reading(source, limits)
        web = _unpack_web(source, fingerprint, IndexCache(cache_dir), limits, fill)
    except (OSError, sqlite3.Error) as error:
        # Not readable, or no room left for its cache file.
        raise ReplayError(
            _("recorded web {path!r} cannot be opened: {error}", path=str(path), error=error)
        ) from error
    if web.faults:
        counts = ", ".join(f"{name} {count}" for name, count in sorted(web.faults.items()))
        _log.warning("recorded web %s: %d pages; not read: %s", source, len(web), counts)
    return web


def _unpack_web(
    source: Path,
    fingerprint: str,
    cache: IndexCache,
    limits: Limits,
    fill: Callable[[IndexWriter], None],
) -> RecordedWeb:
    index_file = cache.index_file(fingerprint, str(source), limits, fill)
    try:
        return RecordedWeb(index_file, str(source))
    except ReplayError as error:
        _log.warning("%s; unpacking again", error)
        cache.forget(index_file)
        return RecordedWeb(cache.index_file(fingerprint, str(source), limits, fill), str(source))


def _reading(source: Path, limits: Limits) -> tuple[str, Callable[[IndexWriter], None]]:
    """What identifies the content of *source*, and how to read it."""
    if not source.exists():
        raise ReplayError(_("recorded web {source!r} does not exist", source=str(source)))
    graph = find_graph(source) if source.is_dir() else None
    if graph is not None:
        return _collection_reading(source, graph, limits)
    warcs = find_warcs(source)
    if not warcs:
        raise ReplayError(
            _(
                "{source!r} is no recorded web: expected a file that ends in {suffixes}, a "
                "folder of such files, or a folder with {graph}",
                source=str(source),
                suffixes=" or ".join(SUFFIXES),
                graph=GRAPH_NAMES[0],
            )
        )
    contents = {str(file.relative_to(source.parent)): _digest(file) for file in warcs}
    return _fingerprint(contents, limits), lambda writer: read_warcs(warcs, writer)


def _collection_reading(
    source: Path, graph: Path, limits: Limits
) -> tuple[str, Callable[[IndexWriter], None]]:
    tar = find_tar(source)
    contents = {"graph": _digest(graph)}
    if tar is not None:
        contents["pages"] = _digest(tar)
    else:
        # Thousands of loose files: their sizes and times stand for their content.
        contents["pages"] = _stat_digest(source, graph_files(graph))
    return (
        _fingerprint(contents, limits),
        lambda writer: read_page_folder(source, graph_files(graph), writer),
    )


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "blake2b").hexdigest()


def _stat_digest(folder: Path, names: Iterable[str]) -> str:
    digest = hashlib.blake2b()
    for name in names:
        path = page_path(folder, name)
        stat = path.stat() if path else None
        entry = (name, stat.st_size, stat.st_mtime_ns) if stat else (name,)
        digest.update(repr(entry).encode())
    return digest.hexdigest()


def _fingerprint(contents: Mapping[str, str], limits: Limits) -> str:
    """One name for equal content, read under equal rules.

    The look-up keys in a cache file are canonical URLs, so the source of those rules is
    part of the name: a file written by an older version of them is not used.
    """
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr((INDEX_FORMAT, limits, sorted(contents.items()))).encode())
    for rules in sorted(resources.files("qiaocrawl.urls").iterdir(), key=lambda rule: rule.name):
        if rules.name.endswith((".py", ".txt", ".toml")):
            digest.update(rules.read_bytes())
    return digest.hexdigest()
