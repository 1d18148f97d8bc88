"""The coverage ledger: every query of keyword x site x engine x period x page, with its result.

It is the plan as well: what is entered stays until it has an answer, whatever becomes of the
process that was to ask it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select, update

from qiaocrawl.fetch.failure_policy import backoff_seconds
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import schema
from qiaocrawl.storage.engine import latest_due
from qiaocrawl.storage.sql import ListStatement, Statement, upsert
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import (
    clean_host,
    clean_text,
    clean_word,
    digest16,
    epoch_time,
    from_time,
    to_stored_time,
)

ANSWERS_KEPT = 8
"""Last answers of each query that are remembered."""

MEMORY = 0.7
"""What an earlier request still counts for when its query is asked again (ours): discounting
as of dynamic models (West and Harrison, Bayesian Forecasting and Dynamic Models, 2nd ed., 6.3),
since what was new once is not new again."""

NO_ANSWER = frozenset(
    {
        AnswerState.BLOCKED,
        AnswerState.DECOY,
        AnswerState.LAYOUT_CHANGED,
        AnswerState.ERROR,
        AnswerState.UNKNOWN,
    }
)
"""States that prove neither that there are hits nor that there are none."""

_LONGEST_PAUSE_SECONDS = 7 * 86_400.0
REPEATS_OF_THE_PAST = 30
"""Periods that are over are queried this many times less often than the present (ours)."""
# Clocks of several machines may differ by so much.
_SKEW = timedelta(minutes=10)
_MAX_MESSAGE_CHARS = 2_000
_MAX_SHORT_MESSAGE_CHARS = 300
_MAX_ALSO_CHARS = 500

# Binds only: PyMySQL sends rows of an INSERT with constants in it one by one.
_PLAN = upsert(
    "`query`",
    "topic_id, `key`, engine, term, site, page, state, planned_at, period, also, hits, new_urls,"
    " message",
    key="id",
)
_KNOWN = ListStatement("SELECT `key`, also FROM `query` WHERE `key` IN ({list})")
_CHANGE = Statement("UPDATE `query` SET also = :also WHERE `key` = :key")
_PAST = Statement(
    "SELECT id, tries, bad_in_a_row, asked_weight, new_weight FROM `query` WHERE `key` = :key"
)
_TIMES = Statement("SELECT asked_at, due_at FROM `query` WHERE `key` = :key")
_ANSWER = Statement(
    "UPDATE `query` SET state = :state, hits = :hits, new_urls = :new_urls, message = :message,"
    " asked_at = :asked_at, tries = :tries, bad_in_a_row = :bad_in_a_row, due_at = :due_at,"
    " total = :total, asked_weight = :asked_weight, new_weight = :new_weight,"
    " url_key = :url_key WHERE id = :id"
)
# A ring of ANSWERS_KEPT slots: the new answer takes the place of the oldest.
_FORGET = Statement("DELETE FROM query_answer WHERE query_id = :id AND slot = :slot")
_REMEMBER = Statement(
    "INSERT INTO query_answer (query_id, slot, asked_at, state, hits, new_urls, message)"
    " VALUES (:id, :slot, :asked_at, :state, :hits, :new_urls, :short_message)"
)
_HIT = upsert("query_hit", "query_id, `key`", key="query_id, `key`")
# Asked again whether it was asked: another worker may have done so since the rows were read.
_DROP_UNASKED = ListStatement("DELETE FROM `query` WHERE id IN ({list}) AND asked_at IS NULL")


@dataclass(frozen=True, slots=True)
class Answered:
    """What is written of one answer.

    Attributes:
        url_key: of the frontier row that asked; None where none did.
        hit_keys: of the URLs it had, known ones too.
        retry_seconds: first pause after an answer that is none; each further one in a row is
            four times as long, at most a week.
        rest_seconds: not to be asked again before, whatever the answer was.
        repeat_seconds: when a whole answer is asked for again, such as the operator's interval;
            a partial one is sooner: after *retry_seconds*, each time four times that, at most
            half of this.
    """

    state: AnswerState
    hits: int = 0
    new_urls: int = 0
    message: str = ""
    total: int | None = None
    url_key: bytes | None = None
    hit_keys: tuple[bytes, ...] = ()
    retry_seconds: float = 3_600.0
    rest_seconds: float = 0.0
    repeat_seconds: float = 72_000.0


@dataclass(frozen=True, slots=True)
class DueQuery:
    """A query to be asked now.

    Attributes:
        waiting_since: epoch seconds.
        asked: whether it ever was.
        id: of its row.
    """

    query: Query
    waiting_since: float
    asked: bool
    id: int


def plan_queries(c: Connection, topic_id: int, queries: Sequence[Query], now: float) -> int:
    """Enter *queries* as not asked yet; those already there stay. Returns how many were new."""
    # A dict: synonyms may lead to the same query twice.
    rows = {row["key"]: row for row in (_row(topic_id, query, now) for query in queries)}
    stored = {bytes(key): also for key, also in _KNOWN.fetch(c, sorted(rows))}
    # Inserted in the order of the plan, which the row numbers keep.
    new = [row for key, row in rows.items() if key not in stored]
    _PLAN.run_many(c, new)
    _CHANGE.run_many(
        c,
        [
            {"key": key, "also": rows[key]["also"]}
            for key, also in sorted(stored.items())
            if rows[key]["also"] != also
        ],
    )
    return len(new)


def drop_unasked(c: Connection, row_ids: Sequence[int]) -> None:
    """Forget those of the queries *row_ids* that no engine ever got: others hold their terms."""
    _DROP_UNASKED.run(c, row_ids)


def record_answer(c: Connection, query: Query, answer: Answered, now: float) -> None:
    """Write an engine's answer to *query*, entering the query if it was never planned.

    Raises:
        StorageError: its topic was never imported.
    """
    row = _row(topic_id(c, query.topic), query, now)
    _PLAN.run(c, row)
    row_id, tries, bad, asked_weight, new_weight = _PAST.run(c, {"key": row["key"]}).fetchone()
    is_none = answer.state in NO_ANSWER
    # A partial answer counts as bad: it is asked for again sooner than a whole one.
    bad = bad + 1 if is_none or answer.state is AnswerState.PARTIAL else 0
    values = {
        "id": row_id,
        "state": answer.state.value,
        "hits": answer.hits,
        "new_urls": answer.new_urls,
        "message": clean_text(answer.message, _MAX_MESSAGE_CHARS),
        "short_message": clean_word(answer.message, _MAX_SHORT_MESSAGE_CHARS),
        "asked_at": epoch_time(now),
        "tries": tries + 1,
        # tries is the number before this answer, so slots go round from 0.
        "slot": tries % ANSWERS_KEPT,
        "bad_in_a_row": bad,
        "due_at": _due_at(answer, bad, now),
        "total": answer.total,
        # A failed request says nothing about how much the query brings.
        "asked_weight": asked_weight if is_none else asked_weight * MEMORY + 1,
        "new_weight": new_weight if is_none else new_weight * MEMORY + answer.new_urls,
        "url_key": answer.url_key,
    }
    _ANSWER.run(c, values)
    _FORGET.run(c, values)
    _REMEMBER.run(c, values)
    # In order, so that workers that write the same hits wait for each other in turn.
    _HIT.run_many(c, [{"query_id": row_id, "key": key} for key in sorted(set(answer.hit_keys))])


def _due_at(answer: Answered, bad_in_a_row: int, now: float) -> str | None:
    pause = answer.rest_seconds
    if not pause and not bad_in_a_row:
        return None
    if bad_in_a_row:
        # Capped, since 4 to the power of a large count overflows a float.
        growing = backoff_seconds(min(bad_in_a_row, 20), answer.retry_seconds)
        is_partial = answer.state is AnswerState.PARTIAL
        longest = answer.repeat_seconds / 2 if is_partial else _LONGEST_PAUSE_SECONDS
        pause = max(pause, min(growing, longest))
    return epoch_time(now + pause)


def due_queries(
    c: Connection,
    topic: str,
    engines: Sequence[str],
    *,
    repeat_seconds: float,
    now: float,
    among: range | None = None,
) -> list[DueQuery]:
    """What *engines* should be asked now, in the order it was planned.

    That is: what was never asked; first result pages answered more than *repeat_seconds* ago;
    and what had no answer and has waited long enough. Later result pages that were answered
    are asked again only when the page before leads to them. What was asked after *now*, or is
    to wait for longer than anything does, was so by a clock that was ahead: it is due.

    Args:
        among: the numbers of the rows that are looked at; None = all.
    """
    table = schema.query
    moment = datetime.fromtimestamp(now, UTC)
    at, before = to_stored_time(moment), moment - timedelta(seconds=repeat_seconds)
    longest = max(_LONGEST_PAUSE_SECONDS, REPEATS_OF_THE_PAST * repeat_seconds)
    latest = to_stored_time(
        datetime.fromtimestamp(latest_due(now, longest + _SKEW.total_seconds()), UTC)
    )
    statement = (
        select(
            table.c.term,
            table.c.site,
            table.c.engine,
            table.c.page,
            table.c.period,
            table.c.also,
            table.c.planned_at,
            table.c.asked_at,
            table.c.due_at,
            table.c.id,
        )
        .where(
            table.c.topic_id == topic_id(c, topic),
            table.c.engine.in_(list(engines)),
            *_within(among),
            or_(
                table.c.asked_at.is_(None),
                and_(
                    or_(table.c.due_at <= at, table.c.due_at > latest),
                    or_(table.c.page == 1, table.c.bad_in_a_row > 0),
                ),
                and_(
                    table.c.due_at.is_(None),
                    table.c.page == 1,
                    or_(
                        table.c.asked_at < to_stored_time(before),
                        table.c.asked_at > to_stored_time(moment + _SKEW),
                    ),
                ),
            ),
        )
        .order_by(table.c.id)
    )
    return [_due_query(topic, row, repeat_seconds) for row in c.execute(statement)]


def _due_query(topic: str, row: Any, repeat_seconds: float) -> DueQuery:
    term, site, engine, page, period, also, planned_at, asked_at, due_at, row_id = row
    # Synonyms stand on lines of their own.
    query = Query(topic, term, site, engine, page, period, tuple(filter(None, also.split("\n"))))
    if asked_at is None:
        return DueQuery(query, _epoch(planned_at), asked=False, id=row_id)
    since = _epoch(due_at) if due_at is not None else _epoch(asked_at) + repeat_seconds
    return DueQuery(query, since, asked=True, id=row_id)


def _within(among: range | None) -> list[ColumnElement[bool]]:
    if among is None:
        return []
    # By number, not by LIMIT: a part of the table is read whatever index the server takes.
    return [schema.query.c.id >= among.start, schema.query.c.id < among.stop]


def row_ranges(c: Connection, rows: int) -> list[range]:
    """The numbers that rows of the ledger have, in ranges of so many."""
    last: int = c.scalar(select(func.max(schema.query.c.id))) or 0
    return [range(first, first + rows) for first in range(1, last + 1, rows)]


def entered_queries(
    c: Connection, topic_id: int, engines: Sequence[str], among: range
) -> list[tuple[bytes, str]]:
    """Keys of the first result pages *engines* are to be asked, with their synonyms.

    Args:
        among: the numbers of the rows that are looked at.
    """
    table = schema.query
    statement = select(table.c.key, table.c.also).where(
        table.c.topic_id == topic_id,
        table.c.engine.in_(list(engines)),
        table.c.page == 1,
        *_within(among),
    )
    return [(bytes(key), also) for key, also in c.execute(statement)]


def is_settled(c: Connection, topic_id: int, query: Query, *, since: float, now: float) -> bool:
    """Whether *query* was asked after *since* or is to rest until after *now* (epoch seconds)."""
    row = _TIMES.run(c, {"key": query_key(topic_id, query)}).fetchone()
    if row is None or row[0] is None:
        return False
    due_at = from_time(row[1])
    asked_at = from_time(row[0])
    assert asked_at is not None
    return asked_at.timestamp() > since or (due_at is not None and due_at.timestamp() > now)


def _epoch(stored: datetime) -> float:
    moment = from_time(stored)
    assert moment is not None, "the caller has looked"
    return moment.timestamp()


def query_key(topic: int, query: Query) -> bytes:
    """The 16-byte key of a query; synonyms asked with its term make no other query."""
    parts = [
        str(topic),
        clean_word(query.engine, 64),
        clean_word(query.term, 200),
        clean_host(query.site),
        str(query.page),
    ]
    # Without a period the key is that of ledgers made before there were periods.
    return digest16("\x1f".join([*parts, query.period] if query.period else parts).encode())


def also_text(query: Query) -> str:
    """The synonyms asked with *query* as its row has them, one a line."""
    return clean_word("\n".join(clean_word(word, 200) for word in query.also), _MAX_ALSO_CHARS)


def _row(topic: int, query: Query, now: float) -> dict[str, Any]:
    return {
        "topic_id": topic,
        "key": query_key(topic, query),
        "engine": clean_word(query.engine, 64),
        "term": clean_word(query.term, 200),
        "site": clean_host(query.site),
        "page": query.page,
        "period": query.period,
        "also": also_text(query),
        "state": AnswerState.NOT_ASKED.value,
        "planned_at": epoch_time(now),
        "hits": 0,
        "new_urls": 0,
        "message": "",
    }


def ask_again(c: Connection, topic: str, *, term: str, site: str, engine: str, now: float) -> int:
    """Let the queries of a term, site ("" = the whole web) and engine be due; how many there are.

    The next search asks them, within the engine's budget of the day.

    Raises:
        StorageError: *topic* was never imported.
    """
    own = schema.query.c
    return _let_be_due(
        c,
        topic,
        now,
        own.term == clean_word(term, 200),
        own.site == clean_host(site),
        own.engine == clean_word(engine, 64),
        own.state != AnswerState.ROBOTS.value,
    )


def ask_all_again(c: Connection, topic: str, *, engine: str, state: AnswerState, now: float) -> int:
    """As :func:`ask_again`, for all queries of *engine* whose last answer was *state*.

    Raises:
        StorageError: *topic* was never imported.
    """
    own = schema.query.c
    return _let_be_due(
        c,
        topic,
        now,
        own.engine == clean_word(engine, 64),
        own.state == state.value,
        # What was never asked is due anyway, and nobody chose to ask the others.
        own.state.not_in([AnswerState.ROBOTS.value, AnswerState.NOT_ASKED.value]),
    )


def _let_be_due(c: Connection, topic: str, now: float, *conditions: ColumnElement[bool]) -> int:
    table = schema.query
    due_at = to_stored_time(datetime.fromtimestamp(now, UTC))
    of_topic = table.c.topic_id == topic_id(c, topic)
    return c.execute(update(table).where(of_topic, *conditions).values(due_at=due_at)).rowcount
