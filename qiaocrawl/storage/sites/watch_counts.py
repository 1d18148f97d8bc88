"""What watching counts: requests by day and host, and the hours in which sites publish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Connection, Select, func, or_, select

from qiaocrawl.storage.schema import host, url, watched_page
from qiaocrawl.storage.sql import Statement, upsert
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import clean_host, host_id

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["pages", "articles", "looks"]

WEEK_HOURS = 168
_DAY_SECONDS = 86_400
_CHINA_SECONDS = 8 * 3_600

_COUNT_REQUEST = upsert(
    "watch_day",
    "topic_id, day, host_id, pages, articles, looks",
    key="topic_id, day, host_id",
    change={name: f"{name} + :{name}" for name in ("pages", "articles", "looks")},
)
_SPENT = Statement(
    "SELECT h.name, d.pages + d.articles + d.looks FROM watch_day d"
    " JOIN host h ON h.id = d.host_id WHERE d.topic_id = :topic_id AND d.day = :day"
)
# Today is left out: a day that has just begun would look like a quiet one.
_OTHERS = Statement(
    "SELECT COUNT(DISTINCT day), COALESCE(SUM(articles + looks), 0) FROM watch_day"
    " WHERE topic_id = :topic_id AND day >= :first AND day < :day"
)
_TOTALS = Statement(
    "SELECT COALESCE(SUM(pages), 0), COALESCE(SUM(articles), 0), COALESCE(SUM(looks), 0)"
    " FROM watch_day WHERE topic_id = :topic_id AND day = :day"
)
_ADD_HOUR = upsert(
    "watch_hour",
    {"host_id": ":host_id", "hour": ":hour", "articles": "1"},
    key="host_id, hour",
    change={"articles": "articles + 1"},
)
_HOURS = Statement(
    "SELECT h.name, w.hour, w.articles FROM watch_hour w JOIN host h ON h.id = w.host_id"
)


def day_of(now: float) -> int:
    """Days since the epoch, by China's midnight."""
    return int((now + _CHINA_SECONDS) // _DAY_SECONDS)


def count_request(c: Connection, topic: str, host: str, kind: Kind, now: float) -> None:
    """Count a request to *host*, whose row is there."""
    # The upsert adds all three: those of the other kinds add 0.
    counts = {"pages": 0, "articles": 0, "looks": 0, kind: 1}
    _COUNT_REQUEST.run(
        c,
        {
            "topic_id": topic_id(c, topic),
            "day": day_of(now),
            "host_id": host_id(clean_host(host)),
            **counts,
        },
    )


def spent_today(c: Connection, topic: str, now: float) -> Mapping[str, int]:
    """Requests of this day (China's) by host."""
    params = {"topic_id": topic_id(c, topic), "day": day_of(now)}
    return {host: int(count) for host, count in _SPENT.run(c, params).fetchall()}


def totals_today(c: Connection, topic: str, now: float) -> tuple[int, int, int]:
    """Requests of this day (China's) for pages, for new articles, for articles again."""
    params = {"topic_id": topic_id(c, topic), "day": day_of(now)}
    pages, articles, looks = _TOTALS.run(c, params).fetchone()
    return int(pages), int(articles), int(looks)


def articles_a_day(c: Connection, topic: str, now: float, days: int = 7) -> float:
    """Requests for articles on a day, new or again: the mean of the last *days* before today.

    0 where nothing is known.
    """
    day = day_of(now)
    params = {"topic_id": topic_id(c, topic), "day": day, "first": day - days}
    counted, requests = _OTHERS.run(c, params).fetchone()
    # Days without any request are not counted: a pause is no slow day.
    return float(requests) / counted if counted else 0.0


def add_hour(c: Connection, host: str, published: float) -> None:
    """Count an article of *host* that came out at epoch *published*."""
    # From the epoch on, a Thursday at 0:00 UTC: any fixed start serves, since only
    # the rhythm counts.
    hour = int(published // 3600) % WEEK_HOURS
    _ADD_HOUR.run(c, {"host_id": host_id(clean_host(host)), "hour": hour})


def hours_by_host(c: Connection) -> dict[str, NDArray[np.float64]]:
    """(168,) articles by hour of the week, for every host that has any; cost grows with them."""
    import numpy as np

    by_host: dict[str, NDArray[np.float64]] = {}
    for name, hour, articles in _HOURS.run(c).fetchall():
        # The remainder guards the array against rows edited by hand.
        by_host.setdefault(name, np.zeros(WEEK_HOURS))[hour % WEEK_HOURS] = articles
    return by_host


# --- Watched pages as people look through them: a part at a time, those that fail first -----------


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
    chosen = _of(
        c,
        topic,
        find,
        select(
            url.c.url,
            columns.kind,
            columns.name,
            columns.weight,
            columns.failures,
            columns.visits,
            columns.news,
            columns.wait_hours,
            columns.changed_at,
            columns.next_at,
        ),
    )
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
