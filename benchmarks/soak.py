"""All spiders in turn, for hours, on sites that change, break, block and lie; nothing may be lost.

    python benchmarks/soak.py --hours 24                  # SQLite, one worker
    python benchmarks/soak.py --hours 24 --mariadb --workers 3    # a private MariaDB server
    python benchmarks/soak.py --hours 0.05 --sites 30     # a trial of three minutes

Meanwhile workers are killed with -9 and stopped past their leases, the database goes away and
comes back, clocks jump. Every third cycle of the spiders is calm: there the growth of
processes is measured. The last part of the time is undisturbed: what is missing then is lost.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console

from benchmarks.mariadb_server import MariaDB
from benchmarks.process_samples import Samples, living
from benchmarks.soaking.checks import Checks
from benchmarks.soaking.farm import ENGINE_DEFINITION, ServedFarm, serving
from benchmarks.soaking.report import print_report
from benchmarks.soaking.storm import Storm
from benchmarks.soaking.world import ASKED, World
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.pack import Site, Term, TopicPack

TOPIC = "soak"
_LEASE_SECONDS = 10.0
_SAMPLE_SECONDS = 10.0
_CLOSING_SECONDS = 60
_DYING_SECONDS = 60.0
_JUMPS = (-1800.0, -600.0, 600.0, 1800.0)
_SPIDERS = {"search": 0.1, "site": 0.45, "pages": 0.2, "watch": 0.25}
"""The spiders in turn, each with its share of a cycle."""
# A slow farm: few requests under way at a time, lest they outwait their time-out.
_SETTINGS = ("-s", "CONCURRENT_REQUESTS=16", "-s", "DOWNLOAD_DELAY=0.25")
_END = re.compile(r"Spider closed \((\w+)\)")
_CLOCK_JUMP = PROJECT / "benchmarks" / "disturbances" / "clock_jump.py"
_LEAST_LAST_SECONDS = 600.0
_LAST_SHARE = 0.25
"""Of the time, for the undisturbed round at the end."""


@dataclass
class Worker:
    """A running spider."""

    process: subprocess.Popen[bytes]
    log: Path
    jumps: bool

    @property
    def pid(self) -> int:
        """Process id; of its session too."""
        return self.process.pid

    def reason(self) -> str:
        """Why its crawl ended, as it says; "" when it does not."""
        reasons = _END.findall(self.log.read_text("utf-8", "replace"))
        return str(reasons[-1]) if reasons else ""


@dataclass
class Tally:
    """What the soak has seen beside what is in the database."""

    runs: int = 0
    cycles: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    orphans: int = 0
    jumps: int = 0
    notes: list[str] = field(default_factory=list)


class Soak:
    """The whole campaign on one database."""

    def __init__(
        self, farm: ServedFarm, url: str, folder: Path, storm: Storm,
        arguments: argparse.Namespace, console: Console,
    ) -> None:  # fmt: skip
        self._farm, self._url, self._folder = farm, url, folder
        self._storm, self._arguments, self._console = storm, arguments, console
        self._rng = random.Random(arguments.seed)
        self.tally, self.samples = Tally(), Samples()
        self.began = time.monotonic()
        self._ends_at = self.began + 3600 * arguments.hours
        self._sampled_at = 0.0
        self._calm = False
        with Database.open(url) as database:
            database.upgrade()
            with database.engine.begin() as c:
                save_pack(c, _pack(farm.world), now=time.time())
        engines = folder / "engines"
        engines.mkdir()
        (engines / "soak.toml").write_text(ENGINE_DEFINITION, "utf-8")
        self.checks = Checks(url, farm.world)

    def run(self) -> None:
        """Cycles of all spiders until the last part of the time; then one without disturbance."""
        storms_end = self._ends_at - _LAST_SHARE * 3600 * self._arguments.hours
        while time.monotonic() < storms_end:
            self.tally.cycles += 1
            self._calm = self.tally.cycles % 3 == 0
            self._storm.begin()
            for spider, share in _SPIDERS.items():
                seconds = min(share * self._arguments.cycle_seconds, storms_end - time.monotonic())
                if seconds > 5:
                    self._turn(spider, seconds)
            self.checks.note_tables()
            self._save()
        self._last_round()
        self.checks.note_tables()

    def _last_round(self) -> None:
        """No disturbance, nothing changes; clocks stand after all that jumps have put off."""
        self._calm = True
        self.checks.frozen_at = self._farm.freeze()
        # Watching fetches what it has taken over; the first crawl of the sites may go on with an
        # interrupted one, the second reads all lists.
        for spider in ("search", "watch", "site", "site", "pages"):
            left = self._ends_at - time.monotonic()
            self._turn(spider, max(left, _LEAST_LAST_SECONDS), last=True)
            self.checks.remember_missing(spider)
            self._save()

    # --- one spider's turn --------------------------------------------------------------------

    def _turn(self, spider: str, seconds: float, *, last: bool = False) -> None:
        until = time.monotonic() + seconds
        self.checks.turn_begins(spider)
        running = [self._start(spider, last=last) for _ in range(self._arguments.workers)]
        finished = over = jumped = False
        while running and time.monotonic() < until:
            time.sleep(0.25)
            if not self._calm:
                self._storm.tick([one.process for one in running])
            self._sample(running, spider)
            for worker in [one for one in running if one.process.poll() is not None]:
                running.remove(worker)
                jumped = jumped or worker.jumps
                # The last word counts: one that was started late begins a crawl of its own.
                reason = self._ended(worker, spider)
                finished, over = reason == "finished", over or reason == "finished"
                if not over and time.monotonic() < until - 10:
                    running.append(self._start(spider, last=last))
        self._storm.settle()
        self._close(running, spider)
        jumped = jumped or any(one.jumps for one in running)
        finished = finished and all(one.reason() == "finished" for one in running)
        self.checks.turn_ended(spider, finished=finished, exact=not jumped)
        self._say(spider, finished)

    def _start(self, spider: str, *, last: bool) -> Worker:
        self.tally.runs += 1
        log = self._folder / "logs" / f"{self.tally.runs:05}-{spider}.log"
        log.parent.mkdir(exist_ok=True)
        jumps = not self._calm and self._rng.random() < 0.15
        command = [sys.executable, "-m", "scrapy"]
        if jumps or last:
            # At the end: a clock behind which lies all that a clock set forward has put off.
            after = self._rng.uniform(5, 60) if jumps else 0.0
            offset = self._rng.choice(_JUMPS) if jumps else max(_JUMPS) + 600
            self.tally.jumps += jumps
            command[1:] = [str(_CLOCK_JUMP), str(after), str(offset)]
        command += ["crawl", spider, "-a", f"topic={TOPIC}", *_SETTINGS]
        with log.open("wb") as out:
            process = subprocess.Popen(
                command,
                env=self._environment(),
                cwd=self._folder,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        return Worker(process, log, jumps)

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "QIAO_DATABASE_URL": self._url,
            "QIAO_DEMO": self._farm.origin,
            "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings",
            "PYTHONPATH": str(PROJECT),
            "QIAO_ENGINES": "soak",
            "QIAO_ENGINES_DIR": str(self._folder / "engines"),
            "QIAO_FRONTIER_LEASE_SECONDS": str(_LEASE_SECONDS),
            "QIAO_FRONTIER_RETRY_SECONDS": "1",
            "QIAO_STORAGE_OUTAGE_SECONDS": "120",
            "QIAO_LOCK_WAIT_SECONDS": "30",
            "QIAO_MAX_DEPTH": "6",
            "QIAO_REVISIT_HOURS": "0",
            "QIAO_BLOCK_PAUSE_SECONDS": "3",
            "QIAO_MAX_RETRY_AFTER_SECONDS": "10",
            "QIAO_SEARCH_REPEAT_HOURS": "0",
            "QIAO_SEARCH_RETRY_HOURS": "0",
            "QIAO_SEARCH_MAX_PAGES": "20",
            "QIAO_SEARCH_PARK_AFTER": "0",
            "QIAO_SEARCH_DAILY_BUDGET": "soak=0",
            "QIAO_WATCH_SHORTEST_MINUTES": "2",
            "QIAO_WATCH_LONGEST_HOURS": "1",
            "QIAO_WATCH_ARTICLE_HOURS": "1,3",
        }

    def _ended(self, worker: Worker, spider: str) -> str:
        """Note how a worker ended by itself or by a kill; returns the reason it gave."""
        code, reason = worker.process.returncode, worker.reason()
        self.tally.ends[f"{spider}: {reason or 'no word'}, exit {code}"] += 1
        self.checks.read_log(worker.log)
        if left := _still_there(worker.pid):
            self.tally.orphans += len(left)
            self.tally.notes.append(f"{worker.log.name}: {len(left)} processes outlived it")
            with contextlib.suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGKILL)
        return reason

    def _close(self, running: list[Worker], spider: str) -> None:
        for worker in running:
            worker.process.terminate()
        for worker in running:
            try:
                worker.process.wait(_CLOSING_SECONDS)
            except subprocess.TimeoutExpired:
                self.tally.notes.append(f"{worker.log.name}: had to be killed after SIGTERM")
                worker.process.kill()
                worker.process.wait()
            self._ended(worker, spider)

    # --- looking ---------------------------------------------------------------------------------

    def _sample(self, running: list[Worker], spider: str) -> None:
        if time.monotonic() < self._sampled_at + _SAMPLE_SECONDS:
            return
        self._sampled_at = time.monotonic()
        for worker in running:
            self.samples.take(f"{spider}{'' if self._calm else ' (disturbed)'}", worker.pid)
        self.samples.take("the farm", self._farm.pid)
        if self._storm.server is not None:
            with contextlib.suppress(OSError):
                self.samples.take("mariadbd", self._storm.server.pid)

    def _cycle_name(self) -> str:
        if self.checks.frozen_at is not None:
            return "last"
        return f"{self.tally.cycles}{' calm' if self._calm else ''}"

    def _say(self, spider: str, finished: bool) -> None:
        minutes = (time.monotonic() - self.began) / 60
        cpu = self.samples.cpu_seconds() / (60 * minutes)
        counts = self.checks.counts()
        self._console.print(
            f"{minutes:6.1f} min  cycle {self._cycle_name():<6} {spider:<6} "
            f"{'finished' if finished else 'cut':<8} pages {counts['pages']:<6} "
            f"open {counts['open']:<5} disturbances {sum(self._storm.counted.values()):<4} "
            f"early finishes {len(self.checks.early)}  {cpu:.2f} cores",
            markup=False,
            highlight=False,
        )

    def result(self) -> dict[str, object]:
        """All figures."""
        counted = {**self._storm.counted, "clock jumps": self.tally.jumps}
        return {
            "database": self._url.split(":")[0],
            "workers": self._arguments.workers,
            "hours": round((time.monotonic() - self.began) / 3600, 2),
            "sites": self._arguments.sites,
            "cycles": self.tally.cycles,
            "runs": self.tally.runs,
            "disturbances": counted,
            "answers": self._farm.answered(),
            "ends": dict(self.tally.ends),
            "orphans": self.tally.orphans,
            "notes": self.tally.notes,
            "cores": round(self.samples.cpu_seconds() / (time.monotonic() - self.began), 3),
            "slopes": self.samples.slopes(),
            **self.checks.result(),
        }

    def _save(self) -> None:
        if self._arguments.json:
            text = json.dumps(self.result(), ensure_ascii=False, indent=1, default=_as_dict)
            self._arguments.json.write_text(text + "\n", "utf-8")

    def end(self) -> int:
        """Write and print the report; 1 when something was lost or a finish was false."""
        result = self.result()
        self._save()
        return print_report(self._console, result)


def _as_dict(value: object) -> object:
    return {name: round(getattr(value, name), 2) for name in value.__slots__}  # type: ignore[attr-defined]


def _still_there(session: int) -> list[int]:
    """Processes of a dead worker that are alive a minute later: a busy machine starts slowly."""
    until = time.monotonic() + _DYING_SECONDS
    while (left := living(session)) and time.monotonic() < until:
        time.sleep(0.1)
    return left


def _pack(world: World) -> TopicPack:
    return TopicPack(
        name=TOPIC, title="久炼", description="", threshold=0.1,
        terms=tuple(Term(word, "core") for word in ASKED), samples=(),
        sites=tuple(Site(host, host, "authoritative", 1, "境内", "news")
                    for host in world.hosts if not world.is_found_by_search(host)),
    )  # fmt: skip


@contextlib.contextmanager
def _database(arguments: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Storm]]:
    """The database's URL, and what may befall it."""
    storm = Storm(random.Random(arguments.seed), arguments.storm_seconds, _LEASE_SECONDS)
    if arguments.mariadb:
        server = MariaDB(folder)
        server.install()
        server.start()
        server.execute("CREATE DATABASE soak CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        storm.server = server
        try:
            yield server.url("soak"), storm
        finally:
            server.stop()
    elif arguments.database:
        yield arguments.database, storm
    else:
        storm.sqlite_file = str(folder / "soak.db")
        yield f"sqlite:///{storm.sqlite_file}", storm


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--database", default="", help="an empty one; default: a new SQLite file")
    parser.add_argument("--mariadb", action="store_true", help="start a private MariaDB server")
    parser.add_argument("--workers", type=int, default=1, help="SQLite allows one")
    parser.add_argument("--sites", type=int, default=300)
    parser.add_argument("--rate", type=float, default=6.0, help="answers the farm gives a second")
    parser.add_argument(
        "--storm-seconds", type=float, default=60.0, help="between two disturbances, on average"
    )
    parser.add_argument(
        "--cycle-seconds", type=float, default=900.0, help="for all spiders in turn"
    )
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--keep", type=Path, help="folder for database and logs; default: none")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main() -> int:
    """Run the soak; exit code 1 when a page was lost or a finish was false."""
    arguments = _arguments()
    console = Console(width=150)
    seconds = 3600 * arguments.hours
    folder = arguments.keep or Path(tempfile.mkdtemp(prefix="soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    world = World(arguments.sites, (1 - _LAST_SHARE) * seconds, time.time())
    with (
        serving(world, arguments.rate) as farm,
        _database(arguments, folder.resolve()) as (url, storm),
    ):
        soak = Soak(farm, url, folder.resolve(), storm, arguments, console)
        soak.run()
        code = soak.end()
    if not arguments.keep:
        shutil.rmtree(folder, ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
