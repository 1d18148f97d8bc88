"""Our Markdown of pages beside other projects', against the right one.

    python benchmarks/structure.py [--data DIR] [--json FILE] [--peers trafilatura,…] [--limit N]

Without ``--data``: the pages of ``structure_pages/``, written by hand, each a body in one of the
frames there (menus, boxes, footers, comments) with its right Markdown. DIR holds ``gold.jsonl`` and
``pages/ID.html.gz`` as for ``extraction.py``; its ``markdown`` is right, or, for a page without
one, its ``text``: then only text and 5-grams tell anything. The figures are explained
in ``bodies/structure_score.py``. A line at the top that repeats the title is left out for all.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.bodies.markdown_peers import WRITERS
from benchmarks.bodies.structure_score import FIGURES, plain, score
from benchmarks.extraction import BenchmarkError, decode
from benchmarks.rows import write_rows
from qiaocrawl.errors import QiaoError
from qiaocrawl.extract.api import extract_article

PAGES = Path(__file__).resolve().parent / "structure_pages"
_GOLD = "\n=== gold\n"
_URL = "https://www.example.cn/news/2024/05/t20240506_1234.html"


@dataclass(frozen=True, slots=True)
class StructuredPage:
    """A page with its right Markdown; ``kind`` groups the figures."""

    id: str
    kind: str
    url: str
    body: bytes
    text: str
    title: str
    markdown: str


Method = Callable[[StructuredPage], str]


def own_pages() -> Iterator[StructuredPage]:
    """The pages written by hand: ``frame | title`` on the first line, the body, the gold."""
    for file in sorted(PAGES.glob("*.page")):
        head, _, rest = file.read_text("utf-8").partition("\n")
        frame, _, title = head.partition(" | ")
        content, _, gold = rest.partition(_GOLD)
        source = framed(frame, title, content)
        yield StructuredPage(file.stem, frame, _URL, source.encode(), source, title, gold.strip())


def framed(name: str, title: str, content: str) -> str:
    """*content* as a whole page in the frame called *name*: ``language | end of the title``."""
    head, _, frame = (PAGES / f"{name}.frame").read_text("utf-8").partition("\n")
    language, _, suffix = head.partition(" | ")
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        f"<title>{escape(title)}{suffix}</title></head><body>"
        f"{frame.format(title=escape(title), content=content)}</body></html>"
    )


def pages_of(data: Path) -> Iterator[StructuredPage]:
    """The pages of *data* that have a right text.

    Raises:
        BenchmarkError: there is no gold file.
    """
    file = data / "gold.jsonl"
    if not file.is_file():
        raise BenchmarkError(f"--data {str(data)!r}: no gold.jsonl there")
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        gold = row.get("markdown") or row["text"]
        if gold:
            body = gzip.decompress((data / "pages" / f"{row['id']}.html.gz").read_bytes())
            yield StructuredPage(
                row["id"], row["lang"] or "", row["url"] or "", body, decode(body),
                row["title"] or "", gold,
            )  # fmt: skip


def our_markdown(page: StructuredPage) -> str:
    """:attr:`qiaocrawl.extract.extraction.Extraction.markdown` of the page."""
    return extract_article(page.body, page.url, "text/html; charset=utf-8").markdown


def _peer(name: str) -> Method:
    write = WRITERS[name]()

    def markdown(page: StructuredPage) -> str:
        try:
            return write(page.text, page.url)
        except Exception as error:
            return _nothing(f"{name}: {page.id}: {error!r}")

    return markdown


def _nothing(failure: str) -> str:
    """What a method that fails on a page has of it; the failure is told."""
    print(failure[:200], file=sys.stderr)
    return ""


def without_title(markdown: str, title: str) -> str:
    """*markdown* without a first line that only repeats the title."""
    first, _, rest = markdown.strip().partition("\n")
    return rest.strip() if title and plain(first) == plain(title) else markdown.strip()


def measure(pages: list[StructuredPage], methods: Mapping[str, Method]) -> list[dict[str, object]]:
    """A row a method and page: the figures, and the seconds of the processor."""
    rows: list[dict[str, object]] = []
    for page in track(pages, "pages", console=Console(stderr=True)):
        for name, method in methods.items():
            begin = time.process_time()
            found = method(page)
            seconds = time.process_time() - begin
            figures = score(page.markdown, without_title(found, page.title))
            rows.append({"method": name, "page": page.id, "kind": page.kind, **figures,
                         "seconds": seconds})  # fmt: skip
    return rows


def _mean(rows: list[dict[str, object]], figure: str) -> str:
    values = [value for row in rows if isinstance(value := row[figure], float)]
    return f"{statistics.fmean(values):.3f} ({len(values)})" if values else "–"


def show(rows: list[dict[str, object]], console: Console) -> None:
    """A line a method: the mean of every figure with its pages, and milliseconds a page."""
    table = Table("method", *FIGURES, "ms/page")
    for name in dict.fromkeys(str(row["method"]) for row in rows):
        own = [row for row in rows if row["method"] == name]
        spent = statistics.fmean(float(str(row["seconds"])) for row in own)
        table.add_row(name, *(_mean(own, figure) for figure in FIGURES), f"{1e3 * spent:.1f}")
    console.print(table)


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; 1 when the data is not there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--peers", default=",".join(WRITERS))
    parser.add_argument("--limit", type=int, default=0)
    options = parser.parse_args(arguments)
    console = Console(width=130)
    methods: dict[str, Method] = {"qiaocrawl": our_markdown}
    for name in filter(None, options.peers.split(",")):
        try:
            methods[name] = _peer(name)
        except ImportError:
            console.print(f"{name}: not installed, skipped")
    try:
        pages = list(pages_of(options.data) if options.data else own_pages())
        rows = measure(pages[: options.limit or None], methods)
    except QiaoError as error:
        console.print(str(error))
        return 1
    show(rows, console)
    if options.json:
        write_rows(options.json, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
