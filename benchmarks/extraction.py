"""Our body extractors beside other projects' on the same pages, with gold.

    python benchmarks/extraction.py --data DIR [--json FILE] [--methods blend,blend:fields]
        [--peers trafilatura,gne] [--half all|choose|report] [--runs 3] [--limit N]
    python benchmarks/extraction.py --fixtures FOLDER …

DIR holds ``gold.jsonl`` (a page a line: id, url, lang, source_dataset, title, date, author,
text; null without gold; several authors may be a list) and ``pages/ID.html.gz``. FOLDER holds test
suites of other projects as they publish them (``bodies/fixtures.py``). The metric is in
``bodies/score.py``.

Time is the CPU time of this process for text and metadata, taken in turn over small batches
of pages; ``speed_ratio`` is trafilatura's time over the method's, the median of the runs. Ours
begin with bytes, so their time holds the decoding; the others get the decoded page. They give
structure (HTML, comments, links) as well; ``blend:fields`` is ``blend`` without, for text and
metadata as the others are asked for.

``--half`` keeps what is chosen on and what is reported on apart, by site: a page is in the
report half when the CRC-32 of its registrable domain (of its id where it has no URL) is odd.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import logging
import statistics
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.progress import track
from rich.table import Table
from w3lib.encoding import html_to_unicode

from benchmarks.bodies.fixtures import fixture_pages
from benchmarks.bodies.peers import PEERS, REFERENCE, USUAL
from benchmarks.bodies.score import (
    FIGURES,
    Found,
    Gold,
    Mean,
    PageScore,
    means,
    score_page,
    title_of_source,
)
from benchmarks.machine import other_work
from benchmarks.rows import write_rows
from qiaocrawl.errors import QiaoError
from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.base import extractors
from qiaocrawl.urls import host_of, registrable_domain

FIELDS_ONLY = ":fields"
"""Behind a method's name: text and fields, as most others give them, and no more."""
OUR_METHODS = ("blend", f"blend{FIELDS_ONLY}", "density", "visual", "cluster")
"""Measured unless others are named; ``template`` needs templates of the very sites."""
HALVES = ("all", "choose", "report")
_BATCH_PAGES = 20
_WARM_UP_PAGES = 3
_FAILURES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class GoldPage:
    """One page of the collection: the bytes, the same decoded for the others, and the gold."""

    id: str
    url: str
    source: str
    body: bytes
    text: str
    gold: Gold

    @property
    def in_report_half(self) -> bool:
        """Whether figures are reported on it; otherwise one may look at it and choose by it."""
        site = registrable_domain(host_of(self.url))
        return zlib.crc32((site or self.id).encode()) % 2 == 1


Method = Callable[[GoldPage], Found]


@dataclass(frozen=True, slots=True)
class Measured:
    """What one method brought: a score and the seconds of every run, page by page."""

    scores: list[PageScore]
    seconds: list[list[float]]
    failures: list[str]


class BenchmarkError(QiaoError):
    """The data or a method asked for is not there."""


def load_pages(data: Path, half: str = "all", limit: int = 0) -> list[GoldPage]:
    """The pages of *data* in the order of the gold, at most *limit* of them (0 = all).

    Raises:
        BenchmarkError: there is no gold file, or no page is left.
    """
    file = data / "gold.jsonl"
    if not file.is_file():
        raise BenchmarkError(f"--data {str(data)!r}: no gold.jsonl there")
    return _some(_pages_of(data), half, limit) or _nothing(f"--data {str(data)!r}: no pages")


def load_fixtures(folder: Path, half: str = "all", limit: int = 0) -> list[GoldPage]:
    """The same of the test suites in *folder*.

    Raises:
        BenchmarkError: no known suite is there, or no page is left.
    """
    pages = (_page(row, body) for row, body in fixture_pages(folder))
    suites = "no suite of Readability, Postlight or fundus there"
    return _some(pages, half, limit) or _nothing(f"--fixtures {str(folder)!r}: {suites}")


def _nothing(why: str) -> NoReturn:
    raise BenchmarkError(why)


def _some(pages: Iterable[GoldPage], half: str, limit: int) -> list[GoldPage]:
    of_half = (one for one in pages if half == "all" or one.in_report_half == (half == "report"))
    return list(islice(of_half, limit or None))


def _pages_of(data: Path) -> Iterator[GoldPage]:
    with (data / "gold.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            yield _page(row, gzip.decompress((data / f"pages/{row['id']}.html.gz").read_bytes()))


def _page(row: Mapping[str, Any], body: bytes) -> GoldPage:
    name = row["id"] or ""
    text = decode(body)
    named = row["author"] or ()
    authors = (named,) if isinstance(named, str) else tuple(named)
    gold = Gold(row["lang"] or "", row["text"], row["title"], row["date"], authors,
                title_of_source(text))  # fmt: skip
    return GoldPage(name, row["url"] or "", row["source_dataset"] or "", body, text, gold)


def decode(body: bytes) -> str:
    """*body* as text for the other extractors: UTF-8 where it fits, else as it declares."""
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        if body.startswith(b"\xef\xbb\xbf"):
            return body[3:].decode("utf-8", "replace")
        return html_to_unicode(None, body, auto_detect_fun=_fitting)[1]


def _fitting(body: bytes) -> str:
    """A guess for pages that declare nothing."""
    for name in ("gb18030", "big5"):
        try:
            body.decode(name)
        except UnicodeDecodeError:
            continue
        return name
    replaced = body.decode("utf-8", "replace").count("\ufffd")
    return "utf-8" if replaced < len(body) / 50 else "gb18030"


def our_method(name: str) -> Method:
    """:func:`qiaocrawl.extract.api.extract_article` with the body extractor *name*."""
    method, extras = name.removesuffix(FIELDS_ONLY), not name.endswith(FIELDS_ONLY)

    def read(page: GoldPage) -> Found:
        extraction = extract_article(page.body, page.url, method=method, extras=extras)
        day = extraction.published_at
        return Found(extraction.text, extraction.title, day.date().isoformat() if day else "",
                     extraction.authors)  # fmt: skip

    return read


def peer_method(name: str) -> Method:
    """The peer called *name*; a page it fails on counts as empty.

    Raises:
        ImportError: it is not installed.
    """
    peer = PEERS[name]()

    def read(page: GoldPage) -> Found:
        try:
            return peer(page.text, page.url, page.gold.language)
        except Exception as error:
            return Found("", "", "", (), failure=f"{page.id}: {error!r}"[:200])

    return read


def chosen_methods(
    ours: Sequence[str], peers: Sequence[str], console: Console
) -> dict[str, Method]:
    """Methods by name, those that are not there named on *console* and left out.

    Raises:
        BenchmarkError: a peer nobody knows.
    """
    methods: dict[str, Method] = {}
    for name in ours:
        if name.removesuffix(FIELDS_ONLY) in extractors.names():
            methods[name] = our_method(name)
        else:
            console.print(f"{name}: not registered, skipped")
    for name in peers:
        if name not in PEERS:
            raise BenchmarkError(f"unknown peer {name!r} (there are: {', '.join(PEERS)})")
        try:
            methods[name] = peer_method(name)
        except ImportError as error:
            console.print(
                f"{name}: skipped ({error}); pip install -e '.[benchmark]' -c constraints.txt",
                markup=False,
            )
    return methods


def measure(
    methods: Mapping[str, Method], pages: Sequence[GoldPage], runs: int, console: Console
) -> dict[str, Measured]:
    """Run all *methods* over *pages*, in turn batch by batch; the first run is scored."""
    measured = {name: Measured([], [[] for _ in range(runs)], []) for name in methods}
    for read in methods.values():
        for page in pages[:_WARM_UP_PAGES]:
            read(page)
    # Dictionaries and modules stay: the collector need not walk them before every batch.
    gc.collect()
    gc.freeze()
    batches = [pages[i : i + _BATCH_PAGES] for i in range(0, len(pages), _BATCH_PAGES)]
    for run in range(runs):
        for batch in track(batches, f"run {run + 1} of {runs}", console=console, transient=True):
            for name, read in methods.items():
                results = measured[name]
                found, seconds = _timed(read, batch)
                results.seconds[run].extend(seconds)
                if run == 0:
                    results.scores.extend(map(score_page, (page.gold for page in batch), found))
                    results.failures.extend(one.failure for one in found if one.failure)
    gc.unfreeze()
    return measured


def _timed(read: Method, batch: Sequence[GoldPage]) -> tuple[list[Found], list[float]]:
    """What *read* finds, and the CPU seconds of every page."""
    gc.collect()
    results, seconds = [], []
    for page in batch:
        start = time.process_time()
        results.append(read(page))
        seconds.append(time.process_time() - start)
    return results, seconds


@dataclass(frozen=True, slots=True)
class Group:
    """Pages of one source and language; "all" for the sum."""

    source: str
    language: str
    indexes: list[int]


def groups_of(pages: Sequence[GoldPage]) -> Iterator[Group]:
    """All pages, those of every language, those of every source."""
    every = list(range(len(pages)))
    yield Group("all", "all", every)
    for language in sorted({page.gold.language for page in pages}, reverse=True):
        yield Group("all", language, [i for i in every if pages[i].gold.language == language])
    for source, language in sorted({(page.source, page.gold.language) for page in pages}):
        yield Group(
            source,
            language,
            [i for i in every if pages[i].source == source and pages[i].gold.language == language],
        )


def speed_ratio(
    measured: Measured, reference: Measured | None, indexes: Sequence[int]
) -> float | None:
    """The reference's seconds over the method's on these pages: the median of the runs."""
    if reference is None:
        return None
    ratios = [
        sum(map(theirs.__getitem__, indexes)) / max(sum(map(ours.__getitem__, indexes)), 1e-9)
        for ours, theirs in zip(measured.seconds, reference.seconds, strict=True)
    ]
    return statistics.median(ratios)


@dataclass(frozen=True, slots=True)
class Line:
    """One method on one group."""

    method: str
    group: Group
    figures: dict[str, Mean | None]
    speed_ratio: float | None

    def row(self) -> dict[str, object]:
        """As written to JSON; null where there is no gold or no such field."""
        values = {name: mean and round(mean.value, 4) for name, mean in self.figures.items()}
        ratio = self.speed_ratio
        return {
            "method": self.method, "source": self.group.source,
            "language": self.group.language, "pages": len(self.group.indexes), **values,
            "speed_ratio": None if ratio is None else round(ratio, 3),
        }  # fmt: skip


def lines_of(measured: Mapping[str, Measured], pages: Sequence[GoldPage]) -> list[Line]:
    """Every group with every method."""
    return [
        Line(name, group, means(one.scores[i] for i in group.indexes),
             speed_ratio(one, measured.get(REFERENCE), group.indexes))
        for group in groups_of(pages)
        for name, one in measured.items()
    ]  # fmt: skip


def print_lines(lines: Sequence[Line], console: Console) -> None:
    """A table for every group; ± is half the 95 % bootstrap interval over pages."""
    tables: dict[tuple[str, str], Table] = {}
    for line in lines:
        key = line.group.source, line.group.language
        if key not in tables:
            title = f"source {key[0]}, language {key[1]}: {len(line.group.indexes)} pages"
            tables[key] = Table("method", *FIGURES, "speed ratio", title=title,
                                title_justify="left")  # fmt: skip
        ratio = "–" if line.speed_ratio is None else f"{line.speed_ratio:.2f}"
        tables[key].add_row(line.method, *map(_shown, line.figures.values()), ratio)
    for table in tables.values():
        console.print(table)
    console.print("means over pages ± half of the 95 % bootstrap interval; – no gold or no field")


def _shown(mean: Mean | None) -> str:
    return "–" if mean is None else f"{mean.value:.3f} ±{(mean.high - mean.low) / 2:.3f}"


def _names(written: str) -> list[str]:
    return [name for name in (part.strip() for part in written.split(",")) if name]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    pages = parser.add_mutually_exclusive_group(required=True)
    pages.add_argument("--data", type=Path, help="folder with gold.jsonl")
    pages.add_argument("--fixtures", type=Path, help="folder with test suites of other projects")
    parser.add_argument("--json", type=Path, help="write the rows as JSON Lines")
    parser.add_argument("--methods", type=_names, default=list(OUR_METHODS))
    parser.add_argument(
        "--peers", type=_names, default=list(USUAL), help=f"of {', '.join(PEERS)}; '' for none"
    )
    parser.add_argument("--half", choices=HALVES, default="all")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=int, default=0, help="pages at most; 0 = all")
    arguments = parser.parse_args()
    if arguments.runs < 1:
        parser.error("--runs must be 1 or more")
    return arguments


def main() -> None:
    """Measure, print the tables, write the rows."""
    arguments = _arguments()
    # The others report oddities of pages page by page.
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    console = Console(width=None if sys.stdout.isatty() else 160)
    try:
        load, place = (
            (load_fixtures, arguments.fixtures)
            if arguments.fixtures
            else (load_pages, arguments.data)
        )
        pages = load(place, arguments.half, arguments.limit)
        methods = chosen_methods(arguments.methods, arguments.peers, console)
    except QiaoError as error:
        sys.exit(f"benchmarks/extraction.py: {error}")
    with other_work() as others:
        measured = measure(methods, pages, arguments.runs, console)
    if REFERENCE not in measured:
        console.print(f"no speed ratios: {REFERENCE} is not among the peers")
    lines = lines_of(measured, pages)
    print_lines(lines, console)
    console.print(others.words(), style="yellow")
    for name, one in measured.items():
        if one.failures:
            shown = "; ".join(one.failures[:_FAILURES_SHOWN])
            console.print(f"{name} failed on {len(one.failures)} pages: {shown}", markup=False)
    if arguments.json:
        write_rows(arguments.json, [line.row() for line in lines])


if __name__ == "__main__":
    main()
