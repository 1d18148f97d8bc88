"""Collections of linked, labelled pages, read with the product's own reader and kept parsed.

A folder holds collections as sub-folders: ``graph.jsonl.xz`` (a page a line: url, file,
topics), ``pages.tar.xz`` or ``pages/`` and ``topics.json`` (``topics``: name to query;
``seeds``: start pages, may be empty). A sub-folder with ``examples.jsonl.gz`` (url, html,
label) holds labelled training pages for all collections whose names begin with the same word
before the first ``_``.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import multiprocessing
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from rich.console import Console
from rich.progress import track

import qiaocrawl
from qiaocrawl.errors import QiaoError
from qiaocrawl.extract.page import analyse_html
from qiaocrawl.fetch.replay.page_folder import find_graph, find_tar, graph_files
from qiaocrawl.fetch.replay.recording_index import loose_key
from qiaocrawl.fetch.replay.web import RecordedWeb, open_recording
from qiaocrawl.items import FetchedPage, Link, PageAnalysis, PageText
from qiaocrawl.urls import canonical_host, canonical_url, url_key

MAX_LINKS = 1000
"""Links read of one page, as a crawl does unless it is told otherwise."""
EXAMPLES_NAME = "examples.jsonl.gz"
TOPICS_NAME = "topics.json"

_METHOD = "blend"
_FETCHED_AT = datetime(2026, 1, 1, tzinfo=UTC)
_HEADERS = (("content-type", "text/html"),)
_READERS = ("page", "extract", "text", "urls", "items")
"""What decides how a page is read: parsed pages of an earlier version are not used."""
_FORMAT = 1
_CHUNK_PAGES = 20


class FocusError(QiaoError):
    """The data, a strategy or a topic asked for is not there."""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page of a collection.

    Attributes:
        url, key, host: as the crawl knows it.
        words: what page scorers read.
        links: those to pages of the collection, as (number of the page, link), in document
            order and each page once; the link's URL is the one the page is stored under.
    """

    url: str
    key: bytes
    host: str
    words: PageText
    links: tuple[tuple[int, Link], ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled training page that is no part of a collection."""

    labels: frozenset[str]
    words: PageText


@dataclass(frozen=True, slots=True)
class Collection:
    """Pages by number with what may be told (queries, seeds) and what may not (labels).

    Attributes:
        name: of its folder.
        pages: in the order of the graph.
        labels: topics of each page; hidden from strategies and judges.
        queries: words of each topic.
        seeds: numbers of the start pages; empty where none are named.
        digest: of its content and of the code that read it.
        examples: labelled pages of this kind of collection; empty where there are none.
    """

    name: str
    pages: tuple[StoredPage, ...]
    labels: tuple[frozenset[str], ...]
    queries: Mapping[str, str]
    seeds: tuple[int, ...]
    digest: str
    examples: tuple[Example, ...] = ()


# --- what is there --------------------------------------------------------------------------


def find_collections(data: Path) -> list[Path]:
    """The crawlable collections in *data* by name.

    Raises:
        FocusError: there are none.
    """
    folders = sorted(data.iterdir()) if data.is_dir() else []
    collections = [
        folder for folder in folders if (folder / TOPICS_NAME).is_file() and find_graph(folder)
    ]
    if not collections:
        raise FocusError(
            f"--data {str(data)!r}: no collection there (a folder with graph.jsonl.xz, "
            f"pages.tar.xz and {TOPICS_NAME})"
        )
    return collections


def find_examples(folder: Path) -> list[Path]:
    """The files of training pages for the collection in *folder*."""
    kind = folder.name.partition("_")[0]
    beside = (one for one in sorted(folder.parent.iterdir()) if one.is_dir())
    return [one / EXAMPLES_NAME for one in beside
            if one.name.partition("_")[0] == kind and (one / EXAMPLES_NAME).is_file()]  # fmt: skip


def read_topics(folder: Path) -> tuple[dict[str, str], list[str]]:
    """Queries by topic and the URLs of the start pages of the collection in *folder*.

    Raises:
        FocusError: ``topics.json`` is not what it must be.
    """
    file = folder / TOPICS_NAME
    try:
        named = json.loads(file.read_text(encoding="utf-8"))
        queries = {str(topic): str(query) for topic, query in named["topics"].items()}
        return queries, [str(url) for url in named.get("seeds", ())]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FocusError(f'{file} must hold {{"topics": …, "seeds": …}}: {error!r}') from error


def cache_folder() -> Path:
    """Where parsed pages and unfinished runs are kept."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    folder = (Path(home) if home else Path.home() / ".cache") / "qiaocrawl" / "focus"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@cache
def code_digest(*parts: str) -> str:
    """One name for the present source and data of these files and folders of the package."""
    root = Path(qiaocrawl.__file__).parent
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        place = root / part
        files = [place] if place.is_file() else sorted(place.rglob("*"))
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(f"{file.relative_to(root)}\0".encode())
                digest.update(hashlib.blake2b(file.read_bytes()).digest())
    return digest.hexdigest()


# --- reading --------------------------------------------------------------------------------


def load_collection(folder: Path, console: Console | None = None) -> Collection:
    """The collection in *folder*, parsed on all cores, or as it was parsed before.

    Raises:
        FocusError: its topics are not what they must be.
        ReplayError: its graph or its pages cannot be read.
    """
    console = console or Console(stderr=True)
    queries, seeds = read_topics(folder)
    digest = collection_digest(folder)
    (pages, labels) = _kept(folder.name, digest, lambda: _parsed(folder, console))
    examples: list[Example] = []
    for file in find_examples(folder):
        examples += _kept(file.parent.name, _digest([file], []),
                          partial(_parsed_examples, file, console))  # fmt: skip
    numbers = _Numbers([page.url for page in pages])
    starts = []
    for url in seeds:
        start = numbers.of(canonical_url(url) or "")
        if start is None:
            raise FocusError(f"{folder / TOPICS_NAME}: seed {url!r} is no page of the collection")
        starts.append(start)
    return Collection(folder.name, pages, labels, queries, tuple(dict.fromkeys(starts)), digest,
                      tuple(examples))  # fmt: skip


def collection_digest(folder: Path) -> str:
    """One name for the pages in *folder* and the code that reads them.

    Raises:
        FocusError: there is no graph.
    """
    graph, tar = find_graph(folder), find_tar(folder)
    if graph is None:
        raise FocusError(f"{str(folder)!r}: no graph.jsonl.xz there")
    if tar is not None:
        return _digest([graph, tar], [])
    return _digest([graph], sorted(folder.rglob("pages/*")))


def _digest(content: Sequence[Path], loose: Sequence[Path]) -> str:
    """Of what files hold; the sizes and times of thousands of loose ones stand for it."""
    digest = hashlib.blake2b(f"{_FORMAT} {code_digest(*_READERS)}".encode(), digest_size=12)
    for file in content:
        digest.update(hashlib.blake2b(file.read_bytes()).digest())
    for file in loose:
        stat = file.stat()
        digest.update(f"{file.name} {stat.st_size} {stat.st_mtime_ns}".encode())
    return digest.hexdigest()


def _kept(name: str, digest: str, make: Callable[[], Any]) -> Any:
    """What *make* gives, from the cache where it was made before."""
    target = cache_folder() / f"{name}-{digest}.pickle"
    if target.is_file():
        return pickle.loads(target.read_bytes())
    made = make()
    write_whole(target, pickle.dumps(made, pickle.HIGHEST_PROTOCOL))
    return made


def write_whole(target: Path, content: bytes) -> None:
    """Write *target* so that it is there whole or not at all."""
    with NamedTemporaryFile(dir=target.parent, delete=False) as file:
        file.write(content)
    os.replace(file.name, target)


class _Numbers:
    """Numbers of pages by URL, as a recorded web finds them: scheme and last slash may differ."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._exact: dict[str, int] = {}
        self._loose: dict[bytes, list[int]] = {}
        self._urls = urls
        for number, url in enumerate(urls):
            self._exact.setdefault(url, number)
            self._loose.setdefault(loose_key(url), []).append(number)

    def of(self, canonical: str) -> int | None:
        """The page that answers *canonical*; None if there is none."""
        number = self._exact.get(canonical)
        if number is not None:
            return number
        numbers = self._loose.get(loose_key(canonical), ())
        scheme = canonical.partition("//")[0]
        return min(numbers, default=None,
                   key=lambda n: (not self._urls[n].startswith(scheme), self._urls[n]))  # fmt: skip


def _graph_rows(folder: Path) -> Iterator[tuple[str, str, frozenset[str]]]:
    """URL as written, canonical URL and topics of every page, each canonical URL once."""
    graph = find_graph(folder)
    assert graph is not None, "the caller has looked"
    topics = dict(_topics_of(graph))
    seen: set[str] = set()
    for urls in graph_files(graph).values():
        for url in urls:
            canonical = canonical_url(url)
            if canonical is not None and canonical not in seen:
                seen.add(canonical)
                yield url, canonical, topics.get(url, frozenset())


def _topics_of(graph: Path) -> Iterator[tuple[str, frozenset[str]]]:
    # The archive's reader has no use for labels, so they are read here.
    opener: Any = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}.get(graph.suffix, open)
    with opener(graph, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                row = json.loads(line)
                yield row["url"], frozenset(map(str, row.get("topics", ())))


# --- parsing, in worker processes -----------------------------------------------------------

_web: RecordedWeb | None = None
_known: frozenset[bytes] = frozenset()


def _start_reader(folder: str, known: frozenset[bytes]) -> None:
    global _web, _known
    _web, _known = open_recording(folder), known


def _read_stored(url: str) -> tuple[PageText, tuple[Link, ...]] | None:
    """The words of a page of the collection and its links that may lead to another."""
    assert _web is not None, "the worker was started without a collection"
    recorded = _web.get(url)
    if recorded is None:
        return None
    analysis = _read(recorded.url, recorded.body)
    if analysis.words is None:
        return PageText("", ""), ()
    links = () if analysis.nofollow else analysis.links
    if analysis.refresh_url and not analysis.nofollow:
        links = (_plain_link(analysis.refresh_url), *links)
    return analysis.words, tuple(link for link in links if loose_key(link.url) in _known)


def _read_example(row: tuple[str, str]) -> PageText:
    return _read(row[0], row[1].encode()).words or PageText("", "")


def _read(url: str, body: bytes) -> PageAnalysis:
    page = FetchedPage(url, url, 200, _HEADERS, body, _FETCHED_AT)
    return analyse_html(page, _METHOD, MAX_LINKS)


def _plain_link(url: str) -> Link:
    return Link(url=url, key=url_key(url), host=canonical_host(url))


def _on_all_cores(
    function: Any, rows: Sequence[Any], said: str, console: Console,
    start: Any = None, given: tuple[Any, ...] = (),
) -> list[Any]:  # fmt: skip
    # Not forked: what another thread of this process holds would be held for ever in a worker.
    context = multiprocessing.get_context("forkserver")
    with context.Pool(initializer=start, initargs=given) as pool:
        results = pool.imap(function, rows, _CHUNK_PAGES)
        return list(track(results, said, len(rows), console=console, transient=True))


def _parsed(
    folder: Path, console: Console
) -> tuple[tuple[StoredPage, ...], tuple[frozenset[str], ...]]:
    rows = list(_graph_rows(folder))
    open_recording(folder).close()  # Unpacked once, before the workers ask for it.
    loose_keys = frozenset(loose_key(canonical) for _, canonical, _ in rows)
    read = _on_all_cores(_read_stored, [url for url, _, _ in rows], f"reading {folder.name}",
                         console, _start_reader, (str(folder), loose_keys))  # fmt: skip
    there = [(row, page) for row, page in zip(rows, read, strict=True) if page is not None]
    if len(there) < len(rows):
        console.print(f"{folder.name}: {len(rows) - len(there)} listed pages are missing")
    numbers = _Numbers([canonical for (_, canonical, _), _ in there])
    pages = tuple(
        StoredPage(canonical, url_key(canonical), canonical_host(canonical), words,
                   _inside(number, links, numbers, [row[1] for row, _ in there]))
        for number, ((_, canonical, _), (words, links)) in enumerate(there)
    )  # fmt: skip
    return pages, tuple(row[2] for row, _ in there)


def _inside(
    own: int, links: Iterable[Link], numbers: _Numbers, urls: Sequence[str]
) -> tuple[tuple[int, Link], ...]:
    """The links to other pages of the collection; of several to one page the first with text."""
    by_number: dict[int, Link] = {}
    for link in links:
        number = numbers.of(link.url)
        if number is None or number == own:
            continue
        if number not in by_number or (link.anchor and not by_number[number].anchor):
            url = urls[number]
            by_number[number] = replace(link, url=url, key=url_key(url), host=canonical_host(url))
    return tuple(by_number.items())


def _parsed_examples(file: Path, console: Console) -> list[Example]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    texts = _on_all_cores(_read_example, [(row["url"], row["html"]) for row in rows],
                          f"reading {file.parent.name}", console)  # fmt: skip
    return [Example(_labels(row["label"]), words) for row, words in zip(rows, texts, strict=True)]


def _labels(written: str | Sequence[str]) -> frozenset[str]:
    return frozenset([written] if isinstance(written, str) else map(str, written))
