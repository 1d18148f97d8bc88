"""What a page is: index pages among stored articles and posts missed, site by site.

    python benchmarks/page_kinds.py --data DIR [--json FILE] [--sites a.example.org,b.example.org]

DIR is a folder of collected pages (``graph.jsonl.xz`` beside ``pages.tar.xz`` or ``pages/``)
with ``labels.jsonl.gz``: a page a line with url, kind (post, home, list, tag, category, archive,
about, search, error404, other) and, of posts, text.

``qiaocrawl`` judges every page by itself, as the first one of its site; ``qiaocrawl, site known``
withdraws what stands on the pages it leads to, as a crawl does. Beside them: trafilatura, whose
call is the text it returns (250 characters, its own least size); the published rules of
Boilerpipe (words and link density of a block and its neighbours) with the same least size; the
share of linked text; and the form of the address, as newspaper's ``valid_url`` judges it.

``index_share``: index pages (home, list, tag, category, archive) of all pages taken for articles.
``missed``: posts of 100 characters and more that were not. ``missed_any``: all posts that were
not. ``macro_f1``: mean F1 over the labelled kinds, about and others apart, for those who tell them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import logging
import re
import sys
import tarfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.extraction import decode
from benchmarks.rows import write_rows
from qiaocrawl.errors import QiaoError
from qiaocrawl.extract.page import extract_page
from qiaocrawl.fetch.replay.page_folder import find_graph, find_tar, graph_files
from qiaocrawl.items import Outcome
from qiaocrawl.page.blocks import Block
from qiaocrawl.page.page import parse_page
from qiaocrawl.storage.pages.excerpts import INDEX_SHARE
from qiaocrawl.urls import host_of, url_key

INDEXES = frozenset(("home", "list", "tag", "category", "archive"))
KINDS = ("article", "home", "list", "tag", "category", "archive", "error")
METRICS = ("index_share", "missed", "missed_any", "macro_f1")
OURS, OURS_KNOWN = "qiaocrawl", "qiaocrawl, site known"
_LABELS = "labels.jsonl.gz"
_GOLD_KINDS = {"post": "article", "error404": "error"}
_LONG_POST_CHARS = 100
_LEAST_TEXT_CHARS = 250
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A page, what it is, and the characters of its post (0 where nobody counted them)."""

    url: str
    kind: str
    chars: int
    body: bytes

    @property
    def site(self) -> str:
        """The host it stands on."""
        return host_of(self.url)


@dataclass(frozen=True, slots=True)
class Call:
    """What a method takes a page for; ``chars`` of text it found, ``kind`` "" for no word."""

    is_article: bool
    kind: str = ""
    chars: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One figure; None where no page has it."""

    task: str
    set: str
    method: str
    metric: str
    value: float | None


class KindsError(QiaoError):
    """The data asked for is not there."""


def load_pages(data: Path, sites: Sequence[str] = ()) -> list[Labelled]:
    """The labelled pages of *data*, in the order of the labels.

    Raises:
        KindsError: labels or pages are missing.
    """
    labels, graph = data / _LABELS, find_graph(data)
    if not labels.is_file() or graph is None:
        raise KindsError(f"--data {str(data)!r}: {_LABELS} and graph.jsonl.xz must be there")
    file_of = {url: file for file, urls in graph_files(graph).items() for url in urls}
    with gzip.open(labels, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if not sites or host_of(row["url"]) in sites]
    bodies = dict(_bodies(data, {file_of[row["url"]] for row in rows if row["url"] in file_of}))
    pages = [
        Labelled(row["url"], _GOLD_KINDS.get(row["kind"], row["kind"]), len(row.get("text") or ""),
                 bodies[file])
        for row in rows if (file := file_of.get(row["url"], "")) in bodies
    ]  # fmt: skip
    if not pages:
        raise KindsError(f"--data {str(data)!r}: no labelled pages")
    return pages


def _bodies(data: Path, files: set[str]) -> Iterator[tuple[str, bytes]]:
    tar = find_tar(data)
    if tar is None:
        yield from ((file, (data / file).read_bytes()) for file in files if (data / file).is_file())
        return
    with tarfile.open(tar) as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.name in files else None
            if stream is not None:
                yield member.name, stream.read()


# --- methods -----------------------------------------------------------------------------------


def ours(pages: Sequence[Labelled]) -> tuple[list[Call], list[Call]]:
    """Our calls on each page by itself, and once the site is known."""
    calls, excerpts, texts = [], [], {}
    for page in track(pages, OURS):
        extracted = extract_page(parse_page(page.body, "", page.url), "blend")
        judgement = extracted.judgement
        is_article = judgement.outcome is Outcome.ARTICLE
        calls.append(Call(is_article, str(judgement.kind), len(extracted.text)))
        excerpts.append(judgement.excerpts)
        if is_article:
            texts[url_key(page.url)] = _NOT_WORD.sub("", extracted.text).lower()
    known = []
    for call, own in zip(calls, excerpts, strict=True):
        standing = sum(share for key, opening, share in own if opening in texts.get(key, ""))
        is_index = call.is_article and standing >= INDEX_SHARE
        known.append(Call(False, "list", call.chars) if is_index else call)
    return calls, known


def trafilatura_rule() -> Callable[[Labelled], Call]:
    """Trafilatura's call.

    Raises:
        ImportError: it is not installed.
    """
    module = import_module("trafilatura")

    def judge(page: Labelled) -> Call:
        try:
            document = module.bare_extraction(
                decode(page.body), url=page.url, include_comments=False, with_metadata=True
            )
        except (ValueError, TypeError, AttributeError, LookupError):
            # A page it fails on is none it would store.
            document = None
        chars = len(document.text or "") if document is not None else 0
        return Call(chars >= _LEAST_TEXT_CHARS, "", chars)

    return judge


def boilerpipe_rule(page: Labelled) -> Call:
    """Boilerpipe's rules of words and link density (Kohlschütter and others, 2010)."""
    blocks = parse_page(page.body, "", page.url).blocks.blocks
    chars = sum(
        len(block.text)
        for at, block in enumerate(blocks)
        if _is_content(
            block, blocks[at - 1] if at else None, blocks[at + 1] if at + 1 < len(blocks) else None
        )
    )
    return Call(chars >= _LEAST_TEXT_CHARS, "", chars)


def _is_content(block: Block, before: Block | None, after: Block | None) -> bool:
    if _density(block) > 1 / 3:
        return False
    if _density(before) <= 0.555556:
        if _words(block) > 16:
            return True
        return _words(after) > 15 or _words(before) > 4
    return _words(block) > 40 or _words(after) > 17


def _density(block: Block | None) -> float:
    return block.linked / len(block.text) if block is not None else 0.0


def _words(block: Block | None) -> float:
    """Words of *block*; two Han letters make one."""
    if block is None:
        return 0.0
    han = sum("\u3400" <= letter <= "\u9fff" for letter in block.text)
    return han / 2 + len(re.findall(r"[A-Za-z0-9]+", block.text))


def link_share_rule(page: Labelled) -> Call:
    """An article has less text in links than out of them."""
    blocks = parse_page(page.body, "", page.url).blocks.blocks
    chars = sum(len(block.text) for block in blocks)
    return Call(2 * sum(block.linked for block in blocks) < chars, "", chars)


_DATE_PATH = re.compile(
    r"/(?:19|20)\d\d[/-]?(?:[01]?\d|[a-z]{3})[/-]?(?:[0-3]?\d)?(?:/|\.|$)", re.I
)
_BAD_PARTS = frozenset(
    ("tag", "tags", "category", "categories", "archive", "archives", "page", "search", "about",
     "contact", "author", "list", "index", "login", "topic", "topics", "feed")
)  # fmt: skip


def address_rule(page: Labelled) -> Call:
    """A date, an id or a long slug in the address, and none of the words of lists."""
    path = urlsplit(page.url).path
    parts = [part for part in path.lower().split("/") if part]
    if not parts or _BAD_PARTS.intersection(part.split(".")[0] for part in parts):
        return Call(False)
    slug = parts[-1].rsplit(".", 1)[0]
    is_long = max(slug.count("-"), slug.count("_")) >= 4
    has_id = re.search(r"\d{4,}", slug) is not None
    return Call(bool(_DATE_PATH.search(path) or is_long or has_id))


# --- figures -----------------------------------------------------------------------------------


def figures(
    pages: Sequence[Labelled], calls: Sequence[Call], chars: Sequence[int]
) -> list[float | None]:
    """The values of :data:`METRICS`.

    Args:
        chars: of the text of each page, the longer of gold and what was found.
    """
    pairs = list(zip(pages, calls, chars, strict=True))
    stored = [page.kind in INDEXES for page, call, _ in pairs if call.is_article]
    posts = [(call.is_article, size) for page, call, size in pairs if page.kind == "article"]
    long_posts = [is_article for is_article, size in posts if size >= _LONG_POST_CHARS]
    told = [(page.kind, call.kind) for page, call, _ in pairs if call.kind]
    return [
        _share(stored),
        _share([not is_article for is_article in long_posts]),
        _share([not is_article for is_article, _ in posts]),
        macro_f1(told) if told else None,
    ]


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def macro_f1(pairs: Sequence[tuple[str, str]]) -> float:
    """Mean F1 of :data:`KINDS` over (gold, called), of those kinds the gold has."""
    right, gold, called = Counter[str](), Counter[str](), Counter[str]()
    for kind, call in pairs:
        gold[kind] += 1
        called[call] += 1
        right[kind] += kind == call
    kinds = [kind for kind in KINDS if gold[kind]]
    return sum(2 * right[kind] / (gold[kind] + called[kind]) for kind in kinds) / len(kinds)


def all_calls(pages: Sequence[Labelled], console: Console) -> dict[str, list[Call]]:
    """The calls of every method; one that is not installed is named and left out."""
    calls: dict[str, list[Call]] = {}
    calls[OURS], calls[OURS_KNOWN] = ours(pages)
    rules: dict[str, Callable[[Labelled], Call]] = {
        "boilerpipe rules": boilerpipe_rule,
        "link share": link_share_rule,
        "address": address_rule,
    }
    try:
        rules["trafilatura"] = trafilatura_rule()
    except ImportError:
        console.print("trafilatura: not installed, skipped")
    for name, rule in rules.items():
        calls[name] = [rule(page) for page in track(pages, name)]
    return calls


def rows_of(pages: Sequence[Labelled], calls: Mapping[str, Sequence[Call]]) -> list[Row]:
    """Every figure of every method, for every site and for all."""
    chars = [max(page.chars, call.chars) for page, call in zip(pages, calls[OURS], strict=True)]
    sites: dict[str, list[int]] = defaultdict(list)
    for at, page in enumerate(pages):
        sites[page.site].append(at)
        sites["all"].append(at)
    return [
        Row("page_kinds", site, method, metric, value)
        for site, places in sites.items()
        for method, made in calls.items()
        for metric, value in zip(
            METRICS,
            figures([pages[at] for at in places], [made[at] for at in places],
                    [chars[at] for at in places]),
            strict=True,
        )
    ]  # fmt: skip


def print_rows(rows: Sequence[Row], console: Console) -> None:
    """A table of all figures, in percent."""
    table = Table("set", "method", *METRICS)
    lines: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        lines[row.set, row.method].append("" if row.value is None else f"{100 * row.value:.1f}")
    for (name, method), values in lines.items():
        table.add_row(name, method, *values)
    console.print(table)


def main() -> None:
    """Parse the arguments, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with labels and pages")
    parser.add_argument("--sites", default="", help="hosts, comma separated; all when empty")
    parser.add_argument("--json", type=Path, help="write the rows as JSON Lines")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    console = Console()
    try:
        pages = load_pages(options.data, [site for site in options.sites.split(",") if site])
    except KindsError as error:
        sys.exit(f"benchmarks/page_kinds.py: {error}")
    rows = rows_of(pages, all_calls(pages, console))
    print_rows(rows, console)
    if options.json:
        write_rows(options.json, [asdict(row) for row in rows])


if __name__ == "__main__":
    main()
