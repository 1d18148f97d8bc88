"""What changed in the collection, in order: what the full text index follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, func, or_, select

from qiaocrawl.storage.pages.revisions import WITHDRAWN
from qiaocrawl.storage.schema import article, revision


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
        article.c.id, article.c.url_id, article.c.title, article.c.text, article.c.fetched_at,
        article.c.updated_at,
    )  # fmt: skip
    statement = select(*columns).order_by(article.c.updated_at, article.c.id).limit(limit)
    if moment is not None:
        same = and_(article.c.updated_at == moment, article.c.id > after_id)
        # Both bounds: the first alone is what an index can serve.
        behind = article.c.updated_at >= moment, or_(article.c.updated_at > moment, same)
        statement = statement.where(*behind)
    return [ChangedArticle(*row) for row in c.execute(statement)]


def count_articles(c: Connection) -> int:
    """How many there are."""
    count: int = c.execute(select(func.count()).select_from(article)).scalar_one()
    return count


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
