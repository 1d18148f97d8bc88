"""Which articles a list shows: what stands behind the ``?`` of its address."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from qiaocrawl.console.search.tokens import Term, terms
from qiaocrawl.reading.pages_of_a_list import NEWEST, SORTS
from qiaocrawl.storage.selection import MARKS, Selection
from qiaocrawl.storage.topics.classes import class_named
from qiaocrawl.text.zones import SHANGHAI

ON_TOPIC, OFF_TOPIC, ANY = "yes", "no", "any"
PLACE = "place"
"""Of an article in the list that its address belongs to."""
FORMATS = ("xlsx", "docx", "csv", "jsonl")
"""Of exports, as the library calls them."""
SEVERAL = ("site", "region", "tier")
"""Choices of which there may be several; an article must meet one of each."""
_MOST_VALUES = 50
_MOST_CHARS = 500
_MOST_PAGES = 1_000
MOST_PLACES = 30 * _MOST_PAGES
_MOST_DAYS = 3_650


@dataclass(frozen=True, slots=True)
class ArticleFilter:
    """The choices of a list; "" or () for those that are not made.

    Attributes:
        about: a class of the topic; UNSURE for those of none.
        found: in the last so many days of China, today being the first.
        found_from, found_to: days of China on which it was found.
        since, until: days of publication.
        copies: "1" shows every copy, else a reprint group is one row.
    """

    q: str = ""
    topic: str = ""
    site: tuple[str, ...] = ()
    region: tuple[str, ...] = ()
    tier: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    found: str = ""
    found_from: str = ""
    found_to: str = ""
    relevance: str = ON_TOPIC
    status: str = ""
    tag: str = ""
    about: str = ""
    sort: str = NEWEST
    copies: str = ""
    page: str = ""

    @classmethod
    def of(cls, parameters: Iterable[tuple[str, str]]) -> ArticleFilter:
        """The choices of an address; what cannot be one counts as not made."""
        given: dict[str, Any] = {}
        for name, value in parameters:
            text = value.strip()[:_MOST_CHARS]
            if name in SEVERAL:
                chosen = given.get(name, ())
                is_new = text and text not in chosen and len(chosen) < _MOST_VALUES
                given[name] = (*chosen, text) if is_new else chosen
            elif name in cls.__dataclass_fields__:
                given[name] = text
        own = replace(cls(), **given)
        return replace(
            own,
            relevance=own.relevance if own.relevance in (ON_TOPIC, OFF_TOPIC) else ANY,
            status=own.status if own.status in MARKS else "",
            sort=own.sort if own.sort in SORTS else NEWEST,
            tier=tuple(tier for tier in own.tier if _number(tier, 9)),
            page=str(own.number) if own.number > 1 else "",
            since=own.since if _start(own.since) else "",
            until=own.until if _start(own.until) else "",
            found=str(_number(own.found, _MOST_DAYS) or ""),
            found_from=own.found_from if _start(own.found_from) else "",
            found_to=own.found_to if _start(own.found_to) else "",
        )

    def query(self, **changes: str | tuple[str, ...]) -> str:
        """What stands behind the ``?``, with *changes*; choices not made are left out.

        Another choice begins at the first page again. Of a choice of several values *changes* may
        name one, or "" for none.
        """
        wanted: dict[str, Any] = {"page": "", **changes}
        for name in SEVERAL:
            if isinstance(wanted.get(name), str):
                wanted[name] = (wanted[name],) if wanted[name] else ()
        defaults = asdict(ArticleFilter())
        changed = asdict(replace(self, **wanted))
        made = {name: value for name, value in changed.items() if value != defaults[name]}
        return urlencode(made, doseq=True)

    def query_with(self, name: str, value: str) -> str:
        """The same with *value* chosen for *name*, or, where it is chosen, not any more.

        Relevance has no such thing as no choice.
        """
        chosen = getattr(self, name)
        if name not in SEVERAL:
            is_left = chosen == value and name != "relevance"
            return self.query(**{name: "" if is_left else value})
        rest = tuple(other for other in chosen if other != value)
        return self.query(**{name: rest if value in chosen else (*rest, value)})

    def query_at(self, place: int) -> str:
        """The same for an article of the list: its *place* in the whole of it, from 0 on."""
        return "&".join(filter(None, (self.query(), urlencode({PLACE: place}))))

    @property
    def number(self) -> int:
        """Which page of the list, from 1 on."""
        return _number(self.page, _MOST_PAGES) or 1

    @property
    def folded(self) -> bool:
        """Whether a reprint group is one row."""
        return self.copies != "1"

    @property
    def terms(self) -> list[Term]:
        """What is searched for."""
        return terms(self.q)

    @property
    def words(self) -> list[str]:
        """The words and phrases among them that an article must have."""
        return [term.text for term in self.terms if not term.is_unwanted]

    def selection(self) -> Selection:
        """The same for the library, without what is searched for."""
        return Selection(
            topic=self.topic or None,
            fetched_since=self._found_since(),
            fetched_before=_day_after(_start(self.found_to)),
            only_relevant=self.relevance == ON_TOPIC,
            only_irrelevant=self.relevance == OFF_TOPIC,
            since=_start(self.since),
            before=_day_after(_start(self.until)),
            sites=self.site,
            regions=self.region,
            tiers=tuple(map(int, self.tier)),
            marks=(self.status,) if self.status else (),
            tags=(self.tag,) if self.tag else (),
            classes=(class_named(self.about),) if self.about else (),
        )

    def _found_since(self) -> datetime | None:
        last_days = _today() - timedelta(days=int(self.found) - 1) if self.found else None
        first_day = _start(self.found_from)
        if last_days is None or first_day is None:
            return last_days or first_day
        return max(last_days, first_day)


def _today() -> datetime:
    return datetime.now(SHANGHAI).replace(hour=0, minute=0, second=0, microsecond=0)


def _start(day: str) -> datetime | None:
    try:
        given = date.fromisoformat(day)
    except ValueError:
        return None
    # Years that a database takes, also after a day is added.
    in_range = 1900 <= given.year <= 2200
    return datetime(given.year, given.month, given.day, tzinfo=SHANGHAI) if in_range else None


def _day_after(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment + timedelta(days=1)


def _number(text: str, most: int) -> int:
    """A whole number from 1 to *most*; 0 for anything else."""
    is_number = text.isascii() and text.isdigit() and len(text) < 10
    return int(text) if is_number and 1 <= int(text) <= most else 0
