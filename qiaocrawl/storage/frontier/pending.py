"""The waiting rows of a scope, as a crawl order in memory reads them and keeps their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from qiaocrawl.storage.frontier.enqueue import stored_score
from qiaocrawl.storage.frontier.payload import payload_of
from qiaocrawl.storage.frontier.scope import Scope, ScopedStatement
from qiaocrawl.storage.raw_sql import Statement

# Reads along the primary key ("+" and FORCE INDEX keep the planner there); with the frontier
# index, all waiting rows would be sorted for every batch.
_AFTER = (
    "SELECT u.id, u.`key`, u.url, h.name, u.depth, u.score, u.anchor,"
    " u.parent_key, u.payload"
    " FROM url u {index} JOIN host h ON h.id = u.host_id WHERE u.id > :after"
    " AND {queue} = :queue AND u.topic_id = :topic_id AND u.state = State.PENDING ORDER BY u.id"
    " LIMIT :count"
)
_WAITING_AFTER = Statement(
    _AFTER.format(index="", queue="+u.queue"),
    mysql=_AFTER.format(index="FORCE INDEX (PRIMARY)", queue="u.queue"),
)

# By key: the order in memory knows no row ids.
_KEEP = Statement(
    "UPDATE url SET score = :score WHERE `key` = :key AND state = State.PENDING AND queue = :queue"
    " AND topic_id = :topic_id"
)
_COUNT = ScopedStatement("SELECT COUNT(*) FROM url WHERE {scope} AND state = State.PENDING")
_AHEAD = ScopedStatement(
    "SELECT COUNT(*) FROM url WHERE {scope} AND state = State.PENDING"
    # As the index orders equal scores: the older row first.
    " AND (score > :score OR (score = :score AND id < :id))"
)


@dataclass(frozen=True, slots=True)
class PendingUrl:
    """A row that waits; ``via`` is the key of the URL that led here without a page of its own."""

    id: int
    key: bytes
    url: str
    host: str
    depth: int
    score: float
    anchor: str
    via: bytes | None = None


def led_by(parent_key: bytes | None, payload: str) -> bytes | None:
    """The key of the URL that stands for a row's own: it redirects there, or is its alias."""
    # Most rows have no payload, and reading JSON would cost more than the row.
    if parent_key is None or not payload:
        return None
    stored = payload_of(payload)
    return bytes(parent_key) if stored.hops or stored.alias_of else None


def waiting_after(c: Connection, scope: Scope, after: int, limit: int) -> list[PendingUrl]:
    """The next *limit* waiting rows of *scope*'s queue and topic behind row *after*, by id.

    Its hosts are not looked at.
    """
    params = {**scope.params(c), "after": after, "count": limit}
    rows = _WAITING_AFTER.run(c, params).fetchall()
    return [
        PendingUrl(row_id, bytes(key), url, host, depth, score, anchor, led_by(parent, payload))
        for row_id, key, url, host, depth, score, anchor, parent, payload in rows
    ]


def keep_scores(c: Connection, scope: Scope, scores: Sequence[tuple[bytes, float]]) -> None:
    """Write (key, score) pairs to those rows of *scope*'s queue and topic that still wait."""
    whose = scope.params(c)
    _KEEP.run_many(c, [
        # In one order, so that workers do not deadlock.
        {**whose, "key": key, "score": stored_score(score)} for key, score in sorted(scores)
    ])  # fmt: skip


def place_of(c: Connection, scope: Scope, url_id: int, score: float) -> tuple[int, int]:
    """(place, number of all that wait) of a waiting row by the stored scores; the best is 1."""
    ahead = sum(row[0] for row in _AHEAD.fetch(c, scope, {"score": score, "id": url_id}))
    return ahead + 1, sum(row[0] for row in _COUNT.fetch(c, scope, {}))
