"""A full qiaocrawl crawl beside a bare Scrapy spider that only fetches the same pages.

    python benchmarks/crawl.py [--pages 3000] [--rounds 3] [--json FILE]

Both run on the same local server, in turn, with the same concurrency and no delay; medians
over the rounds. CPU counts the crawl's process and its children (the analysis workers).
A last qiaocrawl run under a profiler says where the time of the crawl's own process goes.
"""

from __future__ import annotations

import argparse
import os
import pstats
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package that numba looks for.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.table import Table
from sqlalchemy import text

from benchmarks.local_site import HOST, LocalSite, ServedSite, serving
from benchmarks.rows import write_rows
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.folder import load_pack

_CONCURRENCY = 16
_QUIET = [
    "-s",
    "TELNETCONSOLE_ENABLED=0",
    "-s",
    "REMOTE_CONTROL_ENABLED=0",
    "-s",
    "LOG_LEVEL=INFO",
    "-s",
    f"CONCURRENT_REQUESTS_PER_DOMAIN={_CONCURRENCY}",
    "-s",
    f"CONCURRENT_REQUESTS={_CONCURRENCY}",
    "-s",
    "DOWNLOAD_DELAY=0",
]
_ELAPSED = re.compile(r"'elapsed_time_seconds': ([\d.]+)")

_BARE = """
import scrapy

class Bare(scrapy.Spider):
    name = "bare"
    custom_settings = {"CONCURRENT_ITEMS": 4, "ROBOTSTXT_OBEY": False}

    async def start(self):
        for url in open(self.urls).read().split():
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response):
        self.crawler.stats.inc_value("fetched")
"""

# Functions of the profile by the part of the way they belong to: first match counts.
_PARTS = (
    ("storage writes", re.compile(r"sqlalchemy|sqlite3|qiaocrawl/storage")),
    ("analysis hand-over", re.compile(r"pebble|multiprocessing|pickle|qiaocrawl/pool")),
    (
        "links and frontier",
        re.compile(
            r"qiaocrawl/(follow|crawl/worker|crawl/scheduler|frontier)"
            r"|pipelines/links|dupefilter"
        ),
    ),
    ("deduplication", re.compile(r"qiaocrawl/(dedup|vsm)")),
    ("Scrapy and Twisted", re.compile(r"scrapy|twisted|asyncio|selectors|parsel|w3lib|zope")),
)


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl: pages a second by its own clock, CPU milliseconds a page, start-up."""

    pages_per_second: float
    cpu_ms_per_page: float
    startup_seconds: float


def _measured(command: list[str], environment: dict[str, str], folder: Path, pages: int) -> Run:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, check=False
    )
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = done.stderr.decode("utf-8", "replace")
    match = _ELAPSED.search(output)
    if done.returncode or match is None:
        raise SystemExit(f"{' '.join(command[:6])} failed:\n{output[-3000:]}")
    elapsed = float(match[1])
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(pages / elapsed, 1000 * cpu / pages, wall - elapsed)


def _bare(served: ServedSite, folder: Path) -> Run:
    (folder / "bare.py").write_text(_BARE)
    urls = folder / "urls.txt"
    urls.write_text("\n".join(f"http://{served.origin}{path}" for path in served.site.pages))
    command = [
        sys.executable,
        "-m",
        "scrapy",
        "runspider",
        "bare.py",
        "-a",
        f"urls={urls}",
        *_QUIET,
    ]
    return _measured(command, {}, folder, len(served.site.pages))


def _full(served: ServedSite, folder: Path, url: str, *, profile: Path | None = None) -> Run:
    database = Database.open(url)
    database.upgrade()
    with database.engine.begin() as c:
        save_pack(c, load_pack(PROJECT / "topics" / "qiaoqing"), now=time.time())
    database.close()
    runner = ["-m", "scrapy"]
    if profile is not None:
        runner = ["-m", "cProfile", "-o", str(profile), "-m", "scrapy"]
    command = [
        sys.executable,
        *runner,
        "crawl",
        "site",
        "-a",
        "topic=qiaoqing",
        "-a",
        f"start=http://{HOST}/",
        *_QUIET,
    ]
    environment = {
        "QIAO_DATABASE_URL": url,
        "QIAO_DEMO": served.origin,
        "PYTHONPATH": str(PROJECT),
        "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings",
        # The spiders beside it follow links only.
        "QIAO_SITEMAPS": "off",
        "QIAO_SOFT_404_PROBE": "off",
        # A tree of made-up texts is what a maze is.
        "QIAO_TRAPS_ALLOWED": f"{HOST}/*",
    }
    run = _measured(command, environment, folder, len(served.site.pages))
    _check_complete(url, len(served.site.pages))
    return run


def _check_complete(url: str, pages: int) -> None:
    database = Database.open(url)
    with database.engine.connect() as c:
        stored = c.execute(text("SELECT COUNT(DISTINCT url_id) FROM page_source")).scalar_one()
    database.close()
    if stored != pages:
        raise SystemExit(f"{stored} of {pages} pages stored: no fair comparison")


def _shares(profile: Path) -> dict[str, float]:
    """Share of the main process's own time by part, in percent."""
    stats = pstats.Stats(str(profile)).stats  # type: ignore[attr-defined]
    sums: dict[str, float] = {}
    for (file, _, name), (_, _, own, _, _) in stats.items():
        if name in {"<method 'poll' of 'select.epoll' objects>"}:
            continue
        part = next((part for part, pattern in _PARTS if pattern.search(file)), "other Python")
        sums[part] = sums.get(part, 0.0) + own
    total = sum(sums.values())
    return {part: round(100 * own / total, 1) for part, own in sorted(sums.items())}


def _median(runs: list[Run], field: str) -> float:
    return float(statistics.median(getattr(run, field) for run in runs))


def main() -> None:
    """Run both in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    site = LocalSite.build(arguments.pages)
    bare, full = [], []
    with tempfile.TemporaryDirectory() as name, serving(site) as served:
        folder = Path(name)
        for number in range(arguments.rounds):
            bare.append(_bare(served, folder))
            full.append(_full(served, folder, f"sqlite:///{folder}/{number}.db"))
        profile = folder / "profile"
        _full(served, folder, f"sqlite:///{folder}/profile.db", profile=profile)
        shares = _shares(profile)
    rows = [
        {
            "method": method,
            "pages": arguments.pages,
            "rounds": len(runs),
            **{
                f: round(_median(runs, f), 2)
                for f in ("pages_per_second", "cpu_ms_per_page", "startup_seconds")
            },
        }
        for method, runs in (("bare Scrapy, fetching only", bare), ("qiaocrawl, all stages", full))
    ]
    ratios = [f.pages_per_second / b.pages_per_second for f, b in zip(full, bare, strict=True)]
    rows[1]["rate_ratio"] = round(statistics.median(ratios), 3)
    rows[1]["shares_percent"] = shares
    _print(rows, shares)
    if arguments.json:
        write_rows(arguments.json, rows)


def _print(rows: list[dict[str, object]], shares: dict[str, float]) -> None:
    console = Console()
    table = Table("", "pages/s", "CPU ms a page", "start-up s", "rate / bare")
    for row in rows:
        table.add_row(
            str(row["method"]),
            str(row["pages_per_second"]),
            str(row["cpu_ms_per_page"]),
            str(row["startup_seconds"]),
            str(row.get("rate_ratio", "1")),
        )
    console.print(table)
    console.print("Where the crawl's own process spends its time (profiled run, %):")
    for part, share in sorted(shares.items(), key=lambda pair: -pair[1]):
        console.print(f"  {share:5.1f}  {part}")


if __name__ == "__main__":
    main()
