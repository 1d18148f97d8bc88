"""Proposing URLs to the frontier: new rows, better scores, another visit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from operator import attrgetter, itemgetter
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.items import NO_PAYLOAD, Candidate, LeftOut, Outcome, Payload, Queue
from qiaocrawl.storage.engine import ConnectionCache
from qiaocrawl.storage.frontier.scope import NEVER_TRIED
from qiaocrawl.storage.schema import State
from qiaocrawl.storage.sql import ListStatement, Statement, upsert
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import (
    clean_host,
    clean_text,
    clean_word,
    epoch_time,
    host_id,
    readable_mapping,
    to_json,
)

# --- The payload of a frontier row as JSON: a field's name is its key -----------------------------

# Types are strings here, since `from __future__ import annotations` leaves them unevaluated.
_TEXTS = {field.name for field in fields(Payload) if field.type in ("str", "str | None")}
_NUMBERS = {"hops", "sitemap", "page", "listed_at"}
_FLAGS = {"probe", "again"}


def payload_of(text: str | None) -> Payload:
    """The payload in JSON *text*; an empty one for what is no JSON object."""
    return payload_from(readable_mapping(text)) if text else NO_PAYLOAD


def payload_from(stored: Mapping[str, object]) -> Payload:
    """The payload of these keys; what is unknown, or of another type, goes to ``other``."""
    values = {name: _value(name, stored_value) for name, stored_value in stored.items()}
    known = {name: value for name, value in values.items() if value is not None}
    # Kept and written back: a row must survive a visit by an older version.
    other = {name: value for name, value in stored.items() if name not in known}
    return Payload(**known, other=other) if stored else NO_PAYLOAD  # type: ignore[arg-type]


def _value(name: str, stored: object) -> object | None:
    """The value of field *name*; None when there is no such field, or it takes no such value."""
    if name in _TEXTS and isinstance(stored, str):
        return stored
    if name in _NUMBERS and isinstance(stored, int):
        return stored
    # JSON's true is a bool, and a bool is an int.
    if name in _FLAGS and isinstance(stored, int):
        return bool(stored)
    if name == "also" and isinstance(stored, list | tuple):
        return tuple(map(str, stored))
    return None


def payload_keys(payload: Payload) -> dict[str, object]:
    """What is stored of *payload*: all but empty fields."""
    keys = dict(payload.other)
    for field in fields(Payload):
        value = getattr(payload, field.name)
        if field.name != "other" and value != getattr(NO_PAYLOAD, field.name):
            keys[field.name] = value
    return keys


def payload_text(payload: Payload) -> str:
    """*payload* as JSON without spaces; "" for an empty one, which most rows have."""
    return to_json(payload_keys(payload)) if payload else ""


# --- Proposing URLs to the frontier: new rows, better scores, another visit -----------------------

MAX_URL_CHARS = 16_000
"""A longer URL is stored cut and set aside: no server of ours takes it (F-D7)."""

_MAX_ANCHOR_CHARS = 500
_MAX_CONTEXT_CHARS = 1_000
_MAX_REASON_CHARS = 500
# Leaves room for more rows than any crawl has and keeps SQLite's index small.
_MAX_SCORE = 1e12

_KNOWN = ListStatement(
    "SELECT `key`, id, state, score, depth, queue, topic_id, outcome FROM url"
    " WHERE `key` IN ({list})"
)

# Another worker may insert the same host or URL between the look and the insert: the row that
# came first stays.
_NEW_HOST = upsert("host", {"id": ":host_id", "name": ":host"}, key="id")

_NEW_URL = upsert(
    "url",
    "`key`, url, host_id, queue, topic_id, state, outcome, reason, score, depth, parent_key,"
    " anchor, context, payload, discovered_at, run_id, not_before, attempts, failures, crashes,"
    " done_at",
    key="id",
)

# An alias is noted with its preferred address, as in
# :mod:`~qiaocrawl.storage.frontier.url_aliases`.
_NOTE_ALIAS = Statement(
    "INSERT INTO aliased_url (url_id, preferred_key) SELECT id, :instead FROM url"
    " WHERE `key` = :key AND state = State.DONE AND outcome = 'alias' ON CONFLICT DO NOTHING",
    mysql="INSERT IGNORE INTO aliased_url (url_id, preferred_key) SELECT id, :instead FROM url"
    " WHERE `key` = :key AND state = State.DONE AND outcome = 'alias'",
)

_RAISE = Statement(
    # State again: between the look and this update another worker may have leased the row.
    "UPDATE url SET score = :score, depth = :depth, queue = :queue, topic_id = :topic_id "
    "WHERE id = :id AND state = State.PENDING"
)

_REARM = Statement(
    "UPDATE url SET state = State.PENDING, outcome = NULL, reason = NULL, score = :score,"
    " depth = :depth, queue = :queue, topic_id = :topic_id, payload = :payload, run_id = :run_id,"
    f" {NEVER_TRIED} WHERE id = :id AND state IN (State.DONE, State.FAILED)"
)

# A left-out URL was never fetched, so its row becomes what the better link would have made.
_REVIVE = Statement(
    "UPDATE url SET state = State.PENDING, outcome = NULL, reason = NULL, done_at = NULL,"
    " score = :score, depth = :depth, queue = :queue, topic_id = :topic_id, payload = :payload,"
    " run_id = :run_id, parent_key = :parent_key, anchor = :anchor, context = :context,"
    f" {NEVER_TRIED} WHERE id = :id AND state = State.DONE"
    " AND outcome IN ('pruned', 'trap', 'postponed')"
)


def enqueue(
    c: Connection, candidates: Sequence[Candidate], *, run_id: int | None, now: float
) -> int:
    """Propose *candidates*; returns how many are new URLs.

    A URL that still waits takes the higher score, the lesser depth and the candidate's topic
    and queue, except that it never moves from watching to a whole-site crawl, nor from either to
    the queue of single pages: see ``_stays``. A URL that is done or failed is left alone unless the
    candidate says ``refetch``; one that is leased or set aside is always left alone.

    A candidate that is ``left_out`` is stored as closed where it is new, and raises no score
    where it is known. One that is not left out lets a URL wait that was pruned or postponed
    before, or that was closed as a trap's: nobody proposes what is one now.

    Raises:
        StorageError: a candidate's topic was never imported.
    """
    memory = ConnectionCache.of(c)
    # Most links of a page were proposed by the pages before it: those cost no statement at all.
    merged = _merge(candidate for candidate in candidates if not memory.already_offered(candidate))
    rows = {bytes(row[0]): row for row in _KNOWN.fetch(c, list(merged))}
    new = [one for key, one in merged.items() if key not in rows]
    # SQLite has one writer, so ids follow the page and equal scores its order. Elsewhere writers
    # that sort by key do not deadlock.
    if c.dialect.name != "sqlite":
        new.sort(key=attrgetter("key"))
    if new:
        _insert(c, new, run_id, now)
    if rows:
        _update(c, [(merged[key], row) for key, row in rows.items()], run_id)
    memory.remember(merged.values())
    return len(new)


def _merge(candidates: Iterable[Candidate]) -> dict[bytes, Candidate]:
    """One candidate a key, in the order in which they come."""
    merged: dict[bytes, Candidate] = {}
    # One page often links to a URL three times: picture, headline, "more".
    for candidate in candidates:
        other = merged.get(candidate.key)
        if other is not None:
            candidate = replace(
                other,
                score=max(candidate.score, other.score),
                depth=min(candidate.depth, other.depth),
                refetch=candidate.refetch or other.refetch,
                left_out=_milder(candidate.left_out, other.left_out),
            )
        merged[candidate.key] = candidate
    return merged


def _milder(one: LeftOut | None, other: LeftOut | None) -> LeftOut | None:
    """What holds for a URL with both: what is put off is taken up, what is pruned may not be."""
    # A plain link leads there too: the URL is wanted.
    if one is None or other is None:
        return None
    return min(one, other, key=lambda left: _MILDER.index(left.outcome))


def _insert(c: Connection, new: Sequence[Candidate], run_id: int | None, now: float) -> None:
    rows = [_row(c, candidate, run_id, now) for candidate in new]
    hosts = {
        row["host_id"]: clean_host(candidate.host) for row, candidate in zip(rows, new, strict=True)
    }
    # Only hosts this connection has not seen: a crawl of one site would else insert its host
    # with every page.
    unseen = sorted(ConnectionCache.of(c).unseen_hosts(hosts))
    _NEW_HOST.run_many(c, [{"host_id": row_id, "host": hosts[row_id]} for row_id in unseen])
    _NEW_URL.run_many(c, rows)
    _NOTE_ALIAS.run_many(
        c,
        [
            {"key": candidate.key, "instead": candidate.left_out.instead}
            for candidate in new
            if candidate.left_out is not None and candidate.left_out.instead is not None
        ],
    )


def _row(c: Connection, one: Candidate, run_id: int | None, now: float) -> dict[str, Any]:
    discovered_at = epoch_time(now)
    state, outcome, reason = _standing(one)
    return {
        "key": one.key,
        "url": clean_text(one.url, MAX_URL_CHARS),
        "host_id": host_id(clean_host(one.host)),
        "queue": one.queue.value,
        "topic_id": topic_id(c, one.topic),
        "state": int(state),
        "outcome": outcome,
        "reason": reason,
        "score": stored_score(one.score),
        "depth": one.depth,
        "parent_key": one.parent,
        "anchor": clean_text(one.anchor, _MAX_ANCHOR_CHARS),
        "context": clean_text(one.context, _MAX_CONTEXT_CHARS),
        "payload": payload_text(one.payload),
        "discovered_at": discovered_at,
        "run_id": run_id,
        "not_before": 0.0,
        "attempts": 0,
        "failures": 0,
        "crashes": 0,
        "done_at": None if state is State.PENDING else discovered_at,
    }


def _standing(one: Candidate) -> tuple[State, str | None, str | None]:
    """State, outcome and reason a new row begins with."""
    # Set aside, not dropped: the row says what a site tried, and is not proposed anew each time.
    if len(one.url) > MAX_URL_CHARS:
        reason = f"URL of {len(one.url)} characters, stored cut"
        return State.SET_ASIDE, Outcome.REFUSED.value, reason
    if one.left_out is not None:
        reason = clean_word(one.left_out.reason, _MAX_REASON_CHARS)
        return State.DONE, one.left_out.outcome.value, reason
    return State.PENDING, None, None


def stored_score(score: float) -> float:
    """*score* as a number both databases order; NaN is the lowest."""
    if math.isnan(score):
        return -_MAX_SCORE
    return min(max(score, -_MAX_SCORE), _MAX_SCORE)


def _update(c: Connection, pairs: Sequence[tuple[Candidate, Any]], run_id: int | None) -> None:
    raised, rearmed, revived = [], [], []
    for one, (_key, row_id, state, score, depth, queue, topic, outcome) in pairs:
        place = {
            "id": row_id,
            "depth": min(depth, one.depth),
            "queue": queue if _stays(queue, one) else one.queue.value,
            "topic_id": topic if _stays(queue, one) else topic_id(c, one.topic),
        }
        if state == State.PENDING and not _is_pruned(one):
            # A left-out link may still shorten the way to a waiting row, but
            # it recommends nothing.
            best = score if one.left_out else max(score, stored_score(one.score))
            # Most links are seen many times and change nothing; each would cost a write.
            if (*place.values(), best) != (row_id, depth, queue, topic, score):
                raised.append({**place, "score": best})
        elif one.left_out is not None:
            # Closed and left out again: nothing changes.
            continue
        elif outcome in _LEFT_OUT:
            # A plain link need not be the shortest way to what was put off.
            depth = place["depth"] if outcome == Outcome.POSTPONED else one.depth
            revived.append({**_row(c, one, run_id, 0.0), **place, "depth": depth})
        elif one.refetch and state in (State.DONE, State.FAILED):
            rearmed.append(
                {
                    "id": row_id,
                    "score": stored_score(one.score),
                    "depth": one.depth,
                    "queue": one.queue.value,
                    "topic_id": topic_id(c, one.topic),
                    "payload": payload_text(one.payload),
                    "run_id": run_id,
                }
            )
    # By id, so that workers lock the rows in one order and do not deadlock.
    _RAISE.run_many(c, sorted(raised, key=itemgetter("id")))
    _REARM.run_many(c, sorted(rearmed, key=itemgetter("id")))
    _REVIVE.run_many(c, sorted(revived, key=itemgetter("id")))


# From the mildest on: the milder of two reasons to leave a URL out wins.
_MILDER = (Outcome.POSTPONED, Outcome.ALIAS, Outcome.TRAP, Outcome.PRUNED)
_LEFT_OUT = (Outcome.PRUNED, Outcome.TRAP, Outcome.POSTPONED)


def _is_pruned(one: Candidate) -> bool:
    return one.left_out is not None and one.left_out.outcome is Outcome.PRUNED


_RANKS = {Queue.PAGES.value: 1, Queue.SITE.value: 2, Queue.WATCH.value: 3}


def _stays(queue: str, one: Candidate) -> bool:
    """Whether a waiting row keeps its queue: it moves from pages to site to watch, not back.

    Each of these passes on the links it does not follow, so none is missed by the queue that
    keeps the row. A candidate that refetches takes the row in any case.
    """
    return not one.refetch and _RANKS.get(queue, 0) > _RANKS.get(one.queue.value, 0)
