"""Several collectors on one MariaDB crawl one loopback web; one of them is killed.

    python benchmarks/fleet.py [--collectors 1,2,4] [--policies shared,least_load,…] [--json FILE]
    python benchmarks/fleet.py --members 3 …     # on a Galera cluster, which loses a member too
    python benchmarks/fleet.py --simulate [--data DIR] [--collectors 4,16,64]

Simulated are crawls of recorded link graphs in DIR, and of a made-up web of a million pages, by
every policy and mode and by crawlers that hash (benchmarks/fleets/simulation.py).

Of real crawls all figures but processor time are the web's: it notes who asks what, and when. The
pause of a host holds over all collectors, so its gaps are counted whoever asked.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package that numba looks for.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.table import Table

from benchmarks.fleets.crew import Crew, Terms, crew, page_hits
from benchmarks.fleets.figures import coverage, crossings, politeness
from benchmarks.fleets.galera import Galera
from benchmarks.fleets.harm import Harm, KilledCollector, KilledMember, SplitMember
from benchmarks.fleets.links import LinkedWeb, generated_web, recorded_webs
from benchmarks.fleets.trials import simulated_rows, simulation_tables
from benchmarks.fleets.web import FleetWeb, serving
from benchmarks.mariadb_server import MariaDB
from benchmarks.process_samples import Samples
from benchmarks.rows import write_rows
from qiaocrawl.frontier.policies import POLICIES, SHARED, LinkMode

_DATABASE = "CREATE DATABASE {} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
# The killed one's hosts must not be done before they are missed.
_KILL_DELAY_SECONDS = 1.5
_COLLECTORS = (1, 2, 4)
_SIMULATED_COLLECTORS = (4, 16, 64)
_WRONG = (
    "politeness_violations",
    "hosts_asked_too_fast",
    "forbidden_pages_asked_for",
    "ended_badly",
)
_COLUMNS = (
    "collectors", "members", "policy", "mode", "harm", "pages", "pages_missed", "fetched_twice",
    "politeness_violations", "least_gap_seconds", "pages_per_cpu_second",
    "database_ms_per_page", "pages_per_second", "least_share_percent", "shared_hosts",
    "hosts_go_on_seconds", "longest_silence_seconds",
)  # fmt: skip


@dataclass
class Bench:
    """The database that all runs use, and the folder of their logs.

    Attributes:
        members: the servers of the database; the first collector talks to the first, and so on.
    """

    web: FleetWeb
    members: list[MariaDB]
    folder: Path
    startup_cpu_seconds: float = 0.0
    _runs: int = 0

    def measure_start(self) -> None:
        """Let one collector crawl five pages: what that takes is its start."""
        web, self.web = self.web, FleetWeb(1, 3, 0.0)
        row = self.run(1, Terms(SHARED, LinkMode.EXCHANGE.value))
        self.startup_cpu_seconds = float(str(row["cpu_seconds"]))
        self.web = web

    def run(self, count: int, terms: Terms, harm: Harm | None = None) -> dict[str, object]:
        """One crawl of the web by *count* collectors."""
        self._runs += 1
        name = f"run{self._runs}"
        self.members[0].execute(_DATABASE.format(name))
        urls = [self.members[number % len(self.members)].url(name) for number in range(count)]
        before = self._database_seconds()
        row: dict[str, object] = {"collectors": count, "members": len(self.members),
                                  "policy": terms.policy, "mode": terms.mode}  # fmt: skip
        with serving(self.web) as served, crew(served, urls, terms, self.folder / name) as ours:
            if harm is not None:
                ours.watch(pages=self.web.pages // 4)
                harm.happen(ours)
            hits = ours.watch()
            survivors = ours.collectors if harm is None else harm.survivors(ours)
            row["ended_badly"] = sum(not one.ends_well() for one in survivors)
            row |= harm.figures(hits) if harm is not None else self._cost(ours, before)
        times = [hit.at for hit in page_hits(hits)]
        row["pages_per_second"] = round(len(times) / max(times[-1] - times[0], 1.0), 1)
        row["shared_hosts"] = crossings(hits)
        return row | coverage(self.web, hits) | politeness(self.web, hits)

    def _cost(self, ours: Crew, database_before: float) -> dict[str, object]:
        # A collector that runs for days takes no notice of how long it takes to start.
        seconds = ours.cpu_seconds() - len(ours.collectors) * self.startup_cpu_seconds
        in_database = self._database_seconds() - database_before
        return {
            "cpu_seconds": round(seconds, 1),
            "pages_per_cpu_second": round(self.web.pages / max(seconds, 0.01), 1),
            "database_ms_per_page": round(1000 * in_database / self.web.pages, 1),
        }

    def _database_seconds(self) -> float:
        samples = Samples()
        for member in self.members:
            samples.take("mariadbd", member.pid)
        return samples.cpu_seconds()


@contextmanager
def _bench(web: FleetWeb, arguments: argparse.Namespace) -> Iterator[tuple[Bench, Galera | None]]:
    with ExitStack() as stack:
        if arguments.keep is not None:
            arguments.keep.mkdir(parents=True)
        folder = arguments.keep or Path(stack.enter_context(TemporaryDirectory(prefix="fleet-")))
        folder, cluster = folder.resolve(), None
        if arguments.members > 1:
            cluster = Galera(folder, arguments.members)
            stack.callback(cluster.stop)
            cluster.start()
            members = cluster.members
        else:
            members = [MariaDB(folder)]
            members[0].install()
            stack.callback(members[0].stop)
            members[0].start()
        yield Bench(web, members, folder), cluster


def _runs(
    bench: Bench, cluster: Galera | None, arguments: argparse.Namespace
) -> Iterator[dict[str, object]]:
    exchange = LinkMode.EXCHANGE.value
    for count in arguments.collectors or _COLLECTORS:
        yield bench.run(count, Terms(SHARED, exchange))
    for policy in arguments.policies:
        yield bench.run(2, Terms(policy, exchange))
    for mode in arguments.modes:
        yield bench.run(2, Terms("least_load", mode))
    bench.web = replace(bench.web, delay_seconds=_KILL_DELAY_SECONDS)
    for policy in arguments.kill:
        yield bench.run(2, Terms(policy, exchange), KilledCollector())
        if cluster is not None:
            for loss in (KilledMember(cluster), SplitMember(cluster)):
                yield bench.run(len(bench.members), Terms(policy, exchange), loss)


def _simulate(arguments: argparse.Namespace, console: Console) -> int:
    webs: list[LinkedWeb] = []
    if arguments.data is not None:
        webs += recorded_webs(arguments.data, arguments.web)
    if arguments.pages:
        webs.append(generated_web(arguments.pages))
    rows: list[dict[str, object]] = []
    for web in webs:
        console.print(f"{web.name}: {web.pages:,} pages on {web.host_count:,} hosts, "
                      f"{web.reachable:,} can be reached from {len(web.starts):,}")  # fmt: skip
        of_web = list(simulated_rows([web], arguments.collectors or _SIMULATED_COLLECTORS))
        rows += of_web
        for table in simulation_tables(of_web):
            console.print(table)
        if arguments.json:
            write_rows(arguments.json, rows)
    return 0


def _words(given: str) -> list[str]:
    return [word for word in given.split(",") if word]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--collectors",
        type=lambda given: [*map(int, _words(given))],
        help="1,2,4 if not given; simulated: 4,16,64",
    )
    simulated = parser.add_argument_group("simulated crawls")
    simulated.add_argument("--simulate", action="store_true")
    simulated.add_argument("--data", type=Path, help="folder of recorded webs")
    simulated.add_argument("--web", action="append", default=[], help="only this one of DATA")
    simulated.add_argument(
        "--pages", type=int, default=1_000_000, help="of the made-up web; 0: without it"
    )
    parser.add_argument(
        "--policies", type=_words, default=",".join(POLICIES),
        help="each with two collectors",
    )  # fmt: skip
    parser.add_argument(
        "--modes", type=_words, default="crossover,firewall", help="of least_load, two collectors"
    )
    parser.add_argument(
        "--kill", type=_words, default="shared,least_load",
        help="policies under which one of two collectors is killed",
    )  # fmt: skip
    parser.add_argument(
        "--members", type=int, default=1, help="servers of the database; more than one: Galera"
    )
    parser.add_argument("--hosts", type=int, default=16)
    parser.add_argument("--articles", type=int, default=12, help="of a host; a third more hidden")
    parser.add_argument("--delay", type=float, default=0.4, help="seconds between requests")
    parser.add_argument("--keep", type=Path, help="new folder for database and logs")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main() -> int:
    """Run all; exit code 1 when a pause was broken, or a collector ended badly."""
    arguments = _arguments()
    console = Console()
    if arguments.simulate:
        return _simulate(arguments, console)
    rows: list[dict[str, object]] = []
    web = FleetWeb(arguments.hosts, arguments.articles, arguments.delay)
    with _bench(web, arguments) as (bench, cluster):
        bench.measure_start()
        for row in _runs(bench, cluster, arguments):
            rows.append(row)
            console.print(row)
            if arguments.json:
                write_rows(arguments.json, rows)
    console.print(f"one collector starts in {bench.startup_cpu_seconds} s of processor time")
    table = Table(*(name.replace("_", " ") for name in _COLUMNS))
    for row in rows:
        table.add_row(*(str(row.get(name, "")) for name in _COLUMNS))
    console.print(table)
    return int(any(row[wrong] for row in rows for wrong in _WRONG))


if __name__ == "__main__":
    sys.exit(main())
