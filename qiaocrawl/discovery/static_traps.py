"""Recognises traps by the URL alone: too long, too deep, repetitive, or an impossible date."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

# "2024", "05", "3.html".
_NUMBER = re.compile(r"\d+(?:\.\w{1,5})?")
# A folder that comes a third time in a path: StormCrawler's maxPathRepetition, Nutch's rule.
_REPEATS = 3
# Numbers may repeat more often: /2024/01/01/, /thread/1/1/1 **(ours)**.
_NUMBER_REPEATS = 5
# Folders that together come twice in a row: /a/b/c/a/b/c, as relative links make **(ours)**.
_LONG_UNIT = 3
_SAME_PARAMETERS = 3
# Year and month with a mark between them, at the beginning of a part: elsewhere, without a mark,
# or with a number that is no month of two digits or no folder, it is the number of a thread or an
# article and its page (/thread-2088-1-1.html, /a/2050_2.html, /show/1950/2.html).
_CALENDAR = re.compile(
    r"(?:^|[/=&])((?:19|20|21)\d\d)(?:[-.](?:0[1-9]|1[0-2])(?!\d)"
    r"|/(?:0[1-9]|1[0-2])(?!\d)|/[1-9](?=/))|(?:^|\D)((?:19|20|21)\d\d)年"
)
# "?y=2031", "&cal_year=2031".
_CALENDAR_QUERY = re.compile(r"(?:^|[?&_])(?:y|yr|year|nian)=(\d{4})(?=&|$)", re.IGNORECASE)
BOUNDS = ("(url too long)", "(path too deep)", "(too many parameters)")
"""Groups of URLs beyond the operator's limits: they are no guess, so they are never tried."""
EARLIEST_YEAR = 1990
"""Before the web: only a calendar leads there; archives of newspapers are allowed by pattern."""


@dataclass(frozen=True, slots=True)
class UrlLimits:
    """How long a URL of one page may be; 0 = no limit.

    Attributes:
        chars: of the whole URL.
        path_depth: parts of its path (Heritrix takes 20).
        parameters: of its query.
        latest_year: a calendar page of a later year is none.
    """

    chars: int = 2000
    path_depth: int = 20
    parameters: int = 20
    latest_year: int = 0


def static_trap(url: str, limits: UrlLimits) -> str:
    """Why the canonical *url* is one of a trap: a short word for counting, or "" for none."""
    if limits.chars and len(url) > limits.chars:
        return "url_too_long"
    path, _, query = url.partition("?")
    # Skips "https:", "" and the host.
    parts = path.split("/")[3:]
    folders = [part for part in parts if part]
    if limits.path_depth and len(folders) > limits.path_depth:
        return "path_too_deep"
    if len(folders) >= _REPEATS and repeats_itself(folders):
        return "path_repeats"
    if query:
        pieces = query.split("&")
        if limits.parameters and len(pieces) > limits.parameters:
            return "too_many_parameters"
        # The same name and value three times: a link adds its parameter on every page.
        if len(pieces) >= _SAME_PARAMETERS and max(Counter(pieces).values()) >= _SAME_PARAMETERS:
            return "parameters_repeat"
    if limits.latest_year and _is_no_date("/".join(parts), query, limits.latest_year):
        return "calendar"
    return ""


def repeats_itself(folders: list[str]) -> bool:
    """Whether the parts of a path repeat as only a trap's or a wrong relative link's do."""
    for part, times in Counter(folders).items():
        if times >= (_NUMBER_REPEATS if _NUMBER.fullmatch(part) else _REPEATS):
            return True
    # A unit of three folders or more, twice in a row; shorter ones may be real (/a/b/a/b).
    for size in range(_LONG_UNIT, len(folders) // 2 + 1):
        for at in range(len(folders) - 2 * size + 1):
            unit = folders[at : at + size]
            if unit == folders[at + size : at + 2 * size] and not _are_numbers(unit):
                return True
    return False


def _are_numbers(unit: list[str]) -> bool:
    return all(_NUMBER.fullmatch(part) for part in unit)


# Cached: links of one page share their path or query, and each of them asks.
@lru_cache(maxsize=4096)
def _is_no_date(path: str, query: str, latest_year: int) -> bool:
    """Whether the address names a calendar month that no news page can be from."""
    calendar = _CALENDAR.search(path) or (_CALENDAR_QUERY.search(query) if query else None)
    calendar = calendar or (_CALENDAR.search(query) if query else None)
    if calendar is None:
        return False
    # The year stands in whichever alternative has matched.
    year = next(number for number in calendar.groups() if number)
    return not EARLIEST_YEAR <= int(year) <= latest_year
