"""Dates that stand in several lines, as on a leaf of a calendar: a large day, a small month."""

from __future__ import annotations

import re
from collections.abc import Sequence

# "05", "5日"
_DAY_ALONE = re.compile(r"(?:[12]\d|3[01]|0?[1-9])日?")
# "2018-01", "Jan 2018", "一月, 2018"
_MONTH_ALONE = re.compile(
    r"(?:19|20)\d\d\s?[-/.年]\s?(?:1[0-2]|0?[1-9])月?|[A-Za-z]{3,9}\.?,?\s(?:19|20)\d\d|"
    r"[一二三四五六七八九十]{1,2}月[，,]?\s?(?:19|20)\d\d"
)
_YEAR_ALONE = re.compile(r"(?:19|20)\d\d年?")
_MONTH_NAME = re.compile(
    r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?|"
    r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月"
)
_DAY_AND_MONTH = re.compile(r"\d\d?[/.-]\d\d?|\d\d?月\d\d?日")


def leaf_of(parts: Sequence[str]) -> str:
    """The date that *parts* make in whatever order, as a reader knows it; "" for none."""
    rest = list(parts)
    taken = []
    for form in (_MONTH_ALONE, _YEAR_ALONE, _DAY_AND_MONTH, _DAY_ALONE, _MONTH_NAME):
        at = next((i for i, part in enumerate(rest) if form.fullmatch(part)), -1)
        taken.append(rest.pop(at) if at >= 0 else "")
    month_and_year, year, day_and_month, day, name = taken
    day = day.rstrip("日")
    if rest or (month_and_year and year):
        return ""
    if month_and_year and day and not name:
        is_number = month_and_year[0].isdigit()
        month = month_and_year.rstrip("月").replace("年", "-")
        return f"{month}-{day}" if is_number else f"{day} {month_and_year}"
    year = year.rstrip("年")
    if year and day and name:
        return f"{day} {name} {year}"
    if year and day_and_month and not day:
        if "月" in day_and_month:
            return f"{year}年{day_and_month}"
        return f"{day_and_month.replace('.', '/').replace('-', '/')}/{year}"
    return ""
