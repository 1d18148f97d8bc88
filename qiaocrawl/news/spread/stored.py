"""Stored articles as publications of a story, with what their pages say of where they come from."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select

from qiaocrawl.dedup.fingerprints import body_sketch
from qiaocrawl.news.spread.edges import credits_in
from qiaocrawl.news.spread.publication import Change, ChangeKind, Publication
from qiaocrawl.news.spread.tree import SpreadTree, spread_tree
from qiaocrawl.reading.listing import OutletNames
from qiaocrawl.storage.packed_text import unpack_html
from qiaocrawl.storage.pages.articles import comments_from
from qiaocrawl.storage.pages.revisions import DELETED, RESTORED, REVISED
from qiaocrawl.storage.schema import article, page_source, revision, story_article, title_entry, url
from qiaocrawl.storage.titles import groups as reprint_groups
from qiaocrawl.storage.values import from_time
from qiaocrawl.urls import canonical_url

_AT_A_TIME = 200
_HREF = re.compile(r'<a href="([^"]+)"')
_MOST_LINKS = 100
_KINDS: dict[str, ChangeKind] = {REVISED: "corrected", DELETED: "deleted", RESTORED: "restored"}


def publications_of(
    c: Connection, article_ids: Sequence[int], topic: str | None = None
) -> list[Publication]:
    """The articles with these row ids; ids of none are left out.

    Args:
        topic: whose names, tiers and regions of sites count; None for any topic's.

    Raises:
        StorageError: the topic was never imported.
    """
    names = OutletNames(c, topic)
    return [
        _publication(row, names, changes.get(row.url_id, ()))
        for start in range(0, len(article_ids), _AT_A_TIME)
        for rows, changes in [_batch(c, article_ids[start : start + _AT_A_TIME])]
        for row in rows
    ]


def _batch(
    c: Connection, article_ids: Sequence[int]
) -> tuple[Sequence[Any], dict[int, tuple[Change, ...]]]:
    # A page may have been fetched again since; the first time bounds when it was published.
    first_fetch = (
        select(func.min(page_source.c.fetched_at))
        .where(page_source.c.url_id == article.c.url_id)
        .scalar_subquery()
    )
    statement = (
        select(
            url.c.url,
            article.c.url_id,
            article.c.site,
            article.c.title,
            article.c.published_at,
            func.coalesce(first_fetch, article.c.fetched_at).label("first_fetched"),
            article.c.source,
            article.c.author,
            article.c.text,
            article.c.html,
            article.c.engagement,
            article.c.comments,
            title_entry.c.body_sketch,
        )
        .join(url, url.c.id == article.c.url_id)
        .outerjoin(title_entry, title_entry.c.article_id == article.c.id)
        .where(article.c.id.in_(article_ids))
        .order_by(article.c.id)
    )
    rows = c.execute(statement).all()
    return rows, _changes(c, [row.url_id for row in rows])


def _changes(c: Connection, url_ids: Sequence[int]) -> dict[int, tuple[Change, ...]]:
    statement = (
        select(revision.c.url_id, revision.c.kind, revision.c.at, revision.c.note)
        .where(revision.c.url_id.in_(url_ids), revision.c.kind.in_(_KINDS))
        .order_by(revision.c.id)
    )
    changes: dict[int, tuple[Change, ...]] = {}
    for url_id, kind, at, note in c.execute(statement):
        change = Change(_KINDS[kind], _moment(at), note)
        changes[url_id] = (*changes.get(url_id, ()), change)
    return changes


def _publication(row: Any, names: OutletNames, changes: tuple[Change, ...]) -> Publication:
    outlet = names.of(row.site)
    return Publication(
        key=row.url,
        host=row.site,
        title=row.title,
        published_at=from_time(row.published_at),
        fetched_at=_moment(row.first_fetched),
        outlet="" if outlet.name == row.site else outlet.name,
        sketch=row.body_sketch or body_sketch(row.text),
        source=row.source,
        credits=credits_in(row.text),
        links=tuple(_links(unpack_html(row.html, row.text))),
        tier=outlet.tier,
        region=outlet.region,
        author=row.author,
        engagement=json.loads(row.engagement) if row.engagement else {},
        comments=len(comments_from(row.comments)) if row.comments else None,
        changes=changes,
    )


def _links(markup: str) -> Iterator[str]:
    """Where the links of a body lead, each once."""
    hrefs = dict.fromkeys(_HREF.findall(markup))
    for href in list(hrefs)[:_MOST_LINKS]:
        if address := canonical_url(html.unescape(href)):
            yield address


def _moment(stored: Any) -> datetime:
    at = from_time(stored)
    assert at is not None
    return at


# --- The spread of a stored article: its reprints, and what of its story hangs together with
# them

_MOST_OF_A_STORY = 500


def spread_of(c: Connection, article_id: int, topic: str | None = None) -> SpreadTree:
    """Who took it from whom; without a publication where there is no such article.

    A text that was corrected, cut or given other figures leaves the group of its old copies, but
    not its story. So the story is read too (unless it is very large), and what is joined with the
    group by an edge belongs to its spread.
    """
    group = [member.article_id for member in reprint_groups.chain(c, article_id)] or [article_id]
    own = publications_of(c, group, topic)
    others = sorted(set(_of_stories(c, group)) - set(group))
    if not own or not others or len(others) > _MOST_OF_A_STORY:
        return spread_tree(own)
    whole = spread_tree([*own, *publications_of(c, others, topic)])
    joined = _connected_keys(whole, {publication.key for publication in own})
    if len(joined) == len(whole.publications):
        return whole
    return spread_tree([whole.publications[key] for key in whole.publications if key in joined])


def _of_stories(c: Connection, group: Collection[int]) -> list[int]:
    """The articles of the stories that articles of *group* are in."""
    stories = (
        select(story_article.c.story_id)
        .join(article, article.c.url_id == story_article.c.url_id)
        .where(article.c.id.in_(group), story_article.c.story_id.is_not(None))
    )
    told = select(article.c.id).join(story_article, story_article.c.url_id == article.c.url_id)
    numbers = set(c.execute(stories).scalars())
    return list(c.execute(told.where(story_article.c.story_id.in_(numbers))).scalars())


def _connected_keys(tree: SpreadTree, keys: set[str]) -> set[str]:
    """*keys*, and all that edges lead to from there, in either direction.

    Likeness alone joins nobody: those of a story are alike, and were not found to be reprints.
    """
    edges = [
        (key, edge.parent)
        for key, edge in tree.edges.items()
        if edge.parent and edge.evidence[0].kind != "text"
    ]
    joined, size = set(keys), -1
    while len(joined) != size:
        size = len(joined)
        for key, parent in edges:
            if key in joined or parent in joined:
                joined |= {key, parent}
    return joined
