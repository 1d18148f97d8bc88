"""Opens a recorded web: recognises its format, unpacks it once, opens the cached index."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from pathlib import Path

from qiaocrawl.errors import ReplayError
from qiaocrawl.language import _
from qiaocrawl.replay.cache import IndexCache
from qiaocrawl.replay.page_folder import (
    GRAPH_NAMES,
    find_graph,
    find_tar,
    graph_files,
    page_path,
    read_page_folder,
)
from qiaocrawl.replay.recording_index import INDEX_FORMAT, IndexWriter, Limits
from qiaocrawl.replay.warc import SUFFIXES, find_warcs, read_warcs
from qiaocrawl.replay.web import RecordedWeb

_log = logging.getLogger(__name__)

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
        web = _unpacked(source, fingerprint, IndexCache(cache_dir), limits, fill)
    except (OSError, sqlite3.Error) as error:
        # Not readable, or no room left for its cache file.
        raise ReplayError(
            _("recorded web {path!r} cannot be opened: {error}", path=str(path), error=error)
        ) from error
    if web.faults:
        counts = ", ".join(f"{name} {count}" for name, count in sorted(web.faults.items()))
        _log.warning("recorded web %s: %d pages; not read: %s", source, len(web), counts)
    return web


def _unpacked(
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
