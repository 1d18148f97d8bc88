"""When a schedule is due: times of day as people write them, or the five fields of cron.

The reading and the clock are APScheduler's ``CronTrigger``, which knows time zones and days of
23 and 25 hours. Its job store is not used: it keeps pickled calls, which a new version of the
program cannot read for sure and whoever writes to the database could make run anything, and two
consoles on one store would both run them. A schedule is a row of ``job_schedule`` instead.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from apscheduler.triggers.cron import CronTrigger

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAME = re.compile(rf"\b(?:{'|'.join(_MONTHS)})\b")
# As cron counts them: Sunday is 0 and 7.
_DAY_NUMBERS = {
    **{str(number): number for number in range(8)},
    **{name: number for number, name in enumerate(_DAYS)},
    **{letter: number for number, letter in enumerate("日一二三四五六")},
    "天": 0,
}
_SEPARATORS = re.compile(r"[\s,，、;；]+")
_TIME = re.compile(r"([01]?\d|2[0-3])[:：]([0-5]\d)")
_DAY = f"(?:{'|'.join(_DAYS)})"
_WORD_DAYS = re.compile(rf"(?P<first>{_DAY})(?:-(?P<last>{_DAY}))?")
_CRON_DAYS = re.compile(
    rf"(?:\*|(?P<first>[0-7]|{_DAY})(?:-(?P<last>[0-7]|{_DAY}))?)(?:/(?P<step>[1-7]))?"
)
# 一, 一三五, 一至五, 一三至五, 一至周五
_CHINESE_DAYS = re.compile(
    "(?P<first>[一二三四五六日天])(?:[至到－—~-](?:周|星期)?(?P<last>[一二三四五六日天]))?"
)
# 早上6点, 下午六点半, 晚上 10:30
_SPOKEN_TIME = re.compile(
    "(?P<part>凌晨|清晨|早晨|早上|上午|中午|下午|傍晚|晚上|夜里|早|晚)?\\s*"
    "(?P<hour>\\d{1,2}|二十[一二三]?|十[一二三四五六七八九]?|[零一二两三四五六七八九])\\s*"
    "(?:(?:点钟?|时)(?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<minute>[0-5]?\\d)分?|整)?"
    "|[:：](?P<clock>[0-5]\\d))"
)
_NUMERALS = "零一二三四五六七八九"
_AFTER_NOON = ("下午", "傍晚", "晚上", "晚")
_SPOKEN_DAYS = (
    ("每天", " "),
    ("每日", " "),
    ("每周", "周"),
    ("每星期", "星期"),
    ("工作日", "周一至五"),
    ("周末", "周六日"),
)
_CHINESE = re.compile("[\u4e00-\u9fff]")
_LEAST_MINUTES = 5
# Five minutes apart there are so many in a day; days of a week differ in what stands beside them.
_MOST_COMPARED, _COMPARED_SECONDS = 24 * 60 // _LEAST_MINUTES + 1, 8 * 86_400


@dataclass(frozen=True)
class Timetable:
    """Times such as ``06:00, 18:30``, ``周一 9:00``, ``每天早上6点`` or ``*/30 8-18 * * 1-5``.

    Args:
        times: as the operator wrote them.
        zone: IANA name of the zone they are in.

    Raises:
        ConfigError: *times* or *zone* cannot be read, or never come.
    """

    times: str
    zone: str

    def __post_init__(self) -> None:
        """Refuse what cannot be read now rather than when it is due."""
        self.next_after(datetime.now(UTC).timestamp())

    def require_apart(self) -> Timetable:
        """Itself, where no time comes within five minutes of the one before it.

        To be asked where times are entered or switched on. What is stored comes as it stands,
        whatever another version let pass.

        Raises:
            ConfigError: two times are too close.
        """
        before = first = self.next_after(datetime.now(UTC).timestamp())
        # Not the first two alone: what is refused must not depend on the time of day.
        for _number in range(_MOST_COMPARED):
            moment = self.next_after(before)
            if moment - before < _LEAST_MINUTES * 60:
                raise ConfigError(
                    _(
                        "times {times!r}: less than {minutes} minutes apart",
                        times=self.times,
                        minutes=_LEAST_MINUTES,
                    )
                )
            if moment - first > _COMPARED_SECONDS:
                break
            before = moment
        return self

    def next_after(self, moment: float) -> float:
        """The first time after *moment*; both in epoch seconds."""
        after = datetime.fromtimestamp(moment, UTC) + timedelta(microseconds=1)
        times = [self._next_of(trigger, after) for trigger in self._triggers]
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
        return not _TIME.search(self._plain) and "*" in self.times.split()[1]

    @cached_property
    def _plain(self) -> str:
        """The times with hours as a clock shows them, whatever people say."""
        return _as_clock(self.times) if _CHINESE.search(self.times) else self.times

    @cached_property
    def _triggers(self) -> list[Any]:
        zone = _zone(self.zone)
        if _TIME.search(self._plain):
            days, times = _days_and_times(self._plain, self.times)
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
                    minute=minute,
                    hour=hour,
                    day=day,
                    month=_numbered_months(month),
                    day_of_week=_named_days(weekday),
                    timezone=zone,
                )
            ]
        except (ValueError, IndexError):
            raise _unreadable(self.times) from None


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigError(
            _("time zone {zone!r}: a name such as Asia/Shanghai is needed", zone=name)
        ) from None


def _as_clock(text: str) -> str:
    """*text* with 早上6点 as 6:00 and 下午六点半 as 18:30; 每天 is every day as it is."""
    text = unicodedata.normalize("NFKC", text)
    for said, meant in _SPOKEN_DAYS:
        text = text.replace(said, meant)
    return _SPOKEN_TIME.sub(_clock_of, text)


def _clock_of(match: re.Match[str]) -> str:
    part, hour = match["part"] or "", _hour_of(match["hour"])
    if part in _AFTER_NOON and hour <= 12:
        # Twelve in the evening is midnight; in the afternoon it is noon.
        hour = hour + 12 if hour < 12 else (0 if part in ("晚上", "晚") else 12)
    elif part == "中午" and hour < 3:
        hour += 12
    elif part in ("凌晨", "夜里") and hour == 12:
        hour = 0
    minute = match["minute"] or match["clock"] or "0"
    if match["half"]:
        minute = "30"
    elif match["quarter"]:
        minute = "15" if match["quarter"] == "一" else "45"
    return f" {hour}:{int(minute):02d} "


def _hour_of(text: str) -> int:
    if text.isdigit():
        return int(text)
    tens, ten, ones = text.replace("两", "二").rpartition("十")
    value = _NUMERALS.index(ones) if ones else 0
    return value + (10 * (_NUMERALS.index(tens) if tens else 1) if ten else 0)


def _days_and_times(plain: str, text: str) -> tuple[str, list[tuple[str, str]]]:
    """Days (* = every day) and times of day in *plain*, which was written as *text*."""
    days, times = [], []
    for word in filter(None, _SEPARATORS.split(plain.strip().lower())):
        if time := _TIME.fullmatch(word):
            times.append((time[1], time[2]))
        elif word.startswith(("周", "星期")):
            days += _chinese_days(word.removeprefix("周").removeprefix("星期"), text)
        elif match := _WORD_DAYS.fullmatch(word):
            days += _days_of(match)
        else:
            raise _unreadable(text)
    return ",".join(days) or "*", times


def _chinese_days(word: str, text: str) -> list[str]:
    """Days of 一, 一三五, 一至五 or 一三至五."""
    days: list[str] = []
    place = 0
    while match := _CHINESE_DAYS.match(word, place):
        days += _days_of(match)
        place = match.end()
    if not word or place < len(word):
        raise _unreadable(text)
    return days


def _days_of(match: re.Match[str]) -> list[str]:
    """The days from the first to the last of a match, which may be in the next week."""
    given = match.groupdict()
    first = _DAY_NUMBERS[given["first"] or "0"]
    last = _DAY_NUMBERS[given["last"]] if given["last"] else first if given["first"] else 6
    if last < first:
        last += 7
    step = int(given.get("step") or 1)
    return list(dict.fromkeys(_DAYS[day % 7] for day in range(first, last + 1, step)))


def _named_days(field: str) -> str:
    """A cron field of weekdays as a list of names.

    APScheduler counts from Monday, knows no range over the end of a week, and passes over
    what stands behind a range of names, such as a step.

    Raises:
        ValueError: it is no such field.
    """
    days: list[str] = []
    for entry in field.lower().split(","):
        match = _CRON_DAYS.fullmatch(entry)
        if match is None or (match["step"] and match["first"] and not match["last"]):
            raise ValueError(f"no days of the week: {entry!r}")
        days += _days_of(match)
    return ",".join(days)


def _numbered_months(field: str) -> str:
    """A cron field of months in numbers: with names APScheduler passes over a step."""
    return _MONTH_NAME.sub(lambda match: str(_MONTHS.index(match[0]) + 1), field.lower())


def _unreadable(times: str) -> ConfigError:
    return ConfigError(
        _(
            "times {times!r} cannot be read: write 06:00,18:00 or mon-fri 8:00, or the five "
            "fields of cron",
            times=times,
        )
    )
