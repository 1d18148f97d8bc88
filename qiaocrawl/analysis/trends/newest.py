"""How unusual the newest hours are, judged while they are still going on **(ours)**.

A day that is not over says little: in the morning it has few texts, however much is told. So the
24 hours before a moment are judged, against what is usual for just these hours: the rest of
yesterday and the hours of today that are over, each as its weekday and its time of day have it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qiaocrawl.analysis.trends.base import Base, make_base
from qiaocrawl.analysis.trends.bursts import count_bursts
from qiaocrawl.analysis.trends.holidays import is_off
from qiaocrawl.analysis.trends.series import CountSeries, count_series
from qiaocrawl.text.zones import SHANGHAI

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.analysis.trends.holidays import HolidayCalendar

BASE_DAYS = 56
_DAY = timedelta(days=1)
_DAY_SECONDS, _HOUR_SECONDS, _HOURS = 86_400, 3_600, 24


class Newest(NamedTuple):
    """The 24 hours before a moment against what is usual.

    Args:
        texts: how many.
        expected, deviation: None without a base; see :class:`qiaocrawl.analysis.trends.base.Base`.
        in_burst: by the automaton, over steps of 24 hours that end at the moment.
    """

    texts: int
    expected: float | None
    deviation: float | None
    in_burst: bool


def newest_of(
    times: NDArray[np.float64], all_times: NDArray[np.float64], now: datetime,
    calendar: HolidayCalendar,
) -> Newest:  # fmt: skip
    """What stands out just before the aware moment *now*; later texts are not looked at.

    Args:
        times: seconds as ``series.seconds_of`` makes them, in any order.
        all_times: of all texts that might have been such: bursts are of their share.
    """
    end = now.timestamp()
    texts = int(((times > end - _DAY_SECONDS) & (times <= end)).sum())
    in_burst = _in_burst(times, all_times, end)
    base, shares = _base(times, now, calendar)
    if base is None:
        return Newest(texts, None, None, in_burst)
    expected = _expected(base, shares, now)
    return Newest(texts, expected, base.deviation(texts, expected), in_burst)


def _in_burst(times: NDArray[np.float64], all_times: NDArray[np.float64], end: float) -> bool:
    own, everything = (_days_back(moments, end) for moments in (times, all_times))
    return any(burst.end == len(own) for burst in count_bursts(own, everything))


def _days_back(moments: NDArray[np.float64], end: float) -> NDArray[np.int64]:
    """Counts of 24 hours each, the last of them up to *end* and with it."""
    days = BASE_DAYS + 1
    places = days - 1 - ((end - moments) // _DAY_SECONDS).astype(np.int64)
    inside = places[(places >= 0) & (places < days)]
    return np.bincount(inside, minlength=days).astype(np.int64)


def _base(
    times: NDArray[np.float64], now: datetime, calendar: HolidayCalendar
) -> tuple[Base | None, NDArray[np.float64]]:
    """By whole days before the 24 hours, from the first that has a text; and shares of hours."""
    begin = now - _DAY
    midnight = begin.astimezone(SHANGHAI).replace(hour=0, minute=0, second=0, microsecond=0)
    hours = count_series(times, "hour", midnight - timedelta(days=BASE_DAYS), midnight)
    by_day = hours.counts.reshape(-1, _HOURS).sum(axis=1)
    if not by_day.any():
        return None, np.zeros((2, _HOURS))
    looked = int(np.flatnonzero(by_day)[0])
    days = CountSeries("day", hours.first // _HOURS + looked, by_day[looked:])
    base = make_base(days, calendar)
    if base is None:
        return None, np.zeros((2, _HOURS))
    by_hour = make_base(hours.part(looked * _HOURS, len(hours)), calendar)
    assert by_hour is not None, "it has as many days"
    return base, by_hour.hour_shares


def _expected(base: Base, shares: NDArray[np.float64], now: datetime) -> float:
    """The usual count of the 24 hours before *now*."""
    today = now.astimezone(SHANGHAI)
    yesterday = today - _DAY
    over = _share_over(base, shares, today), _share_over(base, shares, yesterday)
    factors = base.day_factor(today.date()), base.day_factor(yesterday.date())
    return base.level * (factors[0] * over[0] + factors[1] * (1.0 - over[1]))


def _share_over(base: Base, shares: NDArray[np.float64], when: datetime) -> float:
    """Which share of its day's texts there usually is until *when*."""
    own = shares[int(is_off(base.calendar.kind_of(when.date())))]
    into = (when.minute * 60 + when.second) / _HOUR_SECONDS
    return float(own[: when.hour].sum() + own[when.hour] * into)
