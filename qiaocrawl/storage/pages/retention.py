"""How much is stored, and deleting raw pages nobody refers to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, or_, select

from qiaocrawl.storage.converters import to_stored_time
from qiaocrawl.storage.database import Database
from qiaocrawl.storage.schema import (
    State,
    article,
    article_part,
    metadata,
    page_picture,
    page_source,
    revision,
    url,
)

# Rows deleted in one transaction: a running crawl waits no longer than for these.
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Pruned:
    """Raw pages deleted, and the bytes their compressed bodies and their pictures took."""

    pages: int
    body_bytes: int


@dataclass(frozen=True, slots=True)
class Stats:
    """What a database holds. ``body_bytes`` are as fetched, ``stored_bytes`` compressed."""

    rows: dict[str, int]
    states: dict[State, int]
    outcomes: dict[str, int]
    body_bytes: int
    stored_bytes: int


def prune(
    c: Connection, older_than: datetime, *, dry_run: bool, limit: int | None = None
) -> Pruned:
    """Delete raw pages last seen before *older_than* that nobody needs.

    The picture of a page goes with it.
    Kept as evidence whatever their age: pages an article, a part of one or an earlier
    version was made of.
    Kept for the crawl: pages that wait for analysis. URLs, articles and verdicts are never deleted.

    Args:
        dry_run: only count.
        limit: delete at most this many; None for all in one transaction.
    """
    size = func.length(page_source.c.body) + func.coalesce(func.length(page_picture.c.picture), 0)
    chosen = (
        select(page_source.c.id, size)
        .outerjoin(page_picture, page_picture.c.page_source_id == page_source.c.id)
        .where(_disposable(older_than))
    )
    # Counted in the database: with a million pages the ids alone would fill the memory.
    if dry_run:
        selected = chosen.subquery()
        row = c.execute(select(func.count(), func.sum(selected.c[1])).select_from(selected)).one()
        return Pruned(int(row[0]), int(row[1] or 0))
    rows = c.execute(chosen.order_by(page_source.c.id).limit(limit)).all()
    for start in range(0, len(rows), _BATCH):
        ids = [row[0] for row in rows[start : start + _BATCH]]
        c.execute(delete(page_source).where(page_source.c.id.in_(ids)))
    return Pruned(len(rows), sum(row[1] for row in rows))


def prune_in_batches(
    database: Database, older_than: datetime, progress: Callable[[int], None]
) -> Pruned:
    """Like :func:`prune`, some hundred pages a transaction; *progress* gets each number."""
    pages = body_bytes = 0
    while True:
        # A transaction a batch, so that a crawl on the same file waits for one batch only.
        with database.engine.begin() as c:
            done = prune(c, older_than, dry_run=False, limit=_BATCH)
        if not done.pages:
            return Pruned(pages, body_bytes)
        pages += done.pages
        body_bytes += done.body_bytes
        progress(done.pages)


def stats(c: Connection) -> Stats:
    """Counts over the whole database; reads every index once."""
    rows = {
        name: c.execute(select(func.count()).select_from(table)).scalar_one()
        for name, table in sorted(metadata.tables.items())
    }
    size = c.execute(
        select(func.sum(page_source.c.body_bytes), func.sum(func.length(page_source.c.body)))
    ).one()
    return Stats(
        rows=rows,
        states={State(state): count for state, count in sorted(_states(c).items())},
        outcomes=dict(sorted(_outcomes(c).items(), key=lambda pair: (-pair[1], pair[0]))),
        body_bytes=int(size[0] or 0),
        stored_bytes=int(size[1] or 0),
    )


# SQLite sorts, in memory, what an index does not have in groups; so many URLs at a time.
_SORTED_AT_A_TIME = 200_000


def _states(c: Connection) -> Counter[int]:
    # As the index of the frontier has them.
    columns = (url.c.queue, url.c.topic_id, url.c.state)
    counts: Counter[int] = Counter()
    for *_place, state, count in c.execute(select(*columns, func.count()).group_by(*columns)):
        counts[state] += count
    return counts


def _outcomes(c: Connection) -> Counter[str]:
    counts: Counter[str] = Counter()
    last = c.execute(select(func.max(url.c.id))).scalar() or 0
    for after in range(0, last, _SORTED_AT_A_TIME):
        rows = c.execute(
            select(url.c.outcome, func.count())
            .where(url.c.id > after, url.c.id <= after + _SORTED_AT_A_TIME)
            .where(url.c.outcome.is_not(None))
            .group_by(url.c.outcome)
        )
        for outcome, count in rows:
            counts[outcome] += count
    return counts


def _disposable(older_than: datetime) -> ColumnElement[bool]:
    # Kept for good: what was published must stay provable from the page as it was fetched.
    is_evidence = or_(
        exists().where(article.c.page_source_id == page_source.c.id),
        exists().where(article_part.c.page_source_id == page_source.c.id),
        exists().where(revision.c.page_source_id == page_source.c.id),
    )
    is_awaited = exists().where(
        and_(url.c.id == page_source.c.url_id, url.c.state == State.FETCHED)
    )
    return and_(page_source.c.last_seen_at < to_stored_time(older_than), ~is_evidence, ~is_awaited)
