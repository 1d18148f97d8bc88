"""``qiaocrawl report trends TOPIC``: counts over time against what is usual, bursts, a forecast."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from qiaocrawl.cli.database import DatabaseUrl, connection_to
from qiaocrawl.cli.options import calendar, end_of, start_of, with_options
from qiaocrawl.cli.output import (
    check_output,
    echo,
    folding_table,
    join_with_commas,
    say_written,
    table_console,
    write_text,
)
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.readable import check_ending, write_sheets
from qiaocrawl.language import _, ngettext
from qiaocrawl.news.trends.usual import SECONDS, Stretch, Unit
from qiaocrawl.options.project import command_here
from qiaocrawl.storage.selection import Selection

if TYPE_CHECKING:
    from qiaocrawl.news.trends.trend import Trend

# --- A trend at the terminal ----------------------------------------------------------------------


def print_trend(console: Console, trend: Trend) -> None:
    """Steps, their sum against the usual, the forecast, and what the calendar does not know."""
    from qiaocrawl.news.trends.trend import DIRECTION_NAMES, begin_of

    table = folding_table(_("begin"), _("articles"), _("usual"), _("deviation"), _("note"))
    for column in table.columns[1:4]:
        column.justify = "right"
    for step in trend.steps:
        notes = [
            step.holiday,
            _("burst") if step.is_burst else "",
            "" if step.is_whole else _("not over yet"),
        ]
        table.add_row(
            begin_of(trend, step.start),
            str(step.count),
            _number(step.expected),
            # Of a step that is not over it would tell of the hour, not of the news.
            f"{step.deviation:+.1f}" if step.deviation is not None and step.is_whole else "",
            join_with_commas(filter(None, notes)),
        )
    console.print(table)
    direction = _(DIRECTION_NAMES[trend.direction])
    if trend.base_days:
        direction = ngettext(
            "{direction} (compared with {count} day before)",
            "{direction} (compared with {count} days before)",
            trend.base_days,
            direction=direction,
        )
    articles = sum(step.count for step in trend.steps)
    echo(_("{articles:,} articles: {direction}", articles=articles, direction=direction))
    for coming in trend.forecast:
        echo(
            _(
                "forecast {begin}: {expected}, nine in ten times {low} to {high}",
                begin=begin_of(trend, coming.start),
                expected=_number(coming.expected),
                low=coming.low,
                high=coming.high,
            )
        )
    if trend.unknown_years:
        years = join_with_commas(map(str, trend.unknown_years))
        echo(_("holidays of {years} are unknown: QIAO_HOLIDAYS", years=years))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


_MOST_STEPS = 2_000


def _selection(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    word: Annotated[
        list[str] | None, typer.Option(help="Only articles with this word; several: with all.")
    ] = None,
    site: Annotated[list[str] | None, typer.Option(help="Only of this host.")] = None,
    tier: Annotated[list[int] | None, typer.Option(min=1, max=5, help="Only of this tier.")] = None,
    region: Annotated[list[str] | None, typer.Option(help="Only of this region.")] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="Only articles that name this person, place or body; several: all."),
    ] = None,
    story: Annotated[
        list[int] | None, typer.Option(help="Only of the story of this number.")
    ] = None,
) -> Selection:
    """Of which articles."""
    return Selection(
        topic=topic,
        only_relevant=True,
        words=tuple(word or ()),
        sites=tuple(site or ()),
        tiers=tuple(tier or ()),
        regions=tuple(region or ()),
        names=tuple(name or ()),
        stories=tuple(story or ()),
    )


def _stretch(
    since: Annotated[
        str, typer.Option(help="Published since: today, yesterday, 7d, 30d, 2026-03-05.")
    ] = "30d",
    until: Annotated[str, typer.Option(help="Published until, that day too.")] = "",
    unit: Annotated[Unit, typer.Option("--per", help="Length of a step.")] = "day",
    base_days: Annotated[
        int, typer.Option(min=7, max=1_000, help="Days before --since that tell what is usual.")
    ] = 56,
    ahead: Annotated[int, typer.Option(min=0, max=200, help="Steps to forecast.")] = 7,
) -> Stretch:
    """Of when."""
    start, end = start_of(since, "--since"), end_of(until, "--until") or datetime.now(UTC)
    if start is None or start >= end:
        raise ConfigError(_("--since {since!r} is not before --until", since=since))
    steps = (end - start).total_seconds() / SECONDS[unit]
    if steps > _MOST_STEPS:
        raise ConfigError(
            _(
                "--per {unit}: {steps:,.0f} steps are more than {most:,}",
                unit=unit,
                steps=steps,
                most=_MOST_STEPS,
            )
        )
    return Stretch(start, end, unit, base_days, ahead)


@dataclass(frozen=True, slots=True)
class _Output:
    once: bool
    picture: Path | None
    out: Path | None
    database: str


def _output(
    once: Annotated[
        bool, typer.Option("--reprints-once", help="Count a group of reprints once.")
    ] = False,
    picture: Annotated[Path | None, typer.Option(help="Write the curve (.svg).")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Workbook (.xlsx) or CSV.")] = None,
    database: DatabaseUrl = "",
) -> _Output:
    """What to make of them."""
    if picture is not None and picture.suffix.lower() != ".svg":
        raise ConfigError(_("--picture must end in .svg, got {picture!r}", picture=str(picture)))
    for file, option in ((picture, "--picture"), (out, "--out")):
        if file is not None:
            check_output(file, option)
    if out is not None:
        check_ending(out)
    return _Output(once, picture, out, database)


@with_options(_selection, _stretch, _output)
def trends(selection: Selection, stretch: Stretch, output: _Output) -> None:
    """Count articles of TOPIC over time, against weekdays, hours and holidays as usual.

    With bursts (Kleinberg's automaton) and deviations (a robust z), and what is to be expected.
    """
    from qiaocrawl.news.trends.trend import trend_of_selection

    with connection_to(output.database) as c:
        trend, left_out = trend_of_selection(
            c, selection, stretch, calendar(), reprints_once=output.once
        )
    if trend is None:
        command = command_here(f"qiaocrawl article list --topic {selection.topic}")
        echo(_("nothing stored fits; what there is: {command}", command=command))
        return
    print_trend(table_console(), trend)
    if left_out:
        echo(
            ngettext(
                "{count} article that names a day only is left out",
                "{count} articles that name a day only are left out",
                left_out,
            )
        )
    _write(trend, selection, output)


def _write(trend: Trend, selection: Selection, output: _Output) -> None:
    from qiaocrawl.export.analysis_sheets import trend_sheets
    from qiaocrawl.news.pictures.charts import trend_svg

    if output.picture is not None:
        title = join_with_commas(
            filter(
                None,
                (
                    selection.topic,
                    *selection.words,
                    *selection.names,
                    *(_("story {number}", number=number) for number in selection.stories),
                ),
            )
        )
        write_text(output.picture, trend_svg(trend, title))
    if output.out is not None:
        write_sheets(output.out, trend_sheets(trend))
        say_written(output.out)
