"""What a store costs as it grows: bytes, inserts, leases, commands; on SQLite and on MariaDB.

    python benchmarks/growth.py --urls 100000 --articles 5000
    python benchmarks/growth.py --urls 10000000 --articles 1000000 --picture growth.svg
    python benchmarks/growth.py --behind 10000000          # the next ones, with so many waiting
    python benchmarks/growth.py --titles titles.txt.gz     # real ones, before made ones
    python benchmarks/growth.py --titles titles.txt.gz --neighbours 40000   # are made ones so near?
    python benchmarks/growth.py --starts 100000 1000000     # only what a start costs
    python benchmarks/growth.py --texts DIR      # only what packing makes of gold texts
    python benchmarks/growth.py --pages DIR      # only what raw pages of a recorded web take

URLs, pages, articles and visits enter by the writer of a runtime and the functions that a crawl
calls. Texts are made of words as common as they are in Chinese, one in seven a near reprint; making
them is not measured. ``cpu_us`` is the processor time of this process for one more row, without the
server's. A database where the cost of a row stays level grows linearly. Beside ours stands a
plain table of SQLite with a unique URL, which promises nothing. ``--json`` has each row as soon as
it is known, so a run that is cut leaves its curve.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(Path(__file__).resolve().parent.parent)]

from rich.console import Console
from rich.table import Table

from benchmarks.consoles.collection import words
from benchmarks.growing import plain
from benchmarks.growing.commands import costs
from benchmarks.growing.made_texts import TextMaker, titles_of
from benchmarks.growing.meter import Growth
from benchmarks.growing.neighbours import neighbours
from benchmarks.growing.picture import Curves, draw
from benchmarks.growing.raw_pages import stored_pages
from benchmarks.growing.starts import starts
from benchmarks.growing.store import GrowingStore
from benchmarks.growing.texts import packings
from benchmarks.own_database import KINDS, kept_or_passing, own_database
from qiaocrawl.errors import QiaoError

_STEPS = 8
_OURS = {"sqlite": "ours, SQLite", "mariadb": "ours, MariaDB"}
_PLAIN = "plain table, SQLite"


def main() -> None:
    """Grow, print, draw, write."""
    arguments = _arguments()
    run = Run(arguments)
    if arguments.texts or arguments.pages:
        try:
            if arguments.texts:
                run.pack(arguments.texts)
            for web in arguments.pages:
                run.store_pages(web)
        except QiaoError as error:
            sys.exit(f"growth: {error}")
    elif arguments.starts:
        run.start(arguments.starts)
    elif arguments.neighbours:
        run.compare(arguments.neighbours)
    else:
        run.grow()


class Run:
    """One run of the benchmark, and where its rows go."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._console = Console(width=None if sys.stdout.isatty() else 120)
        if arguments.json:
            arguments.json.unlink(missing_ok=True)

    def pack(self, data: Path) -> None:
        """What packing makes of the texts in *data*."""
        table = Table("texts", "method", "of UTF-8", "pack ms", "unpack ms", title="packed texts")
        for done in packings(data):
            cells = f"{done.texts} {done.language}", done.method
            figures = {"share": done.share, "pack_ms": done.pack_ms, "unpack_ms": done.unpack_ms}
            table.add_row(*cells, *(f"{figure:.3f}" for figure in figures.values()))
            self._note(f"texts {done.language}", done.method, figures)
        self._console.print(table)

    def store_pages(self, web: Path) -> None:
        """What the raw pages recorded in *web* take."""
        table = Table("pages", "method", "bytes a page", "store us", "load us", title=web.name)
        for done in stored_pages(web):
            figures = {"bytes_a_page": done.bytes_a_page, "store_us": done.store_us,
                       "load_us": done.load_us}  # fmt: skip
            shown = (f"{figure:,.0f}" for figure in figures.values())
            table.add_row(f"{done.pages:,}", done.method, *shown)
            self._note(f"pages {web.name}", done.method, figures)
        self._console.print(table)

    def start(self, sizes: Sequence[int]) -> None:
        """What a start costs with so many titles, written in bulk."""
        table = Table("", "titles", "CPU s", "us a title", "MiB", "again CPU s", "us a title",
                      "MiB", "file MiB")  # fmt: skip
        with kept_or_passing(self._arguments.keep, "growth") as folder:
            for kind in self._arguments.databases:
                with own_database(kind, folder) as url:
                    for done in starts(url, folder, sizes):
                        cells = [kind, f"{done.titles:,}"]
                        for cost in (done.first, done.again):
                            cells += [f"{cost.cpu_seconds:.1f}",
                                      f"{1e6 * cost.cpu_seconds / done.titles:.1f}",
                                      f"{cost.memory_mib:,.0f}"]  # fmt: skip
                        table.add_row(*cells, f"{done.kept_mib:,.0f}")
                        self._console.log(", ".join(cells), highlight=False)
                        self._note(f"{kind} starts {done.titles}", "ours", {
                            "first cpu_s": done.first.cpu_seconds,
                            "first memory_mib": done.first.memory_mib,
                            "again cpu_s": done.again.cpu_seconds,
                            "again memory_mib": done.again.memory_mib,
                        })  # fmt: skip
        self._console.print(table)

    def compare(self, most: int) -> None:
        """What a look-up finds among the given titles and among made ones, the demo's last."""
        given, asked = titles_of(self._arguments.titles), most + most // 10
        maker = TextMaker(1)
        demo = [title for titles in words().titles.values() for title in titles]
        kinds = {
            "given": given[:asked],
            "made": [maker.title() for _ in range(asked)],
            "made, with reprints": [text.title for text in TextMaker(2).texts(asked)],
            "demo's, numbered": [f"{demo[n % len(demo)]}（{n}）" for n in range(asked)],
        }
        table = Table("titles", "of them", "near one", "with any", "look-up us")
        for kind, titles in kinds.items():
            for done in neighbours(kind, titles, [most // 4, most // 2, most]):
                table.add_row(kind, f"{done.titles:,}", f"{done.near:.3f}", f"{done.with_any:.3f}",
                              f"{done.search_us:.0f}")  # fmt: skip
                figures = {figure: getattr(done, figure)
                           for figure in ("near", "with_any", "search_us")}  # fmt: skip
                self._note(f"neighbours {done.titles}", kind, figures)
        self._console.print(table)

    def grow(self) -> None:
        """A store on each database, then the plain table."""
        arguments = self._arguments
        urls: dict[str, list[Growth]] = {}
        articles: dict[str, list[Growth]] = {}
        titles = titles_of(arguments.titles) if arguments.titles else ()
        with kept_or_passing(arguments.keep, "growth") as folder:
            for kind in arguments.databases:
                name = _OURS[kind]
                with own_database(kind, folder) as url:
                    store = GrowingStore(url)
                    for_urls, for_articles = arguments.minutes
                    self._stand_behind(store, name)
                    growing = store.grow_urls(_sizes(arguments.urls, arguments.behind), for_urls)
                    urls[name] = self._told(name, "URLs", growing)
                    sizes = _sizes(arguments.articles)
                    growing = store.grow_articles(sizes, for_articles, titles)
                    articles[name] = self._told(name, "articles", growing)
                    store.close()
                    self._cost(name, url, folder)
            if not arguments.no_peer:
                growing = plain.grow(folder / "plain.db", _sizes(arguments.urls))
                urls[_PLAIN] = self._told(_PLAIN, "URLs", growing)
        if arguments.picture:
            draw(arguments.picture, _panels(urls, articles))

    def _stand_behind(self, store: GrowingStore, name: str) -> None:
        for urls in store.stand_behind(self._arguments.behind):
            if urls % 500_000 == 0:
                self._console.log(f"{name}: {urls:,} URLs behind", highlight=False)

    def _told(self, name: str, what: str, steps: Iterator[Growth]) -> list[Growth]:
        """*steps*, each told when it is reached."""
        table = Table(title=f"{name}: {what}")
        for column in ("rows", "us a row", "CPU us", "lease ms", "close us", "MiB here", "bytes"):
            table.add_column(column, justify="right")
        done: list[Growth] = []
        for step in steps:
            done.append(step)
            size = step.file_bytes or sum(step.sizes.values())
            cells = (
                f"{step.rows:,}", f"{step.wall_us:,.0f}", f"{step.cpu_us:,.0f}",
                f"{step.lease_ms:.1f}", f"{step.close_us:,.0f}", f"{step.memory_mib:,.0f}",
                f"{size / 1e6:,.0f} MB",
            )  # fmt: skip
            table.add_row(*cells)
            self._console.log(f"{name}: {what}: {', '.join(cells)}", highlight=False)
            method = "plain table" if name == _PLAIN else "ours"
            self._note(f"{name.rpartition(' ')[2]} {what} {step.rows}", method, _figures(step))
        self._console.print(table)
        biggest = sorted(done[-1].sizes.items(), key=lambda pair: -pair[1])[:9]
        self._console.print(", ".join(f"{name} {size / 1e6:,.1f} MB" for name, size in biggest))
        return done

    def _cost(self, name: str, url: str, folder: Path) -> None:
        """What commands cost on the grown store."""
        table = Table("command", "s", "CPU s", "MiB", title=name)
        arguments = self._arguments
        kind, urls = name.rpartition(" ")[2], arguments.behind + arguments.urls
        size = f"{kind} {urls} urls {arguments.articles} articles"
        for cost in costs(url, folder):
            cells = (cost.command, f"{cost.wall_seconds:.2f}", f"{cost.cpu_seconds:.2f}",
                     f"{cost.memory_mib:,.0f}")  # fmt: skip
            table.add_row(*cells)
            self._console.log(f"{name}: {', '.join(cells)}", highlight=False)
            self._note(size, "ours", {f"{cost.command} s": cost.wall_seconds,
                                      f"{cost.command} cpu_s": cost.cpu_seconds,
                                      f"{cost.command} memory_mib": cost.memory_mib})  # fmt: skip
        self._console.print(table)

    def _note(self, name: str, method: str, figures: Mapping[str, float]) -> None:
        """Append rows to the file of them, at once: a run of hours may be cut."""
        if not self._arguments.json:
            return
        with self._arguments.json.open("a", encoding="utf-8") as file:
            for metric, value in figures.items():
                row = {"task": "growth", "set": name, "method": method, "metric": metric,
                       "value": value}  # fmt: skip
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _sizes(most: int, behind: int = 0) -> list[int]:
    return [behind + most * step // _STEPS for step in range(1, _STEPS + 1)]


def _figures(step: Growth) -> dict[str, float]:
    return {
        "wall_us": step.wall_us, "cpu_us": step.cpu_us, "lease_ms": step.lease_ms,
        "close_us": step.close_us, "memory_mib": step.memory_mib, "file_bytes": step.file_bytes,
        **{f"bytes {table}": size for table, size in step.sizes.items()},
    }  # fmt: skip


def _panels(urls: dict[str, list[Growth]], articles: dict[str, list[Growth]]) -> dict[str, Curves]:
    def curves(steps_of: dict[str, list[Growth]], figure: str) -> Curves:
        return {
            name: [(step.rows, getattr(step, figure)) for step in steps]
            for name, steps in steps_of.items()
        }

    ours = {name: steps for name, steps in urls.items() if name != _PLAIN}
    return {
        "us of CPU for one more URL": curves(urls, "cpu_us"),
        "ms to lease 64 URLs": curves(ours, "lease_ms"),
        "us of CPU for one more article": curves(articles, "cpu_us"),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=int, default=100_000, help="URLs at the end")
    parser.add_argument(
        "--starts",
        type=int,
        nargs="+",
        default=[],
        metavar="TITLES",
        help="only starts with so many titles",
    )
    parser.add_argument("--articles", type=int, default=5_000, help="articles at the end")
    parser.add_argument("--behind", type=int, default=0, metavar="URLS",
                        help="waiting ones, written in bulk before the others")  # fmt: skip
    parser.add_argument("--databases", nargs="+", choices=KINDS, default=[*KINDS])
    parser.add_argument("--minutes", type=float, nargs=2, default=(math.inf, math.inf),
                        metavar=("URLS", "ARTICLES"),
                        help="each curve ends then at the latest, wherever it is")  # fmt: skip
    parser.add_argument("--no-peer", action="store_true", help="no plain table")
    parser.add_argument("--titles", type=Path, help="a title a line; made ones when it ends")
    parser.add_argument("--neighbours", type=int, metavar="N",
                        help="only look titles up among N of them and of made ones")  # fmt: skip
    parser.add_argument("--picture", type=Path, help="SVG with the curves")
    parser.add_argument("--texts", type=Path, help="folder with gold.jsonl, as of extraction.py")
    parser.add_argument("--pages", type=Path, nargs="+", default=(), metavar="DIR",
                        help="folders with recorded webs, as of coverage.py")  # fmt: skip
    parser.add_argument("--json", type=Path, help="write JSON Lines there")
    parser.add_argument("--keep", type=Path, help="new folder that keeps what was made")
    arguments = parser.parse_args()
    if arguments.urls < 1_000 or arguments.articles < 100:
        parser.error("at least 1,000 URLs and 100 articles")
    if arguments.neighbours and not arguments.titles:
        parser.error("--neighbours needs --titles")
    if arguments.keep and arguments.keep.exists():
        parser.error(f"--keep {str(arguments.keep)!r} is there already")
    return arguments


if __name__ == "__main__":
    main()
