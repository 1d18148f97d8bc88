"""A trend at the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from qiaocrawl.cli.output import folding_table, joined
from qiaocrawl.cli.terminal import echo
from qiaocrawl.language import N_, _, ngettext

if TYPE_CHECKING:
    from datetime import datetime

    from qiaocrawl.news.trends.trend import Direction, Trend

_DIRECTIONS: dict[Direction, str] = {
    "up": N_("above the usual"), "down": N_("below the usual"), "steady": N_("as usual"),
    "unknown": N_("too few days before to know what is usual"),
}  # fmt: skip


def print_trend(console: Console, trend: Trend) -> None:
    """Steps, their sum against the usual, the forecast, and what the calendar does not know."""
    table = folding_table(_("begin"), _("articles"), _("usual"), _("deviation"), _("note"))
    for column in table.columns[1:4]:
        column.justify = "right"
    for step in trend.steps:
        notes = [step.holiday, _("burst") if step.is_burst else "",
                 "" if step.is_whole else _("not over yet")]  # fmt: skip
        table.add_row(
            begin_of(trend, step.start), str(step.count), _number(step.expected),
            # Of a step that is not over it would tell of the hour, not of the news.
            f"{step.deviation:+.1f}" if step.deviation is not None and step.is_whole else "",
            joined(filter(None, notes)),
        )  # fmt: skip
    console.print(table)
    direction = _(_DIRECTIONS[trend.direction])
    if trend.base_days:
        direction = ngettext(
            "{direction} (compared with {count} day before)",
            "{direction} (compared with {count} days before)",
            trend.base_days, direction=direction,
        )  # fmt: skip
    articles = sum(step.count for step in trend.steps)
    echo(_("{articles:,} articles: {direction}", articles=articles, direction=direction))
    for coming in trend.forecast:
        echo(_("forecast {begin}: {expected}, nine in ten times {low} to {high}",
               begin=begin_of(trend, coming.start), expected=_number(coming.expected),
               low=coming.low, high=coming.high))  # fmt: skip
    if trend.unknown_years:
        years = joined(map(str, trend.unknown_years))
        echo(_("holidays of {years} are unknown: QIAO_HOLIDAYS", years=years))


def begin_of(trend: Trend, start: datetime) -> str:
    """When a step begins, as a table has it."""
    return f"{start:%Y-%m-%d %H:%M}" if trend.unit == "hour" else f"{start:%Y-%m-%d}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
