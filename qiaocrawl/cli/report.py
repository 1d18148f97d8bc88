"""What a run brought, as tables an operator understands (Chinese with English beside)."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from qiaocrawl.cli.coverage.cells import STATES
from qiaocrawl.cli.output import folding_table, shown_moment
from qiaocrawl.items import Outcome
from qiaocrawl.search.query import AnswerState
from qiaocrawl.storage import Database
from qiaocrawl.storage.reports import summary
from qiaocrawl.storage.reports.outcome_names import OUTCOME_NAMES

_GROUPS_SHOWN = 4
_ARTICLES_SHOWN = 8


def print_report(database: Database, topic: str, console: Console) -> None:
    """Print queries, URLs, articles by site, reprint groups and a few articles of *topic*."""
    with database.engine.connect() as c:
        _print_answers(console, summary.answers(c, topic))
        hits, new = summary.search_yield(c, topic)
        _print_urls(
            console, summary.outcomes(c, topic), (hits, new), summary.relevance_counts(c, topic)
        )
        _print_sites(console, summary.sites(c, topic))
        total, groups = summary.reprint_groups(c, topic, _GROUPS_SHOWN)
        _print_groups(console, total, groups)
        _print_articles(console, summary.best_articles(c, topic, _ARTICLES_SHOWN))


def _print_answers(console: Console, counts: dict[tuple[str, str], int]) -> None:
    # Engines nobody chose are told of by `qiaocrawl coverage`.
    engines = sorted({engine for engine, state in counts if state != AnswerState.ROBOTS})
    table = Table("应答 answer", *engines, title="查询 Queries by answer", title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    for state, label in STATES.items():
        numbers = [counts.get((engine, state), 0) for engine in engines]
        if any(numbers):
            table.add_row(label, *map(str, numbers))
    if engines:
        console.print(table)


def _print_urls(
    console: Console,
    outcomes: dict[str, int],
    search: tuple[int, int],
    judged: tuple[int, int],
) -> None:
    table = Table("网址 URLs", "", title="网址 URLs found", title_justify="left")
    table.columns[1].justify = "right"
    hits, new = search
    table.add_row("全部 all", str(sum(outcomes.values())))
    table.add_row("检索命中 search hits", str(hits))
    table.add_row("  其中重复 of these known already", str(hits - new))
    on_topic, off_topic = judged
    for outcome, label in OUTCOME_NAMES.items():
        if outcomes.get(outcome):
            table.add_row(label, str(outcomes[outcome]))
        if outcome is Outcome.ARTICLE:
            table.add_row("  切题 on topic", str(on_topic), style="green")
            table.add_row("  不切题 off topic", str(off_topic))
    console.print(table)


def _print_sites(console: Console, lines: list[summary.SiteLine]) -> None:
    table = Table(
        "站点 site",
        "名称 name",
        "切题 on topic",
        "文章 articles",
        title="各站文章 Articles by site",
        title_justify="left",
    )
    for column in table.columns[2:]:
        column.justify = "right"
    for line in lines:
        table.add_row(line.host, escape(line.name), str(line.relevant), str(line.articles))
    console.print(table)


def _print_groups(console: Console, total: int, groups: list[summary.GroupLine]) -> None:
    console.print(f"\n[bold]转载组 Reprint groups (on topic)[/]: {total}")
    for group in groups:
        console.print(f"  ● {escape(group.title)}  [dim]{group.host}[/]", highlight=False)
        for title, host in group.members[:4]:
            console.print(f"      ↳ {escape(title)}  [dim]{host}[/]", highlight=False)
        if len(group.members) > 4:
            console.print(f"      … {len(group.members) - 4} more 另有")


def _print_articles(console: Console, lines: list[summary.ArticleLine]) -> None:
    table = folding_table("分 score", "日期 date", "标题 title", "来源 source", "站点 site")
    table.title, table.title_justify = "部分切题文章 A few on-topic articles", "left"
    for line in lines:
        cells = (shown_moment(line.published, "%Y-%m-%d"), line.title, line.source, line.host)
        table.add_row(f"{line.score:.2f}", *map(escape, cells))
    console.print(table)
