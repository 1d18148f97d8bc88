"""How many there were in each hour, day or week of China's time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from qiaocrawl.analysis.trends.stretch import SECONDS, Unit
from qiaocrawl.text.zones import SHANGHAI

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHINA_SECONDS = 8 * 3_600
_DAY_SECONDS = 86_400
# 1970 began on a Thursday; weeks begin on Mondays.
_FIRST_MONDAY_SECONDS = 4 * _DAY_SECONDS


@dataclass(frozen=True, slots=True)
class CountSeries:
    """Counts of steps that follow each other.

    Args:
        first: number of the first step, counted from 1970 in China's time.
        counts: one a step, int64.
    """

    unit: Unit
    first: int
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    def start(self, at: int) -> datetime:
        """When the step at place *at* begins, in China's time; one behind the last is allowed."""
        seconds = (self.first + at) * SECONDS[self.unit] + _offset(self.unit) - _CHINA_SECONDS
        return datetime.fromtimestamp(seconds, UTC).astimezone(SHANGHAI)

    def starts(self) -> list[datetime]:
        """When each step begins."""
        return [self.start(at) for at in range(len(self))]

    def part(self, begin: int, end: int) -> CountSeries:
        """The steps from place *begin* up to *end*."""
        return CountSeries(self.unit, self.first + begin, self.counts[begin:end])


def step_of(when: datetime, unit: Unit) -> int:
    """The number of the step in which the aware moment *when* lies."""
    local = when.timestamp() + _CHINA_SECONDS - _offset(unit)
    return int(local // SECONDS[unit])


def seconds_of(times: Iterable[datetime]) -> NDArray[np.float64]:
    """Aware moments as seconds since 1970, which :func:`count_series` counts fast."""
    return np.fromiter((when.timestamp() for when in times), np.float64)


def count_series(
    seconds: NDArray[np.float64], unit: Unit, since: datetime, before: datetime
) -> CountSeries:
    """Counts of moments from the step of *since* to the last that begins before *before*.

    Moments outside of these steps count nowhere.

    Args:
        seconds: as :func:`seconds_of` makes them.
    """
    first = step_of(since, unit)
    end = step_of(before, unit)
    # A moment that begins a step belongs to it, as an end it does not.
    is_whole = CountSeries(unit, end, np.zeros(0, np.int64)).start(0) == before
    size = max(end - first + (not is_whole), 0)
    local = seconds + _CHINA_SECONDS - _offset(unit)
    places = (local // SECONDS[unit]).astype(np.int64) - first
    inside = places[(places >= 0) & (places < size)]
    return CountSeries(unit, first, np.bincount(inside, minlength=size).astype(np.int64))


def _offset(unit: Unit) -> int:
    return _FIRST_MONDAY_SECONDS if unit == "week" else 0
