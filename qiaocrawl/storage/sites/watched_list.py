"""Watched pages as people look through them: a part at a time, those that fail first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, or_, select

from qiaocrawl.storage.schema import host, url, watched_page
from qiaocrawl.storage.topics.topic_ids import topic_id


@dataclass(frozen=True, slots=True)
class ListedPage:
    """What a list shows of a watched page. Times are epoch seconds, None for never."""

    url: str
    kind: str
    name: str
    weight: float
    failures: int
    visits: int
    news: int
    wait_hours: float
    changed_at: float | None
    next_at: float


def watched_list(
    c: Connection, topic: str, find: str, skip: int, limit: int
) -> tuple[list[ListedPage], int]:
    """A part of the watched pages of *topic*, and how many there are in all.

    Args:
        find: what their addresses or names hold, whatever its case; "" for any.

    Raises:
        StorageError: the topic was never imported.
    """
    columns = watched_page.c
    chosen = _of(c, topic, find, select(
        url.c.url, columns.kind, columns.name, columns.weight, columns.failures, columns.visits,
        columns.news, columns.wait_hours, columns.changed_at, columns.next_at,
    ))  # fmt: skip
    # Its own failures first, then host by host.
    ordered = chosen.order_by(columns.failures.desc(), host.c.name, url.c.url, url.c.id)
    pages = [ListedPage(*row) for row in c.execute(ordered.offset(skip).limit(limit))]
    return pages, c.execute(_of(c, topic, find, select(func.count()))).scalar_one()


def _of(c: Connection, topic: str, find: str, columns: Select[Any]) -> Select[Any]:
    statement = (
        columns.select_from(watched_page)
        .join(url, url.c.id == watched_page.c.url_id)
        .join(host, host.c.id == url.c.host_id)
        .where(watched_page.c.topic_id == topic_id(c, topic))
    )
    if not find:
        return statement
    lower = func.lower(url.c.url), func.lower(watched_page.c.name)
    return statement.where(or_(*(text.contains(find.lower(), autoescape=True) for text in lower)))
