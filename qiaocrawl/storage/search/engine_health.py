"""How search engines answered, a day at a time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import Connection, String, cast, func, select

from qiaocrawl.search.query import AnswerState
from qiaocrawl.storage import schema
from qiaocrawl.storage.converters import to_stored_time
from qiaocrawl.text.zones import SHANGHAI


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
        moment = datetime.fromisoformat(f"{text}:00").replace(tzinfo=UTC).astimezone(SHANGHAI)
        answers = engines.setdefault(engine, EngineHealth()).answers
        answers.setdefault(f"{moment:%Y-%m-%d}", Counter())[AnswerState(state)] += count
    day = schema.engine_day
    first = f"{since.astimezone(SHANGHAI):%Y-%m-%d}"
    for engine, text, count in c.execute(
        select(day.c.engine, day.c.day, day.c.asked).where(day.c.day >= first)
    ):
        engines.setdefault(engine, EngineHealth()).asked[text] = count
    return dict(sorted(engines.items()))
