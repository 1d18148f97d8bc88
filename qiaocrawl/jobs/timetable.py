"""When a schedule is due: times of day as people write them, or the five fields of cron.

The reading and the clock are APScheduler's ``CronTrigger``, which knows time zones and days of
23 and 25 hours. Its job store is not used: it keeps pickled calls, which a new version of the
program cannot read for sure and whoever writes to the database could make run anything, and two
consoles on one store would both run them. A schedule is a row of ``job_schedule`` instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from apscheduler.triggers.cron import CronTrigger

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_CRON_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun")
_CHINESE_DAYS = dict(zip("一二三四五六日天", (*_DAYS, "sun"), strict=True))
_SEPARATORS = re.compile(r"[\s,，、;；]+")
_TIME = re.compile(r"([01]?\d|2[0-3])[:：]([0-5]\d)")
_DAY_RANGE = re.compile(r"([a-z]{3})(?:-([a-z]{3}))?")
_LEAST_MINUTES = 5


@dataclass(frozen=True)
class Timetable:
    """Times such as ``06:00, 18:30``, ``mon-fri 8:00``, ``周一 9:00`` or ``*/30 8-18 * * 1-5``.

    Args:
        times: as the operator wrote them.
        zone: IANA name of the zone they are in.

    Raises:
        ConfigError: *times* or *zone* cannot be read, or a time comes within five minutes of the
            one before it, or never.
    """

    times: str
    zone: str

    def __post_init__(self) -> None:
        """Refuse what cannot be read now rather than when it is due."""
        moment = datetime.now(UTC).timestamp()
        first = self.next_after(moment)
        if self.next_after(first) - first < _LEAST_MINUTES * 60:
            raise ConfigError(
                _(
                    "times {times!r}: less than {minutes} minutes apart",
                    times=self.times, minutes=_LEAST_MINUTES,
                )
            )  # fmt: skip

    def next_after(self, moment: float) -> float:
        """The first time after *moment*; both in epoch seconds."""
        after = datetime.fromtimestamp(moment, UTC) + timedelta(microseconds=1)
        times = [self._next_of(trigger, after) for trigger in self._triggers()]
        moments = [time.timestamp() for time in times if time is not None]
        if len(moments) < len(times):
            raise ConfigError(_("times {times!r}: they never come", times=self.times))
        return min(moments)

    def coming(self, moment: float, count: int) -> list[float]:
        """The first *count* times after *moment*, as :meth:`next_after` has them."""
        times: list[float] = []
        for _number in range(count):
            moment = self.next_after(moment)
            times.append(moment)
        return times

    def _next_of(self, trigger: Any, after: datetime) -> datetime | None:
        time: datetime | None = trigger.get_next_fire_time(None, after)
        # An hour that comes twice: what names its hour was due in the first one.
        while time is not None and time.fold and not self._is_hourly:
            time = trigger.get_next_fire_time(None, time.astimezone(UTC) + timedelta(minutes=1))
        return time

    @property
    def _is_hourly(self) -> bool:
        """Whether it is a line of cron that comes in hours it does not name."""
        return not _TIME.search(self.times) and "*" in self.times.split()[1]

    def _triggers(self) -> list[Any]:
        zone = _zone(self.zone)
        if _TIME.search(self.times):
            days, times = _days_and_times(self.times)
            return [
                CronTrigger(day_of_week=days, hour=hour, minute=minute, timezone=zone)
                for hour, minute in times
            ]
        fields = self.times.split()
        if len(fields) != 5:
            raise _unreadable(self.times)
        minute, hour, day, month, weekday = fields
        try:
            return [
                CronTrigger(
                    minute=minute, hour=hour, day=day, month=month,
                    day_of_week=_named_days(weekday), timezone=zone,
                )
            ]  # fmt: skip
        except (ValueError, IndexError):
            raise _unreadable(self.times) from None


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigError(
            _("time zone {zone!r}: a name such as Asia/Shanghai is needed", zone=name)
        ) from None


def _days_and_times(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Days (* = every day) and times of day in *text*."""
    days, times = [], []
    for word in filter(None, _SEPARATORS.split(text.strip().lower())):
        if time := _TIME.fullmatch(word):
            times.append((time[1], time[2]))
        elif word.startswith(("周", "星期")):
            days += _chinese_days(word.removeprefix("周").removeprefix("星期"), text)
        elif (match := _DAY_RANGE.fullmatch(word)) and {match[1], match[2] or "mon"} <= {*_DAYS}:
            days.append(word)
        else:
            raise _unreadable(text)
    return ",".join(days) or "*", times


def _chinese_days(word: str, text: str) -> list[str]:
    """Days of 一, 一三五 or 一至五."""
    first, to, last = re.sub("[到－—~-]", "至", word).partition("至")
    if not word or any(char not in _CHINESE_DAYS for char in first + last):
        raise _unreadable(text)
    if to:
        return [f"{_CHINESE_DAYS[first]}-{_CHINESE_DAYS[last]}"]
    return [_CHINESE_DAYS[char] for char in first]


def _named_days(field: str) -> str:
    """A cron field of weekdays by names: cron counts from Sunday, APScheduler from Monday."""
    return re.sub(r"(?<!/)\b[0-7]\b", lambda match: _CRON_DAYS[int(match[0])], field)


def _unreadable(times: str) -> ConfigError:
    return ConfigError(
        _(
            "times {times!r} cannot be read: write 06:00,18:00 or mon-fri 8:00, or the five "
            "fields of cron",
            times=times,
        )
    )
