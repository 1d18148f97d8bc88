"""``qiaocrawl run`` and ``crawl``: a topic's whole round, or one spider; what came of it."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text
from sqlalchemy import Connection

from qiaocrawl.cli.database import DatabaseUrl, opened_database
from qiaocrawl.cli.options import budget_seconds
from qiaocrawl.cli.output import folding_table, print_hanging
from qiaocrawl.cli.spider_process import LOGS, run_with_bar, topic_command
from qiaocrawl.errors import ConfigError, QiaoError
from qiaocrawl.interrupts import INTERRUPTED
from qiaocrawl.items import Outcome
from qiaocrawl.language import N_, _
from qiaocrawl.machine import END_SIGNALS
from qiaocrawl.options import Options
from qiaocrawl.options.project import SETTINGS_VARIABLE, command_here, settings_module
from qiaocrawl.reading import summary
from qiaocrawl.reading.outcome_names import OUTCOME_NAMES, outcome_name
from qiaocrawl.reading.summary import held_hosts, held_words, more_held
from qiaocrawl.runs.run_summary import few_lines, few_steps
from qiaocrawl.search.answer import ANSWER_NAMES, answer_name
from qiaocrawl.storage import Database
from qiaocrawl.storage.run_log import (
    KNOWN_ARTICLES,
    NEW_ARTICLES,
    ON_TOPIC,
    PAGES,
    RunRecord,
    last_run_id,
    runs_of,
)
from qiaocrawl.storage.search.coverage import Cell, sums_by
from qiaocrawl.storage.sites.sources import has_sources
from qiaocrawl.storage.topics.changes import few_on_topic
from qiaocrawl.storage.topics.topics import find_topic_id, list_topics, load_pack
from qiaocrawl.text.visible import Terminal
from qiaocrawl.text.zones import DAY, china_time
from qiaocrawl.topic.pack import TopicPack

# (spider, what an operator sees, its share of the time that is left when it begins)
_STAGES = (
    ("watch", N_("revisit watched pages"), 0.25),
    ("search", N_("ask search engines"), 0.4),
    ("pages", N_("fetch pages"), 0.5),
    ("site", N_("crawl sites"), 1.0),
)
_HOSTS_SHOWN = 5
# They crawl the topic's authoritative sites, and a topic may have none.
_OF_SITES = ("watch", "site")
# What it means comes last, and whatever time is left: warnings wait for no budget.
_ANALYSE = "analyse"
_NAMES = (*(name for name, _, _ in _STAGES), _ANALYSE)
# A stage of less could hardly begin.
_LEAST_SECONDS = 20.0


@dataclass(frozen=True)
class _Plan:
    """What is to be run: the stages' names, and when the whole is to end (epoch seconds).

    ``pids`` are the spiders' processes, as they come.
    """

    topic: str
    stages: tuple[str, ...]
    ends_at: float | None
    logs: Path
    pids: list[int] = field(default_factory=list)

    @property
    def last_spider(self) -> str:
        """The last stage that is a spider; it may have all the time that is left."""
        return [name for name in self.stages if name != _ANALYSE][-1]


def run(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    hours: Annotated[float, typer.Option(min=0, help="Time budget; 0 = until all is done.")] = 0,
    minutes: Annotated[float, typer.Option(min=0, help="The same in minutes.")] = 0,
    only: Annotated[
        str, typer.Option(help="Stages, comma separated: watch, search, pages, site, analyse.")
    ] = "",
    logs: Annotated[Path, typer.Option(help="Folder for the spiders' logs.")] = LOGS,
    database: DatabaseUrl = "",
) -> None:
    """Watch, search, fetch, crawl and analyse TOPIC in one go, then say what came of it.

    A stage that has used up its time ends in order, and the next run goes on there, as after a
    power cut; stories and warnings (`qiaocrawl analyse`) come after the budget. Ctrl-C ends it in
    order, a second one at once. Exit code 0 when every stage did what it was asked, 1 when one
    failed, 130 after Ctrl-C: for cron.
    """
    seconds = budget_seconds(hours, minutes)
    console = Terminal(highlight=False)
    with opened_database(database) as opened:
        pack = _require_topic(opened, topic)
        with opened.reading() as c:
            has_feeds = has_sources(c, topic)
        stages = _chosen_stages(only, pack, console, has_feeds=has_feeds)
        # Two rounds on one SQLite file would take each other's turn between two stages.
        opened.lock_crawl(Options.from_environment()["QIAO_LOCK_WAIT_SECONDS"], "run")
        ends_at = time.time() + seconds if seconds else None
        with _interrupted_by_signals():
            code = _run_stages(_Plan(topic, stages, ends_at, logs), opened, console)
    raise typer.Exit(code)


def _require_topic(database: Database, topic: str) -> TopicPack:
    """The topic called *topic*.

    Raises:
        ConfigError: it was never imported; says how.
    """
    with database.reading() as c:
        if find_topic_id(c, topic) is not None:
            return load_pack(c, topic)
        there = ", ".join(row.name for row in list_topics(c)) or _("none")
    raise ConfigError(
        _(
            "topic {topic!r} is not in the database (imported: {there}); run `{command}` first",
            topic=topic,
            there=there,
            command=command_here(f"qiaocrawl topic import {topic}"),
        )
    )


def _chosen_stages(
    only: str, pack: TopicPack, console: Console, *, has_feeds: bool
) -> tuple[str, ...]:
    named = tuple(filter(None, (name.strip() for name in only.split(","))))
    for name in named:
        if name not in _NAMES:
            raise ConfigError(
                _("--only {name!r}: there are {names}", name=name, names=", ".join(_NAMES))
            )
    stages = tuple(name for name in _NAMES if name in (named or _NAMES))
    if "search" in stages and not Options.from_environment()["QIAO_ENGINES"]:
        if "search" in named:
            raise ConfigError(
                _("QIAO_ENGINES is empty: no engine is asked unless it is named there")
            )
        print_hanging(console, _("no search: QIAO_ENGINES names no engine"))
        stages = tuple(name for name in stages if name != "search")
    if "search" in stages:
        _check_engines()
    of_sites = [name for name in stages if name in _OF_SITES and name not in named]
    if of_sites and not any(site.role == "authoritative" for site in pack.sites):
        print_hanging(console, _("no site of the topic is crawled whole"))
        # Its feeds are watched without a site.
        left = [name for name in of_sites if not (has_feeds and name == "watch")]
        stages = tuple(name for name in stages if name not in left)
    return stages


def _check_engines() -> None:
    """Refuse a name that no engine has, before hours are spent on the stages in front of it.

    Raises:
        ConfigError: it names the engine.
    """
    from qiaocrawl.search.definition import definitions_of, find_definition

    options = Options.from_environment()
    definitions = definitions_of(options)
    for name in options["QIAO_ENGINES"]:
        find_definition(definitions, name)


@contextmanager
def _interrupted_by_signals() -> Iterator[None]:
    """Every signal to end does here what Ctrl-C does.

    systemd and cron stop a job so, and a terminal that is closed: the spider, which has a session
    of its own, ends in order, and the summary is printed.
    """
    before = {
        number: signal.signal(number, signal.default_int_handler)
        for number in END_SIGNALS
        if signal.getsignal(number) is not signal.SIG_IGN  # nohup
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _run_stages(plan: _Plan, database: Database, console: Terminal) -> int:
    started = time.time()
    with database.reading() as c:
        last_id = last_run_id(c)
    codes = []
    try:
        for name, title, share in _STAGES:
            if name in plan.stages:
                codes.append(_run_stage(plan, name, _(title), share, database, console))
        if _ANALYSE in plan.stages:
            codes.append(_analyse(database, console))
    except KeyboardInterrupt:
        codes.append(INTERRUPTED)
        print_hanging(console, _("– stopped; the same command goes on there"))
    with database.reading() as c:
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
            print_hanging(console, _("– {title}: no time left, next time", title=title))
            return 0
        seconds = left if name == plan.last_spider else max(left * share, _LEAST_SECONDS)
        settings.append(f"QIAO_MAX_SECONDS={seconds:.0f}")
    command = topic_command(name, title, plan.topic, database, plan.logs, settings)
    command = replace(command, on_start=plan.pids.append)
    code = run_with_bar(command, database, console)
    if code != 0:
        print_hanging(
            console,
            _(
                "✗ {title}: failed ({code}): {last_words}",
                title=title,
                code=code,
                last_words=_last_words(command.log),
            ),
        )
        print_hanging(console, _("  log: {log}", log=command.log))
    return min(code, 1) if code >= 0 else 1


def _analyse(database: Database, console: Terminal) -> int:
    """Do what ``qiaocrawl analyse`` does; its exit code."""
    from qiaocrawl.cli.analyse import bring_up_to_date

    try:
        return bring_up_to_date(database.url, console)
    except QiaoError as error:
        print_hanging(console, _("✗ analysis: failed: {error}", error=error))
        return 1


def _last_words(log: Path) -> str:
    """The line that says why the spider ended: ours where there is one, else the last."""
    lines = log.read_text("utf-8", "replace").splitlines()
    ours = [line for line in lines if line.startswith("qiaocrawl: ") or " ERROR" in line]
    return (ours or lines or [""])[-1].removeprefix("qiaocrawl: ")


def _print_summary(
    c: Connection, plan: _Plan, last_id: int, seconds: float, console: Console
) -> None:
    # Others may crawl the same topic meanwhile, on MariaDB.
    records = runs_of(c, plan.pids, last_id)
    table = folding_table(
        _("stage"),
        _("pages"),
        _("new articles"),
        _("on topic"),
        _("known"),
        _("waiting"),
        title=_("This run"),
    )
    for column in table.columns[1:]:
        column.justify = "right"
    shown = {spider: name for spider, name, _share in _STAGES}
    for record in records:
        name = _(shown.get(record.spider, record.spider))
        table.add_row(name, *(f"{count}" for count in _counts(record)))
    console.print()
    if records:
        console.print(table)
    held = held_hosts(c, plan.topic)
    for host in held[:_HOSTS_SHOWN]:
        print_hanging(console, _("– {host}: {words}", host=host.host, words=held_words(host)))
    if (more := len(held) - _HOSTS_SHOWN) > 0:
        print_hanging(console, f"– {more_held(more)}")
    minutes = seconds / 60
    print_hanging(
        console, _("took {minutes:.1f} min; details: {logs}/", minutes=minutes, logs=plan.logs)
    )
    few = few_on_topic(c, plan.topic)
    if few is not None:
        for line in few_lines(few):
            print_hanging(console, line)
    console.print(_("next:"))
    if few is not None:
        for step in few_steps(few):
            console.print(f"  {step}", markup=False, soft_wrap=True)
    for step in (
        f"article list --topic {plan.topic} --only-relevant",
        f"export --topic {plan.topic} --only-relevant --out {plan.topic}.xlsx",
        f"report missed {plan.topic}",
        f"briefing make {plan.topic}",
    ):
        console.print(f"  {command_here(f'qiaocrawl {step}')}", soft_wrap=True)


def _counts(record: RunRecord) -> tuple[int, ...]:
    stats: dict[str, Any] = json.loads(record.stats or "{}")
    names = (PAGES, NEW_ARTICLES, ON_TOPIC, KNOWN_ARTICLES)
    counts = (int(stats.get(name, 0)) for name in names)
    return (*counts, record.remaining or 0)


# --- ``qiaocrawl crawl``: any spider with all its arguments, from any folder ----------------------


def crawl(
    context: typer.Context,
    spider: Annotated[str, typer.Argument(help="search, site, pages, watch, or one of yours.")],
) -> None:
    """Run a spider as `scrapy crawl` does, with its -a and -s: from any folder."""
    os.environ[SETTINGS_VARIABLE] = settings_module()
    sys.stdout.flush()
    # The same process: signals, exit code and terminal are Scrapy's.
    command = [sys.executable, "-m", "qiaocrawl.crawl", "crawl", spider, *context.args]
    os.execv(sys.executable, command)


# --- What a run brought, as tables an operator understands ----------------------------------------

_GROUPS_SHOWN = 4
_ARTICLES_SHOWN = 8


def print_report(database: Database, topic: str, cells: Sequence[Cell], console: Console) -> None:
    """Print queries, URLs, articles by site, reprint groups and a few articles of *topic*.

    Args:
        cells: what was searched for it.
    """
    _print_answers(console, cells)
    with database.reading() as c:
        hits, new = summary.search_yield(c, topic)
        _print_urls(
            console, summary.outcomes(c, topic), (hits, new), summary.relevance_counts(c, topic)
        )
        _print_sites(console, summary.sites(c, topic))
        total, groups = summary.reprint_groups(c, topic, _GROUPS_SHOWN)
        _print_groups(console, total, groups)
        _print_articles(console, summary.best_articles(c, topic, _ARTICLES_SHOWN))


def _print_answers(console: Console, cells: Sequence[Cell]) -> None:
    sums = sums_by(cells, lambda cell: cell.engine)
    table = Table(_("answer"), *sums, title=_("Queries by answer"), title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    for state in ANSWER_NAMES:
        numbers = [row.states[state] for row in sums.values()]
        if any(numbers):
            table.add_row(answer_name(state), *map(str, numbers))
    if sums:
        console.print(table)


def _print_urls(
    console: Console,
    outcomes: dict[str, int],
    search: tuple[int, int],
    judged: tuple[int, int],
) -> None:
    table = Table(_("URLs"), "", title=_("URLs found"), title_justify="left")
    table.columns[1].justify = "right"
    hits, new = search
    table.add_row(_("all"), str(sum(outcomes.values())))
    table.add_row(_("search hits"), str(hits))
    table.add_row(_("  of these known already"), str(hits - new))
    on_topic, off_topic = judged
    for outcome in OUTCOME_NAMES:
        if outcomes.get(outcome):
            table.add_row(outcome_name(outcome), str(outcomes[outcome]))
        if outcome is Outcome.ARTICLE:
            table.add_row(_("  on topic"), str(on_topic), style="green")
            table.add_row(_("  off topic"), str(off_topic))
    console.print(table)


def _print_sites(console: Console, lines: list[summary.SiteLine]) -> None:
    table = Table(
        _("site"),
        _("name"),
        _("on topic"),
        _("articles"),
        title=_("Articles by site"),
        title_justify="left",
    )
    for column in table.columns[2:]:
        column.justify = "right"
    for line in lines:
        table.add_row(line.host, escape(line.name), str(line.relevant), str(line.articles))
    console.print(table)


def _print_groups(console: Console, total: int, groups: list[summary.GroupLine]) -> None:
    console.print()
    console.print(Text(_("Reprint groups on topic: {total}", total=total), style="bold"))
    for group in groups:
        print_hanging(console, f"  ● {group.title}  {group.host}")
        for title, host in group.members[:4]:
            print_hanging(console, f"      ↳ {title}  {host}")
        if len(group.members) > 4:
            console.print(_("      … {more} more", more=len(group.members) - 4))
    console.print()


def _print_articles(console: Console, lines: list[summary.ArticleLine]) -> None:
    table = Table(_("score"), _("date"), title_justify="left")
    table.title = _("A few on-topic articles")
    table.add_column(_("title"), overflow="fold")
    # Whole, for it is what people look for next.
    table.add_column(_("site"), no_wrap=True)
    for line in lines:
        cells = (china_time(line.published, DAY), line.title, line.host)
        table.add_row(f"{line.score:.2f}", *map(escape, cells))
    console.print(table)
