"""What the analysis makes of the demo's articles, against what happened in the demo web.

    python benchmarks/demo_meaning.py [--database data/demo/demo.db] [--json FILE]

Without a database the demo is run first, in a temporary folder; a given one is copied there. Then
its sites are looked at again as a week later, the articles are put into stories, names are read and
the demo's rules are checked, three times. Shares are of right ones; what was left open is told
beside what was wrong. Stories are scored by B-cubed and pairs against the happenings that articles
tell. The naive way: who has the earliest date was first, all have it from there, and each group of
reprints is a story of its own.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import timedelta
from functools import partial
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
# As a program not this folder: its coverage.py is not the package of that name.
sys.path[: 0 if __package__ else 1] = [str(PROJECT)]

from rich.console import Console
from rich.table import Table
from sqlalchemy import Connection, select

from benchmarks.demo_scores import Found, MeaningScore, earliest_score, score_meaning
from benchmarks.rows import write_rows
from benchmarks.stories import b_cubed, pairwise
from qiaocrawl.cli.demo import look_again, run_demo
from qiaocrawl.cli.demo_meaning import LEAST_OUTLETS, MONTH, check_demo_rules, tell_stories
from qiaocrawl.demo.model import Gold
from qiaocrawl.demo.web import build_web
from qiaocrawl.news.trends.usual import default_calendar
from qiaocrawl.options import Options
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.schema import article, story_article, url, verdict
from qiaocrawl.text.visible import Terminal

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
        found = runtime.reader.run(partial(_story_rows, {gold.url: gold for gold in golds}))
    finally:
        runtime.close()
    rows = [*_rows("ours", ours), *_rows("earliest", naive)]
    return [*rows, *found, _row("ours", "warnings_told_again", sum(told[1:]))]


def _story_rows(golds: Mapping[str, Gold], c: Connection) -> Rows:
    """How well the stories, and the groups of reprints alone, are the happenings told."""
    stored = c.execute(
        select(url.c.url, story_article.c.story_id, verdict.c.group_id)
        .join(story_article, story_article.c.url_id == url.c.id)
        .join(article, article.c.url_id == url.c.id)
        .join(verdict, verdict.c.article_id == article.c.id)
    ).all()
    told: dict[str, object] = {row.url: golds[row.url].reprint_group for row in stored}
    ways: dict[str, dict[str, object]] = {
        "ours": {row.url: row.story_id for row in stored},
        "earliest": {row.url: row.group_id for row in stored},
    }
    measures = {"stories_b3": b_cubed, "stories_pairwise": pairwise}
    return [
        _row(method, metric, round(score(told, clusters), 3))
        for method, clusters in ways.items()
        for metric, score in measures.items()
    ]


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
