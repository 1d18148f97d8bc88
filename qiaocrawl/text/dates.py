"""Dates as pages write them: Chinese, ISO, English, the Republic's years, relative ones."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from typing import TYPE_CHECKING

from qiaocrawl.text.zones import SHANGHAI, ZONE, zone_named

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EARLIEST_YEAR", "SHANGHAI", "DateReader", "WrittenDate", "find_date"]

EARLIEST_YEAR = 1990
"""Before the web: such a date in a page is what the page talks about."""
_FUTURE = timedelta(days=2)
_MAX_CHARS = 20_000
_MAX_MATCHES = 200
"""Of one form; a text with more is no line of an article."""
_ROC_BEGIN = 1911

_LATE = ("下午", "傍晚", "晚上", "晚间", "晚間", "晚")
_WEEKDAY = (
    r"(?:\(?(?:星期|周|週|礼拜|禮拜)?[一二三四五六日天]\)?|"
    r"\(?(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\)?)?"
)
_HALF = r"(?:凌晨|早上|早晨|清晨|上午|中午|下午|傍晚|晚上|晚间|晚間|晚)"
_TIME = (
    rf"(?P<half>{_HALF})?\s?(?P<hour>2[0-3]|[01]?\d)"
    r"(?:\s?[:时時点點]\s?(?P<minute>[0-5]\d)(?:\s?[:分]\s?(?P<second>[0-5]\d))?(?:[.,]\d{1,9})?|"
    r"\.(?P<dotted>[0-5]\d)(?=\s?[ap]\.?m)|(?=\s?[ap]\.?m))"
    rf"分?(?:\s?(?P<ampm>[ap])\.?m\b\.?)?(?:[\s,(]{{0,2}}(?P<zone>{ZONE}))?"
)
_CLOCK = rf"(?:日?[\s,|T·–—-]{{0,4}}(?:at\s)?{_WEEKDAY}[\s,|·–—-]{{0,3}}(?:at\s)?{_TIME})?"
_CLOCK_BEFORE = re.compile(rf"(?<!\d){_TIME}\)?[\s,|·–—-]{{0,4}}(?:on\s)?{_WEEKDAY}[\s,]{{0,3}}$",
                           re.IGNORECASE)  # fmt: skip
_CLOCK_BEFORE_CHARS = 40

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ANY_MONTH = re.compile("|".join(_MONTHS), re.IGNORECASE)
_NAME = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_MONTH = r"(?P<month>1[0-2]|0?[1-9])"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])"
_DAY_ENDS = r"(?:(?!\d)|(?=[0-2]\d:[0-5]\d))"
_NAMED_DAY = r"(?<!\d)(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern + _CLOCK, re.IGNORECASE)


_YEAR_FIRST = _compiled(
    rf"(?<!\d)(?P<year>(?:19|20)\d\d)\s?(?:年|[-/.])\s?{_MONTH}\s?(?:月|[-/.])\s?{_DAY}{_DAY_ENDS}"
)
_YEAR_LAST = _compiled(rf"(?<!\d)(?P<one>\d\d?)(?P<mark>[-/.])(?P<two>\d\d?)(?P=mark){_YEAR}")
_NAME_FIRST = _compiled(
    rf"(?<![a-z]){_NAME}\s?(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?!\d),?\s?{_YEAR}"
)
# As C's asctime writes: Mon Feb 25 22:14:07 2002.
_YEAR_AFTER_CLOCK = re.compile(
    rf"(?<![a-z]){_NAME}\s{{1,2}}(?P<day>[12]\d|3[01]|0?[1-9])\s{_TIME}\s{{1,2}}{_YEAR}",
    re.IGNORECASE,
)
_NAME_SECOND = _compiled(rf"{_NAMED_DAY}[\s-]?(?:of\s)?{_NAME},?[\s-]?{_YEAR}")
# Without a year, or with one that needs company to be believed.
_REPUBLIC = _compiled(
    rf"民[國国]\s?(?P<roc>\d{{2,3}})\s?[年/.-]\s?{_MONTH}\s?[月/.-]\s?{_DAY}(?!\d)"
)
_REPUBLIC_BARE = _compiled(
    rf"(?<![\d/.-])(?P<roc>1[0-3]\d|[89]\d)(?P<mark>[/.-]){_MONTH}(?P=mark){_DAY}(?![\d/.-])"
)
_SHORT_YEAR = _compiled(
    rf"(?:(?<=')|(?<![\d/.-]))(?P<short>[0-4]\d)(?P<mark>[/.-]){_MONTH}(?P=mark){_DAY}(?![\d/.-])"
)
_SHORT_YEAR_HAN = _compiled(rf"(?<!\d)(?P<short>[0-4]\d)年{_MONTH}月{_DAY}(?=日)")
_NO_YEAR_HAN = _compiled(rf"(?<![\d年]){_MONTH}月{_DAY}日")
_NO_YEAR = _compiled(rf"(?<![\d/.:-])(?P<month>1[0-2]|0[1-9])[-/]{_DAY}(?=\s[0-2]?\d:[0-5]\d)")
_NO_YEAR_NAME = _compiled(
    rf"(?<![a-z]){_NAME}\s(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?![\d:])"
)

_COMPACT = re.compile(
    r"(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])"
    r"(?:[T ]?(?P<hour>[01]\d|2[0-3]):?(?P<minute>[0-5]\d):?(?P<second>[0-5]\d)?)?"
)
_EPOCH = re.compile(r"\d{10}(?:\d{3})?")
_NUMERALS = str.maketrans("〇零○O一二三四五六七八九", "0000123456789")
_NUMERAL_DATE = re.compile(
    r"([〇零○O一二三四五六七八九]{4})年([一二三四五六七八九十]{1,2})月([一二三四五六七八九十]{1,3})日"
)
_AGO = re.compile(
    r"(?<![\d.])(?:(?P<count>\d{1,3})|(?P<one>an?))\s?"
    r"(?P<unit>秒|分钟|分鐘|小时|小時|天|日|周|週|seconds?|mins?|minutes?|hrs?|hours?|days?|weeks?)"
    r"\s?(?:之?前|ago\b)",
    re.IGNORECASE,
)
_UNITS = {
    "秒": 1, "s": 1, "分": 60, "m": 60, "小": 3600, "h": 3600, "天": 86400, "日": 86400,
    "d": 86400, "周": 604800, "週": 604800, "w": 604800,
}  # fmt: skip
_DAYS_BACK = {
    "今天": 0, "今日": 0, "today": 0, "昨天": 1, "昨日": 1, "yesterday": 1, "前天": 2,
}  # fmt: skip
_NAMED_DAYS = re.compile(rf"(?P<named>{'|'.join(_DAYS_BACK)})\s?,?\s?(?:at\s)?{_TIME}",
                         re.IGNORECASE)  # fmt: skip
_JUST_NOW = re.compile(r"刚刚|剛剛|just now", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date as written in a text.

    Attributes:
        moment: aware, in the zone written or assumed, so that ``moment.date()`` is the day
            the page shows.
        start, end: where it stands in the normalised text (NFKC, stripped).
        has_clock: whether a time of day is written; midnight otherwise.
        is_sure: False where the year is not written in four digits, or the date is relative.
    """

    moment: datetime
    start: int
    end: int
    has_clock: bool
    is_sure: bool


@dataclass(frozen=True, slots=True)
class DateReader:
    """How the dates of one page are read.

    Attributes:
        latest: what is later is passed over; aware.
        zone: assumed where none is written.
        day_first: whether ``03/05/2024`` is the 3rd of May; where only one reading exists,
            that one is taken.
        republic: whether ``101/01/11`` is a date of the Republic of China's calendar (2012).
        now: when the page was fetched, aware, for relative dates and missing years; None
            leaves them unread.
    """

    latest: datetime
    zone: timezone = SHANGHAI
    day_first: bool = False
    republic: bool = False
    now: datetime | None = None

    def sure(self, text: str) -> list[WrittenDate]:
        """Dates with day, month and four-digit year, in order of the text."""
        text = _normalised(text)
        whole = self._whole(text)
        if whole is not None:
            return [whole]
        if "年" in text:
            text = _NUMERAL_DATE.sub(_digits, text)
        found: list[WrittenDate] = []
        if "19" in text or "20" in text:
            patterns = [_YEAR_FIRST, _YEAR_LAST]
            if _ANY_MONTH.search(text):
                patterns += [_NAME_FIRST, _NAME_SECOND, _YEAR_AFTER_CLOCK]
            for pattern in patterns:
                self._collect(pattern, text, found, self._year_written)
        if "民" in text:
            self._collect(_REPUBLIC, text, found, self._republic_year)
        return sorted(found, key=lambda date: date.start)

    def unsure(self, text: str, year: int = 0) -> list[WrittenDate]:
        """Dates with a short or missing year, and relative ones, in order of the text.

        Args:
            year: of month-and-day dates; 0 means the last such day before *now*.
        """
        text = _normalised(text)
        found: list[WrittenDate] = []
        if self.republic:
            self._collect(_REPUBLIC_BARE, text, found, self._republic_year, is_sure=False)
        for pattern in (_SHORT_YEAR_HAN, _SHORT_YEAR):
            self._collect(pattern, text, found, _short_year, is_sure=False)
        if year or self.now is not None:
            year_of = (lambda _: year) if year else self._last_year
            for pattern in (_NO_YEAR_HAN, _NO_YEAR, _NO_YEAR_NAME):
                self._collect(pattern, text, found, year_of, is_sure=False)
        if self.now is not None:
            found += self._relative(text, self.now.astimezone(self.zone))
        return sorted(found, key=lambda date: date.start)

    def _whole(self, text: str) -> WrittenDate | None:
        """A text that is one bare number: ``20240305``, epoch seconds or milliseconds."""
        if not text[:4].isdigit() or not text.isascii():
            return None
        compact = _COMPACT.fullmatch(text)
        if compact is not None:
            moment = self._moment(compact, int(compact["year"]))
        elif _EPOCH.fullmatch(text):
            moment = datetime.fromtimestamp(int(text[:10]), UTC).astimezone(self.zone)
        else:
            return None
        if moment is None or not self._is_plausible(moment):
            return None
        return WrittenDate(moment, 0, len(text), len(text) > 8, True)

    def _collect(
        self,
        pattern: re.Pattern[str],
        text: str,
        found: list[WrittenDate],
        year_of: Callable[[re.Match[str]], int],
        is_sure: bool = True,
    ) -> None:
        for match in islice(pattern.finditer(text), _MAX_MATCHES):
            start, end = match.span()
            if any(start < date.end and date.start < end for date in found):
                continue
            moment = self._moment(match, year_of(match), text)
            if moment is not None and self._is_plausible(moment):
                has_clock = match["hour"] is not None or bool(moment.hour or moment.minute)
                found.append(WrittenDate(moment, start, end, has_clock, is_sure))

    def _moment(self, match: re.Match[str], year: int, text: str = "") -> datetime | None:
        part = match.groupdict()
        if part.get("one"):
            month, day = self._month_and_day(int(part["one"]), int(part["two"]))
        else:
            name = part.get("name")
            month = _MONTHS.index(name[:3].lower()) + 1 if name else int(part["month"])
            day = int(part["day"])
        if not part.get("hour") and text:
            start = match.start()
            before = _CLOCK_BEFORE.search(text[max(0, start - _CLOCK_BEFORE_CHARS) : start])
            part = before.groupdict() if before is not None else part
        zone = zone_named(part.get("zone") or "", self.zone)
        try:
            return datetime(year, month, day, *_clock(part), tzinfo=zone)
        except ValueError:  # 31 April
            return None

    def _month_and_day(self, one: int, two: int) -> tuple[int, int]:
        if one > 12 or (self.day_first and two <= 12):
            return two, one
        return one, two

    def _is_plausible(self, moment: datetime) -> bool:
        return moment.year >= EARLIEST_YEAR and moment <= self.latest

    @staticmethod
    def _year_written(match: re.Match[str]) -> int:
        return int(match["year"])

    @staticmethod
    def _republic_year(match: re.Match[str]) -> int:
        return _ROC_BEGIN + int(match["roc"])

    def _last_year(self, match: re.Match[str]) -> int:
        """The year of the last such day before now."""
        assert self.now is not None
        now = self.now.astimezone(self.zone)
        moment = self._moment(match, now.year)
        return now.year - (moment is not None and moment > now + timedelta(days=1))

    def _relative(self, text: str, now: datetime) -> list[WrittenDate]:
        found = []
        for match in _AGO.finditer(text):
            seconds = int(match["count"] or 1) * _UNITS[match["unit"][0].lower()]
            found.append((match, now - timedelta(seconds=seconds), seconds < 86400))
        for match in _NAMED_DAYS.finditer(text):
            day = now - timedelta(days=_DAYS_BACK[match["named"].lower()])
            hour, minute, second = _clock(match.groupdict())
            moment = day.replace(hour=hour, minute=minute, second=second, microsecond=0)
            found.append((match, moment, True))
        just_now = _JUST_NOW.search(text)
        if just_now is not None:
            found.append((just_now, now, True))
        return [
            WrittenDate(moment, match.start(), match.end(), has_clock, False)
            for match, moment, has_clock in found
        ]


def find_date(text: str, now: datetime | None = None) -> datetime | None:
    """The first plausible date in *text*, as aware UTC; None if there is none.

    Bare numbers (epoch seconds or milliseconds, ``20240305``) count only when they are the
    whole text. ``03-05-2024`` is read month first unless that is impossible. A date without
    a clock is midnight in Shanghai. Dates before 1990 or more than two days after *now* are
    passed over.

    Args:
        text: only the first 20,000 characters are read.
        now: aware; the present by default.
    """
    found = DateReader(latest_plausible(now)).sure(text)
    return found[0].moment.astimezone(UTC) if found else None


def latest_plausible(now: datetime | None = None) -> datetime:
    """Two days after *now* (the present by default): a page may be a time zone ahead."""
    return (now or datetime.now(UTC)) + _FUTURE


def _normalised(text: str) -> str:
    text = text[:_MAX_CHARS]
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).strip()


def _clock(part: dict[str, str | None]) -> tuple[int, int, int]:
    """Hour, minute and second of a match; noon and midnight by the English or Chinese word."""
    hour = int(part.get("hour") or 0)
    half, ampm = part.get("half") or "", (part.get("ampm") or "").lower()
    is_late = ampm == "p" or half in _LATE or (half == "中午" and hour < 11)
    if hour < 12 and is_late:
        hour += 12
    elif hour == 12 and (ampm == "a" or half == "凌晨"):
        hour = 0
    return hour, int(part.get("minute") or part.get("dotted") or 0), int(part.get("second") or 0)


def _short_year(match: re.Match[str]) -> int:
    return 2000 + int(match["short"])


def _digits(match: re.Match[str]) -> str:
    year, month, day = match.groups()
    return f"{year.translate(_NUMERALS)}-{_number(month)}-{_number(day)}"


def _number(written: str) -> int:
    """A Chinese numeral from 一 to 三十一."""
    tens, ten, ones = written.rpartition("十")
    value = int(ones.translate(_NUMERALS)) if ones else 0
    return value + (10 * (int(tens.translate(_NUMERALS)) if tens else 1) if ten else 0)
