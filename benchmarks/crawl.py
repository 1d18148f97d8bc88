"""A full qiaocrawl crawl beside bare Scrapy, and beside what one would write instead.

    python benchmarks/crawl.py [--pages 100 700] [--rounds 3] [--before DIR] [--json FILE]

All crawl the same local site, in turn, with the same concurrency and no delay. CPU is that of
all threads and processes, those of a server of forks too. A page's cost is the slope between
two numbers of pages, since a start costs what thousands of pages do; medians over the rounds.
"bare" only fetches. "usual" is Scrapy with LinkExtractor, trafilatura, jieba and a cosine of
titles, and SQLAlchemy into SQLite: the same job without its promises (``crawls/usual_spider.py``).
Last runs under a profiler say where the time of a page goes, by stage, and count its trips, such as
tasks, hand-overs between threads and statements.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.table import Table

from benchmarks.crawls.running import Run, bare, ours, usual
from benchmarks.crawls.stages import main_process_stages, main_process_trips, worker_stages
from benchmarks.local_site import LocalSite, ServedSite, serving
from benchmarks.machine import other_work
from benchmarks.rows import write_rows

_TASK = "crawl"
_PARTS = ("main thread", "writer", "order", "reader", "pool of workers", "other threads",
          "workers", "fork server", "resource tracker")  # fmt: skip
_SHOWN_PARTS = _PARTS[:7]
_WORKER_PAGES = 200

Crawl = Callable[[ServedSite, Path], Run]
Rows = list[dict[str, object]]


@dataclass
class Method:
    """One kind of crawl, and its runs: of the smaller and the larger site, once a round."""

    name: str
    crawl: Crawl
    rounds: list[tuple[Run, Run]] = field(default_factory=list)

    def figures(self, reference: Method | None) -> dict[str, float]:
        """Medians of what a page more costs; rates beside those of *reference*, too."""
        seconds = [_slope(pair, _elapsed) for pair in self.rounds]
        found = {
            "cpu_ms_per_page": 1000 * self._median_slope(_cpu),
            "pages_per_second": 1 / statistics.median(seconds),
            "start_cpu_seconds": statistics.median(
                small.cpu_seconds - small.pages * _slope((small, large), _cpu)
                for small, large in self.rounds
            ),
        }
        if reference is not None:
            found["rate_beside_bare"] = statistics.median(
                _slope(theirs, _elapsed) / own
                for theirs, own in zip(reference.rounds, seconds, strict=True)
            )
        for part in _PARTS:
            if any(part in run.cpu for run, _ in self.rounds):
                found[f"cpu_ms_per_page: {part}"] = 1000 * self._median_slope(partial(_part, part))
        return found

    def _median_slope(self, value: Callable[[Run], float]) -> float:
        return statistics.median(_slope(pair, value) for pair in self.rounds)


def _slope(pair: tuple[Run, Run], value: Callable[[Run], float]) -> float:
    """What a page more adds to *value*."""
    small, large = pair
    return (value(large) - value(small)) / (large.pages - small.pages)


def _elapsed(run: Run) -> float:
    return run.seconds


def _cpu(run: Run) -> float:
    return run.cpu_seconds


def _part(part: str, run: Run) -> float:
    return run.cpu.get(part, 0.0)


def _methods(arguments: argparse.Namespace) -> list[Method]:
    kinds: dict[str, Crawl] = {"bare": bare, "usual": usual, "ours": ours}
    kinds["ours-bfs"] = partial(ours, strategy="bfs")
    if arguments.before is not None:
        kinds["before"] = partial(ours, project=arguments.before.resolve())
        kinds["before-bfs"] = partial(ours, project=arguments.before.resolve(), strategy="bfs")
    chosen = arguments.methods or [name for name in kinds if name != "before-bfs"]
    if missing := sorted(set(chosen) - kinds.keys()):
        raise SystemExit(f"no method {missing[0]!r}; there are {', '.join(kinds)}")
    return [Method(name, kinds[name]) for name in kinds if name in chosen]


def _measure(
    methods: Sequence[Method], sizes: Sequence[int], rounds: int, console: Console
) -> None:
    sites = [LocalSite.build(size) for size in sizes]
    with tempfile.TemporaryDirectory() as name:
        # Not counted: byte code and compiled loops are written at the first run.
        with serving(sites[0]) as served:
            for method in methods:
                method.crawl(served, Path(name))
        for number in range(rounds):
            found: dict[str, list[Run]] = {method.name: [] for method in methods}
            for site in sites:
                # Whoever runs behind another finds the machine warmer: in turn, each is first.
                in_turn = methods if number % 2 == 0 else methods[::-1]
                with serving(site) as served:
                    for method in in_turn:
                        found[method.name].append(method.crawl(served, Path(name)))
            for method in methods:
                method.rounds.append((found[method.name][0], found[method.name][-1]))
            console.print(f"round {number + 1} of {rounds} done", style="dim")


def _profiled(sizes: Sequence[int]) -> tuple[dict[str, float], dict[str, float]]:
    """Shares of the stages in the main process, and its trips, of a page more."""
    found: list[dict[str, float]] = []
    trips: list[dict[str, float]] = []
    for size in sizes:
        site = LocalSite.build(size)
        with tempfile.TemporaryDirectory() as name, serving(site) as served:
            profile = Path(name) / "profile"
            ours(served, Path(name), profile=profile)
            found.append(main_process_stages(profile))
            trips.append(main_process_trips(profile))
    small, large = found
    # What more pages add: imports and dictionaries are the start's.
    added = {stage: max(seconds - small.get(stage, 0.0), 0.0) for stage, seconds in large.items()}
    whole = sum(added.values())
    shares = {stage: added[stage] / whole for stage in sorted(added, key=lambda one: -added[one])}
    more = max(sizes) - min(sizes)
    return shares, {name: (count - trips[0][name]) / more for name, count in trips[1].items()}


def _show(console: Console, figures: Mapping[str, Mapping[str, float]]) -> None:
    table = Table("", "CPU ms a page", "pages/s", "rate / bare", "start CPU s", *_SHOWN_PARTS)
    for name, found in figures.items():
        parts = [found.get(f"cpu_ms_per_page: {part}") for part in _SHOWN_PARTS]
        table.add_row(
            name, f"{found['cpu_ms_per_page']:.2f}", f"{found['pages_per_second']:.0f}",
            f"{found.get('rate_beside_bare', 1):.3f}", f"{found['start_cpu_seconds']:.2f}",
            *("" if part is None else f"{part:.2f}" for part in parts),
        )  # fmt: skip
    console.print(table)


def _show_stages(console: Console, title: str, shares: Mapping[str, float]) -> None:
    console.print(title)
    for stage, share in shares.items():
        if share >= 0.005:
            console.print(f"  {100 * share:5.1f} %  {stage}")


def main() -> None:
    """Run all in turn and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pages", type=int, nargs=2, default=(100, 700), metavar=("N1", "N2"),
                        help="sizes of the two sites, such as 700 5000")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--before", type=Path, help="another checkout, measured in turn")
    parser.add_argument("--methods", nargs="+", help="ours, ours-bfs, bare, usual, before …")
    parser.add_argument("--no-profile", action="store_true", help="no cost by stage")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    methods = _methods(arguments)
    # A terminal may be narrow; the table is not.
    console = Console(width=140)
    with other_work() as others:
        _measure(methods, sorted(arguments.pages), arguments.rounds, console)
    reference = next((method for method in methods if method.name == "bare"), None)
    figures = {method.name: method.figures(reference) for method in methods}
    _show(console, figures)
    console.print(others.words(), style="yellow")
    if not arguments.no_profile:
        main_shares, trips = _profiled(sorted(arguments.pages))
        worker_ms, worker_shares = worker_stages(
            LocalSite.build(max(arguments.pages)), _WORKER_PAGES
        )
        _show_stages(
            console, "The crawl's own process, all threads (profiled runs, slope):", main_shares
        )
        console.print("Its trips a page:")
        for name, count in trips.items():
            console.print(f"  {count:7.1f}  {name}")
        _show_stages(console, f"A worker's {worker_ms:.2f} ms (profiled run):", worker_shares)
        figures["ours"] = figures.get("ours", {}) | {
            **{f"share of main process: {stage}": share for stage, share in main_shares.items()},
            **{f"trips a page: {name}": count for name, count in trips.items()},
            **{f"share of worker: {stage}": share for stage, share in worker_shares.items()},
        }
    if arguments.json:
        write_rows(arguments.json, [*_rows(figures, arguments.pages), others.row(_TASK)])


def _rows(figures: Mapping[str, Mapping[str, float]], sizes: Sequence[int]) -> Rows:
    name = f"local site, {min(sizes)} to {max(sizes)} pages"
    return [
        {"task": _TASK, "set": name, "method": method, "metric": metric, "value": round(value, 4)}
        for method, found in figures.items() for metric, value in found.items()
    ]  # fmt: skip


if __name__ == "__main__":
    main()
