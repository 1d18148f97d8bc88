"""The figures of today and of the last 30 days, each with the list of what it counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import NoMatchFound

from qiaocrawl.console.forms import whole_number
from qiaocrawl.console.page import Area, Page, link, read, read_kept
from qiaocrawl.console.render import render
from qiaocrawl.language import N_
from qiaocrawl.news.overview import (
    DAYS,
    Day,
    Refusal,
    dead_links,
    overview,
    refusals,
    sources,
)
from qiaocrawl.search.query import AnswerState
from qiaocrawl.text.zones import start_of_days

_KEPT_SECONDS = 20.0
_WIDTH, _HEIGHT, _BOTTOM = 720, 170, 28
_ROWS = 100
_MOST_DAYS = 3_650


@dataclass(frozen=True, slots=True)
class Bar:
    """A day of the chart: where it stands, and how high all and those on topic are."""

    day: Day
    x: float
    width: float
    height: float
    on_topic_height: float


async def show(request: Request) -> Response:
    """All figures; counted anew every twenty seconds."""
    figures = await read_kept(request, "overview", _KEPT_SECONDS, overview, datetime.now(UTC))
    return render(
        request,
        "overview/show.html",
        figures=figures,
        bars=_bars(figures.days),
        highest=max(day.articles for day in figures.days),
        days=DAYS,
        width=_WIDTH,
        height=_HEIGHT,
        bottom=_BOTTOM,
        elsewhere=lambda name: _elsewhere(request, name),
    )


async def sources_page(request: Request) -> Response:
    """Sites that brought something lately."""
    days, number = _days(request), whole_number(request, "page", 1, 1, 1000)
    since = start_of_days(datetime.now(UTC), days)
    every = await read_kept(request, f"sources {days}", _KEPT_SECONDS, sources, since)
    return render(
        request,
        "overview/sources.html",
        sources=every[(number - 1) * _ROWS : number * _ROWS],
        count=len(every),
        days=days,
        number=number,
        more=len(every) > number * _ROWS,
    )


async def refused_engines(request: Request) -> Response:
    """Engines that refused lately, each with the topics it did so for."""
    days = _days(request)
    since = start_of_days(datetime.now(UTC), days)
    by_engine: dict[str, list[Refusal]] = {}
    for refusal in await read(request, refusals, since):
        by_engine.setdefault(refusal.engine, []).append(refusal)
    return render(
        request,
        "overview/refused.html",
        by_engine=by_engine,
        days=days,
        state=AnswerState.BLOCKED.value,
    )


def _days(request: Request) -> int:
    return whole_number(request, "found", DAYS, 1, _MOST_DAYS)


async def dead(request: Request) -> Response:
    """Pages that are gone."""
    days = _days(request)
    number = whole_number(request, "page", 1, 1, 1000)
    since = start_of_days(datetime.now(UTC), days)
    links = await read(request, dead_links, since, (number - 1) * _ROWS, _ROWS + 1)
    return render(
        request,
        "overview/dead.html",
        links=links[:_ROWS],
        days=days,
        number=number,
        more=len(links) > _ROWS,
    )


def _elsewhere(request: Request, name: str) -> str:
    """The link to a page of another area; "" where there is none."""
    try:
        return link(request, name)
    except NoMatchFound:
        return ""


def _bars(days: tuple[Day, ...]) -> list[Bar]:
    highest = max([day.articles for day in days] + [1])
    step, scale = _WIDTH / len(days), (_HEIGHT - _BOTTOM - 10) / highest
    return [
        Bar(
            day,
            round(number * step + 2, 1),
            round(step - 4, 1),
            round(day.articles * scale, 1),
            round(day.on_topic * scale, 1),
        )
        for number, day in enumerate(days)
    ]


AREA = Area(
    N_("Figures"),
    "gauge-high",
    (
        Page("/figures", "overview.show", show),
        Page("/dead", "overview.dead", dead),
        Page("/sources", "overview.sources", sources_page),
        Page("/refused", "overview.refused", refused_engines),
    ),
    N_("Collection"),
)
