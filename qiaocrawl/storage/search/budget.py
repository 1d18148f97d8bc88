"""Counts the requests of each search engine a day, and puts off queries beyond its budget.

The day is Beijing's, as the engines' own quotas are. A request is counted when its query is
leased, so that workers which share the database cannot ask more than the budget together; what
was leased and not asked is given back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import Connection, String, cast, func, select

from qiaocrawl.items import Lease, Queue
from qiaocrawl.search.query import AnswerState
from qiaocrawl.storage import schema
from qiaocrawl.storage.sql import ListStatement, Statement, upsert
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import clean_host, clean_word, epoch_time, host_id, to_stored_time
from qiaocrawl.text.zones import DAY, china_time

_MAX_REASON_CHARS = 500
# Below every score a plan gives.
_LAST_IN_LINE = -1e9

_BEGIN_DAY = upsert(
    "engine_day", {"engine": ":engine", "day": ":day", "asked": "0"}, key="engine, day"
)
# Tested and counted in one UPDATE: two workers cannot both take the last request of a day.
_COUNT = Statement(
    "UPDATE engine_day SET asked = asked + 1 WHERE engine = :engine AND day = :day"
    " AND (:most IS NULL OR asked < :most)"
)
# asked > 0: a lease of yesterday, given back after midnight, finds a new day's row.
_GIVE_BACK = Statement(
    "UPDATE engine_day SET asked = asked - 1 WHERE engine = :engine AND day = :day AND asked > 0"
)
# The payload is JSON without spaces (see storage.frontier.payload).
_PUT_OFF = Statement(
    "UPDATE url SET state = State.DONE, outcome = 'pruned', reason = :reason, done_at = :done_at,"
    " not_before = 0, attempts = 0, failures = 0, lease_token = NULL, lease_until = NULL"
    " WHERE queue = :queue AND topic_id = :topic_id AND state = State.PENDING AND host_id ="
    # The host is given too: by it the frontier's index narrows the rows the LIKE has to read.
    " :host_id"
    " AND payload LIKE :engine"
)
_BEFORE_THE_END = Statement(
    "SELECT id FROM url WHERE queue = :queue AND topic_id = :topic_id AND state = State.PENDING"
    " AND score > :score LIMIT :most"
)
_TO_THE_END = ListStatement(
    "UPDATE url SET score = :score WHERE id IN ({list}) AND state = State.PENDING"
)


def day_of(now: float) -> str:
    """The Beijing day of epoch second *now*, as ``2026-03-05``."""
    return china_time(datetime.fromtimestamp(now, UTC), DAY)


def count_request(c: Connection, engine: str, most: int | None, now: float) -> bool:
    """Count one request of *engine* today; False when it got *most* already (None = no end)."""
    params = {"engine": clean_word(engine, 64), "day": day_of(now)}
    _BEGIN_DAY.run(c, params)
    return _COUNT.run(c, {**params, "most": most}).rowcount == 1


def give_back(c: Connection, lease: Lease, now: float) -> None:
    """*lease* was not used: take its request, if it stood for one, off the count."""
    engine = lease.payload.engine
    if lease.queue is Queue.SEARCH and engine and not lease.stored:
        _GIVE_BACK.run(c, {"engine": clean_word(engine, 64), "day": day_of(now)})


def requests_of_day(c: Connection, now: float) -> Mapping[str, int]:
    """Requests of today by engine; engines that got none are left out."""
    table = schema.engine_day
    statement = select(table.c.engine, table.c.asked).where(table.c.day == day_of(now))
    return {row[0]: row[1] for row in c.execute(statement)}


def put_off(c: Connection, topic: str, engine: str, host: str, reason: str, now: float) -> int:
    """Take the waiting queries of *engine* out of the frontier; returns how many.

    The ledger has them all: a later run asks them.
    """
    return _PUT_OFF.run(
        c,
        {
            "queue": Queue.SEARCH.value,
            "topic_id": topic_id(c, topic),
            "host_id": host_id(clean_host(host)),
            # A name stands there as '"engine":"baidu"'; quotes keep it from meeting "baidu_news".
            "engine": f'%"engine":"{engine}"%',
            "reason": clean_word(reason, _MAX_REASON_CHARS),
            "done_at": epoch_time(now),
        },
    ).rowcount


def move_to_the_end(c: Connection, topic: str, most: int) -> int:
    """Let queries that wait from an earlier run come after all that this run proposes.

    Args:
        most: as many at a time.

    Returns:
        How many there were; again until there is none.
    """
    rows = _BEFORE_THE_END.run(
        c,
        {
            "queue": Queue.SEARCH.value,
            "topic_id": topic_id(c, topic),
            "score": _LAST_IN_LINE,
            "most": most,
        },
    ).fetchall()
    # In order, so that workers that do the same wait for each other in turn.
    _TO_THE_END.run(c, sorted(row_id for (row_id,) in rows), {"score": _LAST_IN_LINE})
    return len(rows)


# --- How search engines answered, a day at a time -------------------------------------------------


@dataclass(slots=True)
class EngineHealth:
    """Answers of one engine by Beijing day (2026-03-05) and state, as far as they are remembered.

    Attributes:
        asked: requests by day, which are counted for good.
    """

    answers: dict[str, Counter[AnswerState]] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)


def engine_health(c: Connection, since: datetime) -> dict[str, EngineHealth]:
    """The health of every engine asked at *since* or later. Linear in the remembered answers."""
    engines: dict[str, EngineHealth] = {}
    query, past = schema.query, schema.query_answer
    # By hour: Beijing's days begin at 16:00 of UTC's.
    hour = func.substr(cast(past.c.asked_at, String(40)), 1, 13)
    statement = (
        select(query.c.engine, hour, past.c.state, func.count())
        .join(query, query.c.id == past.c.query_id)
        .where(past.c.asked_at >= to_stored_time(since))
        .group_by(query.c.engine, hour, past.c.state)
    )
    for engine, text, state, count in c.execute(statement):
        moment = datetime.fromisoformat(f"{text}:00").replace(tzinfo=UTC)
        answers = engines.setdefault(engine, EngineHealth()).answers
        answers.setdefault(china_time(moment, DAY), Counter())[AnswerState(state)] += count
    day = schema.engine_day
    first = china_time(since, DAY)
    for engine, text, count in c.execute(
        select(day.c.engine, day.c.day, day.c.asked).where(day.c.day >= first)
    ):
        engines.setdefault(engine, EngineHealth()).asked[text] = count
    return dict(sorted(engines.items()))
