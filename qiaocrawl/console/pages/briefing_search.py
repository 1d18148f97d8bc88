"""Any article for a briefing, by a search at its desk: of other days and topics, too."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import select
from starlette.requests import Request

from qiaocrawl.console.page import read
from qiaocrawl.console.pages.listed_articles import ArticleFilter, Row, listing_of, matches_of
from qiaocrawl.news.drafts.paper import ARTICLE, Item
from qiaocrawl.storage.schema import article

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found; ``there`` are the row ids of articles that are in the briefing."""

    find: str = ""
    rows: tuple[Row, ...] = ()
    count: int = 0
    there: frozenset[int] = frozenset()
    notice: str = ""


async def find_articles(request: Request, items: Collection[Item]) -> Found:
    """The articles with the words that were searched for, in any topic; nothing for no words."""
    find = request.query_params.get("find", "").strip()[:200]
    if not find:
        return Found()
    choice = ArticleFilter.of([("q", find), ("relevance", "any")])
    matches, notice = await matches_of(request, choice)
    listing = await read(request, listing_of, choice, matches)
    urls = {item.about_id for item in items if item.kind == ARTICLE}
    there = await read(
        request,
        lambda c: frozenset(
            c.execute(select(article.c.id).where(article.c.url_id.in_(urls))).scalars()
        ),
    )
    return Found(find, listing.rows[:_SHOWN], listing.count, there, notice)
