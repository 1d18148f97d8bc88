"""The first page: what happened, what is new, what warns, what needs a hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl.console.page import Area, Page, read_kept
from qiaocrawl.console.render import render
from qiaocrawl.language import N_, _, language
from qiaocrawl.news.overview import Day
from qiaocrawl.news.today import Today, today
from qiaocrawl.news.warnings.machine import SEVERITY_NAMES, StoryWarning, reason_text
from qiaocrawl.text.zones import SHANGHAI

_KEPT_SECONDS = 20.0
_ALARMS_SHOWN = 6
_WEEKDAYS = (
    N_("Monday"),
    N_("Tuesday"),
    N_("Wednesday"),
    N_("Thursday"),
    N_("Friday"),
    N_("Saturday"),
    N_("Sunday"),
)


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart: what it counts, and its height as a part of the highest one."""

    count: int
    height: float
    is_most: bool


async def show(request: Request) -> Response:
    """The news first; counted anew every twenty seconds, in each language."""
    now = datetime.now(UTC)
    # Alarms are stored in the words of who reads.
    shown = await read_kept(request, f"today {language()}", _KEPT_SECONDS, today, now)
    return render(
        request,
        "today/show.html",
        now=now.astimezone(SHANGHAI),
        weekday=_(_WEEKDAYS[now.astimezone(SHANGHAI).weekday()]),
        yesterday=(now.astimezone(SHANGHAI) - timedelta(days=1)).date(),
        shown=shown,
        has_news=bool(shown.events.stories or shown.newest),
        week=list(zip(shown.week, _week_bars(shown), strict=True)),
        bars=_bars,
        severities=SEVERITY_NAMES,
        why=_why,
        alarms_shown=_ALARMS_SHOWN,
    )


def _week_bars(shown: Today) -> list[Bar]:
    return _bars([_on_topic(day) for day in shown.week])


def _on_topic(day: Day) -> int:
    return day.on_topic


def _bars(counts: list[int]) -> list[Bar]:
    most = max(counts, default=0)
    return [
        Bar(count, round(count / most, 3) if most else 0.0, count == most > 0) for count in counts
    ]


def _why(warning: StoryWarning) -> str:
    """All reasons of a warning in one sentence."""
    rules = (_("; ").join(map(reason_text, reasons)) for reasons in warning.reasons.values())
    return _("; ").join(rules)


AREA = Area(N_("Today"), "sun", (Page("/", "today.show", show),))
