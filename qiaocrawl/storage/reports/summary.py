"""What a person wants to know of a topic's collection: counts, sites, reprints, articles."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Select, and_, case, desc, func, select

from qiaocrawl.items import Outcome, Queue
from qiaocrawl.storage.converters import from_time
from qiaocrawl.storage.schema import (
    State,
    article,
    query,
    relevance,
    site,
    topic,
    url,
    verdict,
)

_OPEN = (State.PENDING, State.LEASED, State.FETCHED)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a spider's queue is: URLs known, URLs closed; articles counts all queues.

    URLs the crawl order or a guess of discovery left out are neither.
    """

    known: int
    done: int
    articles: int


@dataclass(frozen=True, slots=True)
class SiteLine:
    """One site's articles. ``name`` is the topic's name for the host, "" when it has none."""

    host: str
    name: str
    articles: int
    relevant: int


@dataclass(frozen=True, slots=True)
class GroupLine:
    """One reprint group: the title that represents it, and the first (title, host) of each
    other site, first come first.
    """

    title: str
    host: str
    members: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ArticleLine:
    """One article as a list shows it; ``score`` in [0, 1]."""

    title: str
    url: str
    host: str
    published: datetime | None
    score: float


def queue_progress(c: Connection, queue: str) -> Progress:
    """Counts of the frontier rows of *queue* (``search``, ``site`` or ``pages``)."""
    is_open = case((url.c.state.in_(_OPEN), 1), else_=0)
    row = c.execute(
        select(func.count(), func.coalesce(func.sum(is_open), 0)).where(
            url.c.queue == queue,
            # COALESCE: NULL NOT IN (...) is NULL, which would drop every open row.
            func.coalesce(url.c.outcome, "").not_in((Outcome.PRUNED, Outcome.POSTPONED)),
        )
    ).one()
    articles = c.execute(select(func.count()).select_from(article)).scalar_one()
    return Progress(known=row[0], done=row[0] - int(row[1]), articles=articles)


def search_yield(c: Connection, topic_name: str) -> tuple[int, int]:
    """(hits of all answers, URLs that were new among them)."""
    row = c.execute(
        select(
            func.coalesce(func.sum(query.c.hits), 0), func.coalesce(func.sum(query.c.new_urls), 0)
        )
        .join(topic, topic.c.id == query.c.topic_id)
        .where(topic.c.name == topic_name)
    ).one()
    # MariaDB's sums are Decimals.
    return int(row[0]), int(row[1])


def outcomes(c: Connection, topic_name: str) -> dict[str, int]:
    """Page URLs (engines' result pages apart) by outcome; ``waiting`` for the open ones."""
    name = case((url.c.state.in_(_OPEN), "waiting"), else_=func.coalesce(url.c.outcome, "?"))
    statement = (
        select(name, func.count())
        .join(topic, topic.c.id == url.c.topic_id)
        .where(topic.c.name == topic_name, url.c.queue != Queue.SEARCH)
        .group_by(name)
    )
    return {row[0]: row[1] for row in c.execute(statement)}


def relevance_counts(c: Connection, topic_name: str) -> tuple[int, int]:
    """(on-topic articles, off-topic articles)."""
    statement = (
        select(relevance.c.relevant, func.count())
        .join(topic, topic.c.id == relevance.c.topic_id)
        .where(topic.c.name == topic_name)
        .group_by(relevance.c.relevant)
    )
    counts = {bool(relevant): count for relevant, count in c.execute(statement)}
    return counts.get(True, 0), counts.get(False, 0)


def sites(c: Connection, topic_name: str) -> list[SiteLine]:
    """Articles by site, the most relevant first."""
    on_topic = func.coalesce(func.sum(case((relevance.c.relevant, 1), else_=0)), 0)
    # On host and topic: another topic may call the site something else.
    named = and_(site.c.host == article.c.site, site.c.topic_id == topic.c.id)
    statement = (
        select(article.c.site, func.max(site.c.name), func.count(), on_topic)
        .join(relevance, relevance.c.article_id == article.c.id)
        .join(topic, topic.c.id == relevance.c.topic_id)
        .outerjoin(site, named)
        .where(topic.c.name == topic_name)
        .group_by(article.c.site)
        .order_by(desc(on_topic), article.c.site)
    )
    return [SiteLine(h, name or "", count, int(on)) for h, name, count, on in c.execute(statement)]


def reprint_groups(c: Connection, topic_name: str, limit: int) -> tuple[int, list[GroupLine]]:
    """(number of groups on topic that several sites published, the largest *limit* of them)."""
    sites = func.count(article.c.site.distinct())
    sized = (
        _on_topic(select(verdict.c.group_id, sites.label("size")), topic_name)
        .join(article, article.c.id == verdict.c.article_id)
        .group_by(verdict.c.group_id)
        .having(sites > 1)
        .subquery()
    )
    total = c.execute(select(func.count()).select_from(sized)).scalar_one()
    largest = c.execute(
        select(sized.c.group_id).order_by(desc(sized.c.size), sized.c.group_id).limit(limit)
    ).scalars()
    return total, [_group(c, group_id) for group_id in largest]


def _on_topic(columns: Select[tuple[int, int]], topic_name: str) -> Select[tuple[int, int]]:
    return (
        columns.select_from(verdict)
        .join(relevance, relevance.c.article_id == verdict.c.article_id)
        .join(topic, topic.c.id == relevance.c.topic_id)
        .where(topic.c.name == topic_name, relevance.c.relevant)
    )


def _group(c: Connection, group_id: int) -> GroupLine:
    rows = c.execute(
        select(article.c.id, article.c.title, article.c.site)
        .join(verdict, verdict.c.article_id == article.c.id)
        .where(verdict.c.group_id == group_id)
        .order_by(article.c.published_at, article.c.id)
    ).all()
    head = next((row for row in rows if row.id == group_id), rows[0])
    copies: dict[str, str] = {}
    for row in rows:
        if row.site != head.site:
            copies.setdefault(row.site, row.title)
    return GroupLine(head.title, head.site, tuple((title, site) for site, title in copies.items()))


def best_articles(c: Connection, topic_name: str, limit: int) -> list[ArticleLine]:
    """The highest-scored on-topic articles, representatives of their reprint groups only."""
    stands_for_group: ColumnElement[bool] = verdict.c.group_id == article.c.id
    statement = (
        select(
            article.c.title,
            url.c.url,
            article.c.site,
            article.c.published_at,
            relevance.c.score,
        )
        .join(relevance, relevance.c.article_id == article.c.id)
        .join(topic, topic.c.id == relevance.c.topic_id)
        .join(verdict, verdict.c.article_id == article.c.id)
        .join(url, url.c.id == article.c.url_id)
        .where(topic.c.name == topic_name, relevance.c.relevant, stands_for_group)
        .order_by(desc(relevance.c.score), article.c.id)
        .limit(limit)
    )
    return [
        ArticleLine(title, address, host, from_time(published), score)
        for title, address, host, published, score in c.execute(statement)
    ]
