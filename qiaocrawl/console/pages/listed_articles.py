"""The articles of a list: found, in their order, as they are shown; and the place of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from qiaocrawl.console.clean_html import marked_text
from qiaocrawl.console.pages.article_filter import ArticleFilter
from qiaocrawl.console.search.index import MOST_MATCHES, Matches
from qiaocrawl.console.search.keeper import BUILDING
from qiaocrawl.console.state import console_of
from qiaocrawl.language import _
from qiaocrawl.reading import marks
from qiaocrawl.reading import pages_of_a_list as article_list
from qiaocrawl.reading.listing import Details, ListedArticle, list_articles, with_details
from qiaocrawl.reading.marks import Marks
from qiaocrawl.reading.pages_of_a_list import FacetValues, ListWish
from qiaocrawl.storage.selection import Selection
from qiaocrawl.storage.topics.changes import FewOnTopic, few_on_topics
from qiaocrawl.text.visible import Passage, passage

ROWS = 30
_PASSAGES = 2


@dataclass(frozen=True, slots=True)
class Row:
    """An article of a list, with what it is shown with.

    Attributes:
        title: with what is searched for in ``<mark>``.
        topic: the one it is judged for.
    """

    listed: ListedArticle
    details: Details
    marks: Marks
    passages: tuple[Passage, ...]
    title: Markup
    topic: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a list. ``count`` is one more than ``MOST_COUNTED`` for more than that.

    Attributes:
        few: topics of the list of which hardly an article is on topic, where only those are shown.
    """

    rows: tuple[Row, ...]
    count: int
    facets: FacetValues
    few: tuple[FewOnTopic, ...] = ()


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


def bounded(c: Connection, choice: ArticleFilter, matches: Matches | None) -> Selection:
    """The same; without the index only the beginning of the list is searched."""
    selection = selection_of(choice, matches)
    if not selection.reads_texts:
        return selection
    return article_list.read_first(c, selection, choice.sort)


def listing_of(c: Connection, choice: ArticleFilter, matches: Matches | None) -> Listing:
    """The page of the list that *choice* asks for."""
    wish = ListWish(bounded(c, choice, matches), choice.sort, choice.folded,
                    (choice.number - 1) * ROWS, ROWS)  # fmt: skip
    page = article_list.list_page(c, wish)
    facets = article_list.facet_values(c, choice.topic or None)
    # Whether an address names a topic that is there is not looked at: it finds nothing then.
    topics = [name for name, _title in facets.topics if choice.topic in ("", name)]
    is_whole = choice.relevance == "yes" and choice.number == 1 and not choice.q
    few = few_on_topics(c, topics) if is_whole else ()
    return Listing(rows_of(c, page.ids, choice), page.count, facets, few)


def place_of(
    c: Connection, choice: ArticleFilter, matches: Matches | None, article_id: int, place: int
) -> Place:
    """Where an article stands that was at *place*: near it, if articles came or went meanwhile.

    One that left the list, as it was judged, stands between those that stood around it.
    """
    skip = max(0, place - ROWS)
    selection = bounded(c, choice, matches)
    wish = ListWish(selection, choice.sort, choice.folded, skip, place + ROWS - skip)
    page = article_list.list_page(c, wish)
    ids, is_there = page.ids, article_id in page.ids
    at = ids.index(article_id) if is_there else min(place - skip, len(ids))

    def neighbour(index: int) -> Neighbour | None:
        return Neighbour(ids[index], skip + index) if 0 <= index < len(ids) else None

    return Place(
        skip + at + 1 if is_there else None, page.count, (skip + at) // ROWS + 1,
        neighbour(at - 1), neighbour(at + 1 if is_there else at),
    )  # fmt: skip


def rows_of(c: Connection, ids: Sequence[int], choice: ArticleFilter) -> tuple[Row, ...]:
    """The articles of row ids, in their order, as a list shows them."""
    topic = choice.topic or None
    listed = list_articles(c, Selection(article_ids=tuple(ids) or (0,)))
    if topic is not None:
        scored = list_articles(c, Selection(topic=topic, article_ids=tuple(ids) or (0,)))
        listed = scored or listed
    by_id = {entry.id: entry for entry in listed}
    marked, best, wanted = marks.marks_of(c, ids), marks.best_topics(c, ids), choice.words
    chosen = [by_id[row_id] for row_id in ids if row_id in by_id]
    return tuple(
        Row(
            entry, details, marked.get(entry.id, Marks()), _passages(details.text, wanted),
            marked_text(entry.title, wanted), choice.topic or best[entry.id],
        )
        for entry, details in with_details(c, chosen, topic)
    )  # fmt: skip


def _passages(text: str, wanted: Sequence[str]) -> tuple[Passage, ...]:
    places = (passage(text, word, 24, 48) for word in wanted)
    return tuple(place for place in places if place is not None)[:_PASSAGES]
