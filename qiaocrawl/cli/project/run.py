"""``qiaocrawl run``: a topic's whole round (watch, search, pages, site) within a time budget."""

from __future__ import annotations

import json
import signal
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from sqlalchemy import Connection

from qiaocrawl.cli.db import DatabaseUrl, opened_database
from qiaocrawl.cli.output import print_hanging
from qiaocrawl.cli.spider_process import SpiderCommand, run_with_bar
from qiaocrawl.errors import ConfigError
from qiaocrawl.options import Options
from qiaocrawl.options.project import SETTINGS_VARIABLE, settings_module
from qiaocrawl.storage import Database
from qiaocrawl.storage.reports.run_log import (
    KNOWN_ARTICLES,
    NEW_ARTICLES,
    ON_TOPIC,
    RunRecord,
    last_run_id,
    runs_after,
)
from qiaocrawl.storage.topics.topics import list_topics
from qiaocrawl.text.zones import SHANGHAI

_INTERRUPTED = 130
# (spider, what an operator sees, its share of the time that is left when it begins)
_STAGES = (
    ("watch", "看旧站点 watch", 0.25),
    ("search", "问搜索引擎 search", 0.4),
    ("pages", "抓取待采 pages", 0.5),
    ("site", "深采站点 site", 1.0),
)
_NAMES = tuple(name for name, _, _ in _STAGES)
# A stage of less could hardly begin.
_LEAST_SECONDS = 20.0


@dataclass(frozen=True)
class _Plan:
    """What is to be run: the stages' names, and when the whole is to end (epoch seconds)."""

    topic: str
    stages: tuple[str, ...]
    ends_at: float | None
    logs: Path


def run(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    hours: Annotated[float, typer.Option(min=0, help="Time budget; 0 = until all is done.")] = 0,
    minutes: Annotated[float, typer.Option(min=0, help="The same in minutes.")] = 0,
    only: Annotated[
        str, typer.Option(help="Stages, comma separated: watch, search, pages, site.")
    ] = "",
    logs: Annotated[Path, typer.Option(help="Folder for the spiders' logs.")] = Path("data/logs"),
    database: DatabaseUrl = "",
) -> None:
    """Watch, search, fetch and crawl TOPIC in one go, then say what came of it. 一次采完一轮

    A stage that has used up its time ends in order, and the next run goes on there, as after a
    power cut. Exit code 0 when every stage did what it was asked, 1 when one failed, 130 after
    Ctrl-C: for cron.
    """
    budget_seconds = hours * 3600 + minutes * 60
    console = Console(highlight=False)
    with opened_database(database) as opened:
        _require_topic(opened, topic)
        stages = _chosen_stages(only, console)
        ends_at = time.time() + budget_seconds if budget_seconds else None
        code = _run_stages(_Plan(topic, stages, ends_at, logs), opened, console)
    raise typer.Exit(code)


def _require_topic(database: Database, topic: str) -> None:
    with database.engine.connect() as c:
        names = [row.name for row in list_topics(c)]
    if topic not in names:
        there = ", ".join(names) or "none 无"
        raise ConfigError(
            f"topic {topic!r} is not in the database (imported: {there}); run "
            f"`qiaocrawl topic import {topic}` first"
        )


def _chosen_stages(only: str, console: Console) -> tuple[str, ...]:
    named = tuple(filter(None, (name.strip() for name in only.split(","))))
    for name in named:
        if name not in _NAMES:
            raise ConfigError(f"--only {name!r}: there are {', '.join(_NAMES)}")
    stages = tuple(name for name in _NAMES if name in (named or _NAMES))
    if "search" in stages and not Options.from_environment()["QIAO_ENGINES"]:
        if "search" in named:
            raise ConfigError("QIAO_ENGINES is empty: no engine is asked unless it is named there")
        print_hanging(console, "未选搜索引擎，不搜索 no search: QIAO_ENGINES names no engine")
        stages = tuple(name for name in stages if name != "search")
    return stages


def _run_stages(plan: _Plan, database: Database, console: Console) -> int:
    # systemd and cron stop a job so: the spider ends in order, and the summary is printed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    started = time.time()
    with database.engine.connect() as c:
        last_id = last_run_id(c)
    codes = []
    try:
        for name, title, share in _STAGES:
            if name in plan.stages:
                codes.append(_run_stage(plan, name, title, share, database, console))
    except KeyboardInterrupt:
        codes.append(_INTERRUPTED)
    with database.engine.connect() as c:
        _print_summary(c, plan, last_id, time.time() - started, console)
    return max(codes, default=0)


def _run_stage(
    plan: _Plan, name: str, title: str, share: float, database: Database, console: Console
) -> int:
    """Run one spider within its share of what is left; its exit code, 0 where no time is left."""
    settings = []
    if plan.ends_at is not None:
        left = plan.ends_at - time.time()
        if left < _LEAST_SECONDS:
            print_hanging(console, f"– {title}: 时间已用完，下次接着采 no time left, next time")
            return 0
        seconds = left if name == plan.stages[-1] else max(left * share, _LEAST_SECONDS)
        settings.append(f"QIAO_MAX_SECONDS={seconds:.0f}")
    plan.logs.mkdir(parents=True, exist_ok=True)
    moment = datetime.now(SHANGHAI)
    log = plan.logs / f"{moment:%Y%m%d-%H%M%S}-{plan.topic}-{name}.log"
    environment = {
        SETTINGS_VARIABLE: settings_module(),
        "QIAO_DATABASE_URL": database.engine.url.render_as_string(hide_password=False),
    }
    command = SpiderCommand(name, title, log, (f"topic={plan.topic}",), settings, environment)
    code = run_with_bar(command, database, console)
    if code != 0:
        print_hanging(console, f"✗ {title}: 出错 failed ({code}): {_last_words(log)}")
        print_hanging(console, f"  日志 log: {log}")
    return min(code, 1) if code >= 0 else 1


def _last_words(log: Path) -> str:
    """The line that says why the spider ended: ours where there is one, else the last."""
    lines = log.read_text("utf-8", "replace").splitlines()
    ours = [line for line in lines if line.startswith("qiaocrawl: ") or " ERROR" in line]
    return (ours or lines or [""])[-1].removeprefix("qiaocrawl: ")


def _print_summary(
    c: Connection, plan: _Plan, last_id: int, seconds: float, console: Console
) -> None:
    records = [record for record in runs_after(c, last_id) if record.topic == plan.topic]
    table = Table("步骤 stage", "页 pages", "新文章 new", "切题 on topic", "已有 known",
                  "待采 left", title="本次所得 This run", title_justify="left")  # fmt: skip
    for column in table.columns[1:]:
        column.justify = "right"
    for record in records:
        table.add_row(record.spider, *(f"{count}" for count in _counts(record)))
    console.print()
    if records:
        console.print(table)
    minutes = seconds / 60
    print_hanging(console, f"用时 took {minutes:.1f} min；明细 details: {plan.logs}/")
    console.print("下一步 next:")
    for step in (
        f"article list --topic {plan.topic} --only-relevant",
        f"export --topic {plan.topic} --only-relevant --out {plan.topic}.xlsx",
        f"missed {plan.topic}",
    ):
        console.print(f"  qiaocrawl {step}", soft_wrap=True)


def _counts(record: RunRecord) -> tuple[int, ...]:
    stats: dict[str, Any] = json.loads(record.stats or "{}")
    names = ("qiaocrawl/pages", NEW_ARTICLES, ON_TOPIC, KNOWN_ARTICLES)
    counts = (int(stats.get(name, 0)) for name in names)
    return (*counts, record.remaining or 0)
