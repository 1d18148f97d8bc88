"""Which days people work in China: weekdays, weekends, public holidays and days worked instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.text.toml_file import parse_toml

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

WORKED_WEEKEND, HOLIDAY = 7, 8
"""Kinds of day behind the seven weekdays, of which Monday is 0."""
DAY_KINDS = 9
_SATURDAY = 5
_LONGEST_HOLIDAY_DAYS = 31
_DAY = timedelta(days=1)
_KEYS = {"off", "work"}


@dataclass(frozen=True, slots=True)
class HolidayCalendar:
    """Days off by their name, and weekend days that are worked.

    Args:
        years: those it knows; in others Saturdays and Sundays are off and no other day.
    """

    years: frozenset[int] = frozenset()
    off: Mapping[date, str] = field(default_factory=dict)
    worked: frozenset[date] = frozenset()

    def kind_of(self, day: date) -> int:
        """The weekday from 0, :data:`WORKED_WEEKEND` or :data:`HOLIDAY`."""
        if day in self.off:
            return HOLIDAY
        return WORKED_WEEKEND if day in self.worked else day.weekday()

    def name_of(self, day: date) -> str:
        """What the holiday is called; "" for no holiday."""
        return self.off.get(day, "")


def is_off(kind: int) -> bool:
    """Whether people do not work on a day of this kind."""
    return kind == HOLIDAY or _SATURDAY <= kind < WORKED_WEEKEND


@cache
def default_calendar() -> HolidayCalendar:
    """The years that come along."""
    return read_calendar()


def calendar_with(file: str) -> HolidayCalendar:
    """The years that come along, and those of the file of QIAO_HOLIDAYS; "" for none.

    Raises:
        ConfigError: as :func:`read_calendar`.
    """
    return read_calendar(Path(file)) if file else default_calendar()


def read_calendar(file: Traversable | None = None) -> HolidayCalendar:
    """The years that come along, and those of *file*, which take the place of ours.

    Raises:
        ConfigError: the file cannot be read, or with all that is wrong in it.
    """
    shipped = resources.files(__package__).joinpath("data", "holidays.toml")
    years = _read_years(shipped) | (_read_years(file) if file is not None else {})
    off = {
        day: name
        for year in years.values()
        for name, (first, last) in year.get("off", {}).items()
        for day in _days(first, last)
    }
    worked = (day for year in years.values() for day in year.get("work", ()))
    return HolidayCalendar(frozenset(map(int, years)), off, frozenset(worked))


def _read_years(file: Traversable) -> dict[str, Any]:
    try:
        years = parse_toml(file.read_bytes())
    except (OSError, ValueError) as error:
        reason = _("cannot be read as TOML in UTF-8: {error}", error=error)
        raise ConfigError(f"{file}: {reason}") from None
    faults = [f"[{year}]: {fault}" for year, own in years.items() for fault in _faults(year, own)]
    if faults:
        raise ConfigError("\n  ".join([f"{file}:", *faults]))
    return years


def _faults(year: str, table: Any) -> Iterator[str]:
    if not year.isdecimal() or not isinstance(table, dict) or not set(table) <= _KEYS:
        yield _("a year with off and work is needed")
        return
    off, worked = table.get("off", {}), table.get("work", [])
    if not isinstance(off, dict) or not isinstance(worked, list):
        yield _("a year with off and work is needed")
        return
    for name, days in off.items():
        if not (isinstance(days, list) and len(days) == 2 and all(map(_is_day, days))
                and timedelta() <= days[1] - days[0] < _LONGEST_HOLIDAY_DAYS * _DAY):  # fmt: skip
            yield _("{name}: first and last day are needed, as [2026-10-01, 2026-10-07]", name=name)
    for day in worked:
        if not _is_day(day) or day.weekday() < _SATURDAY:
            yield _("work: {day} is no Saturday or Sunday", day=day)


def _is_day(value: object) -> bool:
    return isinstance(value, date) and not isinstance(value, datetime)


def _days(first: date, last: date) -> Iterator[date]:
    for number in range((last - first).days + 1):
        yield first + number * _DAY
