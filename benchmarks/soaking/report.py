"""The soak's report: one table that says what must be zero, and what grew."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table


def print_report(console: Console, result: Mapping[str, Any]) -> int:
    """Print it; 1 when something was lost, left over, stored twice, or a finish was false."""
    must = {
        "pages lost 丢失": result["pages_lost"],
        "false finishes 误报完成": result["false_finishes"],
        "rows left over 遗留行": sum(result["rows_left_over"].values()),
        "stored twice 重复": result["twice"],
        "orphans 孤儿进程": result["orphans"],
    }
    table = Table(
        "must be 0",
        "",
        title=(
            f"{result['database']}, {result['workers']} workers, {result['hours']} h, "
            f"{result['sites']} sites"
        ),
    )
    for name, value in must.items():
        table.add_row(name, f"[red]{value}" if value else "0")
    console.print(table)
    facts = Table("seen", "")
    for name in (
        "pages_stored",
        "pages_expected",
        "not_found_yet",
        "missing_of_misbehaving_hosts",
        "cycles",
        "runs",
        "disturbances",
        "cores",
        "answers",
        "missing_after",
        "outcomes",
    ):
        facts.add_row(name, str(result[name]))
    console.print(facts, _slopes(result["slopes"]), _growth(result["tables"]))
    for name in ("early", "lost", "notes"):
        for line in result[name][:20]:
            console.print(f"{name}: {line}", markup=False)
    for name in ("ends", "tracebacks", "errors"):
        for line, number in result[name].items():
            console.print(f"{name}: {number:5} x {line}", markup=False)
    return int(any(must.values()))


def _slopes(slopes: Mapping[str, Any]) -> Table:
    table = Table("process", "watched", "most MiB", "MiB an hour: median", "highest",
                  "handles an hour", "threads an hour")  # fmt: skip
    for name, samples in sorted(slopes.items()):
        table.add_row(
            name,
            str(len(samples)),
            f"{max(sample.rss_most_mib for sample in samples):.0f}",
            f"{median(sample.rss_mib for sample in samples):+.1f}",
            f"{max(sample.rss_mib for sample in samples):+.1f}",
            f"{median(sample.handles for sample in samples):+.1f}",
            f"{median(sample.threads for sample in samples):+.1f}",
        )
    return table


def _growth(tables: list[dict[str, int]]) -> Table:
    """Rows of each table after the first, the middle and the last cycle."""
    table = Table("table", "after the first cycle", "half-way", "at the end")
    first, half, last = tables[0], tables[len(tables) // 2], tables[-1]
    for name, number in sorted(last.items(), key=lambda one: -one[1]):
        if number:
            table.add_row(name, str(first[name]), str(half[name]), str(number))
    return table
