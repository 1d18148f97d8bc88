"""The texts of stored articles alone, for what reads many of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, exists, func, select

from qiaocrawl.storage.converters import from_time, to_stored_time
from qiaocrawl.storage.export.choice import published, published_within
from qiaocrawl.storage.schema import article, relevance, url, verdict
from qiaocrawl.storage.topics.topic_ids import topic_id

_AT_A_TIME = 200


class ArticleText(NamedTuple):
    """What an article says, and where and when it was published (UTC; None for unknown).

    ``id`` is its number, ``at`` its publication, or its fetch where that is unknown.
    """

    url: str
    site: str
    title: str
    text: str
    published_at: datetime | None
    id: int = 0
    at: datetime | None = None


def count_texts(
    c: Connection,
    topic: str | None,
    site: str | None,
    fetched_since: datetime | None = None,
    *,
    since: datetime | None = None,
    before: datetime | None = None,
) -> int:
    """How many texts :func:`iter_texts` gives.

    Raises:
        StorageError: the topic was never imported.
    """
    conditions = (*_conditions(c, topic, site, fetched_since), *published_within(since, before))
    ids = select(article.c.id).where(*conditions).subquery()
    number: int = c.execute(select(func.count()).select_from(ids)).scalar_one()
    return number


def iter_texts(
    c: Connection,
    topic: str | None,
    site: str | None,
    fetched_since: datetime | None = None,
    *,
    since: datetime | None = None,
    before: datetime | None = None,
) -> Iterator[ArticleText]:
    """The stored articles, reprints once.

    Args:
        topic: only those it was judged relevant to; None for all.
        site: only those of this host; None for all.
        fetched_since: only those fetched since, aware; None for all.
        since, before: as in :class:`qiaocrawl.storage.export.choice.Selection`.

    Raises:
        StorageError: the topic was never imported.
    """
    columns = article.c.id, url.c.url, article.c.site, article.c.title, article.c.text
    statement = (
        select(*columns, article.c.published_at, published)
        .join(url, url.c.id == article.c.url_id)
        .where(*_conditions(c, topic, site, fetched_since), *published_within(since, before))
        .order_by(article.c.id)
        .limit(_AT_A_TIME)
    )
    after = 0
    while rows := c.execute(statement.where(article.c.id > after)).all():
        for number, address, host, title, text, published_at, at in rows:
            yield ArticleText(
                address, host, title, text, from_time(published_at), number, from_time(at)
            )
        after = rows[-1][0]


def _conditions(
    c: Connection, topic: str | None, site: str | None, fetched_since: datetime | None
) -> list[ColumnElement[bool]]:
    # A reprint says nothing new: its words would count once for each outlet.
    is_reprint = exists().where(
        verdict.c.article_id == article.c.id, verdict.c.group_id != article.c.id
    )
    conditions: list[ColumnElement[bool]] = [~is_reprint]
    if site is not None:
        conditions.append(article.c.site == site)
    if fetched_since is not None:
        conditions.append(article.c.fetched_at >= to_stored_time(fetched_since))
    if topic is not None:
        conditions.append(
            exists().where(
                relevance.c.article_id == article.c.id,
                relevance.c.topic_id == topic_id(c, topic),
                relevance.c.relevant.is_(True),
            )
        )
    return conditions
