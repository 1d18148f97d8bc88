"""What each entrance finds of the demo web's relevant pages, and at what cost.

    python benchmarks/discovery.py [--scale 0.5] [--only site] [--json FILE]

A relevant page is an article of the topic that robots.txt allows; it is found when the server
gave it whole. Every row is a run of its own with an empty database. With refusals, a host that
has answered 25 requests refuses all for three seconds, whatever the client calls itself: in
turn with 503, with a page that says so and status 200, and with 429. Our pauses are shortened
alike (four seconds for a minute). Plain Scrapy crawls the same sites by every link, with random
user agents and its own retries, once more with its AutoThrottle.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.table import Table

from benchmarks.rows import write_rows
from qiaocrawl.cli.demo import demo_pack
from qiaocrawl.demo.engines import build_engines
from qiaocrawl.demo.model import ARTICLE_KINDS, DemoPage
from qiaocrawl.demo.server import DemoServer
from qiaocrawl.demo.web import DemoWeb, build_web
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.topics import save_pack

TOPIC = "qiaoqing"
_TERMS = "terms=12"
_SECONDS = 900

Stage = tuple[str, ...]
"""A spider and its arguments."""


@dataclass(frozen=True, slots=True)
class Entrance:
    """What is run one after the other, with which options."""

    stages: tuple[Stage, ...]
    options: Mapping[str, str] = field(default_factory=dict)


_SITE = (("site",),)
ENTRANCES: dict[str, Entrance] = {
    "search demo_sou": Entrance((("search", "engine=demo_sou", _TERMS), ("pages",))),
    "search demo_zhao": Entrance((("search", "engine=demo_zhao", _TERMS), ("pages",))),
    "site, links only": Entrance(_SITE, {"QIAO_SITEMAPS": "off", "QIAO_FEEDS": "off"}),
    "site": Entrance(_SITE),
    "site, blocks unseen": Entrance(_SITE, {"QIAO_BLOCK_DETECTION": "off"}),
    "watch": Entrance((("watch",),)),
    "all": Entrance((("search", _TERMS), ("site",), ("watch",), ("pages",))),
}
"""By name, in the order of the table."""

PEERS = {"plain Scrapy": "", "plain Scrapy, throttled": "throttled"}
"""By name, what the peer is told."""

_SERVED, _REFUSING_SECONDS = 25, 3.0
_PAUSE_SECONDS = "4"
_SORRY = (
    '<html><head><meta charset="utf-8"><title>访问过于频繁</title></head><body>'
    "<p>您的访问过于频繁，请输入验证码后继续。</p></body></html>"
).encode()


class CountingWeb(DemoWeb):
    """The demo web, told whether to refuse; it counts requests and what it gave away.

    Args:
        web: what it serves.
        refuses: whether clients are refused now and then.
    """

    def __init__(self, web: DemoWeb, *, refuses: bool) -> None:
        super().__init__(web.sites, web.pages, web._frames, web.later)
        self.engines = web.engines
        self.refuses = refuses
        self.requests = self.refusals = 0
        self.given: set[str] = set()
        self._served: Counter[str] = Counter()
        self._until: dict[str, float] = {}

    def respond(self, host: str, target: str, headers: Mapping[str, str] | None = None) -> DemoPage:
        """The page, or a refusal."""
        self.requests += 1
        if refusal := self._refusal(host, target):
            self.refusals += 1
            return refusal
        page = super().respond(host, target, headers)
        if page.gold is not None and page.status == 200:
            self.given.add(page.gold.url)
        return page

    def _refusal(self, host: str, target: str) -> DemoPage | None:
        if not self.refuses or host in self.engines or target == "/robots.txt":
            return None
        now = time.monotonic()
        if now >= self._until.get(host, 0.0):
            self._served[host] += 1
            if self._served[host] % (_SERVED + 1):
                return None
            self._until[host] = now + _REFUSING_SECONDS
        status = (429, 503, 200)[self._served[host] // (_SERVED + 1) % 3]
        return DemoPage(status, (("Content-Type", "text/html; charset=utf-8"),), _SORRY)


@dataclass(frozen=True, slots=True)
class Row:
    """One run. ``found`` is a share of ``relevant`` pages in [0, 1]; ``lost`` a number of pages
    that the same run finds when nobody refuses, None where that was not measured.
    """

    name: str
    refuses: bool
    relevant: int
    found: float
    requests: int
    requests_per_page: float
    refusals: int
    lost: int | None
    seconds: float


Run = Callable[[str, Path], None]
"""Crawls the demo web at an origin, with a folder to work in."""


def our_run(entrance: Entrance) -> Run:
    """Our spiders, as an operator starts them.

    Raises:
        CalledProcessError: one of them failed.
    """

    def run(origin: str, folder: Path) -> None:
        url = f"sqlite:///{folder / 'discovery.db'}"
        with Database.open(url) as database:
            database.upgrade()
            with database.engine.begin() as c:
                save_pack(c, demo_pack(), now=time.time())
        environment = {
            **os.environ, "PYTHONPATH": str(PROJECT), "QIAO_DATABASE_URL": url,
            "QIAO_DEMO": origin, "QIAO_ENGINES": "demo_sou,demo_zhao",
            "QIAO_FRONTIER_RETRY_SECONDS": "0.2", "QIAO_BLOCK_PAUSE_SECONDS": _PAUSE_SECONDS,
            "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings", **entrance.options,
        }  # fmt: skip
        for spider, *arguments in entrance.stages:
            given = [part for one in (f"topic={TOPIC}", *arguments) for part in ("-a", one)]
            command = [sys.executable, "-m", "scrapy", "crawl", spider, *given]
            _call(command, environment, folder / f"{spider}.log")

    return run


def peer_run(how: str) -> Run:
    """Plain Scrapy with random user agents over the same sites; *how* is told to it."""

    def run(origin: str, folder: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.discovery_peer", origin, *how.split()]
        _call(command, {**os.environ, "PYTHONPATH": str(PROJECT)}, folder / "peer.log")

    return run


def _call(command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
    with log.open("wb") as out:
        try:
            subprocess.run(
                command,
                env=environment,
                stdout=out,
                stderr=out,
                cwd=log.parent,
                check=True,
                timeout=_SECONDS,
            )
        except subprocess.CalledProcessError:
            print(log.read_text("utf-8", "replace")[-3000:], file=sys.stderr)
            raise


def runs() -> dict[str, Run]:
    """All runs by name."""
    ours = {name: our_run(entrance) for name, entrance in ENTRANCES.items()}
    return ours | {name: peer_run(how) for name, how in PEERS.items()}


def measure(web: DemoWeb, name: str, run: Run, *, refuses: bool) -> tuple[Row, set[str]]:
    """Run once; the figures, and the relevant pages found."""
    relevant = {
        gold.url
        for gold in web.gold()
        if gold.kind in ARTICLE_KINDS and gold.on_topic and gold.robots_allowed
    }
    counting = CountingWeb(web, refuses=refuses)
    with DemoServer(counting) as server, tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        run(server.address, Path(folder))
        seconds = time.monotonic() - began
    relevant_pages = relevant & counting.given
    per_page = counting.requests / max(len(relevant_pages), 1)
    row = Row(
        name,
        refuses,
        len(relevant),
        len(relevant_pages) / max(len(relevant), 1),
        counting.requests,
        per_page,
        counting.refusals,
        None,
        round(seconds, 1),
    )
    return row, relevant_pages


def measured(web: DemoWeb, wanted: Mapping[str, Run], console: Console) -> list[Row]:
    """Every run of *wanted*, without refusals and with them."""
    rows = []
    for name, run in wanted.items():
        free, there = measure(web, name, run, refuses=False)
        hindered, left = measure(web, name, run, refuses=True)
        lost = replace(hindered, lost=len(there - left))
        console.print(f"{name}: {free.found:.1%} found, {len(there - left)} lost to refusals")
        rows += [free, lost]
    return rows


def table_of(rows: Sequence[Row]) -> Table:
    """The rows for people."""
    table = Table(
        "run", "hosts refuse", "found", "requests", "a relevant page", "refused", "lost", "seconds"
    )
    for row in rows:
        lost = "" if row.lost is None else str(row.lost)
        table.add_row(
            row.name,
            "yes" if row.refuses else "no",
            f"{row.found:.1%}",
            str(row.requests),
            f"{row.requests_per_page:.1f}",
            str(row.refusals),
            lost,
            f"{row.seconds:.0f}",
        )
    return table


def main() -> None:
    """Measure all entrances and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", type=float, default=0.5, help="size of the demo web; 1 = whole")
    parser.add_argument("--only", action="append", choices=list(runs()), help="names of runs")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    console = Console()
    web = build_web(scale=arguments.scale)
    web.add_engines(build_engines(web))
    wanted = {name: run for name, run in runs().items() if name in (arguments.only or runs())}
    rows = measured(web, wanted, console)
    console.print(table_of(rows))
    if arguments.json:
        write_rows(arguments.json, [asdict(row) for row in rows])


if __name__ == "__main__":
    main()
