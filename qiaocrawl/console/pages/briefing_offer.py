"""What may be put into a briefing: events and articles of its days, and any that a search finds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import select
from starlette.requests import Request

from qiaocrawl.console.page import read, read_kept
from qiaocrawl.console.pages.listed_articles import ArticleFilter, Row, listing_of, matches_of
from qiaocrawl.news.drafts import making
from qiaocrawl.news.drafts.making import Stretch
from qiaocrawl.news.drafts.paper import ARTICLE, Draft, Item
from qiaocrawl.storage.schema import article
from qiaocrawl.storage.topics.word_groups import group_names

_SHOWN = 10
# A day's events are ordered for it.
_OFFER_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Offered:
    """What stands beside a briefing that is written; nothing beside others."""

    of_days: making.Offer
    found: Found
    groups: tuple[str, ...] = ()
    """Groups of words to choose among."""
    chosen_groups: tuple[str, ...] = ()
    chosen_media: tuple[str, ...] = ()


async def offered(request: Request, draft: Draft, *, is_writing: bool) -> Offered:
    """What may go into *draft*, without what is in it; of its days it is kept for a minute.

    Args:
        is_writing: who asks may put something in.
    """
    if not is_writing:
        return Offered(making.Offer((), ()), Found())
    groups, media = _chosen(request, "group"), _chosen(request, "medium")
    stretch = Stretch(draft.topic, draft.since, draft.before, groups, media)
    days = f"{draft.since} {draft.before:%Y-%m-%d %H}"
    name = f"desk offer {draft.topic} {days} {groups} {media}"
    of_days = await read_kept(request, name, _OFFER_SECONDS, making.offer_of, stretch)
    return Offered(
        of_days.without(draft.items),
        await find_articles(request, draft.items),
        tuple(await read(request, group_names, draft.topic or None)),
        groups,
        media,
    )


def _chosen(request: Request, name: str) -> tuple[str, ...]:
    """What is offered only; what is no kind of medium finds nothing."""
    value = request.query_params.get(name, "").strip()[:100]
    return (value,) if value else ()


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
