"""Kill the crawl with -9 again and again; no page may be lost, no false "finished".

    python benchmarks/durability.py                      # SQLite, 3,000 pages, 200 kills
    python benchmarks/durability.py --database mysql+pymysql://USER:PASSWORD@HOST/DB --workers 3
    python benchmarks/durability.py --pages 300 --kills 12    # the short form that CI runs

Kills fall half at random moments, half at the points of ``benchmarks/failpoints.py``. The
peer is stock Scrapy with JOBDIR, killed the same way three times.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from sqlalchemy import text

from benchmarks.failpoints import POINTS
from benchmarks.local_site import HOST, LocalSite, ServedSite, serving
from benchmarks.rows import write_rows
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics import save_pack
from qiaocrawl.topic.pack import Site, Term, TopicPack

_TOPIC = "durability"
_FINISHED = re.compile(r"Spider closed \(finished\)")
_LONGEST_RUN_SECONDS = 600


@dataclass
class Tally:
    """What one campaign of kills showed."""

    kills: int = 0
    kills_by_point: dict[str, int] = field(default_factory=dict)
    false_finishes: int = 0
    runs: int = 0
    errors: list[str] = field(default_factory=list)


class Campaign:
    """Crawls one site with *workers* processes and kills them until the quota is used."""

    def __init__(self, served: ServedSite, url: str, folder: Path, arguments: argparse.Namespace):
        self._served = served
        self._url = url
        self._folder = folder
        self._pages: int = arguments.pages
        self._workers: int = arguments.workers
        self._quota: int = arguments.kills
        self._lease_seconds: float = arguments.lease_seconds
        self._strategy: str = arguments.strategy
        self._rng = random.Random(arguments.seed)
        self._points = list(POINTS)
        self.tally = Tally()
        self.database = Database.open(url)
        self.database.upgrade()
        self._import_topic()

    def run(self, progress: Progress) -> None:
        """Start, kill and restart workers; the last ones run to the end."""
        task = progress.add_task("kills", total=self._quota)
        running: list[subprocess.Popen[bytes]] = []
        while True:
            while len(running) < self._workers:
                running.append(self._start())
            victim = self._rng.choice(running)
            if self.tally.kills < self._quota:
                self._await_death(victim)
            else:
                self._await_end(victim)
            progress.update(task, completed=self.tally.kills)
            running.remove(victim)
            if self.tally.kills >= self._quota and not self._left():
                break
        for process in running:
            self._await_end(process)
        # The last ones may have died at points they were armed with.
        while self._left():
            self._await_end(self._start())

    # --- processes ---------------------------------------------------------------------

    def _start(self) -> subprocess.Popen[bytes]:
        self.tally.runs += 1
        log = self._folder / f"run{self.tally.runs}.log"
        crawl = ["crawl", "site", "-a", f"topic={_TOPIC}", "-a", f"start=http://{HOST}/",
                 "-a", f"strategy={self._strategy}", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=8"]
        armed = self.tally.kills < self._quota and self._rng.random() < 0.5
        point = self._rng.choice(self._points) if armed else ""
        if armed:
            # Small numbers die early in a run, large ones deep inside it.
            strike = str(self._rng.choice([1, 1, 2, 5, 20, 60]))
            command = [str(PROJECT / "benchmarks" / "failpoints.py"), point, strike, *crawl]
        else:
            command = ["-m", "scrapy", *crawl]
        environment = {
            **os.environ, "QIAO_DATABASE_URL": self._url, "QIAO_DEMO": self._served.origin,
            "QIAO_FRONTIER_LEASE_SECONDS": str(self._lease_seconds),
            "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings", "PYTHONPATH": str(PROJECT),
        "QIAO_SITEMAPS": "off", "QIAO_SOFT_404_PROBE": "off",
        }
        with log.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, *command], env=environment, cwd=self._folder,
                stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
            )
        process.point = point  # type: ignore[attr-defined]
        process.log = log  # type: ignore[attr-defined]
        return process

    def _await_death(self, process: subprocess.Popen[bytes]) -> None:
        """Kill *process* at its point, or at a random moment of its first seconds."""
        point: str = process.point  # type: ignore[attr-defined]
        try:
            if point == "while closing":
                process.wait(self._rng.uniform(1.5, 4.0))
            else:
                process.wait(15 if point else self._rng.uniform(0.3, 5.0))
        except subprocess.TimeoutExpired:
            if point == "while closing" or self._rng.random() < 0.15:
                point = point or "SIGTERM, then SIGKILL"
                self._terminate_then_kill(process)
            else:
                point = "random moment"
                process.kill()
                process.wait()
        if process.returncode == -signal.SIGKILL:
            self.tally.kills += 1
            name = point or "random moment"
            self.tally.kills_by_point[name] = self.tally.kills_by_point.get(name, 0) + 1
        else:
            self._check_end(process)

    def _terminate_then_kill(self, process: subprocess.Popen[bytes]) -> None:
        process.terminate()
        try:
            process.wait(self._rng.uniform(0.05, 1.5))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _await_end(self, process: subprocess.Popen[bytes]) -> None:
        process.wait(_LONGEST_RUN_SECONDS)
        if process.returncode != -signal.SIGKILL:
            self._check_end(process)

    def _check_end(self, process: subprocess.Popen[bytes]) -> None:
        """A run that ended by itself must not claim to be finished while work remains."""
        log: Path = process.log  # type: ignore[attr-defined]
        said = log.read_text("utf-8", "replace")
        # Another worker may have begun the next crawl since: what counts is a page that was
        # never stored.
        if _FINISHED.search(said) and self.stored_pages() < self._pages:
            self.tally.false_finishes += 1
        if process.returncode != 0 and "Traceback" in said:
            self.tally.errors.append(f"{log.name}: exit code {process.returncode}")

    # --- the database -------------------------------------------------------------------

    def _import_topic(self) -> None:
        pack = TopicPack(
            name=_TOPIC, title="基准", description="", threshold=0.1,
            terms=(Term("侨胞", "core"),), samples=(),
            sites=(Site(HOST, "基准网", "authoritative", 1, "境内", "news"),),
        )
        with self.database.engine.begin() as c:
            save_pack(c, pack, now=time.time())

    def _number(self, query: str) -> int:
        with self.database.engine.connect() as c:
            return int(c.execute(text(query)).scalar_one())

    def _left(self) -> int:
        return self._number("SELECT COUNT(*) FROM url WHERE state IN (0, 1, 2)")

    def stored_pages(self) -> int:
        """Distinct pages with stored source."""
        return self._number("SELECT COUNT(DISTINCT url_id) FROM page_source")


def _stock_scrapy(served: ServedSite, folder: Path, kills: int, seed: int) -> dict[str, object]:
    """The same site, stock Scrapy with JOBDIR, killed *kills* times and resumed."""
    rng = random.Random(seed)
    spider = folder / "stock.py"
    spider.write_text(
        "import scrapy\n"
        "class Stock(scrapy.Spider):\n"
        "    name = 'stock'\n"
        f"    start_urls = ['http://{served.origin}/']\n"
        "    def parse(self, response):\n"
        f"        open(r'{folder}/stock.txt', 'a').write(response.url + '\\n')\n"
        "        for link in response.css('a::attr(href)').getall():\n"
        "            yield response.follow(link)\n"
    )
    command = [sys.executable, "-m", "scrapy", "runspider", str(spider), "-s", "JOBDIR=job",
               "-s", "LOG_LEVEL=INFO", "-s", "TELNETCONSOLE_ENABLED=0",
               "-s", "REMOTE_CONTROL_ENABLED=0"]
    for run in range(kills + 1):
        process = subprocess.Popen(command, cwd=folder, stderr=(folder / "stock.log").open("wb"))
        if run < kills:
            try:
                process.wait(rng.uniform(1.5, 3.0))
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()
    seen = set((folder / "stock.txt").read_text().split())
    pages = len(served.site.pages)
    said = (folder / "stock.log").read_text("utf-8", "replace")
    return {
        "method": "stock Scrapy, JOBDIR", "pages": pages, "kills": kills,
        "pages_lost": pages - len(seen),
        "false_finishes": int(len(seen) < pages and bool(_FINISHED.search(said))),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--database", default="", help="default: a new SQLite file")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--lease-seconds", type=float, default=4.0)
    parser.add_argument("--strategy", default="bfs", help="crawl order")
    # Slow enough that the kills fall into the crawl, not behind its end.
    parser.add_argument("--delay", type=float, default=0.4,
                        help="seconds the site takes a page and worker")
    parser.add_argument("--no-peer", action="store_true", help="leave stock Scrapy out")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main() -> int:
    """Run the campaign; exit code 1 when a page was lost or a finish was false."""
    arguments = _arguments()
    console = Console()
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as name, serving(
        LocalSite.build(arguments.pages), delay_seconds=arguments.delay * arguments.workers
    ) as served:
        folder = Path(name)
        url = arguments.database or f"sqlite:///{folder / 'durability.db'}"
        campaign = Campaign(served, url, folder, arguments)
        with Progress(console=console) as progress:
            campaign.run(progress)
        tally = campaign.tally
        hits = served.hits(reset=True)
        fetches = sum(n for path, n in hits.items() if path in served.site.pages)
        ours = {
            "method": "qiaocrawl", "database": url.split(":")[0], "workers": arguments.workers,
            "pages": arguments.pages, "kills": tally.kills,
            "pages_lost": arguments.pages - campaign.stored_pages(),
            "false_finishes": tally.false_finishes, "runs": tally.runs,
            "fetched_twice": fetches - arguments.pages,
            "loss_per_kill_at_most": round(3 / max(tally.kills, 1), 4),
            "kills_by_point": tally.kills_by_point, "errors": tally.errors,
        }
        campaign.database.close()
        rows.append(ours)
        if not arguments.no_peer:
            rows.append(_stock_scrapy(served, folder, 3, arguments.seed))
    _print(console, rows)
    if arguments.json:
        write_rows(arguments.json, rows)
    return int(bool(ours["pages_lost"] or ours["false_finishes"] or ours["errors"]))


def _print(console: Console, rows: list[dict[str, object]]) -> None:
    table = Table("", "pages", "kills -9", "pages lost", "false finishes", "fetched twice")
    for row in rows:
        name = f"{row['method']} {row.get('database', '')}"
        cells = [row.get(k, "") for k in
                 ("pages", "kills", "pages_lost", "false_finishes", "fetched_twice")]
        table.add_row(name, *map(str, cells))
    console.print(table)
    console.print("by point:", rows[0]["kills_by_point"])
    for error in rows[0]["errors"]:  # type: ignore[attr-defined]
        console.print("error:", error)


if __name__ == "__main__":
    sys.exit(main())
