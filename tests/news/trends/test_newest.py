"""How unusual the newest hours are, at any hour of a day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from qiaocrawl.news.trends.bursts import newest_of
from qiaocrawl.news.trends.usual import HolidayCalendar, seconds_of
from qiaocrawl.text.zones import SHANGHAI

_MONDAY = datetime(2026, 3, 2, tzinfo=SHANGHAI)
_DAYS = 28
# Offices publish by day: six texts between nine and seven.
_HOURS = (9, 11, 13, 15, 17, 19)
_CALENDAR = HolidayCalendar()


def _usual(days: int = _DAYS) -> Iterator[datetime]:
    for day in range(days):
        yield from (_MONDAY + timedelta(days=day, hours=hour) for hour in _HOURS)


def _now(hour: int) -> datetime:
    return _MONDAY + timedelta(days=_DAYS - 1, hours=hour)


def _seconds(*more: datetime) -> NDArray[np.float64]:
    return seconds_of([*_usual(), *more])


@pytest.mark.parametrize("hour", [1, 8, 12, 18, 23])
def test_the_usual_is_usual_at_every_hour(hour: int) -> None:
    newest = newest_of(_seconds(), _seconds(), _now(hour), _CALENDAR)
    assert newest.texts == len(_HOURS)
    assert newest.expected == pytest.approx(len(_HOURS), rel=0.2)
    assert newest.deviation is not None
    assert abs(newest.deviation) < 1.0


def test_a_story_of_the_morning_is_seen_in_the_morning() -> None:
    now = _now(8)
    story = [now - timedelta(minutes=10 * number) for number in range(12)]
    newest = newest_of(_seconds(*story), _seconds(*story), now, _CALENDAR)
    # With a text of this very moment.
    assert newest.texts == len(_HOURS) + len(story)
    assert newest.deviation is not None
    assert newest.deviation > 3.0


def test_what_comes_later_changes_nothing() -> None:
    now = _now(8)
    later = [now + timedelta(minutes=number) for number in range(1, 40)]
    assert newest_of(_seconds(*later), _seconds(*later), now, _CALENDAR) == newest_of(
        _seconds(), _seconds(), now, _CALENDAR
    )


def test_a_burst_is_of_the_share_of_all() -> None:
    now = _now(12)
    story = [now - timedelta(minutes=20 * number) for number in range(20)]
    # Much else of each day; on the last one as many times more as of the story.
    rest = list(_usual()) * 9
    mine = _seconds(*story)
    assert newest_of(mine, np.append(mine, seconds_of(rest)), now, _CALENDAR).in_burst
    grown = np.append(mine, seconds_of([*rest, *story * 9]))
    assert not newest_of(mine, grown, now, _CALENDAR).in_burst


def test_a_story_of_a_few_days_has_no_usual() -> None:
    times = seconds_of(list(_usual(days=5)))
    newest = newest_of(times, times, _MONDAY + timedelta(days=5), _CALENDAR)
    assert (newest.expected, newest.deviation) == (None, None)
    assert newest_of(np.zeros(0), times, _now(8), _CALENDAR) == (0, None, None, False)
