"""Title, date and author of posts beside other extractors, site by site.

    python benchmarks/fields.py --data DIR [--json FILE] [--peers trafilatura,newspaper4k,gne]
        [--sites a.example.org,b.example.org] [--wrong N]

DIR is a folder of collected pages (``graph.jsonl.xz`` beside ``pages.tar.xz`` or ``pages/``)
with ``labels.jsonl.gz``: a page a line with url, kind, title, date (YYYY-MM-DD) and author; ""
without gold. Only pages of kind ``post`` count.

``title``: share equal but for marks and spaces. ``date``: share with the right day, as written
on the page. ``author_found``: share whose names are all there and no other. ``author_precision``:
the same of the pages an author was given for. ``author_unlabelled``: share of the pages without
gold that got an author, right or not.
"""

from __future__ import annotations

import argparse
import gzip
import json
import logging
import sys
import tarfile
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.bodies.score import Found, Gold, letters, names
from benchmarks.extraction import GoldPage, Method, chosen_methods, decode
from benchmarks.rows import write_rows
from qiaocrawl.errors import QiaoError
from qiaocrawl.fetch.replay.page_folder import find_graph, find_tar, graph_files
from qiaocrawl.urls import host_of

METRICS = ("title", "date", "author_found", "author_precision", "author_unlabelled")
_LABELS = "labels.jsonl.gz"
_POST = "post"


@dataclass(frozen=True, slots=True)
class Row:
    """One figure; None where no page has it."""

    site: str
    method: str
    metric: str
    value: float | None
    pages: int


class FieldsError(QiaoError):
    """The data asked for is not there."""


def load_posts(data: Path, sites: Sequence[str] = ()) -> list[GoldPage]:
    """The labelled posts of *data*, in the order of the labels.

    Args:
        sites: only these hosts; empty for all.

    Raises:
        FieldsError: labels or pages are missing, or no post is left.
    """
    labels, graph = data / _LABELS, find_graph(data)
    if not labels.is_file() or graph is None:
        raise FieldsError(f"--data {str(data)!r}: {_LABELS} and graph.jsonl.xz must be there")
    file_of = {url: file for file, urls in graph_files(graph).items() for url in urls}
    with gzip.open(labels, "rt", encoding="utf-8") as lines:
        posts = [row for row in map(json.loads, lines) if row["kind"] == _POST]
    posts = [row for row in posts if not sites or host_of(row["url"]) in sites]
    bodies = _bodies(data, {file_of[row["url"]] for row in posts if row["url"] in file_of})
    pages = [
        _page(row, bodies[file]) for row in posts if (file := file_of.get(row["url"], "")) in bodies
    ]
    if not pages:
        raise FieldsError(f"--data {str(data)!r}: no labelled posts")
    return pages


def _page(row: Mapping[str, str], body: bytes) -> GoldPage:
    authors = (row["author"],) if row["author"] else ()
    gold = Gold("zh", None, row["title"] or None, row["date"] or None, authors)
    return GoldPage(row["url"], row["url"], host_of(row["url"]), body, decode(body), gold)


def _bodies(data: Path, files: set[str]) -> dict[str, bytes]:
    tar = find_tar(data)
    if tar is None:
        return {file: (data / file).read_bytes() for file in files if (data / file).is_file()}
    with tarfile.open(tar) as archive:
        return {
            member.name: stream.read()
            for member in archive
            if member.name in files and (stream := archive.extractfile(member)) is not None
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is right of one page's fields; None where there is no gold or no such field."""

    title: float | None
    date: float | None
    author_found: float | None
    author_precision: float | None
    author_unlabelled: float | None


def judge(gold: Gold, found: Found) -> Verdict:
    """Judge the fields *found* on one page."""
    right, given = names(gold.authors), names(found.authors or ())
    is_right = float(given == right)
    has_authors = found.authors is not None
    return Verdict(
        title=float(letters(gold.title) == letters(found.title or "")) if gold.title else None,
        date=float(gold.date == (found.date or "")[:10]) if gold.date else None,
        author_found=is_right if right and has_authors else None,
        author_precision=is_right if right and given else None,
        author_unlabelled=float(bool(given)) if not right and has_authors else None,
    )


def rows_of(pages: Sequence[GoldPage], found: Mapping[str, Sequence[Found]]) -> list[Row]:
    """Every figure of every method, for every site and for all."""
    rows = []
    for method, results in found.items():
        verdicts: dict[str, list[Verdict]] = defaultdict(list)
        for page, result in zip(pages, results, strict=True):
            for site in (page.source, "all"):
                verdicts[site].append(judge(page.gold, result))
        for site, judged in verdicts.items():
            for metric in METRICS:
                values = [v for one in judged if (v := getattr(one, metric)) is not None]
                value = sum(values) / len(values) if values else None
                rows.append(Row(site, method, metric, value, len(values)))
    return rows


def print_rows(rows: Iterable[Row], console: Console) -> None:
    """A table: sites and methods down, figures across."""
    table = Table("site", "method", *METRICS)
    lines: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for row in rows:
        shown = "–" if row.value is None else f"{row.value:.3f} ({row.pages})"
        lines[row.site, row.method][row.metric] = shown
    for (site, method), figures in sorted(lines.items(), key=lambda line: line[0][0]):
        table.add_row(site, method, *(figures[metric] for metric in METRICS))
    console.print(table)
    console.print("in brackets: pages counted")


def print_wrong(
    pages: Sequence[GoldPage], found: Sequence[Found], limit: int, console: Console
) -> None:
    """The first *limit* wrong values of every site and field: gold, found, URL."""
    shown: dict[tuple[str, str], int] = defaultdict(int)
    for page, result in zip(pages, found, strict=True):
        verdict, gold = judge(page.gold, result), page.gold
        for field, value, right, given in (
            ("title", verdict.title, gold.title, result.title),
            ("date", verdict.date, gold.date, result.date),
            ("author", verdict.author_found, gold.authors, result.authors),
        ):
            if value == 0.0 and shown[page.source, field] < limit:
                shown[page.source, field] += 1
                console.print(f"{field}: {right!r} found {given!r} {page.url}", markup=False)


def _read(method: Method, pages: Sequence[GoldPage], name: str, console: Console) -> list[Found]:
    return [method(page) for page in track(pages, name, console=console, transient=True)]


def _names(written: str) -> list[str]:
    return [name for name in (part.strip() for part in written.split(",")) if name]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help=f"folder with {_LABELS}")
    parser.add_argument("--json", type=Path, help="write the rows as JSON Lines")
    parser.add_argument("--methods", type=_names, default=["blend"])
    parser.add_argument("--peers", type=_names, default=["trafilatura", "newspaper4k", "gne"])
    parser.add_argument("--sites", type=_names, default=[], help="only these hosts")
    parser.add_argument("--wrong", type=int, default=0, help="wrong values shown per site")
    return parser.parse_args()


def main() -> None:
    """Measure, print the table, write the rows."""
    arguments = _arguments()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    console = Console(width=None if sys.stdout.isatty() else 160)
    try:
        pages = load_posts(arguments.data, arguments.sites)
        methods = chosen_methods(arguments.methods, arguments.peers, console)
    except QiaoError as error:
        sys.exit(f"benchmarks/fields.py: {error}")
    found = {name: _read(method, pages, name, console) for name, method in methods.items()}
    if arguments.wrong:
        for name in arguments.methods:
            print_wrong(pages, found[name], arguments.wrong, console)
    rows = rows_of(pages, found)
    print_rows(rows, console)
    if arguments.json:
        write_rows(
            arguments.json,
            [
                {"task": "fields", "set": row.site, "method": row.method, "metric": row.metric,
                 "value": None if row.value is None else round(row.value, 4)}
                for row in rows
            ],
        )  # fmt: skip


if __name__ == "__main__":
    main()
