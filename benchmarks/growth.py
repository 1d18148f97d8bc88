"""What a store costs as it grows: bytes, inserts, leases, commands; on SQLite and on MariaDB.

    python benchmarks/growth.py --urls 100000 --articles 5000
    python benchmarks/growth.py --urls 10000000 --articles 1000000 --picture growth.svg
    python benchmarks/growth.py --texts DIR      # only what packing makes of gold texts

URLs enter by the frontier and articles by the writer's own functions, as a crawl calls them; pages
are made of the demo web's words. ``cpu_us`` is the processor time of this process for one more row,
without the server's. A database beside which the cost of a row stays level grows linearly. Beside
ours stands a plain table of SQLite with a unique URL, which promises nothing. Ten million URLs and
a million articles take some 4 + 9 GB a database and hours; the default takes minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# As a program not this folder: its coverage.py is not the package that numba looks for.
sys.path[: 0 if __package__ else 1] = [str(Path(__file__).resolve().parent.parent)]

from rich.console import Console
from rich.table import Table

from benchmarks.growing import plain
from benchmarks.growing.commands import Cost, costs
from benchmarks.growing.picture import Curves, draw
from benchmarks.growing.store import GrowingStore, Growth
from benchmarks.growing.texts import packings
from benchmarks.mariadb_server import MariaDB
from benchmarks.rows import write_rows
from qiaocrawl.errors import QiaoError

_POOL_MIB = 1024
_STEPS = 8
_OURS = {"sqlite": "ours, SQLite", "mariadb": "ours, MariaDB"}
_PLAIN = "plain table, SQLite"

Row = dict[str, object]


def main() -> None:
    """Grow, print, draw, write."""
    arguments = _arguments()
    console = Console(width=None if sys.stdout.isatty() else 120)
    if arguments.texts:
        try:
            rows = _packing_rows(console, arguments.texts)
        except QiaoError as error:
            sys.exit(f"growth: {error}")
    else:
        rows = _grown_rows(console, arguments)
    if arguments.json:
        write_rows(arguments.json, rows)


def _packing_rows(console: Console, data: Path) -> list[Row]:
    table = Table("texts", "method", "of UTF-8", "pack ms", "unpack ms", title="packed texts")
    rows: list[Row] = []
    for done in packings(data):
        table.add_row(f"{done.texts} {done.language}", done.method, f"{done.share:.3f}",
                      f"{done.pack_ms:.3f}", f"{done.unpack_ms:.3f}")  # fmt: skip
        rows += [
            {"task": "growth", "set": f"texts {done.language}", "method": done.method,
             "metric": metric, "value": getattr(done, metric)}
            for metric in ("share", "pack_ms", "unpack_ms")
        ]  # fmt: skip
    console.print(table)
    return rows


def _grown_rows(console: Console, arguments: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    urls: dict[str, list[Growth]] = {}
    articles: dict[str, list[Growth]] = {}
    with _folder(arguments.keep) as folder:
        for kind in arguments.databases:
            name = _OURS[kind]
            with _database(kind, folder) as url:
                store = GrowingStore(url)
                urls[name] = _told(console, f"{name}: URLs",
                                   store.grow_urls(_sizes(arguments.urls)))  # fmt: skip
                articles[name] = _told(console, f"{name}: articles",
                                       store.grow_articles(_sizes(arguments.articles)))  # fmt: skip
                store.close()
                done = [*costs(url, folder)]
            _print_costs(console, name, done)
            rows += _cost_rows(name, arguments, done)
        urls[_PLAIN] = _told(console, f"{_PLAIN}: URLs",
                             plain.grow(folder / "plain.db", _sizes(arguments.urls)))  # fmt: skip
    for what, grown in (("urls", urls), ("articles", articles)):
        rows += [row for name, steps in grown.items() for row in _growth_rows(name, what, steps)]
    if arguments.picture:
        draw(arguments.picture, _panels(urls, articles))
    return rows


def _sizes(most: int) -> list[int]:
    return [most * step // _STEPS for step in range(1, _STEPS + 1)]


def _told(console: Console, title: str, steps: Iterator[Growth]) -> list[Growth]:
    """*steps*, each printed when it is reached."""
    table = Table(title=title)
    for name in ("rows", "us a row", "CPU us", "lease ms", "close us", "MiB here", "bytes a row"):
        table.add_column(name, justify="right")
    done = []
    for step in steps:
        done.append(step)
        console.log(f"{title}: {step.rows:,}", highlight=False)
        table.add_row(
            f"{step.rows:,}", f"{step.wall_us:,.0f}", f"{step.cpu_us:,.0f}", f"{step.lease_ms:.1f}",
            f"{step.close_us:,.0f}", f"{step.memory_mib:,.0f}",
            f"{sum(step.sizes.values()) / step.rows:,.0f}",
        )  # fmt: skip
    console.print(table)
    biggest = sorted(done[-1].sizes.items(), key=lambda pair: -pair[1])[:8] if done else []
    console.print(", ".join(f"{name} {size / 1e6:,.1f} MB" for name, size in biggest))
    return done


def _print_costs(console: Console, name: str, done: Sequence[Cost]) -> None:
    table = Table("command", "s", "CPU s", "MiB", title=name)
    for cost in done:
        table.add_row(cost.command, f"{cost.wall_seconds:.2f}", f"{cost.cpu_seconds:.2f}",
                      f"{cost.memory_mib:,.0f}")  # fmt: skip
    console.print(table)


def _growth_rows(name: str, what: str, steps: Sequence[Growth]) -> Iterator[Row]:
    method = "ours" if name != _PLAIN else "plain table"
    for step in steps:
        figures = {
            "wall_us": step.wall_us, "cpu_us": step.cpu_us, "lease_ms": step.lease_ms,
            "close_us": step.close_us, "memory_mib": step.memory_mib,
            **{f"bytes {table}": size for table, size in step.sizes.items()},
        }  # fmt: skip
        for metric, value in figures.items():
            yield {"task": "growth", "set": f"{name.rpartition(' ')[2]} {what} {step.rows}",
                   "method": method, "metric": metric, "value": value}  # fmt: skip


def _cost_rows(name: str, arguments: argparse.Namespace, done: Sequence[Cost]) -> Iterator[Row]:
    size = f"{name.rpartition(' ')[2]} {arguments.urls} urls {arguments.articles} articles"
    for cost in done:
        for metric, value in (("s", cost.wall_seconds), ("cpu_s", cost.cpu_seconds),
                              ("memory_mib", cost.memory_mib)):  # fmt: skip
            yield {"task": "growth", "set": size, "method": "ours",
                   "metric": f"{cost.command} {metric}", "value": value}  # fmt: skip


def _panels(urls: dict[str, list[Growth]], articles: dict[str, list[Growth]]) -> dict[str, Curves]:
    def curves(steps_of: dict[str, list[Growth]], figure: str) -> Curves:
        return {
            name: [(step.rows, getattr(step, figure)) for step in steps]
            for name, steps in steps_of.items()
        }

    ours = {name: steps for name, steps in urls.items() if name != _PLAIN}
    return {
        "us for one more URL": curves(urls, "wall_us"),
        "ms to lease 64 URLs": curves(ours, "lease_ms"),
        "us for one more article": curves(articles, "wall_us"),
    }


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True)
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="growth-") as name:
        yield Path(name)


@contextmanager
def _database(kind: str, folder: Path) -> Iterator[str]:
    """The URL of an empty database of its own."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'grown.db'}"
        return
    server = MariaDB(folder / "mariadb")
    server.folder.mkdir()
    server.install()
    server.start(f"--innodb-buffer-pool-size={_POOL_MIB}M", "--innodb-flush-log-at-trx-commit=2")
    try:
        server.execute("CREATE DATABASE q CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        yield server.url("q")
    finally:
        server.stop()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=int, default=100_000, help="URLs at the end")
    parser.add_argument("--articles", type=int, default=5_000, help="articles at the end")
    parser.add_argument("--databases", nargs="+", choices=tuple(_OURS), default=[*_OURS])
    parser.add_argument("--picture", type=Path, help="SVG with the curves")
    parser.add_argument("--texts", type=Path, help="folder with gold.jsonl, as of extraction.py")
    parser.add_argument("--json", type=Path, help="write JSON Lines there")
    parser.add_argument("--keep", type=Path, help="new folder that keeps what was made")
    arguments = parser.parse_args()
    if arguments.urls < 1_000 or arguments.articles < 100:
        parser.error("at least 1,000 URLs and 100 articles")
    return arguments


if __name__ == "__main__":
    main()
