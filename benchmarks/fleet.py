"""Several collectors on one MariaDB crawl one loopback web; one of them is killed.

    python benchmarks/fleet.py [--collectors 1,2,4] [--policies shared,least_load,…] [--json FILE]
    python benchmarks/fleet.py --members 3 …     # on a Galera cluster, which loses a member too
    python benchmarks/fleet.py --members 3 --campaign 8     # losses only, crawl after crawl
    python benchmarks/fleet.py --scale                      # 1 to 8 collectors, MariaDB and Galera
    python benchmarks/fleet.py --simulate [--data DIR] [--collectors 4,16,64]

Simulated are crawls of recorded link graphs in DIR, and of a made-up web of a million pages, by
every policy and mode and by crawlers that hash (benchmarks/fleets/simulation.py).

Of real crawls all figures but processor time are the web's: it notes who asks what, and when. The
pause of a host holds over all collectors, so its gaps are counted whoever asked.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.table import Table

from benchmarks.fleets.bench import Bench
from benchmarks.fleets.bench import bench as bench_of
from benchmarks.fleets.campaign import WRONG, campaign, campaign_sums
from benchmarks.fleets.crew import Terms
from benchmarks.fleets.harm import KilledCollector, KilledMember, SlowCollector, SplitMember
from benchmarks.fleets.links import LinkedWeb, generated_web, recorded_webs
from benchmarks.fleets.trials import LEGEND, simulated_rows, simulation_tables
from benchmarks.fleets.web import FleetWeb
from benchmarks.rows import write_rows
from qiaocrawl.frontier.host_policies import POLICIES, SHARED, LinkMode

# The killed one's hosts must not be done before they are missed.
_KILL_DELAY_SECONDS = 1.5
_COLLECTORS = (1, 2, 4)
_SIMULATED_COLLECTORS = (4, 16, 64)
_SCALED_COLLECTORS = (1, 2, 4, 8)
# A farm that never makes collectors wait.
_FARM_HOSTS, _FARM_DELAY_SECONDS = 20, 0.05
_WRONG = (
    "politeness_violations",
    "hosts_asked_too_fast",
    "forbidden_pages_asked_for",
    "ended_badly",
    "false_finishes",
    "rows_left",
    "members_differ",
)
_RUNS_A_TABLE = 4
_COLUMNS = (
    "collectors", "members", "policy", "mode", "harm", "pages", "pages_missed", "fetched_twice",
    "politeness_violations", "least_gap_seconds", "pages_per_cpu_second",
    "database_ms_per_page", "pages_per_second", "least_share_percent", "shared_hosts",
    "hosts_go_on_seconds", "longest_silence_seconds", "share_before_percent",
    "share_after_percent", "cpu_ms_per_page", "machine_busy_percent", "conflicts_per_page",
    "false_finishes", "refused_by_fencing", "rows_left", "members_differ",
)  # fmt: skip


def _runs(bench: Bench, arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    exchange = LinkMode.EXCHANGE.value
    for count in arguments.collectors if arguments.collectors is not None else _COLLECTORS:
        yield bench.run(count, Terms(SHARED, exchange))
    for policy in arguments.policies:
        yield bench.run(arguments.crew, Terms(policy, exchange))
    for mode in arguments.modes:
        yield bench.run(arguments.crew, Terms("least_load", mode))
    bench.web = replace(bench.web, delay_seconds=_KILL_DELAY_SECONDS)
    for policy in arguments.slow:
        yield bench.run(arguments.crew, Terms(policy, exchange), SlowCollector())
    for policy in arguments.kill:
        yield bench.run(2, Terms(policy, exchange), KilledCollector())
        if bench.cluster is not None:
            for loss in (KilledMember(bench.cluster), SplitMember(bench.cluster)):
                yield bench.run(len(bench.members), Terms(policy, exchange), loss)


def _scaled(arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    """The same farm by more and more collectors, on one server and on a cluster."""
    web = FleetWeb(_FARM_HOSTS, arguments.articles, _FARM_DELAY_SECONDS)
    for members in (1, 3) if arguments.members == 1 else (arguments.members,):
        with bench_of(web, members, None) as bench:
            for count in arguments.collectors or _SCALED_COLLECTORS:
                yield bench.race(count)


def _losses(arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    web = FleetWeb(arguments.hosts, arguments.articles, _KILL_DELAY_SECONDS)
    with bench_of(web, arguments.members, arguments.keep) as bench:
        yield from campaign(bench, arguments.campaign, arguments.kill)


def _usual(arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    web = FleetWeb(arguments.hosts, arguments.articles, arguments.delay)
    with bench_of(web, arguments.members, arguments.keep) as bench:
        bench.measure_start()
        print(f"one collector starts in {bench.startup_cpu_seconds} s of processor time")
        yield from _runs(bench, arguments)


def _simulate(arguments: argparse.Namespace, console: Console) -> int:
    webs: list[LinkedWeb] = []
    if arguments.data is not None:
        webs += recorded_webs(arguments.data, arguments.web)
    if arguments.pages:
        webs.append(generated_web(arguments.pages))
    rows: list[dict[str, object]] = []
    console.print(LEGEND, style="dim")
    for web in webs:
        console.print(f"{web.name}: {web.pages:,} pages on {web.host_count:,} hosts, "
                      f"{web.reachable:,} can be reached from {len(web.starts):,}")  # fmt: skip
        for count in arguments.collectors or _SIMULATED_COLLECTORS:
            of_count = list(simulated_rows(web, count))
            rows += of_count
            for table in simulation_tables(of_count):
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
    simulated.add_argument(
        "--web", action="append", default=[], help="only this one of DATA, not all as one"
    )
    simulated.add_argument(
        "--pages", type=int, default=1_000_000, help="of the made-up web; 0: without it"
    )
    parser.add_argument(
        "--policies", type=_words, default=",".join(POLICIES),
        help="each tried with CREW collectors",
    )  # fmt: skip
    parser.add_argument("--modes", type=_words, default="crossover,firewall", help="of least_load")
    parser.add_argument(
        "--kill", type=_words, default="shared,least_load",
        help="policies under which one of two collectors is killed",
    )  # fmt: skip
    parser.add_argument(
        "--members", type=int, default=1, help="servers of the database; more than one: Galera"
    )
    parser.add_argument(
        "--slow", type=_words, default="shared,least_load",
        help="policies under which a collector becomes slow",
    )  # fmt: skip
    parser.add_argument("--crew", type=int, default=4, help="collectors of each policy")
    parser.add_argument(
        "--campaign", type=int, default=0, metavar="CRAWLS",
        help="only this: so many crawls that each lose a collector, a member or the network",
    )  # fmt: skip
    parser.add_argument(
        "--scale", action="store_true",
        help="only this: pages a second by 1, 2, 4 and 8 collectors, on MariaDB and on Galera",
    )  # fmt: skip
    parser.add_argument("--hosts", type=int, default=16)
    parser.add_argument("--articles", type=int, default=12, help="of a host; a third more hidden")
    parser.add_argument("--delay", type=float, default=0.4, help="seconds between requests")
    parser.add_argument("--keep", type=Path, help="new folder for database and logs")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def _table(rows: Sequence[dict[str, object]]) -> Table:
    """A line for each figure, a column for each crawl: a terminal holds few of them."""
    table = Table("", *("" for _ in rows), show_header=False)
    for name in _COLUMNS:
        if any(name in row for row in rows):
            table.add_row(name.replace("_", " "), *(str(row.get(name, "")) for row in rows))
    return table


def _crawl(arguments: argparse.Namespace, console: Console) -> int:
    """Real crawls; exit code 1 when one went wrong."""
    rows: list[dict[str, object]] = []
    kind = _scaled if arguments.scale else _losses if arguments.campaign else _usual
    for row in kind(arguments):
        rows.append(row)
        console.print(", ".join(f"{name} {value}" for name, value in row.items()), style="dim")
        if arguments.json:
            write_rows(arguments.json, rows)
    for begin in range(0, len(rows), _RUNS_A_TABLE):
        console.print(_table(rows[begin : begin + _RUNS_A_TABLE]))
    if arguments.campaign:
        console.print(campaign_sums(rows))
    wrong = _WRONG + WRONG if arguments.campaign else _WRONG
    return int(any(row.get(name) for row in rows for name in wrong))


def main() -> int:
    """Run what is asked for."""
    arguments = _arguments()
    console = Console()
    return _simulate(arguments, console) if arguments.simulate else _crawl(arguments, console)


if __name__ == "__main__":
    sys.exit(main())
