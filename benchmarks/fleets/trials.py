"""All simulated crawls of some webs, as rows of figures and as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.table import Table

from benchmarks.fleets.links import LinkedWeb
from benchmarks.fleets.partition import PARTITIONS, PartitionCrawl
from benchmarks.fleets.simulation import (
    EQUAL,
    MIXED,
    MODES,
    SharedFrontierCrawl,
    our_methods,
    speeds_of,
)
from qiaocrawl.frontier.host_policies import SHARED

TASK = "fleet_simulation"
_MIXED_COLLECTORS = 16
"""With so many collectors a quarter of them slow is tried too."""
_SHOWN = {
    "coverage_percent": ("cov", 1),
    "overlap_percent": ("ovl", 0),
    "urls_crossed_per_page": ("cross", 2),
    "messages_per_page": ("msgs", 2),
    "most_loaded_over_mean": ("load", 2),
    "idle_percent_of_90": ("idle", 0),
    "seconds_to_90": ("s 90", 0),
    "asked_too_soon_percent": ("soon", 0),
}
LEGEND = (
    "cov: pages in % of those that can be reached; ovl: fetched again, in %; cross: URLs a page "
    "that one collector found and another fetches (peers: that were sent); msgs: messages a page, "
    "beside the closing of pages; load: the highest over the mean; idle, s 90: idle time in % and "
    "seconds until 90 % of the pages are fetched; soon: requests to a host in its pause, in %"
)


def simulated_rows(web: LinkedWeb, count: int) -> Iterator[dict[str, object]]:
    """A row for each figure of each crawl of *web* by *count* collectors.

    They are task, set, method, metric and value, as in all benchmarks.
    """
    for kind in (EQUAL, MIXED) if count == _MIXED_COLLECTORS else (EQUAL,):
        slow = ", every fourth slow" if kind == MIXED else ""
        for method, figures in _crawls(web, count, kind):
            for metric, value in figures.items():
                yield {"task": TASK, "set": f"{web.name}, {count} collectors{slow}",
                       "method": method, "metric": metric, "value": round(value, 4)}  # fmt: skip


def _crawls(web: LinkedWeb, count: int, kind: str) -> Iterator[tuple[str, dict[str, float]]]:
    speeds = speeds_of(kind, count)
    for policy, mode in our_methods():
        name = "ours" if policy == SHARED else f"{policy}, {mode}"
        yield name, SharedFrontierCrawl(web, speeds, policy, mode).run().figures(web, speeds)
    for partition in PARTITIONS:
        for mode in reversed(MODES):
            crawl = PartitionCrawl(web, speeds, partition, mode).run()
            yield f"peer: {partition}, {mode}", crawl.figures(web, speeds)


def simulation_tables(rows: Sequence[dict[str, object]]) -> Iterator[Table]:
    """A table for each set."""
    for given, of_set in groupby(rows, lambda row: row["set"]):
        table = Table(title=str(given), box=None, padding=(0, 1, 0, 0))
        table.add_column("method", no_wrap=True)
        for words, _ in _SHOWN.values():
            table.add_column(words, justify="right")
        for method, of_method in groupby(of_set, lambda row: row["method"]):
            values = {str(row["metric"]): float(str(row["value"])) for row in of_method}
            name = "ours (shared)" if method == "ours" else str(method)
            table.add_row(name, *(
                f"{values[metric]:.{digits}f}" for metric, (_, digits) in _SHOWN.items()
            ))  # fmt: skip
        yield table
