"""What the analysis makes of the demo's articles, against what happened in the demo web.

    python benchmarks/demo_meaning.py [--database data/demo/demo.db] [--json FILE]

Without a database the demo is run first, in a temporary folder; a given one is copied there. Then
its sites are looked at again as a week later, the articles are put into stories, names are read and
the demo's rules are checked, three times. Shares are of right ones; what was left open is told
beside what was wrong. The naive way: who has the earliest date was first, and all have it from
there.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from datetime import timedelta
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package that numba looks for.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.table import Table

from benchmarks.rows import write_rows
from qiaocrawl.analysis.trends import default_calendar
from qiaocrawl.cli.analysis.demo_meaning import (
    LEAST_OUTLETS,
    MONTH,
    check_demo_rules,
    tell_stories,
)
from qiaocrawl.cli.demo import look_again, run_demo
from qiaocrawl.cli.terminal import Terminal
from qiaocrawl.demo.happenings.score import Found, MeaningScore, earliest_score, score_meaning
from qiaocrawl.demo.web import build_web
from qiaocrawl.options import Options
from qiaocrawl.runtime import Runtime

TOPIC = "qiaoqing"
_CHECKS = 3

Rows = list[dict[str, object]]


def measure(folder: Path) -> Rows:
    """The figures of the demo in *folder*, which is analysed."""
    url = f"sqlite:///{(folder / 'demo.db').resolve()}"
    look_again(url, folder, Terminal())
    golds = build_web().gold()
    runtime = Runtime(Options.from_environment({"QIAO_DATABASE_URL": url}), crawling=False)
    try:
        tell_stories(runtime, Terminal())
        told = [check_demo_rules(runtime, MONTH[1] + timedelta(hours=hour)).messages
                for hour in range(_CHECKS)]  # fmt: skip
        ours = runtime.reader.run(lambda c: score_meaning(
            c, golds, TOPIC, default_calendar(), (MONTH[0], LEAST_OUTLETS)
        ))  # fmt: skip
        naive = runtime.reader.run(lambda c: earliest_score(c, golds, TOPIC))
    finally:
        runtime.close()
    rows = [*_rows("qiaocrawl", ours), *_rows("earliest", naive)]
    return [*rows, _row("qiaocrawl", "warnings_told_again", sum(told[1:]))]


def _rows(method: str, score: MeaningScore) -> Iterator[dict[str, object]]:
    for own in fields(score):
        found: Found = getattr(score, own.name)
        if found.total:
            yield _row(method, f"{own.name}_share", round(found.share, 3))
            for part in ("right", "unknown", "wrong"):
                yield _row(method, f"{own.name}_{part}", getattr(found, part))


def _row(method: str, metric: str, value: object) -> dict[str, object]:
    return {"task": "demo_meaning", "set": "demo", "method": method, "metric": metric,
            "value": value}  # fmt: skip


def main() -> None:
    """Analyse a demo, score it and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--database", type=Path, help="SQLite file of a finished demo")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory() as name:
        if arguments.database is None:
            run_demo(Path(name), console)
        else:
            shutil.copyfile(arguments.database, Path(name) / "demo.db")
        rows = measure(Path(name))
    table = Table("method", "metric", "value")
    for row in rows:
        table.add_row(*(str(row[column]) for column in ("method", "metric", "value")))
    console.print(table)
    if arguments.json:
        write_rows(arguments.json, rows)


if __name__ == "__main__":
    main()
