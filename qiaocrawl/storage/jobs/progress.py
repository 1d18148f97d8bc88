"""How a crawl goes on right now, by its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, func, select

from qiaocrawl.items import Queue
from qiaocrawl.storage.converters import to_stored_time
from qiaocrawl.storage.schema import State, query, url, visit
from qiaocrawl.storage.topics.topic_ids import topic_id

# Rates are those of the last minute; so many visits of it are counted at most.
_MINUTE_SECONDS = 60.0
_MOST_VISITS = 5_000


@dataclass(frozen=True, slots=True)
class CrawlProgress:
    """URLs of some queues of a topic by where they stand, and pages (or answers) a minute."""

    waiting: int
    in_hand: int
    done: int
    per_minute: int


def crawl_progress(c: Connection, topic: str, queues: Sequence[Queue], now: float) -> CrawlProgress:
    """How far the *queues* of *topic* are. Linear in their rows, by an index.

    Raises:
        StorageError: *topic* was never imported.
    """
    whose = topic_id(c, topic)
    names = [queue.value for queue in queues]
    statement = (
        select(url.c.state, func.count())
        .where(url.c.queue.in_(names), url.c.topic_id == whose)
        .group_by(url.c.state)
    )
    counts = {int(state): int(count) for state, count in c.execute(statement)}
    waiting = counts.pop(State.PENDING, 0)
    in_hand = counts.pop(State.LEASED, 0) + counts.pop(State.FETCHED, 0)
    return CrawlProgress(waiting, in_hand, sum(counts.values()), _rate(c, whose, names, now))


def _rate(c: Connection, topic: int, queues: Sequence[str], now: float) -> int:
    since = now - _MINUTE_SECONDS
    newest = (
        select(visit.c.at)
        .where(visit.c.topic_id == topic, visit.c.queue.in_(queues))
        .order_by(visit.c.seq.desc())
        .limit(_MOST_VISITS)
        .subquery()
    )
    rate = int(c.scalar(select(func.count()).where(newest.c.at >= since)) or 0)
    if Queue.SEARCH in queues:
        minute_ago = datetime.fromtimestamp(now, UTC) - timedelta(seconds=_MINUTE_SECONDS)
        answered = select(func.count()).where(
            query.c.topic_id == topic, query.c.asked_at >= to_stored_time(minute_ago)
        )
        rate += int(c.scalar(answered) or 0)
    return rate
