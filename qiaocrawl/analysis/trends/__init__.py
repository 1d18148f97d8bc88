"""Counts over time: what is usual, what bursts out of it, and what is to be expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.analysis.trends.bursts import Burst, count_bursts, gap_bursts
    from qiaocrawl.analysis.trends.holidays import (
        HolidayCalendar,
        calendar_with,
        default_calendar,
        read_calendar,
    )
    from qiaocrawl.analysis.trends.stretch import Stretch
    from qiaocrawl.analysis.trends.trend import Trend, TrendStep, trend_of

__all__ = [
    "Burst",
    "HolidayCalendar",
    "Stretch",
    "Trend",
    "TrendStep",
    "calendar_with",
    "count_bursts",
    "default_calendar",
    "gap_bursts",
    "read_calendar",
    "trend_of",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "bursts": ("Burst", "count_bursts", "gap_bursts"),
        "holidays": ("HolidayCalendar", "calendar_with", "default_calendar", "read_calendar"),
        "stretch": ("Stretch",),
        "trend": ("Trend", "TrendStep", "trend_of"),
    },
)
