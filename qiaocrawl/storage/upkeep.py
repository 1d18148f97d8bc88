"""Packing the texts that earlier versions stored, beside running crawls."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Table,
    and_,
    delete,
    exists,
    func,
    or_,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError, OperationalError

from qiaocrawl.errors import PageStoreError
from qiaocrawl.storage.database import Database
from qiaocrawl.storage.engine import ConnectionCache
from qiaocrawl.storage.packed_text import (
    FRAME,
    LEAST_BYTES,
    pack_html,
    pack_text,
    unpack_html,
    unpack_text,
)
from qiaocrawl.storage.pages.site_dictionaries import FIRST_PAGES, SAMPLE_PAGES
from qiaocrawl.storage.schema import (
    State,
    article,
    article_part,
    decision,
    metadata,
    page_dictionary,
    page_picture,
    page_source,
    query,
    query_answer,
    query_hit,
    revision,
    url,
    visit,
)
from qiaocrawl.storage.sql import DriverError, ErrorKind, ListStatement, Statement, classify
from qiaocrawl.storage.values import to_stored_time

# --- Work on a whole table beside running crawls: a batch a transaction, each kept when it is
# done

T = TypeVar("T")

_TRIES = 10
_PAUSE_SECONDS = 0.05


def in_transaction(database: Database, work: Callable[[Connection], T]) -> T:
    """What *work* gives, in a transaction of its own; again where another one was in the way.

    Raises:
        DriverError: as *work* does, for any other reason or too often.
    """
    for tries_left in reversed(range(_TRIES)):
        try:
            with database.engine.begin() as c:
                return work(c)
        except (DriverError, DBAPIError) as error:
            if not tries_left or classify(error) is not ErrorKind.CONTENTION:
                raise
            # Whoever was in the way gets a moment.
            time.sleep(_PAUSE_SECONDS)
    raise AssertionError("the last try returns or raises")


# --- Packing the texts that earlier versions stored, beside running crawls ------------------------

# Keys looked at in one statement, and rows packed in one transaction.
_WINDOW = 5_000
_BATCH = 100


class Packed(NamedTuple):
    """Rows looked at, how many were packed, and the bytes these took before and take now."""

    rows: int = 0
    packed: int = 0
    before: int = 0
    after: int = 0


# What was stored as text is old. A short text is stored as it is, by any version.
_OLD_TEXT = "typeof(text) = 'text'"
_OLD_TEXT_MYSQL = (
    f"(LENGTH(text) >= {LEAST_BYTES} AND HEX(LEFT(text, 1)) NOT BETWEEN '80' AND 'BF')"
)
_FRAME_HEX = FRAME.hex().upper()
_OLD = f"({_OLD_TEXT} OR hex(substr(html, 1, 4)) = '{_FRAME_HEX}')"
_OLD_MYSQL = f"({_OLD_TEXT_MYSQL} OR HEX(LEFT(html, 4)) = '{_FRAME_HEX}')"

_FIND_ARTICLE = "SELECT id FROM article WHERE id >= :start AND id < :stop AND "
_READ_ARTICLE = "SELECT id, text, html FROM article WHERE id IN ({list})"
_FIND_PART = "SELECT url_id FROM article_part WHERE url_id >= :start AND url_id < :stop AND "
_READ_PART = "SELECT url_id, text, html FROM article_part WHERE url_id IN ({list})"
_FIND_REVISION = "SELECT id FROM revision WHERE id >= :start AND id < :stop AND "
_READ_REVISION = "SELECT id, text FROM revision WHERE id IN ({list})"
_LOCKED = " FOR UPDATE"


class _Place(NamedTuple):
    """A table with texts, and the statements that find, read and write them."""

    table: str
    key: str
    find: Statement
    read: ListStatement
    write: Statement


_PLACES = (
    _Place(
        "article",
        "id",
        Statement(_FIND_ARTICLE + _OLD, mysql=_FIND_ARTICLE + _OLD_MYSQL),
        ListStatement(_READ_ARTICLE, mysql=_READ_ARTICLE + _LOCKED),
        Statement("UPDATE article SET text = :text, html = :html WHERE id = :key"),
    ),
    _Place(
        "article_part",
        "url_id",
        Statement(_FIND_PART + _OLD, mysql=_FIND_PART + _OLD_MYSQL),
        ListStatement(_READ_PART, mysql=_READ_PART + _LOCKED),
        Statement("UPDATE article_part SET text = :text, html = :html WHERE url_id = :key"),
    ),
    _Place(
        "revision",
        "id",
        Statement(_FIND_REVISION + _OLD_TEXT, mysql=_FIND_REVISION + _OLD_TEXT_MYSQL),
        ListStatement(_READ_REVISION, mysql=_READ_REVISION + _LOCKED),
        Statement("UPDATE revision SET text = :text WHERE id = :key"),
    ),
)


def count_texts(c: Connection) -> int:
    """How many texts :func:`pack_texts` looks at."""
    counts = (select(func.count()).select_from(metadata.tables[p.table]) for p in _PLACES)
    return sum(c.execute(count).scalar_one() for count in counts)


def pack_texts(database: Database, progress: Callable[[int], None]) -> Packed:
    """Pack every text and structure that is stored as an earlier version left it.

    Crawls may go on meanwhile. A stop at any moment leaves each row as it was or packed; the next
    call goes on with those that are not.

    Args:
        progress: gets how many more rows were looked at.
    """
    total = Packed()
    for place in _PLACES:
        key = metadata.tables[place.table].c[place.key]
        pack = partial(_pack, place=place)
        total = sum_of(total, pack_in_windows(database, key, place.find, pack, progress))
    return total


class _Pack(Protocol):
    def __call__(self, c: Connection, *, keys: Sequence[int]) -> Packed: ...


def pack_in_windows(
    database: Database,
    key: Column[int],
    find: Statement,
    pack: _Pack,
    progress: Callable[[int], None],
) -> Packed:
    """Go through a table by *key*, a transaction for each batch that *find* finds.

    Args:
        find: gives the keys from ``:start`` to before ``:stop`` that are to be packed.
        pack: packs the rows of these keys; the rows it looks at are counted here.
    """
    total = Packed()
    with database.reading() as c:
        first, last = c.execute(select(func.min(key), func.max(key))).one()
    for start in range(first or 0, (last or -1) + 1, _WINDOW):
        stop = start + _WINDOW
        window = select(func.count()).select_from(key.table).where(key >= start, key < stop)
        with database.reading() as c:
            rows = c.execute(window).scalar_one()
            found = find.run(c, {"start": start, "stop": stop}).fetchall()
        keys = [row[0] for row in found]
        total = sum_of(total, Packed(rows=rows))
        progress(rows - len(keys))
        for at in range(0, len(keys), _BATCH):
            batch = keys[at : at + _BATCH]
            total = sum_of(total, in_transaction(database, partial(pack, keys=batch)))
            progress(len(batch))
    return total


def _pack(c: Connection, *, keys: Sequence[int], place: _Place) -> Packed:
    before = after = packed = 0
    for key, body, *markup in place.read.fetch(c, keys):
        said = unpack_text(body)
        values = {"key": key, "text": pack_text(said)}
        if markup:
            values["html"] = pack_html(unpack_html(markup[0], said), said)
        before += _bytes(body) + sum(map(_bytes, markup))
        after += len(values["text"]) + _bytes(values.get("html"))
        packed += 1
        place.write.run(c, values)
    return Packed(0, packed, before, after)


def _bytes(stored: str | bytes | None) -> int:
    return len(stored.encode() if isinstance(stored, str) else stored or b"")


def sum_of(one: Packed, other: Packed) -> Packed:
    """Both together."""
    return Packed(*(a + b for a, b in zip(one, other, strict=True)))


# --- What a long crawl need not keep for ever: old visits, decisions and queries ------------------
# What they say lives on in other tables: the crawl order's models, the URL's outcome, the hits that
# became articles. What an article or a verdict rests on is never among it (``pages.retention`` has
# the rule for raw pages).

# Keys that are looked at in one statement, and rows deleted in one transaction: a moment each.
_PRUNING_WINDOW = 20_000
_PRUNING_BATCH = 500


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
            for keys in _expiring_keys(c, rule):
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


def _expiring_keys(c: Connection, rule: _Rule) -> Iterator[list[int]]:
    """Keys of the rows that may go, some hundred at a time."""
    first, last = c.execute(select(func.min(rule.key), func.max(rule.key))).one()
    c.rollback()
    # By windows of the key: the conditions have no index of their own, and a statement that looks
    # for them through all of a large table would hold up a database for minutes.
    for start in range(first or 0, (last or -1) + 1, _PRUNING_WINDOW):
        window = rule.key >= start, rule.key < start + _PRUNING_WINDOW
        keys = c.execute(select(rule.key).where(*window, *rule.conditions)).scalars().all()
        # No transaction stays open while others delete: SQLite's log could not be cut back.
        c.rollback()
        for at in range(0, len(keys), _PRUNING_BATCH):
            yield [*keys[at : at + _PRUNING_BATCH]]


def _delete(database: Database, rule: _Rule, keys: Sequence[int]) -> int:
    def work(c: Connection) -> int:
        # Asked again: a crawl may have taken one up since.
        statement = select(rule.key).where(rule.key.in_(keys), *rule.conditions)
        still = c.execute(statement.with_for_update(of=rule.table)).scalars().all()
        for column in (*rule.with_them, rule.key):
            c.execute(delete(column.table).where(column.in_(still)))
        return len(still)

    return in_transaction(database, work)


# --- What tables take of the disk, with their indexes ---------------------------------------------


def table_bytes(c: Connection) -> dict[str, int] | None:
    """Bytes by table, its indexes included; None where this SQLite cannot tell.

    Of SQLite whole pages, read one by one; of InnoDB what the server estimates.
    """
    if c.dialect.name != "sqlite":
        rows = c.execute(
            text(
                "SELECT table_name, data_length + index_length FROM information_schema.tables"
                " WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'"
            )
        )
        return {str(name): int(size or 0) for name, size in rows}
    try:
        rows = c.execute(
            text(
                "SELECT m.tbl_name, SUM(s.pgsize) FROM dbstat s JOIN sqlite_schema m"
                " ON m.name = s.name WHERE s.aggregate = TRUE GROUP BY m.tbl_name"
            )
        )
        return {str(name): int(size) for name, size in rows}
    except OperationalError as error:
        if "dbstat" in str(error.orig):
            return None
        raise


# --- How much is stored, and deleting raw pages nobody refers to ----------------------------------

# Rows deleted in one transaction: a running crawl waits no longer than for these.
_RETENTION_BATCH = 500


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
    for start in range(0, len(rows), _RETENTION_BATCH):
        ids = [row[0] for row in rows[start : start + _RETENTION_BATCH]]
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
            done = prune(c, older_than, dry_run=False, limit=_RETENTION_BATCH)
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


# --- Packing the pages that were stored before their site had a dictionary, beside running
# crawls

# The two lowest bits of a frame's fifth byte say how long the number of its dictionary is.
_FIND = (
    "SELECT p.id FROM page_source p JOIN url u ON u.id = p.url_id"
    " WHERE p.id >= :start AND p.id < :stop AND p.record_id IS NULL"
    " AND EXISTS (SELECT 1 FROM page_dictionary d WHERE d.host_id = u.host_id)"
)
_FIND_PLAIN = Statement(
    _FIND + " AND HEX(SUBSTR(p.body, 5, 1)) GLOB '?[048C]'",
    mysql=_FIND + " AND HEX(SUBSTR(p.body, 5, 1)) REGEXP '^.[048C]$'",
)
_READ = "SELECT p.id, u.host_id, p.body FROM page_source p JOIN url u ON u.id = p.url_id"
_READ_ROWS = ListStatement(
    _READ + " WHERE p.id IN ({list}) AND p.record_id IS NULL",
    mysql=_READ + " WHERE p.id IN ({list}) AND p.record_id IS NULL FOR UPDATE",
)
_WRITE = Statement("UPDATE page_source SET body = :body WHERE id = :id AND record_id IS NULL")


def count_pages(c: Connection) -> int:
    """How many pages :func:`pack_pages` looks at."""
    count: int = c.execute(select(func.count()).select_from(page_source)).scalar_one()
    return count


def pack_pages(database: Database, progress: Callable[[int], None]) -> Packed:
    """Learn a dictionary of every site that has none, and pack with them what has none.

    Crawls may go on meanwhile. A stop at any moment leaves each row as it was or packed; the next
    call goes on with those that are not. Pages that are in files are left alone.

    Args:
        progress: gets how many more rows were looked at.
    """
    for host_id, pages in _hosts_to_learn(database):
        in_transaction(database, partial(_learn, host_id=host_id, pages=pages))
    return pack_in_windows(database, page_source.c.id, _FIND_PLAIN, _repack, progress)


def _hosts_to_learn(database: Database) -> Sequence[tuple[int, int]]:
    known = select(page_dictionary.c.host_id)
    with database.reading() as c:
        rows = c.execute(
            select(url.c.host_id, func.count())
            .select_from(page_source.join(url))
            .where(url.c.host_id.not_in(known))
            .group_by(url.c.host_id)
            .having(func.count() >= FIRST_PAGES)
        )
        return [(host_id, pages) for host_id, pages in rows]


def _learn(c: Connection, *, host_id: int, pages: int) -> None:
    rows = c.execute(
        select(page_source.c.id)
        .join(url)
        .where(url.c.host_id == host_id, page_source.c.record_id.is_(None))
        .order_by(page_source.c.id.desc())
        .limit(SAMPLE_PAGES)
    )
    ids = list(rows.scalars())
    ConnectionCache.of(c).dictionaries.learn(c, host_id, ids, pages=pages, now=time.time())


def _repack(c: Connection, *, keys: Sequence[int]) -> Packed:
    dictionaries = ConnectionCache.of(c).dictionaries
    before = after = packed = 0
    for row_id, host_id, frame in _READ_ROWS.fetch(c, keys):
        try:
            new = dictionaries.pack(c, host_id, dictionaries.unpack(c, frame))
        except PageStoreError:
            # Damaged: it stays as it is, and `pages verify` names it.
            continue
        if len(new) >= len(frame):
            continue
        _WRITE.run(c, {"id": row_id, "body": new})
        before, after, packed = before + len(frame), after + len(new), packed + 1
    return Packed(0, packed, before, after)
