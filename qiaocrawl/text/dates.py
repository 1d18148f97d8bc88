"""Parses dates as pages write them: Chinese, ISO, English, Minguo years, relative ones."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from qiaocrawl.text.date_forms import (
    AGO,
    COMPACT,
    DAY_MARK,
    DAY_SIGN,
    DAYS_BACK,
    EPOCH,
    ISO,
    JUST_NOW,
    MONTHS,
    NAMED_DAYS,
    NO_YEAR,
    NO_YEAR_DAY_FIRST,
    NO_YEAR_HAN,
    NO_YEAR_NAME,
    NUMERAL_DATE,
    REPUBLIC,
    REPUBLIC_BARE,
    SHORT_YEAR,
    SHORT_YEAR_AFTER_NAME,
    SHORT_YEAR_HAN,
    SHORT_YEAR_LAST,
    SHORT_YEAR_NAME,
    clock_before,
    forms_in,
    may_name_month,
)
from qiaocrawl.text.normalise import with_narrow_marks
from qiaocrawl.text.zones import SHANGHAI, zone_named

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EARLIEST_YEAR", "SHANGHAI", "DateReader", "WrittenDate", "find_date"]

EARLIEST_YEAR = 1990
"""Before the web: such a date in a page is what the page talks about."""
_FUTURE = timedelta(days=2)
_MAX_CHARS = 20_000
# Of one form; a text with more is no line of an article.
_MAX_MATCHES = 200
_ROC_BEGIN = 1911

_LATE = ("下午", "傍晚", "晚上", "晚间", "晚間", "晚")
_NUMERALS = str.maketrans("〇零○O一二三四五六七八九", "0000123456789")
_UNITS = {
    "秒": 1,
    "s": 1,
    "分": 60,
    "m": 60,
    "小": 3600,
    "h": 3600,
    "天": 86400,
    "日": 86400,
    "d": 86400,
    "周": 604800,
    "週": 604800,
    "w": 604800,
}


class WrittenDate(NamedTuple):
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
        text = _normalise(text)
        whole = self._whole(text)
        if whole is not None:
            return [whole]
        if "年" in text:
            text = NUMERAL_DATE.sub(_digits, text)
        dates: list[WrittenDate] = []
        if "19" in text or "20" in text:
            for pattern in forms_in(text):
                self._collect(pattern, text, dates, self._year_written)
        if "民" in text:
            self._collect(REPUBLIC, text, dates, self._republic_year)
        return _in_order(dates)

    def unsure(self, text: str, year: int = 0) -> list[WrittenDate]:
        """Dates with a short or missing year, and relative ones, in order of the text.

        Args:
            year: of month-and-day dates; 0 means the last such day before *now*.
        """
        text = _normalise(text)
        dates: list[WrittenDate] = []
        has_month, has_mark = "月" in text, DAY_MARK.search(text) is not None
        has_name = may_name_month(text)
        if self.republic and has_mark:
            self._collect(REPUBLIC_BARE, text, dates, self._republic_year, is_sure=False)
        if has_month and "年" in text:
            self._collect(SHORT_YEAR_HAN, text, dates, _short_year, is_sure=False)
        if has_mark and self.zone is not SHANGHAI:  # 05/03/24 is of 2005 on a Chinese page
            self._collect(SHORT_YEAR_LAST, text, dates, _short_year, is_sure=False)
        if has_mark:
            self._collect(SHORT_YEAR, text, dates, _short_year, is_sure=False)
        if has_name:
            self._collect(SHORT_YEAR_NAME, text, dates, _short_year, is_sure=False)
            self._collect(SHORT_YEAR_AFTER_NAME, text, dates, _short_year, is_sure=False)
        if year or self.now is not None:
            year_of = (lambda _: year) if year else self._last_year
            for is_there, pattern in (
                (has_month, NO_YEAR_HAN),
                (has_mark, NO_YEAR),
                (has_name, NO_YEAR_NAME),
                (has_name, NO_YEAR_DAY_FIRST),
            ):
                if is_there:
                    self._collect(pattern, text, dates, year_of, is_sure=False)
        if self.now is not None:
            dates += self._relative(text, self.now.astimezone(self.zone))
        return _in_order(dates)

    def _whole(self, text: str) -> WrittenDate | None:
        """A text that is one ISO date or bare number: ``20240305``, epoch (milli)seconds."""
        if not text[:4].isdigit() or not text.isascii():
            return None
        if text[4:5] == "-":
            return self._iso(text)
        compact = COMPACT.fullmatch(text)
        if compact is not None:
            moment = self._moment(compact, int(compact["year"]))
        elif EPOCH.fullmatch(text):
            moment = datetime.fromtimestamp(int(text[:10]), UTC).astimezone(self.zone)
        else:
            return None
        if moment is None or not self._is_plausible(moment):
            return None
        # Eight digits are a date without a clock.
        return WrittenDate(moment, 0, len(text), len(text) > 8, True)

    def _iso(self, text: str) -> WrittenDate | None:
        """The date that is the whole *text*; None for what needs a closer look."""
        match = ISO.fullmatch(text)
        if match is None:
            return None
        year, month, day, hour, minute, second, zone = match.groups()
        clock = int(hour or 0), int(minute or 0), int(second or 0)
        try:
            moment = datetime(
                int(year), int(month), int(day), *clock, tzinfo=zone_named(zone or "", self.zone)
            )
        except ValueError:
            return None
        if not self._is_plausible(moment):
            return None
        return WrittenDate(moment, 0, len(text), hour is not None, True)

    def _collect(
        self,
        pattern: re.Pattern[str],
        text: str,
        dates: list[WrittenDate],
        year_of: Callable[[re.Match[str]], int],
        is_sure: bool = True,
    ) -> None:
        for match in islice(pattern.finditer(text), _MAX_MATCHES):
            start, end = match.span()
            # What one form has read no other one reads again.
            if dates and any(start < date.end and date.start < end for date in dates):
                continue
            moment = self._moment(match, year_of(match), text)
            if moment is not None and self._is_plausible(moment):
                has_clock = bool(moment.hour or moment.minute) or match["hour"] is not None
                dates.append(WrittenDate(moment, start, end, has_clock, is_sure))

    def _moment(self, match: re.Match[str], year: int, text: str = "") -> datetime | None:
        part = match.groupdict()
        if part.get("one"):
            month, day = self._month_and_day(int(part["one"]), int(part["two"]))
        else:
            month, day = _month(part), int(part["day"])
        if not part.get("hour") and text:
            before = clock_before(text, match.start())
            part = before.groupdict() if before is not None else part
        zone = zone_named(part.get("zone") or "", self.zone)
        try:
            return datetime(year, month, day, *_clock(part), tzinfo=zone)
        except ValueError:  # 31 April
            return None

    def _month_and_day(self, first: int, second: int) -> tuple[int, int]:
        if first > 12 or (self.day_first and second <= 12):
            return second, first
        return first, second

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
        # 29 February may be seven years back.
        for year in range(now.year, now.year - 8, -1):
            moment = self._moment(match, year)
            # A day of grace: the page may be a time zone ahead.
            if moment is not None and moment <= now + timedelta(days=1):
                return year
        return now.year

    def _relative(self, text: str, now: datetime) -> list[WrittenDate]:
        moments = []
        if "前" not in text and not DAY_SIGN.search(text):
            return []
        for match in AGO.finditer(text):
            seconds = int(match["count"] or 1) * _UNITS[match["unit"][0].lower()]
            # From a day on ("3天前") no hour is meant.
            moments.append((match, now - timedelta(seconds=seconds), seconds < 86400))
        for match in NAMED_DAYS.finditer(text):
            day = now - timedelta(days=DAYS_BACK[match["named"].lower()])
            hour, minute, second = _clock(match.groupdict())
            moment = day.replace(hour=hour, minute=minute, second=second, microsecond=0)
            moments.append((match, moment, True))
        just_now = JUST_NOW.search(text)
        if just_now is not None:
            moments.append((just_now, now, True))
        return [
            WrittenDate(moment, match.start(), match.end(), has_clock, False)
            for match, moment, has_clock in moments
        ]


def _in_order(dates: list[WrittenDate]) -> list[WrittenDate]:
    return sorted(dates, key=lambda date: date.start) if len(dates) > 1 else dates


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
    dates = DateReader(latest_plausible(now)).sure(text)
    return dates[0].moment.astimezone(UTC) if dates else None


def latest_plausible(now: datetime | None = None) -> datetime:
    """Two days after *now* (the present by default): a page may be a time zone ahead."""
    return (now or datetime.now(UTC)) + _FUTURE


def _normalise(text: str) -> str:
    text = text[:_MAX_CHARS]
    if not text.isascii():
        text = unicodedata.normalize("NFKC", with_narrow_marks(text))
    return text.strip()


def _clock(part: dict[str, str | None]) -> tuple[int, int, int]:
    """Hour, minute and second of a match; noon and midnight by the English or Chinese word."""
    hour = int(part.get("hour") or 0)
    half, ampm = part.get("half") or "", (part.get("ampm") or "").lower()
    # 中午1点 is 13:00, 中午11点 is 11:00.
    is_late = ampm == "p" or half in _LATE or (half == "中午" and hour < 11)
    if hour < 12 and is_late:
        hour += 12
    elif hour == 12 and (ampm == "a" or half == "凌晨"):
        hour = 0
    return hour, int(part.get("minute") or part.get("dotted") or 0), int(part.get("second") or 0)


def _month(part: dict[str, str]) -> int:
    """The month of a match, written in digits, in English or in Chinese."""
    name, han = part.get("name"), part.get("han")
    if name:
        return MONTHS.index(name[:3].lower()) + 1
    if han:
        written = han.rstrip("月 ")
        return int(written) if written.isdigit() else _number(written)
    return int(part["month"])


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
