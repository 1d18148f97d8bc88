"""What a long crawl need not keep for ever: old visits, decisions and queries.

What they say lives on in other tables: the crawl order's models, the URL's outcome, the hits that
became articles. What an article or a verdict rests on is never among it (``pages.retention`` has
the rule for raw pages).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Column, ColumnElement, Connection, Table, delete, exists, func, select

from qiaocrawl.storage.batches import in_transaction
from qiaocrawl.storage.converters import to_stored_time
from qiaocrawl.storage.database import Database
from qiaocrawl.storage.schema import (
    State,
    decision,
    query,
    query_answer,
    query_hit,
    url,
    visit,
)

# Keys that are looked at in one statement, and rows deleted in one transaction: a moment each.
_WINDOW = 20_000
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Keeping:
    """How much is kept; 0 keeps all of a kind.

    Attributes:
        visits: the newest of each topic and queue.
        decision_days: of URLs that are closed, since the decision.
        query_days: since a query was asked last. One that is still planned is asked again.
    """

    visits: int = 0
    decision_days: int = 0
    query_days: int = 0


@dataclass(frozen=True, slots=True)
class _Rule:
    """Rows of a table that may go, with those of *with_them* that refer to them."""

    key: Column[int]
    conditions: tuple[ColumnElement[bool], ...]
    with_them: tuple[Column[int], ...] = ()

    @property
    def table(self) -> Table:
        table = self.key.table
        assert isinstance(table, Table)
        return table


def prune_tables(
    database: Database,
    keeping: Keeping,
    now: datetime,
    *,
    dry_run: bool,
    progress: Callable[[str, int], None],
) -> dict[str, int]:
    """Delete what *keeping* does not keep; returns rows by table, those without any too.

    Crawls may go on meanwhile. A stop at any moment loses no more than the batch in hand, and the
    next call goes on.

    Args:
        dry_run: only count.
        progress: gets a table and how many more of its rows.
    """
    pruned: dict[str, int] = {}
    with database.reading() as c:
        rules = [*_rules(c, keeping, now)]
        c.rollback()
        for rule in rules:
            name = rule.table.name
            pruned.setdefault(name, 0)
            for keys in _doomed(c, rule):
                done = len(keys) if dry_run else _delete(database, rule, keys)
                pruned[name] += done
                progress(name, done)
    return pruned


def _rules(c: Connection, keeping: Keeping, now: datetime) -> Iterator[_Rule]:
    if keeping.visits:
        for topic_id, queue in c.execute(select(visit.c.topic_id, visit.c.queue).distinct()).all():
            scope = visit.c.topic_id == topic_id, visit.c.queue == queue
            statement = select(visit.c.seq).where(*scope).order_by(visit.c.seq.desc())
            newest_left = c.execute(statement.limit(1).offset(keeping.visits)).scalar()
            yield _Rule(visit.c.seq, (*scope, visit.c.seq <= (newest_left or 0)))
    if keeping.decision_days:
        before = (now - timedelta(days=keeping.decision_days)).timestamp()
        closed = exists().where(url.c.id == decision.c.url_id, url.c.state >= State.DONE)
        yield _Rule(decision.c.url_id, (decision.c.at < before, closed))
    if keeping.query_days:
        moment = to_stored_time(now.astimezone(UTC) - timedelta(days=keeping.query_days))
        results = query_hit.c.query_id, query_answer.c.query_id
        yield _Rule(query.c.id, (query.c.asked_at < moment,), results)


def _doomed(c: Connection, rule: _Rule) -> Iterator[list[int]]:
    """Keys of the rows that may go, some hundred at a time."""
    first, last = c.execute(select(func.min(rule.key), func.max(rule.key))).one()
    c.rollback()
    # By windows of the key: the conditions have no index of their own, and a statement that looks
    # for them through all of a large table would hold up a database for minutes.
    for start in range(first or 0, (last or -1) + 1, _WINDOW):
        window = rule.key >= start, rule.key < start + _WINDOW
        keys = c.execute(select(rule.key).where(*window, *rule.conditions)).scalars().all()
        # No transaction stays open while others delete: SQLite's log could not be cut back.
        c.rollback()
        for at in range(0, len(keys), _BATCH):
            yield [*keys[at : at + _BATCH]]


def _delete(database: Database, rule: _Rule, keys: Sequence[int]) -> int:
    def work(c: Connection) -> int:
        # Asked again: a crawl may have taken one up since.
        statement = select(rule.key).where(rule.key.in_(keys), *rule.conditions)
        still = c.execute(statement.with_for_update(of=rule.table)).scalars().all()
        for column in (*rule.with_them, rule.key):
            c.execute(delete(column.table).where(column.in_(still)))
        return len(still)

    return in_transaction(database, work)
