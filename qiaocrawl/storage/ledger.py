"""The coverage ledger: every question of keyword x site x engine x page and how it went."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, or_, select

from qiaocrawl.items import AnswerState, Query
from qiaocrawl.storage import schema
from qiaocrawl.storage.statement import Statement
from qiaocrawl.storage.topic_ids import topic_id
from qiaocrawl.storage.values import (
    clean_host,
    clean_text,
    clean_word,
    digest16,
    epoch_time,
    to_stored_time,
)

_MAX_MESSAGE_CHARS = 2_000

_INSERT = (
    "INSERT INTO `query` (topic_id, `key`, engine, term, site, page, state, hits, new_urls,"
    " message, planned_at) VALUES (:topic_id, :key, :engine, :term, :site, :page, 'not_asked',"
    " 0, 0, '', :planned_at) "
)
_PLAN = Statement(
    _INSERT + "ON CONFLICT DO NOTHING",
    mysql=_INSERT + "ON DUPLICATE KEY UPDATE `query`.id = `query`.id",
)
_ANSWER = Statement(
    "UPDATE `query` SET state = :state, hits = :hits, new_urls = :new_urls, message = :message,"
    " asked_at = :asked_at WHERE `key` = :key"
)


def plan_queries(c: Connection, topic_id: int, queries: Sequence[Query], now: float) -> int:
    """Enter *queries* as not asked yet; those already there stay. Returns how many were new."""
    rows = {row["key"]: row for row in (_row(topic_id, one, now) for one in queries)}
    before = _count(c, topic_id)
    _PLAN.run_many(c, list(rows.values()))
    return _count(c, topic_id) - before


def record_answer(
    c: Connection,
    query: Query,
    answer_state: AnswerState,
    hits: int,
    new_urls: int,
    message: str,
    now: float,
) -> None:
    """Write an engine's answer to *query*, entering the query if it was never planned.

    Raises:
        StorageError: its topic was never imported.
    """
    row = _row(topic_id(c, query.topic), query, now)
    _PLAN.run(c, row)
    _ANSWER.run(c, {
        "key": row["key"],
        "state": answer_state.value,
        "hits": hits,
        "new_urls": new_urls,
        "message": clean_text(message, _MAX_MESSAGE_CHARS),
        "asked_at": epoch_time(now),
    })  # fmt: skip


def due_queries(
    c: Connection,
    topic: str,
    engines: Sequence[str],
    sites: Sequence[str] | None,
    asked_before: datetime,
) -> list[Query]:
    """Queries never asked, or last asked before *asked_before*, in the order they were planned.

    Args:
        sites: only these sites ("" is the whole web); None for all.
    """
    table = schema.query
    statement = (
        select(table.c.term, table.c.site, table.c.engine, table.c.page)
        .where(
            table.c.topic_id == topic_id(c, topic),
            table.c.engine.in_(list(engines)),
            or_(table.c.asked_at.is_(None), table.c.asked_at < to_stored_time(asked_before)),
        )
        .order_by(table.c.id)
    )
    if sites is not None:
        statement = statement.where(table.c.site.in_(list(sites)))
    return [Query(topic, term, site, engine, page)
            for term, site, engine, page in c.execute(statement)]


def ledger_counts(c: Connection, topic: str) -> dict[tuple[str, AnswerState], int]:
    """How many queries of *topic* stand in which state, by engine."""
    table = schema.query
    statement = (
        select(table.c.engine, table.c.state, func.count())
        .where(table.c.topic_id == topic_id(c, topic))
        .group_by(table.c.engine, table.c.state)
    )
    return {(engine, AnswerState(state)): n for engine, state, n in c.execute(statement)}


def _row(topic: int, one: Query, now: float) -> dict[str, Any]:
    engine, term = clean_word(one.engine, 64), clean_word(one.term, 200)
    site = clean_host(one.site)
    parts = (str(topic), engine, term, site, str(one.page))
    return {
        "topic_id": topic,
        "key": digest16("\x1f".join(parts).encode()),
        "engine": engine,
        "term": term,
        "site": site,
        "page": one.page,
        "planned_at": epoch_time(now),
    }


def _count(c: Connection, topic: int) -> int:
    table = schema.query
    statement = select(func.count()).select_from(table).where(table.c.topic_id == topic)
    count: int = c.execute(statement).scalar_one()
    return count
