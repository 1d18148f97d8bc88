"""Crawl orders over stored collections: how soon does each find the relevant pages?

    python benchmarks/focus.py --data DIR --all [--quick] [--seeds 3] [--out FOLDER]
    python benchmarks/focus.py --data DIR --strategy adaptive,bfs [--topic course]
        [--collection NAME] [--json FILE] [--scorer NAME] [--samples N] [--again]

DIR holds collections as ``crawl_orders/data.py`` reads them. A *task* is one topic of a collection
with one draw of samples and start pages; see ``crawl_orders/tasks.py``. The very code that orders a
crawl orders the simulated one, on the page judgements of the strategy's page scorer.

AUC is mean recall over the whole crawl; recall counts the relevant pages that can be reached
from the start pages, without those and the samples. ``--all`` takes every registered strategy
and the peers in ``crawl_orders/peers.py``. What is done is kept, in ``--out`` or the cache folder,
and not done again until code or data change. Tables go to the screen, with ``--out`` also to files,
beside the pictures.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]
# Two processes crawl at once: libraries must not take both cores each.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from rich.console import Console

from benchmarks.crawl_orders.data import FocusError, cache_folder, find_collections, read_topics
from benchmarks.crawl_orders.peers import PEERS
from benchmarks.crawl_orders.picture import draw_all
from benchmarks.crawl_orders.report import print_report, rows_of
from benchmarks.crawl_orders.runs import Run, Unit, run_all
from benchmarks.crawl_orders.tasks import RELEVANT_SAMPLES
from benchmarks.rows import write_rows
from qiaocrawl.errors import QiaoError
from qiaocrawl.fetch.replay.page_folder import find_graph, graph_files
from qiaocrawl.frontier import strategies
from qiaocrawl.relevance import page_scorers

RESULTS_NAME = "results.jsonl"
QUICK_PAGES = 1000
"""With --quick only collections of at most so many pages, or the smallest."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run: every strategy on every unit."""

    units: tuple[Unit, ...]
    strategies: tuple[str, ...]


def plan_of(arguments: argparse.Namespace, console: Console) -> Plan:
    """The runs asked for.

    Raises:
        FocusError: a strategy, collection or topic nobody knows, or no collection.
        ConfigError: no page scorer of that name.
    """
    if arguments.scorer:
        page_scorers.get(arguments.scorer)
    folders = find_collections(arguments.data)
    if arguments.quick:
        folders = _small(folders)
        names = ", ".join(folder.name for folder in folders)
        console.print(f"--quick: one draw of samples, and of the collections only {names}")
    places = {folder.name: folder for folder in folders}
    folders = [places[name] for name in _chosen("collection", arguments.collection, list(places))]
    topics = {folder: list(read_topics(folder)[0]) for folder in folders}
    every = list(dict.fromkeys(topic for found in topics.values() for topic in found))
    wanted = _chosen("topic", arguments.topic, every)
    seeds = 1 if arguments.quick else arguments.seeds
    units = tuple(
        Unit(str(folder), topic, seed, arguments.samples, arguments.scorer)
        for folder in folders for topic in topics[folder] if topic in wanted
        for seed in range(seeds)
    )  # fmt: skip
    known = [*strategies.names(), *PEERS]
    return Plan(units, tuple(_chosen("strategy", arguments.strategy, known)))


def _small(folders: Sequence[Path]) -> list[Path]:
    sizes = {folder: _pages(folder) for folder in folders}
    small = [folder for folder in folders if sizes[folder] <= QUICK_PAGES]
    return small or [min(folders, key=lambda folder: sizes[folder])]


def _pages(folder: Path) -> int:
    graph = find_graph(folder)
    assert graph is not None, "collections have graphs"
    return sum(map(len, graph_files(graph).values()))


def _chosen(kind: str, names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Those of *known* that are named, in the order of the names; all where none is."""
    for name in names:
        if name not in known:
            raise FocusError(f"unknown {kind} {name!r} (there are: {', '.join(known)})")
    return list(dict.fromkeys(names or known))


def _names(written: str) -> list[str]:
    return [name for name in (part.strip() for part in written.split(",")) if name]


def _positive(written: str) -> int:
    value = int(written)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, got {written}")
    return value


def _arguments(written: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--data", type=Path, required=True, help="folder with collections")
    add("--strategy", type=_names, default=[], help="names with commas between")
    add("--all", action="store_true", help="every strategy and the peers")
    add("--topic", type=_names, default=[], help="names with commas between; all otherwise")
    add("--collection", type=_names, default=[], help="names of folders; all otherwise")
    add("--seeds", type=_positive, default=3, help="draws of samples and start pages")
    add("--quick", action="store_true", help="one draw, small collections only")
    add("--json", type=Path, help="write the rows as JSON Lines")
    add("--out", type=Path, help="folder for results, tables and pictures")
    add("--scorer", default="", help="page scorer where the strategy leaves it open")
    add("--samples", type=_positive, default=RELEVANT_SAMPLES, help="relevant pages shown")
    add("--again", action="store_true", help="do not use what earlier runs have found")
    add("--processes", type=_positive, default=os.cpu_count() or 1)
    arguments = parser.parse_args(written)
    if not arguments.strategy and not arguments.all:
        parser.error("name strategies with --strategy, or --all")
    if arguments.strategy and arguments.all:
        parser.error("--all takes every strategy: leave out --strategy")
    return arguments


def main(written: Sequence[str] | None = None) -> None:
    """Crawl, print the tables, write rows and pictures."""
    arguments = _arguments(written)
    console = Console(width=None if sys.stdout.isatty() else 160)
    try:
        plan = plan_of(arguments, console)
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
        results_file = (arguments.out or cache_folder()) / RESULTS_NAME
        done = run_all(plan.units, plan.strategies, results_file, console,
                       processes=arguments.processes, again=arguments.again)  # fmt: skip
    except (QiaoError, OSError) as error:
        sys.exit(f"benchmarks/focus.py: {error}")
    except KeyboardInterrupt:
        sys.exit("benchmarks/focus.py: stopped; the same command goes on with what is left")
    if not done.runs:
        sys.exit("benchmarks/focus.py: no run was finished; " + "; ".join(done.failures))
    _report(done.runs, arguments, console)
    if done.failures:
        sys.exit("benchmarks/focus.py: failed:\n" + "\n".join(done.failures))


def _report(runs: Sequence[Run], arguments: argparse.Namespace, console: Console) -> None:
    print_report(runs, console)
    if arguments.json:
        write_rows(arguments.json, rows_of(runs))
    if arguments.out:
        with open(arguments.out / "tables.txt", "w", encoding="utf-8") as file:
            print_report(runs, Console(file=file, width=160))
        try:
            for picture in draw_all(runs, arguments.out):
                console.print(f"wrote {picture}")
        except ImportError as error:
            console.print(f"no pictures ({error}); pip install -e '.[benchmark]'", markup=False)


if __name__ == "__main__":
    main()
