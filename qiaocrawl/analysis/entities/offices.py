"""Who of the persons named acts in public: those with a title of office, and authors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources

from qiaocrawl.analysis.entities.entity import Span

_REACH = 14
# All that stands between a title and a name: 会长、侨领陈某, 陈某(会长).
_BETWEEN = '[ 　、（(：:“”"]{0,2}'


def public_persons(text: str, persons: Sequence[Span]) -> dict[Span, str]:
    """Of *persons* marked in *text* those that act in public, with the name each goes by.

    A title beside one mention makes all mentions of that name public. A mention by surname and
    title (陈会长) goes by the one full name of that surname, where there is one.
    """
    titled = {_name(text, span) for span in persons if has_title(text, span.start, span.end)}
    full = {name for name in titled if len(name) > 1}
    public = {}
    for span in persons:
        name = _name(text, span)
        if len(name) == 1:
            bearers = [other for other in full if other.startswith(name)]
            if len(bearers) == 1 and name in titled:
                public[span] = bearers[0]
        elif name in titled:
            public[span] = name
    return public


def has_title(text: str, start: int, end: int) -> bool:
    """Whether the name at *start* to *end* stands beside a title of office."""
    before, behind = _patterns()
    return bool(
        before.search(text, max(0, start - _REACH), start) or behind.match(text, end, end + _REACH)
    )


def _name(text: str, span: Span) -> str:
    return re.sub(r"\s", "", text[span.start : span.end])


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    titles = "|".join(sorted(map(re.escape, offices()), key=len, reverse=True))
    # 主席X和Y: the second of two names shares the title.
    shared = "(?:[\\w·]{2,4}[和、及与])?"
    return (
        re.compile(f"(?:{titles}){_BETWEEN}{shared}$"),
        re.compile(f"{_BETWEEN}(?:{titles})(?!们)"),
    )


@cache
def offices() -> frozenset[str]:
    """The titles of office that come along."""
    file = resources.files(__package__).joinpath("data", "offices.txt")
    lines = file.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())
