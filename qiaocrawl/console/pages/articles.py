"""Articles: lists, searches, marks, exports."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from shutil import rmtree
from urllib.parse import parse_qsl

from sqlalchemy import Connection
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from qiaocrawl.console.forms import back, field
from qiaocrawl.console.page import EDITOR, READER, Area, Page
from qiaocrawl.console.pages import article
from qiaocrawl.console.pages.article_filter import FORMATS, ArticleFilter
from qiaocrawl.console.render import render
from qiaocrawl.console.search.index import MOST_MATCHES, Matches
from qiaocrawl.console.search.keeper import BUILDING
from qiaocrawl.console.state import actor_of, console_of, user_of
from qiaocrawl.console.work import read, write
from qiaocrawl.language import N_, _
from qiaocrawl.storage.console import article_list, marks, saved_searches
from qiaocrawl.storage.console.article_list import FacetValues, ListWish
from qiaocrawl.storage.console.marks import Marks
from qiaocrawl.storage.export import exporters
from qiaocrawl.storage.export.choice import Selection
from qiaocrawl.storage.export.listing import Details, ListedArticle, list_articles, with_details
from qiaocrawl.text.passages import Passage, passage
from qiaocrawl.text.zones import SHANGHAI

ROWS = 30
_PASSAGES = 2
_FEED_ITEMS = 50
STATUS_NAMES = {
    "starred": N_("starred"),
    "noted": N_("with a note"),
    "judged": N_("judged"),
    "unjudged": N_("not judged yet"),
    "reprint": N_("reprints"),
    "gone": N_("gone from the web"),
}
SORT_NAMES = {
    "newest": N_("newly found first"),
    "published": N_("newly published first"),
    "score": N_("most on topic first"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """An article of a list, with what it is shown with."""

    listed: ListedArticle
    details: Details
    marks: Marks
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a list. ``count`` is one more than ``MOST_COUNTED`` for more than that."""

    rows: tuple[Row, ...]
    count: int
    facets: FacetValues


async def show(request: Request) -> Response:
    """The list."""
    choice = ArticleFilter.of(request.query_params)
    matches, notice = await _matches(request, choice)
    listing = await read(request, _listing, choice, matches)
    searches = await read(request, saved_searches.list_searches, user_of(request))
    return render(
        request, "articles/list.html", choice=choice, listing=listing, notice=notice,
        searches=searches, status_names=STATUS_NAMES, sort_names=SORT_NAMES, formats=FORMATS,
        most_counted=article_list.MOST_COUNTED, rows_a_page=ROWS,
        cut_from=matches.total if matches and matches.total > MOST_MATCHES else 0,
        most_matches=MOST_MATCHES,
    )  # fmt: skip


async def _matches(request: Request, choice: ArticleFilter) -> tuple[Matches | None, str]:
    """What the index finds, None where it is not asked; and why it is not."""
    wanted = choice.terms
    if not wanted:
        return None, ""
    search = console_of(request).search
    newest_first = choice.sort != article_list.SCORE
    found = await run_in_threadpool(search.search, wanted, newest_first=newest_first)
    if found is not None:
        return found, ""
    # It may have come in step meanwhile; this list was made without it.
    return None, _(search.notice() or BUILDING, most=article_list.MOST_READ)


def _selection(choice: ArticleFilter, matches: Matches | None) -> Selection:
    selection = choice.selection()
    if matches is not None:
        # No row has the number 0: nothing was found.
        return replace(selection, article_ids=matches.article_ids or (0,))
    wanted = tuple(term.text for term in choice.terms if not term.is_unwanted)
    return replace(selection, words=wanted)


def _bounded(c: Connection, choice: ArticleFilter, matches: Matches | None) -> Selection:
    """As :func:`_selection`; without the index only the beginning of the list is searched."""
    selection = _selection(choice, matches)
    if not selection.words:
        return selection
    return article_list.read_first(c, selection, choice.sort)


def _listing(c: Connection, choice: ArticleFilter, matches: Matches | None) -> Listing:
    wish = ListWish(_bounded(c, choice, matches), choice.sort, choice.folded,
                    (choice.number - 1) * ROWS, ROWS)  # fmt: skip
    page = article_list.list_page(c, wish)
    return Listing(
        rows_of(c, page.ids, choice),
        page.count,
        article_list.facet_values(c, choice.topic or None),
    )


def rows_of(c: Connection, ids: Sequence[int], choice: ArticleFilter) -> tuple[Row, ...]:
    """The articles of row ids, in their order, as a list shows them."""
    topic = choice.topic or None
    listed = list_articles(c, Selection(article_ids=tuple(ids) or (0,)))
    if topic is not None:
        scored = list_articles(c, Selection(topic=topic, article_ids=tuple(ids) or (0,)))
        listed = scored or listed
    by_id = {entry.id: entry for entry in listed}
    marked = marks.marks_of(c, ids)
    wanted = [term.text for term in choice.terms if not term.is_unwanted]
    chosen = [by_id[row_id] for row_id in ids if row_id in by_id]
    return tuple(
        Row(entry, details, marked.get(entry.id, Marks()), _passages(details.text, wanted))
        for entry, details in with_details(c, chosen, topic)
    )


def _passages(text: str, wanted: Sequence[str]) -> tuple[Passage, ...]:
    places = (passage(text, word, 24, 48) for word in wanted)
    return tuple(place for place in places if place is not None)[:_PASSAGES]


async def export(request: Request) -> Response:
    """The list as a file."""
    choice = ArticleFilter.of(request.query_params)
    name = request.path_params["format"]
    if name not in FORMATS:
        raise HTTPException(404, _("There is no such page."))
    matches, _notice = await _matches(request, choice)
    if matches is not None and matches.total > MOST_MATCHES:
        # Too many for the index to name them all: texts are read instead.
        matches = None
    selection = replace(_selection(choice, matches), by_story=choice.folded, with_copies=False)
    exporter = exporters.get(name)
    if not exporter.for_people:
        selection = replace(selection, by_story=False)
    folder = Path(tempfile.mkdtemp(prefix="qiaocrawl-export-"))
    today = datetime.now(SHANGHAI)
    file = folder / f"articles-{today:%Y%m%d-%H%M}{exporter.suffix}"
    try:
        await read(request, exporter.write, selection, file, lambda _count: None)
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise
    return FileResponse(
        file, filename=file.name, background=BackgroundTask(rmtree, folder, ignore_errors=True)
    )


async def feed(request: Request) -> Response:
    """The list as RSS, for a news reader."""
    choice = ArticleFilter.of(request.query_params)
    matches, _notice = await _matches(request, choice)

    def newest(c: Connection) -> tuple[Row, ...]:
        wish = ListWish(_bounded(c, choice, matches), choice.sort, choice.folded,
                        limit=_FEED_ITEMS)  # fmt: skip
        return rows_of(c, article_list.list_page(c, wish).ids, choice)

    rows = await read(request, newest)
    response = render(request, "articles/feed.xml", rows=rows, choice=choice,
                      base=str(request.base_url).rstrip("/"))  # fmt: skip
    response.headers["Content-Type"] = "application/rss+xml; charset=utf-8"
    return response


async def mark(request: Request) -> Response:
    """Judge an article, star it, note something, tag it; scripts get its marks as JSON."""
    article_id, actor = request.path_params["article_id"], actor_of(request)
    action, value = await field(request, "action"), await field(request, "value", 4_000)
    topic = await field(request, "topic", 64)

    def change(c: Connection) -> Marks:
        if action in ("relevant", "irrelevant"):
            marks.judge(c, actor, article_id, topic, relevant=action == "relevant")
        elif action == "star":
            marks.set_star(c, actor, article_id, starred=value == "yes")
        elif action == "note":
            marks.set_note(c, actor, article_id, value)
        elif action == "tags":
            tags = value.replace("，", ",").split(",")
            marks.set_tags(c, actor, article_id, tags)
        else:
            raise HTTPException(400, _("There is no such mark."))
        return marks.marks_of(c, [article_id]).get(article_id, Marks())

    now = await write(request, change)
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({
            "starred": now.starred, "note": now.note, "tags": now.tags, "judged": dict(now.judged),
        })  # fmt: skip
    return await back(request, "articles.detail", article_id=article_id)


async def save_search(request: Request) -> Response:
    """Keep the list under a name."""
    query = ArticleFilter.of(dict(parse_qsl(await field(request, "query", 4_000)))).query()
    name = await field(request, "name", 200)
    user, actor = user_of(request), actor_of(request)
    await write(request, saved_searches.save_search, actor, user, name, query)
    return await back(request, "articles.list")


async def remove_search(request: Request) -> Response:
    """Forget a saved list."""
    search_id = request.path_params["search_id"]
    await write(
        request, saved_searches.remove_search, actor_of(request), user_of(request), search_id
    )
    return await back(request, "articles.list")


AREA = Area(N_("Articles"), "newspaper", (
    Page("/articles", "articles.list", show),
    Page("/articles/feed.xml", "articles.feed", feed, READER, for_programs=True),
    Page("/articles/export/{format}", "articles.export", export),
    Page("/articles/searches", "articles.save_search", save_search, READER, "POST"),
    Page("/articles/searches/{search_id:int}/remove", "articles.remove_search", remove_search,
         READER, "POST"),
    Page("/articles/{article_id:int}", "articles.detail", article.show),
    Page("/articles/{article_id:int}/evidence", "articles.evidence", article.evidence),
    Page("/articles/{article_id:int}/page", "articles.page", article.stored_page),
    Page("/articles/{article_id:int}/picture", "articles.picture", article.picture),
    Page("/articles/{article_id:int}/fields", "articles.fields", article.fields),
    Page("/articles/{article_id:int}/mark", "articles.mark", mark, EDITOR, "POST"),
))  # fmt: skip
