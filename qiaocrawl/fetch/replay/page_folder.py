"""Reads a folder of collected pages, where ``graph.jsonl`` says which file holds which URL.

Each line of the graph is a JSON object with ``url`` and ``file``; the files are in
``pages.tar`` beside it or lie unpacked in the folder. Graph and tar may be compressed
(xz, gzip or bzip2); a page called ``*.gz`` is unpacked as well.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, cast

from qiaocrawl.errors import ReplayError
from qiaocrawl.fetch.replay.recording_index import IndexWriter
from qiaocrawl.fetch.replay.warc import NotDecodableError, TooLargeError, decode
from qiaocrawl.language import _

GRAPH_NAMES = ("graph.jsonl.xz", "graph.jsonl.gz", "graph.jsonl.bz2", "graph.jsonl")
TAR_NAMES = ("pages.tar.xz", "pages.tar.gz", "pages.tgz", "pages.tar.bz2", "pages.tar")

# The collections hold pages only and keep no headers; the page itself declares its charset.
_HEADERS = (("content-type", "text/html"),)
# Longest line of a graph: 4,096 links of 2,083 characters.
_MAX_LINE_BYTES = 8 * 1024**2
# A graph is held in memory while its pages are unpacked: room for a million pages.
_MAX_GRAPH_BYTES = 1024**3
# Headers before one member of a tar file; a larger one is an attack on our memory.
_MAX_TAR_HEADER_BYTES = 1024**2
# JSON can escape half a surrogate pair, which no URL holds.
_SURROGATE = re.compile("[\ud800-\udfff]")
_BROKEN = (EOFError, OSError, zlib.error, lzma.LZMAError)


def find_graph(folder: Path) -> Path | None:
    """The graph file of *folder*, if it is a folder of collected pages."""
    return _first_of(folder, GRAPH_NAMES)


def find_tar(folder: Path) -> Path | None:
    """The tar file with the pages of *folder*, if they are not unpacked only."""
    return _first_of(folder, TAR_NAMES)


def graph_files(graph: Path) -> dict[str, list[str]]:
    """Which URLs are in which file, in the order of the graph.

    Raises:
        ReplayError: a line that is not what it must be, or a file name that leads out of
            the folder.
    """
    files: dict[str, list[str]] = {}
    for number, line in enumerate(_lines(graph), start=1):
        if not line.strip():
            continue
        url, file = _graph_line(f"{graph}: line {number}", line)
        files.setdefault(file, []).append(url)
    if not files:
        raise ReplayError(_("{graph} lists no page", graph=graph))
    return files


def read_page_folder(folder: Path, files: Mapping[str, Sequence[str]], writer: IndexWriter) -> None:
    """Write the pages of *folder* that *files* lists to *writer*.

    Counted and left out: listed pages that are not there (``missing``) or above the limit
    (``too_large``; these count as missing too), files of the tar that the graph does not
    list (``unlisted``), links and devices (``refused``).

    Raises:
        ReplayError: the tar file is broken or cut short.
    """
    tar = find_tar(folder)
    left = dict(files)
    pages = _tar_pages(tar, left, writer) if tar else _loose_pages(folder, left, writer)
    for name, body in pages:
        body_id = writer.add_body(body)
        for url in left.pop(name):
            writer.add(url, 200, _HEADERS, body_id)
    writer.faults["missing"] += sum(map(len, left.values()))


def page_path(folder: Path, name: str) -> Path | None:
    """The file *name* inside *folder*; None when it is not there or a link leads outside."""
    try:
        path = (folder / name).resolve(strict=True)
    except OSError:
        return None
    return path if path.is_relative_to(folder.resolve()) and path.is_file() else None


def _first_of(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _graph_line(place: str, line: bytes) -> tuple[str, str]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ReplayError(_("{place} is not JSON: {error}", place=place, error=error)) from error
    values = [entry.get(name) if isinstance(entry, dict) else None for name in ("url", "file")]
    url, file = values
    if not isinstance(url, str) or not isinstance(file, str):
        raise ReplayError(
            _('{place} must be an object with the texts "url" and "file"', place=place)
        )
    if not url.startswith(("http://", "https://")) or _SURROGATE.search(url):
        raise ReplayError(
            _(
                "{place}: url must be text that starts with http:// or https://, got {url!r}",
                place=place,
                url=url,
            )
        )
    name = PurePosixPath(file)
    if name.is_absolute() or ".." in name.parts or "\0" in file or not name.parts:
        raise ReplayError(
            _(
                "{place}: file must be a path inside the folder, got {file!r}",
                place=place,
                file=file,
            )
        )
    return url, str(name)


def _lines(graph: Path) -> Iterator[bytes]:
    left_bytes = _MAX_GRAPH_BYTES
    try:
        with _open_unpacked(graph) as stream:
            while line := stream.readline(_MAX_LINE_BYTES + 1):
                left_bytes -= len(line)
                if len(line) > _MAX_LINE_BYTES:
                    raise ReplayError(
                        _(
                            "{graph}: a line is longer than {max_line_bytes} bytes",
                            graph=graph,
                            max_line_bytes=_MAX_LINE_BYTES,
                        )
                    )
                if left_bytes < 0:
                    raise ReplayError(
                        _(
                            "{graph} is longer than {max_graph_bytes} bytes",
                            graph=graph,
                            max_graph_bytes=_MAX_GRAPH_BYTES,
                        )
                    )
                yield line
    except _BROKEN as error:
        raise ReplayError(
            _("{graph} is broken or cut short: {error}", graph=graph, error=error)
        ) from error


def _open_unpacked(path: Path) -> IO[bytes]:
    """*path* opened through the decompressor that its first bytes ask for."""
    with path.open("rb") as raw:
        start = raw.read(6)
    if start.startswith(b"\xfd7zXZ\0"):
        return lzma.open(path)
    if start.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.open(path))
    if start.startswith(b"BZh"):
        return bz2.open(path)
    return path.open("rb")


class _Bounded:
    """A stream that gives out no more than it was allowed to.

    Guards against tar headers that unpack to gigabytes: the reader of tar files holds a
    header in memory, whatever size it claims.
    """

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream = stream
        self._path = path
        self._allowed_bytes = 0

    def allow(self, size: int) -> None:
        """Let *size* bytes pass from here on."""
        self._allowed_bytes = size

    def read(self, size: int) -> bytes:
        """The next *size* bytes, fewer at the end."""
        self._allowed_bytes -= size
        if self._allowed_bytes < 0:
            raise ReplayError(
                _("{path}: the header of a member is unreasonably large", path=self._path)
            )
        return self._stream.read(size)


def _tar_pages(
    tar: Path, names: Mapping[str, object], writer: IndexWriter
) -> Iterator[tuple[str, bytes]]:
    try:
        with _open_unpacked(tar) as stream:
            bounded = _Bounded(stream, tar)
            bounded.allow(_MAX_TAR_HEADER_BYTES)
            with tarfile.open(fileobj=cast(IO[bytes], bounded), mode="r|") as archive:
                while member := archive.next():
                    bounded.allow(member.size + _MAX_TAR_HEADER_BYTES)
                    name = str(PurePosixPath(member.name))
                    body = _member_body(archive, member, name in names, tar, writer)
                    if body is not None:
                        yield name, body
                    bounded.allow(member.size + _MAX_TAR_HEADER_BYTES)
    except (*_BROKEN, tarfile.TarError) as error:
        raise ReplayError(
            _("{tar} is broken or cut short: {error}", tar=tar, error=error)
        ) from error


def _member_body(
    archive: tarfile.TarFile,
    member: tarfile.TarInfo,
    is_listed: bool,
    tar: Path,
    writer: IndexWriter,
) -> bytes | None:
    if member.isdir():
        return None
    if not member.isreg() or member.size < 0:
        # Links and devices could lead outside; a collection needs none.
        writer.faults["refused"] += 1
        return None
    writer.spend(member.size, tar)
    if not is_listed:
        writer.faults["unlisted"] += 1
        return None
    if member.size > writer.limits.max_page_bytes:
        writer.faults["too_large"] += 1
        return None
    stream = archive.extractfile(member)
    return None if stream is None else _page_body(member.name, stream.read(), writer)


def _loose_pages(
    folder: Path, names: Mapping[str, object], writer: IndexWriter
) -> Iterator[tuple[str, bytes]]:
    for name in list(names):
        path = page_path(folder, name)
        if path is None:
            continue
        size = path.stat().st_size
        writer.spend(size, folder)
        if size > writer.limits.max_page_bytes:
            writer.faults["too_large"] += 1
            continue
        body = _page_body(name, path.read_bytes(), writer)
        if body is not None:
            yield name, body


def _page_body(name: str, body: bytes, writer: IndexWriter) -> bytes | None:
    if not name.endswith(".gz"):
        return body
    try:
        body, cut_short = decode(body, ["gzip"], writer.limits.max_page_bytes)
    except TooLargeError:
        writer.faults["too_large"] += 1
        return None
    except NotDecodableError:
        writer.faults["undecodable"] += 1
        return None
    writer.faults["truncated"] += cut_short
    return body
