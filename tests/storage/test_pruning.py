"""What is pruned, what stays, and that a stop in the middle loses nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection, insert, select, text, update

from qiaocrawl.items import Outcome
from qiaocrawl.storage import Database
from qiaocrawl.storage.frontier.lease import Decision, decision_of, save_decisions
from qiaocrawl.storage.schema import query, query_answer, query_hit, url, visit
from qiaocrawl.storage.upkeep import Keeping, prune_tables, table_bytes
from qiaocrawl.storage.values import to_stored_time
from storage_samples import NOW, add_topic, candidate, close, enqueue, scalar, take

_NOW = datetime.fromtimestamp(NOW, UTC)
_DAY = 86_400.0


def _fill(c: Connection) -> None:
    """Ten visits of a queue and two of another, two old decisions and a new one, two queries."""
    enqueue(c, [candidate("done"), candidate("new"), candidate("waiting")])
    for lease in take(c):
        if not lease.url.endswith("waiting"):
            close(c, lease, Outcome.LIST)
    c.execute(update(url).where(url.c.url.like("%waiting")).values(state=0))
    ids = {row.url.rpartition("/")[2]: row.id for row in c.execute(select(url.c.id, url.c.url))}
    ages = {"done": 400, "new": 3, "waiting": 400}
    save_decisions(
        c, [(ids[name], Decision("bfs", 0.5, NOW - days * _DAY)) for name, days in ages.items()]
    )
    topic_id = scalar(c, "SELECT id FROM topic")
    c.execute(insert(visit), [
        {"topic_id": topic_id, "queue": "site" if n < 10 else "pages", "url_id": ids["done"],
         "token": n, "attempt": 1, "depth": 0, "relevance": 0.5, "relevant": True, "at": NOW,
         "links": b""}
        for n in range(12)
    ])  # fmt: skip
    for number, days in ((1, 800), (2, 5)):
        c.execute(insert(query).values(
            id=number, topic_id=topic_id, key=bytes([number] * 16), engine="e", term="侨", site="",
            page=1, state="hits", hits=1, new_urls=1, message="",
            planned_at=to_stored_time(_NOW - timedelta(days=900)),
            asked_at=to_stored_time(_NOW - timedelta(days=days)),
        ))  # fmt: skip
        c.execute(insert(query_hit).values(query_id=number, key=b"k" * 16))
        c.execute(insert(query_answer).values(
            query_id=number, slot=0, asked_at=to_stored_time(_NOW), state="hits", hits=1,
            new_urls=1, message="",
        ))  # fmt: skip


class _StoppedError(Exception):
    pass


def test_what_is_old_goes_and_what_is_needed_stays(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        _fill(c)
    keeping = Keeping(visits=4, decision_days=365, query_days=700)
    expected = {"visit": 6, "decision": 1, "query": 1}

    def prune(*, dry_run: bool) -> dict[str, int]:
        return prune_tables(
            database, keeping, _NOW, dry_run=dry_run, progress=lambda table, rows: None
        )

    def stop(table: str, _rows: int) -> None:
        if table == "decision":
            raise _StoppedError

    assert prune(dry_run=True) == prune(dry_run=True) == expected
    with pytest.raises(_StoppedError):
        prune_tables(database, keeping, _NOW, dry_run=False, progress=stop)
    assert prune(dry_run=False) == {"visit": 0, "decision": 0, "query": 1}
    with database.engine.begin() as c:
        kept = c.execute(select(visit.c.queue, visit.c.token).order_by(visit.c.seq)).all()
        assert [tuple(row) for row in kept] == [
            *(("site", n) for n in range(6, 10)), ("pages", 10), ("pages", 11),
        ]  # fmt: skip
        names = c.execute(text("SELECT url FROM url WHERE id IN (SELECT url_id FROM decision)"))
        assert {str(name).rpartition("/")[2] for (name,) in names} == {"new", "waiting"}
        for table in (query.c.id, query_hit.c.query_id, query_answer.c.query_id):
            assert c.execute(select(table)).scalars().all() == [2]


def test_zero_keeps_everything(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        _fill(c)
    assert not prune_tables(database, Keeping(), _NOW, dry_run=False, progress=lambda t, n: None)
    with database.engine.begin() as c:
        assert scalar(c, "SELECT COUNT(*) FROM visit") == 12
        sizes = table_bytes(c)
    assert sizes is None or sizes["visit"] > 0


def test_parts_of_a_decision_are_kept_to_four_digits(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("a")])
        url_id = scalar(c, "SELECT id FROM url")
        parts = {"region": -1.0771349986583825, "always": 1234567.0, "none": 0.0}
        save_decisions(c, [(url_id, Decision("adaptive", 0.5, NOW, parts=parts))])
        found = decision_of(c, url_id)
        assert found is not None
        assert found.parts == {"region": -1.077, "always": 1_235_000.0, "none": 0.0}
