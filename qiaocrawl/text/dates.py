"""Dates in Chinese and ISO forms."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta, timezone

SHANGHAI = timezone(timedelta(hours=8), "Asia/Shanghai")
"""Assumed where a page names no zone. China has kept UTC+8 without summer time since 1991."""

EARLIEST_YEAR = 1990
"""Before the web: such a date in a page is what the page talks about."""
_FUTURE = timedelta(days=2)
_MAX_CHARS = 20_000

_CLOCK = (
    r"(?:日?[\sT,，|]*(?P<hour>[01]?\d|2[0-3])\s?[:：时時]\s?(?P<minute>[0-5]\d)"
    r"(?:\s?[:：分]\s?(?P<second>[0-5]\d))?(?:\.\d{1,9})?"
    r"(?:\s?(?P<zone>Z\b|UTC|GMT|[+-]\d{2}:?\d{2})(?!\d))?)?"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<name>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_PATTERNS = tuple(
    re.compile(pattern + _CLOCK, re.IGNORECASE)
    for pattern in (
        r"(?<!\d)(?P<year>(?:19|20)\d\d)\s?(?:年|[-/.])\s?(?P<month>1[0-2]|0?[1-9])\s?(?:月|[-/.])"
        r"\s?(?P<day>[12]\d|3[01]|0?[1-9])(?!\d)",
        r"(?<!\d)(?P<month>1[0-2]|0?[1-9])(?P<mark>[-/])(?P<day>[12]\d|3[01]|0?[1-9])(?P=mark)"
        r"(?P<year>(?:19|20)\d\d)(?!\d)",
        r"(?<!\d)(?P<day>[12]\d|3[01]|0?[1-9])(?P<mark>[-/])(?P<month>1[0-2]|0?[1-9])(?P=mark)"
        r"(?P<year>(?:19|20)\d\d)(?!\d)",
        rf"\b{_MONTH}\s(?P<day>\d{{1,2}}),?\s(?P<year>(?:19|20)\d\d)(?!\d)",
        rf"(?<!\d)(?P<day>\d{{1,2}})[\s-]{_MONTH}[\s-](?P<year>(?:19|20)\d\d)(?!\d)",
    )
)
_COMPACT = re.compile(
    r"(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])"
    r"(?:(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)(?P<second>[0-5]\d)?)?"
)
_EPOCH = re.compile(r"\d{10}(?:\d{3})?")
_NUMERALS = str.maketrans("〇零○一二三四五六七八九", "000123456789")
_NUMERAL_DATE = re.compile(
    r"([〇零○一二三四五六七八九]{4})年([一二三四五六七八九十]{1,2})月([一二三四五六七八九十]{1,3})日"
)


def find_date(text: str, now: datetime | None = None) -> datetime | None:
    """The first plausible date in *text*, as aware UTC; None if there is none.

    Bare numbers (epoch seconds or milliseconds, ``20240305``) count only when they are the
    whole text. ``03-05-2024`` is read month first unless that is impossible. A date without
    a clock is midnight. Dates before 1990 or more than two days after *now* are passed over.

    Args:
        text: only the first 20,000 characters are read.
        now: aware; the present by default.
    """
    latest = (now or datetime.now(UTC)) + _FUTURE
    text = unicodedata.normalize("NFKC", text[:_MAX_CHARS]).strip()
    whole = _whole_number(text)
    if whole is not None:
        return whole if _is_plausible(whole, latest) else None
    if "年" in text:
        text = _NUMERAL_DATE.sub(_digits, text)
    found = [
        (match.start(), date)
        for pattern in _PATTERNS
        for match in pattern.finditer(text)
        if (date := _date_of(match)) is not None and _is_plausible(date, latest)
    ]
    return min(found)[1] if found else None


def _is_plausible(date: datetime, latest: datetime) -> bool:
    return date.year >= EARLIEST_YEAR and date <= latest


def _whole_number(text: str) -> datetime | None:
    if not text.isdigit() or not text.isascii():
        return None
    compact = _COMPACT.fullmatch(text)
    if compact is not None:
        return _date_of(compact)
    if _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(text[:10]), UTC)
    return None


def _date_of(match: re.Match[str]) -> datetime | None:
    part = match.groupdict()
    name = part.get("name")
    month = _MONTHS.index(name.lower()) + 1 if name else int(part["month"])
    zone = _zone(part.get("zone"))
    try:
        local = datetime(
            int(part["year"]),
            month,
            int(part["day"]),
            int(part.get("hour") or 0),
            int(part.get("minute") or 0),
            int(part.get("second") or 0),
            tzinfo=zone,
        )
        return local.astimezone(UTC)
    except ValueError:  # 31 April
        return None


def _zone(written: str | None) -> timezone:
    if not written:
        return SHANGHAI
    if written[0] not in "+-":
        return UTC
    minutes = int(written[1:3]) * 60 + int(written[-2:])
    offset = timedelta(minutes=minutes if written[0] == "+" else -minutes)
    return timezone(offset) if abs(offset) < timedelta(days=1) else SHANGHAI


def _digits(match: re.Match[str]) -> str:
    year, month, day = match.groups()
    return f"{year.translate(_NUMERALS)}-{_number(month)}-{_number(day)}"


def _number(written: str) -> int:
    """A Chinese numeral from 一 to 三十一."""
    tens, ten, ones = written.rpartition("十")
    value = int(ones.translate(_NUMERALS)) if ones else 0
    return value + (10 * (int(tens.translate(_NUMERALS)) if tens else 1) if ten else 0)
