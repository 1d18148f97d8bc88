"""``qiaocrawl trends TOPIC``: counts over time against what is usual, bursts, a forecast."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qiaocrawl.cli.analysis.trend_sheets import trend_sheets
from qiaocrawl.cli.analysis.trend_tables import print_trend
from qiaocrawl.cli.analysis.written import write_text
from qiaocrawl.cli.db import DatabaseUrl, connection_to
from qiaocrawl.cli.moments import end_of, start_of
from qiaocrawl.cli.output import check_output, joined, say_written, table_console
from qiaocrawl.cli.shared_options import combined
from qiaocrawl.cli.terminal import echo
from qiaocrawl.errors import ConfigError
from qiaocrawl.export.readable import check_ending, write_sheets
from qiaocrawl.language import _, ngettext
from qiaocrawl.news.trends.usual import SECONDS, Stretch, Unit
from qiaocrawl.options import Options
from qiaocrawl.options.project import advised
from qiaocrawl.storage.selection import Selection

if TYPE_CHECKING:
    from qiaocrawl.news.trends.trend import ArticleMoment, Trend
    from qiaocrawl.news.trends.usual import HolidayCalendar

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
        topic=topic, only_relevant=True, words=tuple(word or ()), sites=tuple(site or ()),
        tiers=tuple(tier or ()), regions=tuple(region or ()),
        names=tuple(name or ()), stories=tuple(story or ()),
    )  # fmt: skip


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
        raise ConfigError(_("--per {unit}: {steps:,.0f} steps are more than {most:,}", unit=unit,
                            steps=steps, most=_MOST_STEPS))  # fmt: skip
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


@combined(_selection, _stretch, _output)
def trends(selection: Selection, stretch: Stretch, output: _Output) -> None:
    """Count articles of TOPIC over time, against weekdays, hours and holidays as usual.

    With bursts (Kleinberg's automaton) and deviations (a robust z), and what is to be expected.
    """
    from qiaocrawl.news.trends.trend import trend_of

    moments, all_moments, left_out = _moments(selection, stretch, output)
    if not moments:
        command = advised(f"qiaocrawl article list --topic {selection.topic}")
        echo(_("nothing stored fits; what there is: {command}", command=command))
        return
    trend = trend_of(moments, all_moments, stretch, calendar())
    print_trend(table_console(), trend)
    if left_out:
        echo(ngettext("{count} article that names a day only is left out",
                      "{count} articles that name a day only are left out", left_out))  # fmt: skip
    _write(trend, selection, output)


def _moments(
    selection: Selection, stretch: Stretch, output: _Output
) -> tuple[list[datetime], list[datetime], int]:
    """Of what is counted, of all that it is a share of, and how many tell no hour."""
    from qiaocrawl.news.trends.trend import article_moments

    since = stretch.since - timedelta(days=stretch.base_days + 7)
    chosen = replace(selection, since=since, before=stretch.before)
    with connection_to(output.database) as c:
        moments = article_moments(c, chosen, reprints_once=output.once)
        # With reprints: the earliest of all of a group may lie in another step than that chosen.
        everything = article_moments(c, Selection(since=since, before=stretch.before))
    if stretch.unit != "hour":
        return _times(moments), _times(everything), 0
    hourly = [moment for moment in moments if moment.tells_hour]
    all_hourly = [moment for moment in everything if moment.tells_hour]
    return _times(hourly), _times(all_hourly), len(moments) - len(hourly)


def _times(moments: list[ArticleMoment]) -> list[datetime]:
    return [moment.at for moment in moments]


def calendar() -> HolidayCalendar:
    """The shipped holidays, and those of QIAO_HOLIDAYS."""
    from qiaocrawl.news.trends.usual import calendar_with

    return calendar_with(Options.from_environment()["QIAO_HOLIDAYS"])


def _write(trend: Trend, selection: Selection, output: _Output) -> None:
    from qiaocrawl.news.pictures.charts import trend_svg

    if output.picture is not None:
        title = joined(filter(None, (
            selection.topic, *selection.words, *selection.names,
            *(_("story {number}", number=number) for number in selection.stories),
        )))  # fmt: skip
        write_text(output.picture, trend_svg(trend, title))
    if output.out is not None:
        write_sheets(output.out, trend_sheets(trend))
        say_written(output.out)
