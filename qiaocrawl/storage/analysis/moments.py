"""When articles came out, for counts over time."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from qiaocrawl.storage.converters import from_time
from qiaocrawl.storage.export.choice import Selection, article_conditions, published
from qiaocrawl.storage.schema import article, verdict
from qiaocrawl.text.zones import SHANGHAI


class ArticleMoment(NamedTuple):
    """When an article came out, or was fetched where that is unknown.

    ``tells_hour``: it names an hour, not only a day (midnight in China).
    """

    at: datetime
    tells_hour: bool


def article_moments(
    c: Connection, selection: Selection, *, reprints_once: bool = False
) -> list[ArticleMoment]:
    """Of all articles that *selection* means, in no order.

    Args:
        reprints_once: of a group of reprints the earliest that *selection* means only.

    Raises:
        StorageError: the selection's topic was never imported.
    """
    group = func.coalesce(verdict.c.group_id, article.c.id) if reprints_once else article.c.id
    statement = select(published, article.c.published_at.is_not(None), group).where(
        *article_conditions(c, selection)
    )
    if reprints_once:
        statement = statement.outerjoin(verdict, verdict.c.article_id == article.c.id)
        statement = statement.order_by(published, article.c.id)
    moments, seen = [], set()
    for stored, is_dated, number in c.execute(statement):
        if number in seen:
            continue
        seen.add(number)
        at = from_time(stored)
        assert at is not None, "every article was fetched some time"
        local = at.astimezone(SHANGHAI)
        is_midnight = (local.hour, local.minute, local.second) == (0, 0, 0)
        moments.append(ArticleMoment(at, bool(is_dated) and not is_midnight))
    return moments
