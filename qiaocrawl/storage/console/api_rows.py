"""What programs read: articles, groups and queries as plain records, a page at a time.

Pages go by the row's number: what comes in meanwhile moves nothing, and page 10,000 costs what the
first does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select

from qiaocrawl.storage.converters import from_time, to_stored_time
from qiaocrawl.storage.schema import article, query, relevance, topic, url, verdict
from qiaocrawl.storage.topics.topic_ids import topic_id

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ArticleChoice:
    """Which articles, and what of them.

    Attributes:
        topic_name: judged for this topic; "" for all articles.
        only_relevant: on topic for it, or for any.
        since: stored or changed at this time or later.
        group_id: of this group of reprints.
        with_text: with their texts.
    """

    topic_name: str = ""
    only_relevant: bool = False
    since: datetime | None = None
    group_id: int | None = None
    with_text: bool = False


def article_records(
    c: Connection, *, after: int, limit: int, choice: ArticleChoice
) -> list[Record]:
    """The first *limit* articles behind the one of number *after*.

    Raises:
        StorageError: the topic was never imported.
    """
    columns = [
        article.c.id, url.c.url, article.c.title, article.c.site, article.c.author,
        article.c.source, article.c.channel, article.c.language, article.c.published_at,
        article.c.fetched_at, article.c.updated_at, verdict.c.group_id,
    ]  # fmt: skip
    statement = (
        select(*columns, *([article.c.text] if choice.with_text else []))
        .join(url, url.c.id == article.c.url_id)
        .outerjoin(verdict, verdict.c.article_id == article.c.id)
        .where(article.c.id > after)
        .order_by(article.c.id)
        .limit(limit)
    )
    statement = statement.where(*_conditions(c, choice))
    rows = c.execute(statement).mappings().all()
    judged = _judgements(c, [row["id"] for row in rows])
    return [{**_record(row), "topics": judged.get(row["id"], [])} for row in rows]


def _conditions(c: Connection, choice: ArticleChoice) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    judged: list[ColumnElement[bool]] = [relevance.c.article_id == article.c.id]
    if choice.topic_name:
        judged.append(relevance.c.topic_id == topic_id(c, choice.topic_name))
    if choice.only_relevant:
        judged.append(relevance.c.relevant)
    if len(judged) > 1:
        conditions.append(select(1).where(*judged).exists())
    if choice.since is not None:
        conditions.append(article.c.updated_at >= to_stored_time(choice.since))
    if choice.group_id is not None:
        conditions.append(verdict.c.group_id == choice.group_id)
    return conditions


def _judgements(c: Connection, article_ids: Sequence[int]) -> dict[int, list[Record]]:
    statement = (
        select(relevance.c.article_id, topic.c.name, relevance.c.score, relevance.c.relevant)
        .join(topic, topic.c.id == relevance.c.topic_id)
        .where(relevance.c.article_id.in_(article_ids))
        .order_by(relevance.c.article_id, topic.c.name)
    )
    judged: dict[int, list[Record]] = {}
    for article_id, name, score, relevant in c.execute(statement):
        entry = {"topic": name, "score": score, "relevant": bool(relevant)}
        judged.setdefault(article_id, []).append(entry)
    return judged


def group_records(c: Connection, *, after: int, limit: int, least_members: int) -> list[Record]:
    """The first *limit* reprint groups behind number *after* with so many articles or more.

    A group's number is that of the article that stands for it.
    """
    members = func.count()
    sized = (
        select(verdict.c.group_id, members.label("articles"),
               func.count(article.c.site.distinct()).label("sites"),
               func.min(article.c.published_at).label("first_published_at"))
        .join(article, article.c.id == verdict.c.article_id)
        .where(verdict.c.group_id > after)
        .group_by(verdict.c.group_id)
        .having(members >= least_members)
        .order_by(verdict.c.group_id)
        .limit(limit)
        .subquery()
    )  # fmt: skip
    statement = (
        select(sized.c.group_id.label("id"), article.c.title, article.c.site, url.c.url,
               sized.c.articles, sized.c.sites, sized.c.first_published_at)
        .join(article, article.c.id == sized.c.group_id)
        .join(url, url.c.id == article.c.url_id)
        .order_by(sized.c.group_id)
    )  # fmt: skip
    return [_record(row) for row in c.execute(statement).mappings()]


def query_records(c: Connection, *, after: int, limit: int, topic_name: str = "") -> list[Record]:
    """The first *limit* queries of the coverage ledger behind number *after*.

    Raises:
        StorageError: the topic was never imported.
    """
    statement = (
        select(query.c.id, topic.c.name.label("topic"), query.c.term, query.c.site,
               query.c.engine, query.c.period, query.c.page, query.c.state, query.c.hits,
               query.c.new_urls, query.c.tries, query.c.message, query.c.asked_at, query.c.due_at)
        .join(topic, topic.c.id == query.c.topic_id)
        .where(query.c.id > after)
        .order_by(query.c.id)
        .limit(limit)
    )  # fmt: skip
    if topic_name:
        statement = statement.where(query.c.topic_id == topic_id(c, topic_name))
    return [_record(row) for row in c.execute(statement).mappings()]


def _record(row: Any) -> Record:
    """A row with its times as ISO 8601 in UTC; every column whose name ends in _at is one."""
    record = dict(row)
    for name in record:
        if name.endswith("_at") and record[name] is not None:
            moment = from_time(record[name])
            record[name] = None if moment is None else moment.isoformat(timespec="seconds")
    return record
