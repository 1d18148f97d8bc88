"""Splits by time: a query whose answer is cut off is sent again for shorter periods.

A period is ``day``, ``week``, ``month`` or ``year`` (the last one), or ``2026-01-01/2026-02-01``
(first day and the day after the last), as :class:`qiaocrawl.items.Query` says.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.search.query import Query, SearchAnswer
from qiaocrawl.search.records import EngineDefinition
from qiaocrawl.search.request import day_range

LAST_PERIODS = ("day", "week", "month", "year")

_SHORTER = {"": "year", "year": "month", "month": "week", "week": "day"}
_RANGE = re.compile(r"\d{4}-\d\d-\d\d/\d{4}-\d\d-\d\d")
_YEAR = timedelta(days=365)
# About when news on the web begins (ours).
_FIRST_DAY = date(1995, 1, 1)


def can_ask(engine: EngineDefinition, period: str) -> bool:
    """Whether *engine* can be asked for *period*; for any time ("") it always can."""
    return engine.supports_period(period)


def checked_period(text: str) -> str:
    """*text* as a period.

    Raises:
        ConfigError: it is none.
    """
    period = text.strip()
    if period in ("", *LAST_PERIODS):
        return period
    try:
        if _RANGE.fullmatch(period) and range_of(period)[0] < range_of(period)[1]:
            return period
    except ValueError:
        pass
    raise ConfigError(
        _(
            "period= must be one of {periods} or FIRST/END as 2026-01-01/2026-02-01 "
            "(END is the day after the last), got {text!r}",
            periods=", ".join(LAST_PERIODS),
            text=text,
        )
    )


def range_of(period: str) -> tuple[date, date]:
    """First day and the day after the last of a period that names them.

    Raises:
        ValueError: it does not, or there is no such day.
    """
    first, _, end = period.partition("/")
    return date.fromisoformat(first), date.fromisoformat(end)


def is_past(period: str, today: date) -> bool:
    """Whether *period* names days that are all over: little new can come there."""
    return bool(_RANGE.fullmatch(period)) and range_of(period)[1] <= today


def leads_on(answer: SearchAnswer, engine: EngineDefinition) -> bool:
    """Whether another result page may hold hits.

    Some engines' pages do not say so: one less than half full is the last one (ours).
    """
    is_half_full = 2 * len(answer.hits) >= engine.paging.per_page
    return answer.has_next and (bool(engine.signals.next) or is_half_full)


def is_cut_off(
    query: Query, answer: SearchAnswer, engine: EngineDefinition, most_pages: int
) -> bool:
    """Whether the engine has more than may be asked for, or than it lets one page through.

    Args:
        most_pages: result pages the operator has asked for one query.
    """
    if answer.has_next:
        return leads_on(answer, engine) and query.page >= most_pages
    if query.page < min(most_pages, engine.paging.max_pages):
        return False
    if answer.total is None:
        # No total, and no further page may be asked for: a page that is half full tells (ours).
        return not engine.signals.next and 2 * len(answer.hits) >= engine.paging.per_page
    return answer.total > query.page * engine.paging.per_page


def shorter_periods(engine: EngineDefinition, period: str, today: date) -> tuple[str, ...]:
    """What to ask for in place of *period*, the newest first; () when it goes no shorter.

    An engine that takes days is asked for halves of the days, down to one day; any time is
    then the last year and all before. Others are asked for the next shorter of the last year,
    month, week and day.
    """
    days = _days_of(engine, period, today)
    if days is not None:
        first, end = days
        middle = first + timedelta(days=(end - first).days // 2)
        # All time: the last year is split off, since most results are from there.
        if period == "":
            middle = end - _YEAR
        # A single day cannot be halved.
        if middle in (first, end):
            return ()
        return _named(middle, end), _named(first, middle)
    shorter = _SHORTER.get(period, "")
    # Only the newer part: an engine without ranges cannot be asked for the rest.
    return (shorter,) if shorter and can_ask(engine, shorter) else ()


def _days_of(engine: EngineDefinition, period: str, today: date) -> tuple[date, date] | None:
    """The days of *period*; None where the engine cannot be asked for days."""
    if _RANGE.fullmatch(period):
        return range_of(period)
    # The end of a range is the day after its last.
    tomorrow = today + timedelta(days=1)
    if not can_ask(engine, _named(today, tomorrow)):
        return None
    # The days it was asked for: none may be left out between its halves and what came before.
    return day_range(period, today) if period else (_FIRST_DAY, tomorrow)


def _named(first: date, end: date) -> str:
    return f"{first.isoformat()}/{end.isoformat()}"
