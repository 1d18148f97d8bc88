"""The happenings of ``data/happenings.toml`` as postings of the sites that tell them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

from qiaocrawl.demo.inventory import Channel, Site, load_furniture, load_sites, read_data
from qiaocrawl.demo.model import CHINA_TIME, Kind
from qiaocrawl.demo.publishing import Later, Posting, kind_on, numbered, shortened
from qiaocrawl.demo.stories import Story

Tone = Literal["positive", "negative", "neutral"]

_FRAME = "happening"
# Behind the numbers of everything else on a site.
_NUMBERS_ON = 1_000


@dataclass(frozen=True, slots=True)
class Telling:
    """One article of a happening; the head of the file explains the fields."""

    site: str
    channel: str
    at: datetime
    title: str
    taken_from: str = ""
    source: str = ""
    lead: str = ""
    cut: tuple[int, ...] = ()
    add: tuple[str, ...] = ()
    later: Later | None = None


@dataclass(frozen=True, slots=True)
class Happening:
    """What happened, with the truth about it; the first telling is the first publisher's."""

    key: str
    author: str
    tone: Tone
    place: str
    text: tuple[str, ...]
    tellings: tuple[Telling, ...]
    burst: bool = False

    @property
    def group(self) -> str:
        """The reprint group of its articles."""
        return f"{_FRAME}-{self.key}"


@lru_cache(maxsize=1)
def load_happenings() -> tuple[Happening, ...]:
    """Every happening, in file order."""
    return tuple(_happening_of(row) for row in read_data("happenings")["happening"])


def is_happening(posting: Posting) -> bool:
    """Whether *posting* tells one of the happenings."""
    return posting.story.frame == _FRAME


def with_happenings(postings: Sequence[Posting]) -> list[Posting]:
    """*postings* and those of the happenings, by site and date; the given ones stay as they are."""
    told = [posting for happening in load_happenings() for posting in _postings(happening)]
    joined: list[Posting] = []
    for site in load_sites():
        own = [posting for posting in postings if posting.site is site]
        new = sorted((posting for posting in told if posting.site is site), key=_when)
        last = max(posting.number for posting in own)
        own += [numbered(posting, last + _NUMBERS_ON + 7 * at) for at, posting in enumerate(new)]
        joined += sorted(own, key=_when)
    return joined


def _when(posting: Posting) -> tuple[datetime, str]:
    return posting.published_at, posting.story.key


def _postings(happening: Happening) -> list[Posting]:
    sites = {site.host: site for site in load_sites()}
    story = Story(
        key=happening.group, frame=_FRAME, domain="", on_topic=True,
        titles=(happening.tellings[0].title,), lines=happening.text,
        happened_at=happening.tellings[0].at, lead_city=happening.place, author=happening.author,
    )  # fmt: skip
    lines_on: dict[str, tuple[str, ...]] = {}
    postings = []
    for telling in happening.tellings:
        taken = lines_on.get(telling.taken_from, happening.text)
        lines_on[telling.site] = shortened(_told(telling, taken), kind_on(sites[telling.site]))
        postings.append(_posting(sites[telling.site], story, telling, lines_on[telling.site]))
    return postings


def _told(telling: Telling, taken: Sequence[str]) -> list[str]:
    """The lines of *telling*, made of those it was taken from."""
    first, *rest = (line for at, line in enumerate(taken) if at not in telling.cut)
    return [telling.lead + first, *rest, *telling.add]


def _posting(site: Site, story: Story, telling: Telling, lines: tuple[str, ...]) -> Posting:
    kind = kind_on(site)
    posting = Posting(
        site=site, channel=_channel(site, telling.channel), story=story, kind=kind,
        title=telling.title, lines=lines, published_at=telling.at, author=story.author,
        source=telling.source or (site.name if not telling.taken_from else ""),
        original=not telling.taken_from, taken_from=telling.taken_from, later=telling.later,
    )  # fmt: skip
    if kind is Kind.FORUM:
        furniture = load_furniture()
        return replace(
            posting,
            author=furniture["users"][0],
            source="",
            lines=(furniture["openers"][0], *lines),
        )
    return posting


def _channel(site: Site, slug: str) -> Channel:
    return next(channel for channel in site.channels if channel.slug == slug)


def _happening_of(row: dict[str, Any]) -> Happening:
    tellings = tuple(_telling_of(telling) for telling in row["telling"])
    given = {name: value for name, value in row.items() if name not in ("telling", "text")}
    return Happening(**given, text=tuple(row["text"].strip().splitlines()), tellings=tellings)


def _telling_of(row: dict[str, Any]) -> Telling:
    later = row.get("later")
    return Telling(**{
        **row,
        "at": datetime.fromisoformat(row["at"]).replace(tzinfo=CHINA_TIME),
        "cut": tuple(row.get("cut", ())),
        "add": tuple(row.get("add", ())),
        "later": later and Later(
            tuple((old, new) for old, new in later.get("replace", ())), later.get("note", ""),
            later.get("deleted", False),
        ),
    })  # fmt: skip
