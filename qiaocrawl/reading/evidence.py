"""A page as it was fetched: the evidence behind an article."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, and_, exists, or_, select

from qiaocrawl.items import FetchedPage, Outcome
from qiaocrawl.reading.listing import ListedArticle, list_articles
from qiaocrawl.storage.pages.raw_pages import PAGE_COLUMNS, load_page, page_of
from qiaocrawl.storage.pages.revisions import (
    DELETED,
    REVISED,
    WITHDRAWN,
    Revision,
    Source,
    sources_of,
    version_of,
)
from qiaocrawl.storage.schema import article, page_source, revision, url
from qiaocrawl.storage.selection import Selection
from qiaocrawl.storage.sites.watched import watched_article
from qiaocrawl.storage.sql import Statement
from qiaocrawl.storage.url_history import Judgement, UrlHistory, judgements_of
from qiaocrawl.storage.values import from_time
from qiaocrawl.urls import canonical_url, url_key


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """A stored page.

    Attributes:
        digest: hexadecimal; of the whole body, also where less is stored.
        sha256: hexadecimal; of what is stored.
        body_bytes: of the whole body.
        version: its row, which tells it from other versions of the page.
        is_own: the article was read from this version.
    """

    page: FetchedPage
    digest: str
    sha256: str
    body_bytes: int
    version: int
    is_own: bool


def page_evidence(c: Connection, article_id: int, version: int = 0) -> PageEvidence | None:
    """The page an article was read from; None where it is not stored any more.

    Args:
        version: the row of a stored version of its page; 0 is the one it was read from.
    """
    row = c.execute(
        select(
            *PAGE_COLUMNS,
            page_source.c.digest,
            page_source.c.body_bytes,
            page_source.c.id,
            article.c.page_source_id,
        )
        .select_from(article)
        .join(page_source, version_of(version))
        .join(url, url.c.id == article.c.url_id)
        .where(article.c.id == article_id)
    ).one_or_none()
    if row is None:
        return None
    page = page_of(c, row[: len(PAGE_COLUMNS)])
    sha256 = hashlib.sha256(page.body).hexdigest()
    return PageEvidence(
        page, bytes(row.digest).hex(), sha256, row.body_bytes, row.id, row.id == row.page_source_id
    )


@dataclass(frozen=True, slots=True)
class HostPage:
    """A stored page of a site; ``title`` is "" for a page that is no article."""

    url: str
    title: str


def pages_of_host(c: Connection, host: str, most: int = 15) -> list[HostPage]:
    """The newest *most* articles of *host* whose page is stored, and the pages that led to them."""
    rows = c.execute(
        select(url.c.url, article.c.title, url.c.parent_key)
        .join(article, article.c.url_id == url.c.id)
        .where(article.c.site == host, article.c.page_source_id.is_not(None))
        .order_by(article.c.id.desc())
        .limit(most)
    ).all()
    parents = {row.parent_key for row in rows if row.parent_key is not None}
    leading = c.execute(
        select(url.c.url)
        .where(url.c.key.in_(parents))
        .where(exists().where(page_source.c.url_id == url.c.id))
        .order_by(url.c.id)
    ).scalars()
    return [HostPage(row.url, row.title) for row in rows] + [HostPage(one, "") for one in leading]


def stored_page_at(c: Connection, address: str) -> FetchedPage | None:
    """The newest stored page of *address*; None where there is none."""
    canonical = canonical_url(address)
    if canonical is None:
        return None
    row_id = c.execute(select(url.c.id).where(url.c.key == url_key(canonical))).scalar()
    return None if row_id is None else load_page(c, row_id)


# --- One article with all that speaks for it: judgements, its story, where it came from -----------


@dataclass(frozen=True, slots=True)
class ArticleEvidence:
    """An article with its evidence.

    Attributes:
        keywords, description: as the page declares them.
        found_on, anchor: the page that led to it first, and in which words; "" for none.
        sources: stored versions of its page, the first one first.
    """

    listed: ListedArticle
    text: str
    judgements: tuple[Judgement, ...]
    found_on: str
    anchor: str
    sources: tuple[Source, ...]
    keywords: str = ""
    description: str = ""


def has_article(c: Connection, article_id: int) -> bool:
    """Whether there is an article of that row id."""
    statement = select(article.c.id).where(article.c.id == article_id)
    return c.execute(statement).scalar_one_or_none() is not None


def evidence_of(c: Connection, article_id: int) -> ArticleEvidence:
    """The article of row id *article_id*, which must exist, with its evidence."""
    parent = url.alias("parent")
    row = c.execute(
        select(
            url.c.id,
            article.c.text,
            article.c.anchor,
            parent.c.url.label("found_on"),
            article.c.keywords,
            article.c.description,
        )
        .select_from(article)
        .join(url, url.c.id == article.c.url_id)
        .outerjoin(parent, parent.c.key == url.c.parent_key)
        .where(article.c.id == article_id)
    ).one()
    (listed,) = list_articles(c, Selection(article_ids=(article_id,)))
    return ArticleEvidence(
        listed,
        row.text,
        judgements_of(c, article_id),
        row.found_on or "",
        row.anchor,
        tuple(sources_of(c, row.id)),
        row.keywords,
        row.description,
    )


# --- Whether an article is still on the web, as far as it was looked for --------------------------

_LAST_SEEN = Statement(
    "SELECT p.last_seen_at FROM article a JOIN page_source p ON p.id = a.page_source_id"
    " WHERE a.url_id = :url_id"
)


@dataclass(frozen=True, slots=True)
class Presence:
    """What is known of an article's page.

    Attributes:
        seen_at: when it was there last with this text.
        gone_at: when it was found to be gone; None while it is there, as far as is known.
        failed_at: when it could not be had for another reason, after it had been seen.
        why: of the last two, as the host or the crawl said it.
        next_at: when it is looked at again; None for never.
    """

    seen_at: datetime | None
    gone_at: datetime | None = None
    failed_at: datetime | None = None
    why: str = ""
    next_at: datetime | None = None


def presence_of(c: Connection, history: UrlHistory, revisions: Sequence[Revision]) -> Presence:
    """Whether the article at the URL of *history*, with its *revisions*, is still there."""
    row = _LAST_SEEN.run(c, {"url_id": history.id}).fetchone()
    seen_at = None if row is None else from_time(row[0])
    watched = watched_article(c, history.id)
    next_at = None if watched is None else datetime.fromtimestamp(watched.next_at, UTC)
    facts = [revision for revision in revisions if revision.kind != REVISED]
    if facts and facts[-1].kind == DELETED:
        return Presence(seen_at, gone_at=facts[-1].at, why=facts[-1].note, next_at=next_at)
    done_at = history.done_at
    if history.outcome == Outcome.DEAD and done_at and (seen_at is None or done_at > seen_at):
        return Presence(seen_at, failed_at=done_at, why=history.reason, next_at=next_at)
    return Presence(seen_at, next_at=next_at)


# --- What changed in the collection, in order: what the full text index follows -------------------


@dataclass(frozen=True, slots=True)
class ChangedArticle:
    """An article as it is now. Times are stored ones: UTC without zone."""

    id: int
    url_id: int
    title: str
    text: str
    fetched_at: datetime
    updated_at: datetime


def changed_since(
    c: Connection, moment: datetime | None, after_id: int, limit: int
) -> list[ChangedArticle]:
    """The first *limit* articles that were written behind a place, in order.

    Args:
        moment, after_id: the place: ``updated_at`` and row; None for the beginning.
    """
    columns = (
        article.c.id,
        article.c.url_id,
        article.c.title,
        article.c.text,
        article.c.fetched_at,
        article.c.updated_at,
    )
    statement = select(*columns).order_by(article.c.updated_at, article.c.id).limit(limit)
    if moment is not None:
        same = and_(article.c.updated_at == moment, article.c.id > after_id)
        # Both bounds: the first alone is what an index can serve.
        behind = article.c.updated_at >= moment, or_(article.c.updated_at > moment, same)
        statement = statement.where(*behind)
    return [ChangedArticle(*row) for row in c.execute(statement)]


def withdrawn_since(c: Connection, revision_id: int) -> tuple[list[int], int]:
    """URLs that had an article and have none any more, and the last revision looked at.

    Args:
        revision_id: revisions behind this one are looked at.
    """
    rows = c.execute(
        select(revision.c.id, revision.c.url_id).where(
            revision.c.id > revision_id, revision.c.kind == WITHDRAWN
        )
    ).all()
    last = max((row.id for row in rows), default=revision_id)
    there = _with_article(c, [row.url_id for row in rows])
    return sorted({row.url_id for row in rows} - there), last


def _with_article(c: Connection, url_ids: Sequence[int]) -> set[int]:
    if not url_ids:
        return set()
    return set(c.execute(select(article.c.url_id).where(article.c.url_id.in_(url_ids))).scalars())
