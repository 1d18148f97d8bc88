"""What hostile hosts cost the good ones that are crawled beside them.

    python benchmarks/hostile.py [--hosts 27] [--pages 40] [--rounds 1] [--no-peer] [--json FILE]

Five good hosts are crawled alone, then beside hostile ones of all kinds
(``benchmarks/disturbances/hostile_hosts.py``), by qiaocrawl and by a plain Scrapy spider with the
same limits,
in turn. The time runs from the first request to the last good page, as the servers saw them; a
crawl goes on for a minute, so that what floods later is met. CPU is what the process that fetches
spent in that time, which says more than the time where the machine has other work. Memory is the
highest sum of all the crawl's processes; a page that several of them share counts in parts (PSS).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.table import Table

from benchmarks.disturbances.hostile_hosts import KINDS, ServedHosts, good_hosts, hostile_hosts
from benchmarks.rows import write_rows
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.folder import load_pack

_GOOD = 5
_DELAY_SECONDS = 0.25
_LIMITS = {
    "DOWNLOAD_DELAY": _DELAY_SECONDS,
    "CONCURRENT_REQUESTS": 128,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 2,
    "DOWNLOAD_TIMEOUT": 30,
    "DOWNLOAD_MAXSIZE": 10 * 1024 * 1024,
    "TELNETCONSOLE_ENABLED": 0,
    "REMOTE_CONTROL_ENABLED": 0,
    "LOG_LEVEL": "WARNING",
}
_LIMIT_ARGUMENTS = [part for name, value in _LIMITS.items() for part in ("-s", f"{name}={value}")]
_LONGEST_SECONDS = 300.0
_GOES_ON_SECONDS = 60.0
_LOOK_SECONDS = 0.2

_PLAIN = """
import scrapy
from scrapy.linkextractors import LinkExtractor

class Plain(scrapy.Spider):
    name = "plain"
    custom_settings = {"ROBOTSTXT_OBEY": True, "DOWNLOAD_DELAY_JITTER": 0}
    links = LinkExtractor()

    async def start(self):
        for url in self.urls.split(","):
            yield scrapy.Request(url)

    def parse(self, response):
        if isinstance(response, scrapy.http.HtmlResponse):
            for link in self.links.extract_links(response):
                if link.url.split("/")[2] == response.url.split("/")[2]:
                    yield scrapy.Request(link.url)
"""


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl: seconds until all good pages were asked for, and its highest memory."""

    good_seconds: float
    cpu_seconds: float
    good_pages: int
    peak_mib: float
    hostile_requests: int


def _processes(root: int) -> Iterator[int]:
    yield root
    try:
        tasks = Path(f"/proc/{root}/task")
        for task in tasks.iterdir():
            for child in (task / "children").read_text().split():
                yield from _processes(int(child))
    except OSError:
        return


def _memory_mib(root: int) -> float:
    total = 0
    for pid in _processes(root):
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += int(rollup.partition("\nPss:")[2].split()[0] or 0)
    return total / 1024


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _watch(
    process: subprocess.Popen[bytes], good: ServedHosts, hostile: ServedHosts | None, pages: int
) -> Run:
    began = time.monotonic()
    peak, last, requests, cpu, cpu_first = 0.0, 0.0, 0, 0.0, 0.0
    first = float("inf")
    asked: set[tuple[str, str]] = set()
    while process.poll() is None:
        now = time.monotonic()
        peak = max(peak, _memory_mib(process.pid))
        for one in hostile.take() if hostile is not None else ():
            first, requests = min(first, one.at), requests + 1
        for one in good.take():
            first = min(first, one.at)
            if one.path.startswith("/news/") or one.path == "/":
                last = max(last, one.at) if (one.host, one.path) not in asked else last
                asked.add((one.host, one.path))
        if first == float("inf"):
            cpu_first = _cpu_seconds(process.pid)
        elif len(asked) < pages:
            cpu = _cpu_seconds(process.pid)
        is_done = len(asked) == pages and (hostile is None or now - first > _GOES_ON_SECONDS)
        if is_done or now - began > _LONGEST_SECONDS:
            process.terminate()
            break
        time.sleep(_LOOK_SECONDS)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return Run(
        round(last - first, 2), round(cpu - cpu_first, 2), len(asked), round(peak, 1), requests
    )


def _ours(starts: list[str], folder: Path) -> subprocess.Popen[bytes]:
    url = f"sqlite:///{folder / 'q.db'}"
    database = Database.open(url)
    database.upgrade()
    with database.engine.begin() as c:
        save_pack(c, load_pack(PROJECT / "topics" / "qiaoqing"), now=time.time())
    database.close()
    environment = {
        "QIAO_DATABASE_URL": url,
        "PYTHONPATH": str(PROJECT),
        "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings",
        "QIAO_ALLOW_ADDRESSES": ",".join(f"http://{one}" for one in starts),
        "QIAO_SOFT_404_PROBE": "off",
    }
    command = [
        "crawl",
        "site",
        "-a",
        "topic=qiaoqing",
        "-s",
        "DOWNLOAD_DELAY_JITTER=0",
        "-a",
        "start=" + ",".join(f"http://{one}/" for one in starts),
    ]
    return _started([*command, *_LIMIT_ARGUMENTS], environment, folder)


def _plain(starts: list[str], folder: Path) -> subprocess.Popen[bytes]:
    (folder / "plain.py").write_text(_PLAIN)
    urls = ",".join(f"http://{one}/" for one in starts)
    return _started(["runspider", "plain.py", "-a", f"urls={urls}", *_LIMIT_ARGUMENTS], {}, folder)


def _started(
    command: list[str], environment: dict[str, str], folder: Path
) -> subprocess.Popen[bytes]:
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "scrapy", *command],
            cwd=folder,
            env={**os.environ, **environment},
            stdout=log,
            stderr=log,
        )


_CRAWLERS = {"qiaocrawl": _ours, "plain Scrapy": _plain}


def _crawl(crawler: str, hosts: int, pages: int) -> Run:
    """Crawl good hosts of *pages* pages each beside *hosts* hostile ones."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        good = stack.enter_context(good_hosts(_GOOD, pages))
        hostile = stack.enter_context(hostile_hosts(hosts)) if hosts else None
        starts = [*(hostile.names if hostile else ()), *good.names]
        process = _CRAWLERS[crawler](starts, folder)
        run = _watch(process, good, hostile, _GOOD * pages)
        if run.good_pages < _GOOD * pages:
            print((folder / "log").read_text("utf-8", "replace")[-3000:], file=sys.stderr)
        return run


def _row(crawler: str, alone: list[Run], beside: list[Run]) -> dict[str, object]:
    pairs = list(zip(alone, beside, strict=True))
    return {
        "method": crawler,
        "alone_seconds": statistics.median(one.good_seconds for one in alone),
        "beside_seconds": statistics.median(one.good_seconds for one in beside),
        "ratio": round(statistics.median(b.good_seconds / a.good_seconds for a, b in pairs), 2),
        "cpu_alone_seconds": statistics.median(one.cpu_seconds for one in alone),
        "cpu_beside_seconds": statistics.median(one.cpu_seconds for one in beside),
        "more_mib": round(statistics.median(b.peak_mib - a.peak_mib for a, b in pairs), 1),
        "runs": [{"alone": asdict(a), "beside": asdict(b)} for a, b in pairs],
    }


def main() -> None:
    """Run all in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--hosts", type=int, default=len(KINDS))
    parser.add_argument("--pages", type=int, default=40, help="of each good host")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--no-peer", action="store_true", help="leave plain Scrapy out")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    crawlers = ["qiaocrawl"] if arguments.no_peer else list(_CRAWLERS)
    alone: dict[str, list[Run]] = {name: [] for name in crawlers}
    beside: dict[str, list[Run]] = {name: [] for name in crawlers}
    for _ in range(arguments.rounds):
        for name in crawlers:
            alone[name].append(_crawl(name, 0, arguments.pages))
            beside[name].append(_crawl(name, arguments.hosts, arguments.pages))
    rows = [_row(name, alone[name], beside[name]) for name in crawlers]
    _print(rows, arguments.hosts, arguments.pages)
    if arguments.json:
        write_rows(arguments.json, rows)


def _print(rows: list[dict[str, object]], hosts: int, pages: int) -> None:
    table = Table(
        "",
        "alone s",
        f"beside {hosts} s",
        "ratio",
        "CPU alone s",
        "CPU beside s",
        "more memory MiB",
        title=f"{_GOOD} good hosts of {pages} pages beside {hosts} hostile ones",
    )
    for row in rows:
        table.add_row(
            *(
                str(row[name])
                for name in (
                    "method",
                    "alone_seconds",
                    "beside_seconds",
                    "ratio",
                    "cpu_alone_seconds",
                    "cpu_beside_seconds",
                    "more_mib",
                )
            )
        )
    Console().print(table)


if __name__ == "__main__":
    main()
