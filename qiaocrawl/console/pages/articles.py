"""Articles: lists, searches, marks, exports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from urllib.parse import parse_qsl

from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl.console.downloads import download
from qiaocrawl.console.forms import back, field
from qiaocrawl.console.page import EDITOR, READER, Area, Page
from qiaocrawl.console.pages import article, article_marks
from qiaocrawl.console.pages.article_filter import FORMATS, ArticleFilter
from qiaocrawl.console.pages.listed_articles import (
    ROWS,
    Row,
    bounded,
    listing_of,
    matches_of,
    rows_of,
    selection_of,
)
from qiaocrawl.console.pages.reading import evidence, facets, reasons
from qiaocrawl.console.pages.reading.facets import STATUS_NAMES
from qiaocrawl.console.render import render
from qiaocrawl.console.search.index import MOST_MATCHES
from qiaocrawl.console.state import actor_of, origin_of, user_of
from qiaocrawl.console.work import read, write
from qiaocrawl.export.base import exporters
from qiaocrawl.language import N_, _
from qiaocrawl.reading import pages_of_a_list as article_list
from qiaocrawl.reading.pages_of_a_list import ListWish
from qiaocrawl.storage import people
from qiaocrawl.text.zones import SHANGHAI

_FEED_ITEMS = 50
SORT_NAMES = {
    "newest": N_("newly found first"),
    "published": N_("newly published first"),
    "score": N_("most on topic first"),
}


async def show(request: Request) -> Response:
    """The list."""
    choice = ArticleFilter.of(request.query_params.multi_items())
    matches, notice = await matches_of(request, choice)
    listing = await read(request, listing_of, choice, matches)
    searches = await read(request, people.list_searches, user_of(request))
    return render(
        request, "articles/list.html", choice=choice, listing=listing, notice=notice,
        searches=searches, status_names=STATUS_NAMES, sort_names=SORT_NAMES, formats=FORMATS,
        most_counted=article_list.MOST_COUNTED, rows_a_page=ROWS,
        cut_from=matches.total if matches and matches.total > MOST_MATCHES else 0,
        most_matches=MOST_MATCHES, best_first=choice.sort == article_list.SCORE, pairs=_pairs,
    )  # fmt: skip


def _pairs(values: Iterable[object]) -> list[tuple[str, str]]:
    """Values that are called what they are."""
    return [(str(value), str(value)) for value in values]


async def export(request: Request) -> Response:
    """The list as a file."""
    choice = ArticleFilter.of(request.query_params.multi_items())
    name = request.path_params["format"]
    if name not in FORMATS:
        raise HTTPException(404, _("There is no such page."))
    # All of the list: where the index cannot name them, all texts are read.
    matches, _notice = await matches_of(request, choice, None)
    selection = replace(
        selection_of(choice, matches), by_story=choice.folded, with_copies=False, order=choice.sort
    )
    exporter = exporters.get(name)
    if not exporter.for_people:
        selection = replace(selection, by_story=False)
    name = f"articles-{datetime.now(SHANGHAI):%Y%m%d-%H%M}{exporter.suffix}"
    return await download(
        request, name, lambda c, file: exporter.write(c, selection, file, lambda _count: None)
    )


async def feed(request: Request) -> Response:
    """The list as RSS, for a news reader."""
    choice = ArticleFilter.of(request.query_params.multi_items())
    matches, _notice = await matches_of(request, choice)

    def newest(c: Connection) -> tuple[Row, ...]:
        wish = ListWish(bounded(c, choice, matches), choice.sort, choice.folded,
                        limit=_FEED_ITEMS)  # fmt: skip
        return rows_of(c, article_list.list_page(c, wish).ids, choice)

    rows = await read(request, newest)
    response = render(request, "articles/feed.xml", rows=rows, choice=choice,
                      base=origin_of(request))  # fmt: skip
    response.headers["Content-Type"] = "application/rss+xml; charset=utf-8"
    return response


async def save_search(request: Request) -> Response:
    """Keep the list under a name."""
    query = ArticleFilter.of(parse_qsl(await field(request, "query", 4_000))).query()
    name = await field(request, "name", 200)
    user, actor = user_of(request), actor_of(request)
    await write(request, people.save_search, actor, user, name, query)
    return await back(request, "articles.list")


async def remove_search(request: Request) -> Response:
    """Forget a saved list."""
    search_id = request.path_params["search_id"]
    await write(request, people.remove_search, actor_of(request), user_of(request), search_id)
    return await back(request, "articles.list")


AREA = Area(N_("Articles"), "newspaper", (
    Page("/articles", "articles.list", show),
    facets.PAGE,
    Page("/articles/feed.xml", "articles.feed", feed, READER, for_programs=True),
    Page("/articles/export/{format}", "articles.export", export),
    Page("/articles/searches", "articles.save_search", save_search, READER, "POST"),
    Page("/articles/searches/{search_id:int}/remove", "articles.remove_search", remove_search,
         READER, "POST"),
    Page("/articles/{article_id:int}", "articles.detail", article.show),
    *evidence.PAGES,
    *reasons.PAGES,
    Page("/articles/{article_id:int}/mark", "articles.mark", article_marks.mark, EDITOR, "POST"),
))  # fmt: skip
