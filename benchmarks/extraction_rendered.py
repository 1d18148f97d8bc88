"""Body extractors on pages as stored against the same pages opened in Chromium.

    python benchmarks/extraction_rendered.py --data DIR [--json FILE] [--methods visual,cluster]
        [--half all|choose|report] [--pages-per-source N] [--limit N] [--cache DIR]

DIR is the folder ``extraction.py`` reads. Every page is opened from its stored bytes, at its
own address, with every other request refused and scripts switched off: the pages are old, and
what their scripts would fetch is gone. So style sheets and pictures in other files are missing;
what is gained over the markup is the browser's own layout of what the page itself declares.
The layout is written into the page by the script the crawl uses, and the same extractor reads
the page as stored (``declared``) and as rendered.

The metric is that of ``extraction.py``, body only; halves are by site, as there. ``--cache``
keeps the rendered pages for the next run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.bodies.score import Found, Mean, PageScore, means, score_page
from benchmarks.extraction import (
    HALVES,
    BenchmarkError,
    GoldPage,
    Group,
    groups_of,
    load_pages,
)
from benchmarks.rows import write_rows
from qiaocrawl.extract.base import extractors
from qiaocrawl.page.layout import LAYOUT_SCRIPT
from qiaocrawl.page.page import parse_page
from qiaocrawl.text.charset import decode_page

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Route

METHODS = ("visual", "visual_published", "cluster")
FIGURES = ("precision", "recall", "f1", "share_90")
_CHROMIUM = "/usr/bin/chromium"
_UTF_8 = "text/html; charset=utf-8"
_OPEN_MS = 20_000
_WINDOW = {"width": 1280, "height": 1024}


@dataclass(frozen=True, slots=True)
class Line:
    """One method on one group of pages, ``declared`` or ``rendered``."""

    method: str
    look: str
    group: Group
    figures: dict[str, Mean | None]

    def row(self) -> dict[str, object]:
        """As written to JSON."""
        means_of = {name: self.figures[name] for name in FIGURES}
        return {
            "method": self.method, "look": self.look, "source": self.group.source,
            "language": self.group.language, "pages": len(self.group.indexes),
            **{name: mean and round(mean.value, 4) for name, mean in means_of.items()},
        }  # fmt: skip


@contextmanager
def offline_browser(executable: str = _CHROMIUM) -> Iterator[BrowserContext]:
    """A Chromium that runs no scripts."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable)
        try:
            yield browser.new_context(
                java_script_enabled=False,
                service_workers="block",
                viewport=_WINDOW,  # type: ignore[arg-type]  # a TypedDict by another name
            )
        finally:
            browser.close()


def rendered(context: BrowserContext, page: GoldPage) -> str:
    """The source of *page* after Chromium has laid it out, with its layout in it.

    It is given the text as we decode it, so that charsets make no difference.

    Raises:
        playwright.sync_api.Error: the browser cannot open it, or takes too long.
    """
    markup = decode_page(page.body, "").text.encode("utf-8", "replace")
    url = page.url if page.url.startswith("http") else "http://page.invalid/"

    def answer(route: Route) -> None:
        if route.request.is_navigation_request() and route.request.frame == tab.main_frame:
            route.fulfill(body=markup, content_type=_UTF_8)
        else:
            route.abort()

    tab = context.new_page()
    try:
        tab.route("**/*", answer)
        tab.goto(url, wait_until="domcontentloaded", timeout=_OPEN_MS)
        tab.evaluate(LAYOUT_SCRIPT)
        return tab.content()
    finally:
        tab.close()


def rendered_all(pages: Sequence[GoldPage], cache: Path, console: Console) -> dict[str, bytes]:
    """The rendered pages by id, from *cache* where they are there; failures are left out."""
    from playwright.sync_api import Error

    cache.mkdir(parents=True, exist_ok=True)
    found: dict[str, bytes] = {}
    missing = []
    for page in pages:
        file = cache / f"{page.id}.html"
        if file.is_file():
            found[page.id] = file.read_bytes()
        else:
            missing.append(page)
    if not missing:
        return found
    with offline_browser() as context:
        for page in track(missing, "rendering", console=console, transient=True):
            try:
                source = rendered(context, page).encode("utf-8", "replace")
            except Error as error:
                console.print(f"{page.id}: {str(error).splitlines()[0]}", markup=False)
                continue
            (cache / f"{page.id}.html").write_bytes(source)
            found[page.id] = source
    return found


def few_of_each(pages: Sequence[GoldPage], per_source: int) -> list[GoldPage]:
    """Pages with gold text, at most *per_source* of a source (0 = all), spread over it."""
    with_text = [page for page in pages if page.gold.text]
    if not per_source:
        return with_text
    totals = Counter(page.source for page in with_text)
    seen: Counter[str] = Counter()
    chosen = []
    for page in with_text:
        # Neighbours are often of one site: every n-th page instead of the first ones.
        step = max(1, totals[page.source] // per_source)
        if seen[page.source] % step == 0 and seen[page.source] // step < per_source:
            chosen.append(page)
        seen[page.source] += 1
    return chosen


def score(method: str, page: GoldPage, body: bytes, content_type: str) -> PageScore:
    """The body *method* finds in *body*, judged by the gold of *page*."""
    parsed = parse_page(body, content_type, page.url)
    return score_page(page.gold, Found(extractors.get(method).body(parsed).text))


def measure(
    methods: Sequence[str], pages: Sequence[GoldPage], sources: dict[str, bytes]
) -> list[Line]:
    """Every method on every group of pages, as stored and as rendered."""
    lines = []
    for method in methods:
        scores = {
            "declared": [score(method, page, page.body, "") for page in pages],
            "rendered": [score(method, page, sources[page.id], _UTF_8) for page in pages],
        }
        lines += [
            Line(method, look, group, means(of_pages[i] for i in group.indexes))
            for look, of_pages in scores.items()
            for group in groups_of(pages)
        ]
    return lines


def print_lines(lines: Sequence[Line], console: Console) -> None:
    """The sums by language; ± is half the 95 % bootstrap interval over pages."""
    table = Table("language", "pages", "method", "look", *FIGURES)
    for line in sorted(lines, key=lambda line: line.group.language, reverse=True):
        if line.group.source != "all":
            continue  # a few pages each: in the JSON
        cells = [
            f"{mean.value:.3f} ±{(mean.high - mean.low) / 2:.3f}" if mean else "–"
            for mean in (line.figures[name] for name in FIGURES)
        ]
        group = line.group
        table.add_row(group.language, str(len(group.indexes)), line.method, line.look, *cells)
    console.print(table)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with gold.jsonl")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--methods", default=",".join(METHODS), help="names of body extractors")
    parser.add_argument("--half", choices=HALVES, default="report")
    parser.add_argument("--pages-per-source", type=int, default=0, help="0: all")
    parser.add_argument("--limit", type=int, default=0, help="pages in all; 0: no limit")
    parser.add_argument("--cache", type=Path, help="folder that keeps the rendered pages")
    return parser.parse_args()


def main() -> int:
    """Render, measure, print; exit code 1 when nothing can be measured."""
    arguments = _arguments()
    console = Console()
    registered = set(extractors.names())
    asked = [name.strip() for name in arguments.methods.split(",")]
    for name in asked:
        if name not in registered:
            console.print(f"{name}: not registered, skipped")
    methods = [name for name in asked if name in registered]
    try:
        pages = few_of_each(load_pages(arguments.data, arguments.half),
                            arguments.pages_per_source)  # fmt: skip
    except BenchmarkError as error:
        console.print(str(error), markup=False)
        return 1
    pages = pages[: arguments.limit or None]
    with tempfile.TemporaryDirectory() as folder:
        sources = rendered_all(pages, arguments.cache or Path(folder), console)
    pages = [page for page in pages if page.id in sources]
    if not pages or not methods:
        console.print("nothing to measure")
        return 1
    lines = measure(methods, pages, sources)
    print_lines(lines, console)
    if arguments.json:
        write_rows(arguments.json, [line.row() for line in lines])
    return 0


if __name__ == "__main__":
    sys.exit(main())
