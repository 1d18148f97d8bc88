"""What a run brought, as tables an operator understands."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from qiaocrawl.cli.output import print_hanging, shown_moment
from qiaocrawl.items import Outcome
from qiaocrawl.language import _
from qiaocrawl.reading import summary
from qiaocrawl.reading.outcome_names import OUTCOME_NAMES, outcome_name
from qiaocrawl.search.answer import ANSWER_NAMES, answer_name
from qiaocrawl.storage import Database
from qiaocrawl.storage.search.coverage import Cell, sums_by

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
        cells = (shown_moment(line.published, "%Y-%m-%d"), line.title, line.host)
        table.add_row(f"{line.score:.2f}", *map(escape, cells))
    console.print(table)
