"""Pages of the console over a million articles: how long they take, on SQLite and on MariaDB.

    python benchmarks/console.py --articles 20000
    python benchmarks/console.py --datasette /path/to/venv/bin/datasette --json rows.jsonl

Articles are generated from the demo web's words (see ``benchmarks/consoles/collection.py``). The
console runs as its own process; pages are asked for over HTTP, one after the other, each time
with other choices: other sites, days, words, articles. Beside the clock stands the processor time
of the server (``cpu_ms``, without MariaDB's own), which other programs on the machine change less.
Datasette answers from the same SQLite file; two Chinese characters it can only look for by LIKE:
SQLite's own full text indexes find nothing shorter than three. Aim: 95 of 100 pages of each kind
within 200 ms. A million takes some 8 GB a database and 15 minutes of processor time.
"""

from __future__ import annotations

import argparse
import random
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlencode

# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(Path(__file__).resolve().parent.parent)]

from rich.console import Console
from rich.progress import Progress

from benchmarks.consoles import asking
from benchmarks.consoles.collection import TOPIC, Generator, fill
from benchmarks.own_database import KINDS, kept_or_passing, own_database
from benchmarks.rows import write_rows
from qiaocrawl.console.search import read_state
from qiaocrawl.console.search_keeper import SearchKeeper
from qiaocrawl.news.today import today
from qiaocrawl.reading import pages_of_a_list as article_list
from qiaocrawl.reading.pages_of_a_list import ListWish
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages.reprocessing import count_articles
from qiaocrawl.storage.selection import Selection

AIM_MS = 200.0
_SEARCHED = (
    "侨务", "华侨", "侨胞", "归侨", "侨商", "侨乡", "华文", "使馆", "学校", "公司", "电影", "球队",
    "地铁", "春节", "会议", "工作", "上海", "青年", "文化", "投资",
)  # fmt: skip

Row = dict[str, object]
Paths = dict[str, list[str]]


def main() -> None:
    """Fill, measure, print, write."""
    arguments = _arguments()
    rows: list[Row] = []
    with kept_or_passing(arguments.keep, "console") as folder:
        for kind in arguments.databases:
            for row in _measured(kind, folder, arguments):
                _print(row)
                rows.append(row)
    if arguments.json:
        write_rows(arguments.json, rows)


def _measured(kind: str, folder: Path, arguments: argparse.Namespace) -> Iterator[Row]:
    run = Run(f"{kind} {arguments.articles:,}", arguments.articles, arguments.requests,
              arguments.only)  # fmt: skip
    with own_database(kind, folder) as url:
        yield from run.measured(url, folder / "index", folder)
        if kind == "sqlite" and not arguments.only:
            yield from run.beside(arguments.datasette, folder)


class Run:
    """One database of so many *articles*, called *name* in the rows.

    Args:
        only: these kinds of pages and nothing beside them; all for none.
    """

    def __init__(self, name: str, articles: int, requests: int, only: Sequence[str] = ()) -> None:
        self._name, self._articles, self._requests = name, articles, requests
        self._only = only
        self._now = datetime.now(UTC)

    def measured(self, url: str, index: Path, folder: Path) -> Iterator[Row]:
        """Fill the database at *url*, index it, ask for pages."""
        with Database.open(url) as database:
            database.upgrade()
            with database.engine.connect() as c:
                is_filled = count_articles(c) == self._articles
            if not is_filled:
                with _progress(f"{self._name}: articles", self._articles) as progress:
                    fill(database, self._articles, self._now, progress)
            # Of both databases it is the same: rows have the same numbers.
            is_new = read_state(index) is None
            built = self._indexed(database, index)
            yield from built if is_new else ()
            if not self._only:
                yield from self._counted(database)
                yield from self._unindexed(database)
        with asking.console(url, index, folder) as served:
            for kind, paths in self._pages().items():
                if not self._only or kind in self._only:
                    yield from self._asked("ours", kind, served, paths)
            yield self._row("ours", "memory_mib", served.memory_mib())

    def beside(self, program: str, folder: Path) -> Iterator[Row]:
        """The same lists and searches by Datasette."""
        if shutil.which(program) is None:
            print(f"datasette: {program}: not found, skipped")
            return
        file = folder / "q.db"
        with asking.datasette(program, file, _free_port(), folder) as served:
            for kind, paths in self._peer_pages().items():
                yield from self._asked("datasette", kind, served, paths)
            yield self._row("datasette", "memory_mib", served.memory_mib())

    def _asked(
        self, method: str, kind: str, served: asking.Served, paths: Sequence[str]
    ) -> list[Row]:
        before = served.cpu_seconds()
        seconds = asking.timed(served, paths)
        cpu_ms = 1000 * (served.cpu_seconds() - before) / (len(paths) + 1)
        return [*self._times(method, kind, seconds), self._row(method, f"{kind} cpu_ms", cpu_ms)]

    def _indexed(self, database: Database, index: Path) -> list[Row]:
        keeper = SearchKeeper(database, index)
        start, cpu = time.perf_counter(), time.process_time()
        with _progress("full text index", self._articles) as progress:
            keeper.build(lambda done, _total: progress(done), anew=False)
        size = sum(file.stat().st_size for file in index.iterdir())
        return [
            self._row("ours", "index_build_seconds", time.perf_counter() - start),
            self._row("ours", "index_build_cpu_seconds", time.process_time() - cpu),
            self._row("ours", "index_mib", size / (1 << 20)),
        ]

    def _counted(self, database: Database) -> list[Row]:
        """What the first page tells, which a console counts every twenty seconds."""
        seconds = []
        for _time in range(5):
            with database.reading() as c:
                start = time.perf_counter()
                today(c, self._now)
                seconds.append(time.perf_counter() - start)
        return self._times("ours", "overview counted anew", seconds)

    def _unindexed(self, database: Database) -> list[Row]:
        """What a search reads while there is no index: the beginning of the list."""
        seconds = []
        for word in _SEARCHED[: self._requests]:
            selection = Selection(topic=TOPIC, only_relevant=True, words=(word,))
            with database.reading() as c:
                start = time.perf_counter()
                bounded = article_list.read_first(c, selection, article_list.NEWEST)
                article_list.list_page(c, ListWish(bounded))
                seconds.append(time.perf_counter() - start)
        return self._times("ours", "search without index", seconds)

    def _pages(self) -> Paths:
        """Addresses of pages by kind, each with other choices."""
        rng = random.Random(1)
        days = [self._now - timedelta(days=rng.randint(0, 330)) for _ in range(self._requests)]
        spans: list[dict[str, object]] = [
            {"since": (day - timedelta(days=30)).date(), "until": day.date()} for day in days
        ]
        hosts = Generator(1, self._now).hosts
        searches: list[dict[str, object]] = [{"q": rng.choice(_SEARCHED)} for _day in days]
        lists: dict[str, list[dict[str, object]]] = {
            "list": [{"topic": TOPIC, "page": number % 20 + 1} for number in range(self._requests)],
            "list of a site": [{"site": rng.choice(hosts)} for _day in days],
            "list of a tier": [{"tier": rng.randint(1, 3), "topic": TOPIC} for _day in days],
            "list of days": [{**span, "topic": TOPIC} for span in spans],
            "list by date": [{"sort": "published", "topic": TOPIC, "page": rng.randint(1, 9)}
                             for _day in days],
            "list by score": [{"sort": "score", "topic": TOPIC, "page": rng.randint(1, 9)}
                              for _day in days],
            "list of marks": [{"status": rng.choice(("starred", "noted", "judged", "reprint",
                               "gone")), "relevance": "any"} for _day in days],
            "list of a tag": [{"tag": rng.choice(("上报", "存档"))} for _day in days],
            "search": searches,
            "search by score": [{**search, "sort": "score", "topic": TOPIC} for search in searches],
            "search in days": [{**search, **span} for search, span in
                               zip(searches, spans, strict=True)],
        }  # fmt: skip
        pages = {kind: [f"/articles?{urlencode(choice)}" for choice in choices]
                 for kind, choices in lists.items()}  # fmt: skip
        # No choice twice: counts are kept for half a minute.
        counted: list[dict[str, object]] = [
            {"found": 30 + number, **({"topic": TOPIC}, {}, {"site": hosts[number % len(hosts)]},
                                      {"tier": 1, "relevance": "any"})[number % 4]}
            for number in range(self._requests)
        ]  # fmt: skip
        pages["counts of choices"] = [
            f"/articles/facets?part=1&{urlencode(choice)}" for choice in counted
        ]
        ids = [rng.randint(1, self._articles) for _day in days]
        return {
            "overview": ["/"] * self._requests,
            **pages,
            "detail": [f"/articles/{number}" for number in ids],
            "evidence": [f"/articles/{number}/evidence" for number in ids],
        }

    def _peer_pages(self) -> Paths:
        """As near to ours as Datasette comes: the columns of our lists, newest first."""
        rng = random.Random(1)
        columns = [("_col", name) for name in ("title", "site", "published_at", "fetched_at")]
        base = [*columns, ("_sort_desc", "fetched_at"), ("_size", "30")]
        hosts = Generator(1, self._now).hosts
        lists: dict[str, list[list[tuple[str, str]]]] = {
            "list": [[] for _ in range(self._requests)],
            "list of a site": [[("site", rng.choice(hosts))] for _ in range(self._requests)],
            "search": [[("text__contains", rng.choice(_SEARCHED))]
                       for _ in range(min(self._requests, 10))],
        }  # fmt: skip
        return {kind: [f"/q/article?{urlencode([*base, *choice])}" for choice in choices]
                for kind, choices in lists.items()}  # fmt: skip

    def _times(self, method: str, kind: str, seconds: Sequence[float]) -> list[Row]:
        milliseconds = [1000 * value for value in seconds]
        p95 = quantiles(milliseconds, n=20)[-1] if len(milliseconds) > 1 else milliseconds[0]
        return [self._row(method, f"{kind} p50_ms", median(milliseconds)),
                self._row(method, f"{kind} p95_ms", p95)]  # fmt: skip

    def _row(self, method: str, metric: str, value: float) -> Row:
        return {"task": "console", "set": self._name, "method": method, "metric": metric,
                "value": round(value, 1)}  # fmt: skip


@contextmanager
def _progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=total)
        yield lambda done: progress.update(task, completed=done)


def _print(row: Row) -> None:
    value = float(str(row["value"]))
    is_late = row["method"] == "ours" and str(row["metric"]).endswith("p95_ms")
    mark = f"  over {AIM_MS:.0f} ms" if is_late and value > AIM_MS else ""
    what = f"{row['set']:18} {row['method']:10} {row['metric']:36}"
    print(f"{what} {value:10,.1f}{mark}", flush=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--articles", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=60, help="of each kind of page")
    parser.add_argument("--databases", nargs="+", choices=KINDS, default=[*KINDS])
    parser.add_argument("--only", nargs="+", default=[], metavar="KIND",
                        help="these kinds of pages, as: list, “counts of choices”")  # fmt: skip
    parser.add_argument("--datasette", default="datasette", metavar="BIN", help="its program")
    parser.add_argument("--keep", type=Path, metavar="FOLDER",
                        help="keep databases and index there, and use them again")  # fmt: skip
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
