"""The articles of a list: chosen by its address, found, in their order; the place of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from qiaocrawl.console.page import console_of
from qiaocrawl.console.render import marked_text
from qiaocrawl.console.search import MOST_MATCHES, Matches, Term, terms
from qiaocrawl.console.search_keeper import BUILDING
from qiaocrawl.language import _
from qiaocrawl.reading import marks
from qiaocrawl.reading import pages_of_a_list as article_list
from qiaocrawl.reading.facets import EITHER, IRRELEVANT, RELEVANT
from qiaocrawl.reading.listing import Details, ListedArticle, list_articles, with_details
from qiaocrawl.reading.marks import Marks
from qiaocrawl.reading.pages_of_a_list import NEWEST, PUBLISHED, SORTS, FacetValues, ListWish
from qiaocrawl.storage.selection import MARKS, Selection
from qiaocrawl.storage.topics.changes import FewOnTopic, few_on_topics
from qiaocrawl.storage.topics.classes import class_named
from qiaocrawl.storage.topics.word_groups import articles_left
from qiaocrawl.text.visible import Passage, passage
from qiaocrawl.text.zones import SHANGHAI, start_of_days
from qiaocrawl.topic.media import MEDIA

# --- Which articles a list shows: what stands behind the ``?`` of its address ---------------------

PLACE = "place"
"""Of an article in the list that its address belongs to."""
FORMATS = ("xlsx", "docx", "csv", "jsonl")
"""Of exports, as the library calls them."""
SEVERAL = ("site", "region", "tier", "medium", "group")
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
        medium: kinds of media.
        group: groups of words of the topic, by name.
        about: a class of the topic; UNSURE for those of none.
        name: a person, place or body that the text names.
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
    medium: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    found: str = ""
    found_from: str = ""
    found_to: str = ""
    relevance: str = RELEVANT
    status: str = ""
    tag: str = ""
    about: str = ""
    name: str = ""
    sort: str = PUBLISHED
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
            relevance=own.relevance if own.relevance in (RELEVANT, IRRELEVANT) else EITHER,
            status=own.status if own.status in MARKS else "",
            sort=own.sort if given.get("sort") in SORTS else _usual_sort(own.site),
            tier=tuple(tier for tier in own.tier if _number(tier, 9)),
            medium=tuple(kind for kind in own.medium if kind in MEDIA),
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
        is_own = "sort" in changes or self.sort != _usual_sort(self.site)
        defaults["sort"] = _usual_sort(changed["site"]) if is_own else changed["sort"]
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
    def is_folded(self) -> bool:
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
            only_relevant=self.relevance == RELEVANT,
            only_irrelevant=self.relevance == IRRELEVANT,
            since=_start(self.since),
            before=_day_after(_start(self.until)),
            sites=self.site,
            regions=self.region,
            tiers=tuple(map(int, self.tier)),
            groups=self.group,
            media=self.medium,
            marks=(self.status,) if self.status else (),
            tags=(self.tag,) if self.tag else (),
            classes=(class_named(self.about),) if self.about else (),
            names=(self.name,) if self.name else (),
        )

    def _found_since(self) -> datetime | None:
        last_days = start_of_days(datetime.now(UTC), int(self.found)) if self.found else None
        first_day = _start(self.found_from)
        if last_days is None or first_day is None:
            return last_days or first_day
        return max(last_days, first_day)


def _usual_sort(sites: Sequence[str]) -> str:
    """The order of a list whose reader chose none; one site's is walked by the index it has."""
    return NEWEST if len(sites) == 1 else PUBLISHED


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


ROWS = 30
_PASSAGES = 2
_BEGINNING_CHARS = 120


@dataclass(frozen=True, slots=True)
class Row:
    """An article of a list, with what it is shown with.

    Attributes:
        title: with what is searched for in ``<mark>``.
        topic: the one it is judged for.
        beginning: of its text.
    """

    listed: ListedArticle
    details: Details
    marks: Marks
    passages: tuple[Passage, ...]
    title: Markup
    topic: str
    beginning: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a list. ``count`` is one more than ``MOST_COUNTED`` for more than that.

    Attributes:
        few: topics of the list of which hardly an article is on topic, where only those are shown.
        unmarked: articles that are not marked yet with a group of words that is chosen.
    """

    rows: tuple[Row, ...]
    count: int
    facets: FacetValues
    few: tuple[FewOnTopic, ...] = ()
    unmarked: int = 0


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An article of a list, and its place in it, from 0 on."""

    article_id: int
    place: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where an article stands in a list.

    Attributes:
        number: from 1 on; None for one that is in the list no more.
        count: as of ``Listing``.
        page: of the list, from 1 on.
    """

    number: int | None
    count: int
    page: int
    before: Neighbour | None
    after: Neighbour | None


async def matches_of(
    request: Request, choice: ArticleFilter, most: int | None = MOST_MATCHES
) -> tuple[Matches | None, str]:
    """What the index finds, None where it is not asked; and why it is not.

    Args:
        most: articles at most; None for all.
    """
    wanted = choice.terms
    if not wanted:
        notice = _("“{text}” has no word to search for: the list is not searched.", text=choice.q)
        return None, notice if choice.q else ""
    search = console_of(request).search
    newest_first = choice.sort != article_list.SCORE
    found = await run_in_threadpool(search.search, wanted, newest_first=newest_first, most=most)
    if found is not None:
        return found, ""
    # It may have come in step meanwhile; this list was made without it.
    return None, _(search.notice() or BUILDING, most=article_list.MOST_READ)


def selection_of(choice: ArticleFilter, matches: Matches | None) -> Selection:
    """What *choice* is for the library, of *matches* only."""
    selection = choice.selection()
    if matches is not None:
        # No row has the number 0: nothing was found.
        return replace(selection, article_ids=matches.article_ids or (0,))
    unwanted = tuple(term.text for term in choice.terms if term.is_unwanted)
    return replace(selection, words=tuple(choice.words), without_words=unwanted)


def bounded_selection(c: Connection, choice: ArticleFilter, matches: Matches | None) -> Selection:
    """The same; without the index only the beginning of the list is searched."""
    selection = selection_of(choice, matches)
    if not selection.reads_texts:
        return selection
    return article_list.read_first(c, selection, choice.sort)


def listing_of(c: Connection, choice: ArticleFilter, matches: Matches | None) -> Listing:
    """The page of the list that *choice* asks for."""
    wish = ListWish(
        bounded_selection(c, choice, matches),
        choice.sort,
        choice.is_folded,
        (choice.number - 1) * ROWS,
        ROWS,
    )
    page = article_list.list_page(c, wish)
    facets = article_list.facet_values(c, choice.topic or None)
    # Whether an address names a topic that is there is not looked at: it finds nothing then.
    topics = [name for name, _title in facets.topics if choice.topic in ("", name)]
    is_whole = choice.relevance == "yes" and choice.number == 1 and not choice.q
    few = few_on_topics(c, topics) if is_whole else ()
    unmarked = articles_left(c, choice.topic or None, choice.group) if choice.group else 0
    return Listing(rows_of(c, page.ids, choice), page.count, facets, few, unmarked)


def place_of(
    c: Connection, choice: ArticleFilter, matches: Matches | None, article_id: int, place: int
) -> Place:
    """Where an article stands that was at *place*: near it, if articles came or went meanwhile.

    One that left the list, as it was judged, stands between those that stood around it.
    """
    skip = max(0, place - ROWS)
    selection = bounded_selection(c, choice, matches)
    wish = ListWish(selection, choice.sort, choice.is_folded, skip, place + ROWS - skip)
    page = article_list.list_page(c, wish)
    ids, is_there = page.ids, article_id in page.ids
    at = ids.index(article_id) if is_there else min(place - skip, len(ids))

    def neighbour(index: int) -> Neighbour | None:
        return Neighbour(ids[index], skip + index) if 0 <= index < len(ids) else None

    return Place(
        skip + at + 1 if is_there else None,
        page.count,
        (skip + at) // ROWS + 1,
        neighbour(at - 1),
        neighbour(at + 1 if is_there else at),
    )


def rows_of(c: Connection, ids: Sequence[int], choice: ArticleFilter) -> tuple[Row, ...]:
    """The articles of row ids, in their order, as a list shows them."""
    topic = choice.topic or None
    these = Selection(article_ids=tuple(ids) or (0,))
    # Where the topic judged none of them, they are shown with what any topic said.
    listed = list_articles(c, replace(these, topic=topic)) or list_articles(c, these)
    by_id = {entry.id: entry for entry in listed}
    marked, best, wanted = marks.marks_of(c, ids), marks.best_topics(c, ids), choice.words
    chosen = [by_id[row_id] for row_id in ids if row_id in by_id]
    return tuple(
        Row(
            entry,
            details,
            marked.get(entry.id, Marks()),
            _passages(details.text, wanted),
            marked_text(entry.title, wanted),
            choice.topic or best[entry.id],
            " ".join(details.text[:_BEGINNING_CHARS].split()),
        )
        for entry, details in with_details(c, chosen, topic)
    )


def _passages(text: str, wanted: Sequence[str]) -> tuple[Passage, ...]:
    places = (passage(text, word, 24, 48) for word in wanted)
    return tuple(place for place in places if place is not None)[:_PASSAGES]
