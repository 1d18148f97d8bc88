"""The orders of lists, for files that keep them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select

from qiaocrawl.storage.export.choice import Selection, article_conditions, batches
from qiaocrawl.storage.schema import article, relevance
from qiaocrawl.storage.topics.topic_ids import topic_id

NEWEST, PUBLISHED, SCORE = "newest", "published", "score"
ORDERS = (NEWEST, PUBLISHED, SCORE)
"""Newly found first, newly published first, most on topic first."""


def in_order(rows: Iterable[Any], order: str) -> list[Any]:
    """*rows* in one of ``ORDERS``, by their id, site, fetched_at, published_at and score."""
    return sorted(rows, key=lambda row: _key(row, order), reverse=True)


def _key(row: Any, order: str) -> tuple[Any, ...]:
    if order == SCORE:
        return row.score if row.score is not None else -1.0, row.id
    # What has no date comes last.
    dates = (row.fetched_at or datetime.min, row.published_at or datetime.min)
    return *(dates if order == NEWEST else reversed(dates)), row.site, row.id


def ordered_ids(c: Connection, selection: Selection) -> Iterator[int]:
    """The selected articles by row id, in the selection's order.

    Raises:
        StorageError: its topic was never imported.
    """
    judged = relevance.c.article_id == article.c.id
    if selection.topic is not None:
        judged &= relevance.c.topic_id == topic_id(c, selection.topic)
    columns = [article.c.id, article.c.site, article.c.fetched_at, article.c.published_at]
    score = select(func.max(relevance.c.score)).where(judged).scalar_subquery().label("score")
    statement = select(*columns, *([score] if selection.order == SCORE else []))
    rows = [
        row
        for part in batches(c, selection)
        for row in c.execute(statement.where(*article_conditions(c, part)))
    ]
    return (row.id for row in in_order(rows, selection.order))
