"""Collectors of one crawl as processes of their own: started, watched, one of them killed."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.fleets.web import Hit, ServedWeb
from benchmarks.process_samples import Samples
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.folder import load_pack

PROJECT = Path(__file__).resolve().parents[2]
TOPIC = "qiaoqing"
_LONGEST_SECONDS = 900.0
_LOOK_SECONDS = 0.5
_END = re.compile(r"Spider closed \((\w+)\)")
_REFUSED = re.compile(r"lease_lost': (\d+)")


@dataclass(frozen=True, slots=True)
class Terms:
    """How a crew crawls: policy and mode by name."""

    policy: str
    mode: str


@dataclass(slots=True)
class Collector:
    """One process; *name* is in the User-Agent of its requests."""

    process: subprocess.Popen[bytes]
    name: str
    log: Path

    def ends_well(self) -> bool:
        """Whether it said that the crawl is finished."""
        return self.process.returncode == 0 and self.finished_at() is not None

    def finished_at(self) -> float | None:
        """When it said that the crawl is finished, by the monotonic clock; None: it did not."""
        match = _END.search(self._said())
        if match is None or match[1] != "finished":
            return None
        return time.monotonic() - (time.time() - self.log.stat().st_mtime)

    def refused(self) -> int:
        """How many pages it fetched whose lease was another's by then: nothing was stored."""
        return sum(map(int, _REFUSED.findall(self._said())))

    def last_words(self) -> str:
        """The end of its log."""
        return self._said()[-2000:]

    def _said(self) -> str:
        return self.log.read_text("utf-8", "replace")


class Crew:
    """Collectors that crawl the whole of *served* together.

    Args:
        urls: databases, one a collector: the same, or members of one cluster.
    """

    def __init__(self, served: ServedWeb, urls: list[str], terms: Terms, folder: Path) -> None:
        self.served, self.folder = served, folder
        self._terms = terms
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self._cpu_before = before.ru_utime + before.ru_stime
        prepare(urls[0])
        self.collectors = [self._start(url, number) for number, url in enumerate(urls)]

    def _start(self, url: str, number: int) -> Collector:
        name = f"collector{number}@fleet.example"
        log = self.folder / f"{name}.log"
        command = [
            sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"topic={TOPIC}",
            "-a", f"start={','.join(self.served.web.starts)}", "-a", "across=on",
            "-a", "strategy=bfs",
            "-s", "LOG_LEVEL=INFO", "-s", "TELNETCONSOLE_ENABLED=0",
        ]  # fmt: skip
        with log.open("wb") as out:
            process = subprocess.Popen(
                command, env=self._environment(url, name), cwd=self.folder, stdout=out,
                stderr=out, start_new_session=True,
            )  # fmt: skip
        return Collector(process, name, log)

    def _environment(self, url: str, name: str) -> dict[str, str]:
        return {
            **os.environ,
            "QIAO_DATABASE_URL": url,
            "QIAO_DEMO": self.served.origin,
            "QIAO_CONTACT": name,
            "QIAO_HOST_POLICY": self._terms.policy,
            "QIAO_LINK_MODE": self._terms.mode,
            "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings",
            "PYTHONPATH": str(PROJECT),
            # Requests for pages only: each page is one request.
            "QIAO_SITEMAPS": "off",
            "QIAO_SOFT_404_PROBE": "off",
            # Made-up texts on made-up hosts are what a maze is.
            "QIAO_TRAPS_ALLOWED": "*",
        }

    def watch(self, pages: int = sys.maxsize) -> list[Hit]:
        """Until all collectors are gone, or *pages* requests have come; returns these.

        Raises:
            TimeoutError: that takes too long.
        """
        deadline = time.monotonic() + _LONGEST_SECONDS
        while time.monotonic() < deadline:
            living = [c for c in self.collectors if c.process.poll() is None]
            hits = self.served.look()
            if not living or len(page_hits(hits)) >= pages:
                return hits
            time.sleep(_LOOK_SECONDS)
        raise TimeoutError(f"{len(self.served.hits)} requests, and no end")

    def kill(self, collector: Collector) -> float:
        """End *collector* and its analysis workers with -9; returns the moment."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(collector.process.pid, signal.SIGKILL)
        collector.process.wait()
        return time.monotonic()

    def cpu_seconds(self) -> float:
        """Processor time of all collectors, which are gone, and of their analysis workers."""
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - self._cpu_before

    def cpu_seconds_so_far(self) -> float:
        """Processor time of all collectors, while they live."""
        samples = Samples()
        for collector in self.collectors:
            samples.take(collector.name, collector.process.pid)
        return samples.cpu_seconds()

    def close(self) -> None:
        """End what is left of it."""
        for collector in self.collectors:
            if collector.process.poll() is None:
                self.kill(collector)


@contextlib.contextmanager
def crew(served: ServedWeb, urls: list[str], terms: Terms, folder: Path) -> Iterator[Crew]:
    """A crew for the time of the block; its logs are in *folder*, a new one."""
    folder.mkdir(parents=True)
    started = Crew(served, urls, terms, folder)
    try:
        yield started
    finally:
        started.close()


def prepare(url: str) -> None:
    """Make the tables, and the topic."""
    with Database.open(url) as database:
        database.upgrade()
        with database.engine.begin() as c:
            save_pack(c, load_pack(PROJECT / "topics" / TOPIC), now=time.time())


def page_hits(hits: Sequence[Hit]) -> list[Hit]:
    """Requests for pages: all but robots.txt."""
    return [hit for hit in hits if hit.path != "/robots.txt"]
