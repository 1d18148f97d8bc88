"""Handing out the best waiting URLs, fairly between hosts.

The frontier index gives one host's best rows without sorting; a batch looks at the best row of
every host that has any, then deeper into those whose best row can still make it.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NotRequired, TypedDict, Unpack

from sqlalchemy import Connection

from qiaocrawl.items import Lease
from qiaocrawl.storage.frontier.enqueue import payload_of, stored_score
from qiaocrawl.storage.frontier.lifecycle import SUSPECTED
from qiaocrawl.storage.frontier.scope import Scope, ScopedStatement
from qiaocrawl.storage.schema import State
from qiaocrawl.storage.sql import ListStatement, Statement, upsert
from qiaocrawl.storage.values import clean_host, clean_text, host_id, json_mapping, to_json

# --- Hosts that have waiting rows, in the order of their ids: what a batch is chosen from ---------
# A host may have one row or a hundred thousand, so none but the first of each may be read.

# A loose index scan, a jump a host, which SQLite does only when told.
_JUMPS = Statement(
    "WITH RECURSIVE h(id, n) AS ("
    " SELECT MIN(host_id), 1 FROM url WHERE queue = :queue AND topic_id = :topic_id"
    "  AND state = State.PENDING AND host_id >= :first AND host_id <= :last"
    " UNION ALL SELECT (SELECT MIN(u.host_id) FROM url u WHERE u.queue = :queue"
    "  AND u.topic_id = :topic_id AND u.state = State.PENDING AND u.host_id > h.id"
    "  AND u.host_id <= :last), h.n + 1"
    " FROM h WHERE h.id IS NOT NULL AND h.n < :count"
    ") SELECT id FROM h WHERE id IS NOT NULL"
)

# MariaDB does it for GROUP BY or not at all, as its statistics have it: with 3,300 rows a host it
# read half a million of them, 1 to 3 s, and the recursion above never ended. Nothing but these
# two reads no row in vain (3,000 hosts, ten million rows: 3 ms for 200 hosts, .4 ms for one).
_LAST_OF_NEXT = Statement(
    "SELECT MAX(id) FROM (SELECT id FROM host WHERE id >= :first AND id <= :last"
    " ORDER BY id LIMIT :count) h"
)
_WITH_ROWS = Statement(
    "SELECT h.id FROM host h WHERE h.id >= :first AND h.id <= :last AND EXISTS ("
    "SELECT 1 FROM url u FORCE INDEX (ix_url_frontier) WHERE u.queue = :queue"
    " AND u.topic_id = :topic_id AND u.state = State.PENDING AND u.host_id = h.id)"
    " ORDER BY h.id LIMIT :count"
)
_NEXT = Statement(
    "SELECT MIN(host_id) FROM url WHERE queue = :queue AND topic_id = :topic_id"
    " AND state = State.PENDING AND host_id >= :first AND host_id <= :last"
)

LOOKED_AT = 200
"""Hosts MariaDB looks at together."""
_WORTH_LOOKING = 10
"""Where fewer than one in so many of them has waiting rows, the next one is asked for instead."""


def waiting_hosts(
    c: Connection, scope: Mapping[str, Any], first: int, last: int, count: int
) -> list[int]:
    """The first *count* hosts with waiting rows among the ids from *first* to *last*.

    Args:
        scope: ``queue`` and ``topic_id`` of the rows.
    """
    if c.dialect.name == "sqlite":
        params = {**scope, "first": first, "last": last, "count": count}
        return [row[0] for row in _JUMPS.run(c, params).fetchall()]
    return list(islice(_hosts_on_mysql(c, scope, first, last), count))


def _hosts_on_mysql(
    c: Connection, scope: Mapping[str, Any], first: int, last: int
) -> Iterator[int]:
    while first <= last:
        looked = {**scope, "first": first, "last": last, "count": LOOKED_AT}
        end = _LAST_OF_NEXT.run(c, looked).fetchone()[0]
        if end is None:
            return
        found = [row[0] for row in _WITH_ROWS.run(c, {**looked, "last": end}).fetchall()]
        yield from found
        first = end + 1
        if len(found) * _WORTH_LOOKING < LOOKED_AT:
            yield from _one_by_one(c, scope, first, last)
            return


def _one_by_one(c: Connection, scope: Mapping[str, Any], first: int, last: int) -> Iterator[int]:
    while first <= last:
        host: int | None = _NEXT.run(c, {**scope, "first": first, "last": last}).fetchone()[0]
        if host is None:
            return
        yield host
        first = host + 1


# --- Handing out the best waiting URLs, fairly between hosts --------------------------------------

# Hosts looked at for one batch; with more, batches start at a random one and go round.
_HOST_WINDOW = 200

_MAX_HOST_ID = (1 << 63) - 1

# (negated score, id, host id): smaller comes first, equal scores by age.
_Ranked = tuple[float, int, int]

_BEST = (
    "SELECT u.score, u.id, u.host_id FROM host h JOIN url u ON u.id = ("
    "SELECT x.id FROM url x {index} WHERE x.queue = {queue} AND x.topic_id = :topic_id"
    " AND x.state = State.PENDING AND x.host_id = h.id AND x.not_before <= :now"
    " ORDER BY x.score DESC, x.id LIMIT 1) WHERE h.id IN ({list})"
)
_BEST_OF_HOSTS = ListStatement(
    _BEST.replace("{index}", "").replace("{queue}", ":queue"),
    # With constants in front of the index, MariaDB at times reads all waiting rows once a host
    # (40 hosts, 6,000 rows: 550 ms instead of 2). A queue that depends on the host, in form
    # only, leaves it no plan but the direct one.
    mysql=_BEST.replace("{index}", "FORCE INDEX (ix_url_frontier)").replace(
        "{queue}", "IF(h.id >= 0, :queue, '')"
    ),
)

_PEEK = (
    "SELECT score, id FROM url WHERE queue = :queue AND topic_id = :topic_id AND state ="
    " State.PENDING"
    " AND host_id = :host_id AND not_before <= :now ORDER BY score DESC, id LIMIT :count"
)
# Rows that another worker is taking at this moment are skipped, not waited for.
_PEEK_HOST = Statement(_PEEK, mysql=_PEEK + " FOR UPDATE SKIP LOCKED")

# Rows that were fetched when their worker died, released by recover() or by their time.
_ORPHANS = (
    "SELECT id FROM url WHERE {scope} AND state = State.FETCHED"
    " AND (lease_until IS NULL OR lease_until <= :now) ORDER BY id LIMIT :count"
)
_ORPHANS_SQLITE = ScopedStatement(_ORPHANS)
_ORPHANS_MYSQL = ScopedStatement(_ORPHANS + " FOR UPDATE SKIP LOCKED")

# Rows a crawl order chose; those that another worker is taking at this moment are skipped.
_CHOSEN = "SELECT `key`, id, state, not_before, queue, topic_id, host_id FROM url" + (
    " WHERE `key` IN ({list})"
)
_CHOSEN_LOCKED = ListStatement(_CHOSEN, mysql=_CHOSEN + " FOR UPDATE SKIP LOCKED")
_CHOSEN_AS_IT_IS = ListStatement(_CHOSEN)
_KEEP_SCORE = Statement("UPDATE url SET score = :score WHERE id = :id")

_TAKE = ListStatement(
    # MySQL assigns from left to right: crashes needs state and token before they change. A
    # token on a stored row means that its worker died and nobody has noted it yet.
    "UPDATE url SET"
    f" crashes = CASE WHEN state = State.FETCHED AND lease_token IS NOT NULL THEN {SUSPECTED}"
    " ELSE crashes END,"
    " state = CASE state WHEN State.FETCHED THEN State.FETCHED ELSE State.LEASED END,"
    " lease_token = :token, lease_until = :until, attempts = attempts + 1 WHERE id IN ({list})"
)

_LEASED = ListStatement(
    "SELECT u.id, u.attempts, u.url, u.`key`, h.name, u.score, u.depth, u.failures, u.anchor,"
    " u.payload, u.state, u.crashes FROM url u JOIN host h ON h.id = u.host_id"
    " WHERE u.id IN ({list})"
)


class BatchShape(TypedDict):
    """How large a batch may be, and whose URLs stay out of it."""

    limit: int
    """Most rows."""
    per_host: int
    """Most rows of one host."""
    busy_hosts: NotRequired[Collection[str]]
    """Hosts to take nothing of now."""


def lease(
    c: Connection,
    scope: Scope,
    *,
    token: int,
    lease_seconds: float,
    now: float,
    **shape: Unpack[BatchShape],
) -> list[Lease]:
    """Take up to ``limit`` rows for the worker *token*, until *now* + *lease_seconds*.

    Stored pages that lost their worker come first, whatever their host, since they are not
    fetched again. Then waiting rows, best score first and older first among equals, at most
    ``per_host`` of one host and none of ``busy_hosts``. With more than 200 hosts waiting, a
    batch is the best of a random stretch of 200.

    Raises:
        StorageError: the scope's topic was never imported.
    """
    limit = shape["limit"]
    ids = _orphans(c, scope, now, limit)
    if len(ids) < limit:
        # Busy hosts are named by text, rows by the hash of that text.
        busy = {host_id(clean_host(host)) for host in shape.get("busy_hosts", ())}
        picker = _Picker(c, scope, now, shape["per_host"])
        ids += picker.pick(limit - len(ids), busy)
    return _take(c, scope, ids, token, now + lease_seconds)


def lease_stored(
    c: Connection, scope: Scope, *, token: int, lease_seconds: float, now: float, limit: int
) -> list[Lease]:
    """Take up to *limit* stored pages that lost their worker, and nothing that waits."""
    return _take(c, scope, _orphans(c, scope, now, limit), token, now + lease_seconds)


@dataclass(frozen=True, slots=True)
class KeyLeases:
    """The result for the URLs a crawl order chose.

    Attributes:
        leases: those taken, in the order given.
        later: those that still wait, but cannot be had at this moment: from when (epoch
            seconds), *now* where another worker has the row in hand.
        gone: those that wait no longer, or not for this crawl.
    """

    leases: list[Lease]
    later: dict[bytes, float]
    gone: frozenset[bytes]


def lease_keys(
    c: Connection,
    scope: Scope,
    scores: Mapping[bytes, float],
    *,
    token: int,
    lease_seconds: float,
    now: float,
) -> KeyLeases:
    """Take exactly the waiting rows of these keys, as far as they may be had now.

    Args:
        scores: by key, best first; the rows keep them, and so do the leases.

    Raises:
        StorageError: the scope's topic was never imported.
    """
    keys = list(scores)
    mine = {**scope.params(c)}
    locked = {bytes(row[0]): row for row in _CHOSEN_LOCKED.fetch(c, keys)}
    # Not among the locked rows: gone, or another worker has them in hand.
    passed = [key for key in keys if key not in locked]
    # Locked by another worker, which may take it or may only have raised its score.
    standing = {bytes(row[0]): row for row in _CHOSEN_AS_IT_IS.fetch(c, passed)}
    later, ids = {}, {}
    for key in keys:
        row = locked.get(key) or standing.get(key)
        if row is None or row[2] != State.PENDING or not _is_of(row, mine):
            continue
        # Passed over, on a host the scope does not know yet, or not due.
        if key in standing or not _is_on(row, scope) or row[3] > now:
            # now: a locked row or one of a new host may become free in a moment.
            later[key] = max(now, row[3])
        else:
            ids[row[1]] = key
    # In order of id, as everywhere; the leases below keep the order of the choice.
    _KEEP_SCORE.run_many(
        c,
        [{"id": row_id, "score": stored_score(scores[key])} for row_id, key in sorted(ids.items())],
    )
    leases = _take(c, scope, list(ids), token, now + lease_seconds)
    # The order's own score: the stored one is bounded.
    leases = [replace(lease, score=scores[lease.key]) for lease in leases]
    return KeyLeases(leases, later, frozenset(keys) - later.keys() - set(ids.values()))


def _is_of(row: Any, mine: Mapping[str, Any]) -> bool:
    return bool(row[4] == mine["queue"] and row[5] == mine["topic_id"])


def _is_on(row: Any, scope: Scope) -> bool:
    """Whether the row's host is known to belong to *scope*; a new one will be in a moment."""
    return scope.host_ids is None or row[6] in scope.host_ids


def _take(c: Connection, scope: Scope, ids: Sequence[int], token: int, until: float) -> list[Lease]:
    if not ids:
        return []
    _TAKE.run(c, ids, {"token": token, "until": until})
    # Read back: MariaDB 10.11 has no UPDATE ... RETURNING, and IN keeps no order.
    rows = {row[0]: row for row in _LEASED.fetch(c, ids)}
    return [_lease(rows[row_id], scope, token) for row_id in ids]


def _orphans(c: Connection, scope: Scope, now: float, limit: int) -> list[int]:
    statement = _ORPHANS_SQLITE if c.dialect.name == "sqlite" else _ORPHANS_MYSQL
    rows = statement.fetch(c, scope, {"now": now, "count": limit})
    return [row[0] for row in rows][:limit]


def _lease(row: Any, scope: Scope, token: int) -> Lease:
    row_id, attempt, url, key, host, score, depth, failures, anchor, payload, *rest = row
    state, crashes = rest
    return Lease(
        url_id=row_id,
        token=token,
        attempt=attempt,
        url=url,
        key=bytes(key),
        host=host,
        queue=scope.queue,
        topic=scope.topic,
        score=score,
        depth=depth,
        failures=failures,
        anchor=anchor,
        payload=payload_of(payload),
        stored=state == State.FETCHED,
        crashes=crashes,
    )


class _Picker:
    """Picks the rows of one batch."""

    def __init__(self, c: Connection, scope: Scope, now: float, per_host: int) -> None:
        self._c = c
        self._scope = scope
        self._per_host = per_host
        self._params = {**scope.params(c), "now": now}

    def pick(self, limit: int, busy: set[int]) -> list[int]:
        """Ids of the best rows, best first; [] when nothing may be leased now."""
        for window in self._windows():
            best = self._best_of([host for host in window if host not in busy], limit)
            if best:
                return [row_id for _rank, row_id, _host in best]
        return []

    def _windows(self) -> Iterator[Sequence[int]]:
        """All hosts that may have rows, window by window, from a random one on."""
        hosts = self._scope.host_ids
        if hosts is not None:
            # Known hosts are a tuple: turned, not shuffled, so that every host has its turn
            # within a round.
            start = random.randrange(len(hosts)) if len(hosts) > _HOST_WINDOW else 0
            turned = hosts[start:] + hosts[:start]
            for at in range(0, len(turned), _HOST_WINDOW):
                yield turned[at : at + _HOST_WINDOW]
            return
        # A random start: the worker sees other hosts each time, and workers see different ones.
        start = random.randint(0, _MAX_HOST_ID)
        yield from self._host_windows(start)

    def _host_windows(self, start: int) -> Iterator[Sequence[int]]:
        window: list[int] = []
        for first, last in ((start, _MAX_HOST_ID), (0, start - 1)):
            # Two arcs, from the random start to the end and from the beginning to the start.
            while first <= last:
                hosts = waiting_hosts(
                    self._c, self._params, first, last, _HOST_WINDOW - len(window)
                )
                window += hosts
                if len(window) < _HOST_WINDOW:
                    break  # this arc is used up
                yield window
                window, first = [], hosts[-1] + 1
        yield window

    def _best_of(self, hosts: Sequence[int], limit: int) -> list[_Ranked]:
        tops = sorted(
            (-score, row_id, host)
            for score, row_id, host in _BEST_OF_HOSTS.fetch(self._c, hosts, self._params)
        )
        best: list[_Ranked] = []
        for top in tops:
            if len(best) >= limit and top > best[limit - 1]:
                break  # no row of this or a later host can be better
            # A host's further rows are read only while its best one can still be in the batch.
            best = sorted([*best, *self._peek(top[2], limit)])[:limit]
        return best

    def _peek(self, host: int, limit: int) -> list[_Ranked]:
        params = {**self._params, "host_id": host, "count": min(self._per_host, limit)}
        return [
            (-score, row_id, host) for score, row_id in _PEEK_HOST.run(self._c, params).fetchall()
        ]


# --- Why a URL was fetched when it was: the score it had when it was handed out, and its parts ----

# Parts come from plug-ins too: what they explain may be of any length.
_MAX_PARTS_CHARS = 4_000
# Below the largest double; infinity is a score for a strategy, and no number for MariaDB.
_MAX_SCORE = 1e300

_SAVE = upsert(
    "decision",
    "url_id, strategy, score, place, waiting, parts, at",
    key="url_id",
    change="strategy, score, place, waiting, parts, at",
)
_FIND = Statement(
    "SELECT strategy, score, place, waiting, parts, at FROM decision WHERE url_id = :url_id"
)


@dataclass(frozen=True, slots=True)
class Decision:
    """Why a URL was handed out.

    Attributes:
        score: on the strategy's own scale.
        place, waiting: its rank among the URLs that waited, from 1, and how many these were;
            None = not counted.
        parts: of the score, by name, as the strategy explains it; may be empty.
        at: when, in epoch seconds.
    """

    strategy: str
    score: float
    at: float
    place: int | None = None
    waiting: int | None = None
    parts: Mapping[str, float] = field(default_factory=dict)


def save_decisions(c: Connection, decisions: Sequence[tuple[int, Decision]]) -> None:
    """Store (row id of the URL, decision) pairs, each in place of an earlier one."""
    _SAVE.run_many(
        c,
        [
            {
                "url_id": url_id,
                "strategy": clean_text(one.strategy, 64),
                "score": min(max(one.score, -_MAX_SCORE), _MAX_SCORE),
                "place": one.place,
                "waiting": one.waiting,
                "parts": to_json(_round_parts(one.parts), _MAX_PARTS_CHARS) if one.parts else "",
                "at": one.at,
            }
            # In one order, so that workers do not deadlock.
            for url_id, one in sorted(decisions, key=lambda pair: pair[0])
        ],
    )


def _round_parts(parts: Mapping[str, float]) -> dict[str, float]:
    # To four digits: they are read by people, and make up most of the table.
    return {name: float(f"{value:.4g}") for name, value in parts.items()}


def decision_of(c: Connection, url_id: int) -> Decision | None:
    """The last decision to fetch a URL; None when there is none."""
    row = _FIND.run(c, {"url_id": url_id}).fetchone()
    return None if row is None else _decision(row)


def _decision(row: Any) -> Decision:
    # JSON of another version, or edited by hand, may hold anything.
    strategy, score, place, waiting, parts, at = row
    numbers = {
        name: float(value)
        for name, value in json_mapping(parts).items()
        if isinstance(value, int | float)
    }
    return Decision(strategy, score, at, place, waiting, numbers)
