"""Crawls one site again and again while its workers and their database are disturbed.

Every disturbance falls into a crawl that still has pages to fetch: a site that is all stored is
followed by a fresh one, in a fresh database, until the quota is used.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from rich.progress import Progress, TaskID
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from benchmarks.disturbances.failpoints import DEEDS, IN_TRANSACTIONS, POINTS, REFUSED
from benchmarks.disturbances.jobs import TOPIC, Job
from benchmarks.local_site import ServedSite
from benchmarks.mariadb_server import MariaDB
from benchmarks.process_samples import carrying
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.topics import save_pack

PROJECT = Path(__file__).resolve().parents[2]
_FAILPOINTS = Path(__file__).with_name("failpoints.py")
KINDS = ("kill", "stop", "server", "lock", "refuse")
"""Kills with -9, SIGSTOP past the lease, the server killed and started again, another program's
lock on the SQLite file, commits that the database refuses."""
_FINISHED = re.compile(r"Spider closed \(finished\)")
_PATIENCE_SECONDS = 8
# The last one is longer than a crawl's patience.
_AWAY_SECONDS = (0.3, 1.0, 3.0, 10.0)
_POLL_SECONDS = 0.1
_DYING_SECONDS = 120.0
_MARK = "DURABILITY_RUN"
_LONGEST_ROUND_SECONDS = 1800
# Small numbers fail early in a run, large ones deep inside it.
_STRIKES = (1, 1, 2, 5, 20, 60)
_REFUSED_EVERY = (5, 12, 30)


@dataclass
class Tally:
    """What the campaign showed."""

    disturbances: Counter[str] = field(default_factory=Counter)
    points: Counter[str] = field(default_factory=Counter)
    false_finishes: int = 0
    runs: int = 0
    rounds: int = 0
    pages: int = 0
    pages_lost: int = 0
    fetched_twice: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    figures: Counter[str] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        """Disturbances of all kinds."""
        return sum(self.disturbances.values())


@dataclass
class Worker:
    """A running crawl, and what it is armed with."""

    process: subprocess.Popen[bytes]
    log: Path
    point: str
    mark: str
    stopped_until: float = 0.0

    @property
    def has_begun(self) -> bool:
        """Whether its crawl is past its start."""
        return b"Spider opened" in self.log.read_bytes()

    @property
    def is_stopped(self) -> bool:
        """Whether SIGSTOP holds it."""
        with suppress(OSError):
            stat = Path(f"/proc/{self.process.pid}/stat").read_text()
            return stat.rpartition(") ")[2].startswith("T")
        return False


class Campaign:
    """The rounds of one campaign.

    Args:
        job: what is crawled, by which spider.
        served: its site.
        url_of_round: a fresh database for each round.
        server: the MariaDB server that may be killed.
    """

    def __init__(
        self, job: Job, served: ServedSite, folder: Path, url_of_round: Callable[[int], str],
        arguments: argparse.Namespace, server: MariaDB | None,
    ) -> None:  # fmt: skip
        self._job, self._served, self._folder = job, served, folder
        self._url_of_round, self._arguments, self._server = url_of_round, arguments, server
        self._kinds = [kind for kind in arguments.disturb if self._has(kind)]
        self._rng = random.Random(arguments.seed)
        self._running: list[Worker] = []
        self._next = self._server_back = 0.0
        seconds = 60 * arguments.minutes
        self._until = time.monotonic() + seconds if seconds else 0.0
        self._url = ""
        self.tally = Tally()

    def run(self, progress: Progress) -> None:
        """Disturb crawls until the quota is used; each ends undisturbed."""
        task = progress.add_task("disturbances", total=self._arguments.disturbances)
        self._round(progress, task)
        while not self._is_used_up and not self._arguments.database:
            self._round(progress, task)

    def _has(self, kind: str) -> bool:
        is_sqlite = not (self._arguments.mariadb or self._arguments.database[:5] == "mysql")
        return {"server": self._server is not None, "lock": is_sqlite}.get(kind, True)

    @property
    def _open_kinds(self) -> list[str]:
        """Those that have not had their share yet: no kind stands in for another."""
        if self._until and time.monotonic() > self._until:
            return []
        share = math.ceil(self._arguments.disturbances / len(self._kinds))
        return [kind for kind in self._kinds if self.tally.disturbances[kind] < share]

    @property
    def _is_used_up(self) -> bool:
        return not self._open_kinds

    def _round(self, progress: Progress, task: TaskID) -> None:
        self.tally.rounds += 1
        self._url = self._url_of_round(self.tally.rounds)
        with Database.open(self._url) as database:
            database.upgrade()
            with database.engine.begin() as c:
                save_pack(c, self._job.pack, now=time.time())
            self._job.prepare(database)
        until = time.monotonic() + _LONGEST_ROUND_SECONDS
        self._next = time.monotonic() + self._pause()
        while self._running or self._rows_open() or not self._began():
            if time.monotonic() > until:
                self.tally.errors.append(f"round {self.tally.rounds}: no end")
                break
            self._step()
            progress.update(task, completed=self.tally.count)
        self._settle()
        self._judge_round()

    def _step(self) -> None:
        wanted = self._arguments.workers
        if len(self._running) < wanted and (self._rows_open() or not self._began()):
            self._running.append(self._start())
        time.sleep(_POLL_SECONDS)
        if self._server_back and time.monotonic() > self._server_back:
            self._start_server()
        for worker in list(self._running):
            self._look_at(worker)
        if self._running and not self._is_used_up and time.monotonic() > self._next:
            self._next = time.monotonic() + self._pause()
            # One in five while it starts.
            begun = [one for one in self._running if one.has_begun or self._rng.random() < 0.2]
            if begun:
                self._disturb(self._rng.choice(begun))

    def _pause(self) -> float:
        seconds: float = self._arguments.every_seconds
        return seconds * self._rng.uniform(0.3, 2.0)

    # --- disturbing ---------------------------------------------------------------------------

    def _disturb(self, victim: Worker) -> None:
        kinds = [kind for kind in self._open_kinds if kind != "refuse"]
        kind = self._rng.choice(kinds) if kinds else ""
        if kind == "kill":
            if self._rng.random() < 0.2:
                victim.process.terminate()
                self._next = time.monotonic() + self._rng.uniform(0.05, 1.5)
            else:
                victim.process.kill()
        elif kind == "stop":
            victim.process.send_signal(signal.SIGSTOP)
        elif kind == "server" and self._server and not self._server_back:
            self._count("server")
            self._server.kill()
            self._server_back = time.monotonic() + self._rng.choice(_AWAY_SECONDS)
        elif kind == "lock":
            threading.Thread(
                target=_hold_lock,
                daemon=True,
                args=(self._url.removeprefix("sqlite:///"), self._rng.choice(_AWAY_SECONDS)),
            ).start()
            self._count("lock")

    def _count(self, kind: str, number: int = 1) -> None:
        """Count it if it met a crawl that was not over yet."""
        if number and not self._is_all_stored():
            self.tally.disturbances[kind] += number

    def _start_server(self) -> None:
        assert self._server is not None
        self._server_back = 0.0
        self._server.start()

    def _settle(self) -> None:
        if self._server_back:
            self._start_server()
        for worker in self._running:
            worker.process.kill()
            worker.process.wait()
        self._running.clear()

    # --- processes ----------------------------------------------------------------------------

    def _start(self) -> Worker:
        self.tally.runs += 1
        log = self._folder / f"run{self.tally.runs}.log"
        point, command = self._armed()
        command += ["crawl", self._job.spider, "-a", f"topic={TOPIC}", *self._job.arguments]
        environment = {
            **os.environ,
            "QIAO_DATABASE_URL": self._url,
            "QIAO_DEMO": self._served.origin,
            "QIAO_FRONTIER_LEASE_SECONDS": str(self._arguments.lease_seconds),
            "QIAO_STORAGE_OUTAGE_SECONDS": str(_PATIENCE_SECONDS),
            "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings",
            "PYTHONPATH": str(PROJECT),
            "QIAO_SITEMAPS": "off",
            "QIAO_SOFT_404_PROBE": "off",
            # Trees of made-up texts are what a maze is.
            "QIAO_TRAPS_ALLOWED": "*",
            "QIAO_LOCK_WAIT_SECONDS": "20",
            **self._job.environment,
            _MARK: self._mark(),
        }
        with log.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, *command],
                env=environment,
                cwd=self._folder,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return Worker(process, log, point, self._mark())

    def _mark(self) -> str:
        """What the processes of the newest run carry, browsers too."""
        return f"{os.getpid()}.{self.tally.runs}"

    def _armed(self) -> tuple[str, list[str]]:
        """A point to fail at, or "", and the program that does."""
        deeds = [kind for kind in self._open_kinds if kind in DEEDS]
        if not deeds or self._rng.random() < 0.35:
            return "", ["-m", "scrapy"]
        deed, point = self._rng.choice(deeds), self._rng.choice(list(POINTS))
        strike = str(self._rng.choice(_STRIKES))
        if deed == "refuse":
            # By a database that takes it the next time, or for good.
            deed, point = self._rng.choice(("refuse", "fail")), self._rng.choice(IN_TRANSACTIONS)
            strike = f"{self._rng.choice(_REFUSED_EVERY)}+" if deed == "refuse" else strike
        return f"{deed}: {point}", [str(_FAILPOINTS), point, f"{strike}:{deed}"]

    def _look_at(self, worker: Worker) -> None:
        if worker.process.poll() is not None:
            self._running.remove(worker)
            self._ended(worker)
        elif worker.stopped_until:
            if time.monotonic() > worker.stopped_until:
                worker.stopped_until = 0.0
                worker.process.send_signal(signal.SIGCONT)
        elif worker.is_stopped:
            self._count("stop")
            self._note_point(worker, "stop")
            lease_seconds: float = self._arguments.lease_seconds
            worker.stopped_until = time.monotonic() + lease_seconds * self._rng.uniform(1.1, 1.6)

    def _ended(self, worker: Worker) -> None:
        log = worker.log.read_text("utf-8", "replace")
        if refused := log.count(REFUSED):
            self._count("refuse", refused)
            self.tally.points[worker.point] += refused
        code = worker.process.returncode
        if code == -signal.SIGKILL:
            self._count("kill")
            self._note_point(worker, "kill")
        else:
            self._check_end(worker, log)
        self.tally.ends[f"exit {code}"] += 1
        for pid in _outlived(worker.mark):
            self.tally.errors.append(f"{worker.log.name}: process {pid} outlived it")
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _note_point(self, worker: Worker, deed: str) -> None:
        armed = worker.point.startswith(deed)
        self.tally.points[worker.point if armed else f"{deed}: random moment"] += 1

    def _check_end(self, worker: Worker, said: str) -> None:
        """A run that ended by itself must not claim to be finished while pages are missing."""
        # Another worker may have begun the next crawl since: what counts is a page that was
        # never stored.
        if _FINISHED.search(said) and not self._is_all_stored():
            self.tally.false_finishes += 1
            self.tally.errors.append(f"{worker.log.name}: finished, {self._stored()} stored")
        # An error of no known kind, as some are armed with, ends a run with a traceback rightly.
        is_armed = worker.point.startswith("fail")
        if worker.process.returncode and "Traceback" in said and not is_armed:
            last = said.rpartition("Traceback")[2].strip().splitlines()[-1:]
            self.tally.errors.append(f"{worker.log.name}: {worker.point}: {last}")

    # --- the database -------------------------------------------------------------------------

    def _judge_round(self) -> None:
        pages = self._job.site.pages
        lost = len(pages) - self._stored()
        hits = self._served.hits(reset=True)
        self.tally.pages += len(pages)
        self.tally.pages_lost += lost
        self.tally.fetched_twice += sum(hits.get(path, 0) for path in pages) - len(pages)
        with Database.open(self._url) as database:
            wrong, figures = self._job.judge(database, hits)
        self.tally.errors += [f"round {self.tally.rounds}: {what}" for what in wrong]
        self.tally.figures.update(figures)

    def _began(self) -> bool:
        return self._number("SELECT COUNT(*) FROM url") > 0

    def _rows_open(self) -> int:
        return self._number("SELECT COUNT(*) FROM url WHERE state IN (0, 1, 2)")

    def _stored(self) -> int:
        """Distinct pages with stored source."""
        return self._number("SELECT COUNT(DISTINCT url_id) FROM page_source")

    def _is_all_stored(self) -> bool:
        return self._stored() >= len(self._job.site.pages)

    def _number(self, query: str) -> int:
        while True:
            try:
                with Database.open(self._url) as database, database.engine.connect() as c:
                    # A worker that is stopped within its transaction would be waited for.
                    c = c.execution_options(qiao_reads=True)
                    return int(c.execute(text(query)).scalar_one())
            except OperationalError:
                # Nobody looks before it is back.
                if self._server_back:
                    time.sleep(max(self._server_back - time.monotonic(), 0))
                    self._start_server()
                time.sleep(_POLL_SECONDS)


def _hold_lock(file: str, seconds: float) -> None:
    """Keep all others from writing, as a backup program does."""
    with suppress(sqlite3.OperationalError):
        connection = sqlite3.connect(file, timeout=10)
        connection.execute("BEGIN IMMEDIATE")
        time.sleep(seconds)
        connection.rollback()
        connection.close()


def _outlived(mark: str) -> list[int]:
    """The processes of a dead worker that are alive two minutes later."""
    until = time.monotonic() + _DYING_SECONDS
    while (left := carrying(f"{_MARK}={mark}")) and time.monotonic() < until:
        time.sleep(_POLL_SECONDS)
    return left
