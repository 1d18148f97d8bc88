"""Topic packs in the database, which is their truth after import."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Table, delete, func, insert, select, update

from qiaocrawl.errors import StorageError, UnknownTopicError
from qiaocrawl.language import _
from qiaocrawl.storage import schema
from qiaocrawl.storage.engine import ConnectionCache
from qiaocrawl.storage.sql import Statement
from qiaocrawl.storage.values import clean_host, clean_text, clean_word
from qiaocrawl.topic.pack import Sample, Site, Term, TopicPack

# --- Topic names to row ids, remembered as long as the connection lives ---------------------------

_BY_NAME = Statement("SELECT id FROM topic WHERE name = :name")


def find_topic_id(c: Connection, name: str) -> int | None:
    """The row id of topic *name*; None when it was never imported."""
    ids = ConnectionCache.of(c).topic_ids
    if name not in ids:
        # An argument may hold bytes that are no UTF-8; no driver takes those.
        row = _BY_NAME.run(c, {"name": clean_text(name, len(name))}).fetchone()
        if row is None:
            return None
        ids[name] = row[0]
    return ids[name]


def topic_id(c: Connection, name: str) -> int:
    """The row id of topic *name*.

    Raises:
        UnknownTopicError: it was never imported.
    """
    row_id = find_topic_id(c, name)
    if row_id is None:
        raise UnknownTopicError(
            _("topic {name!r} is not in the database: import it first", name=name)
        )
    return row_id


# --- Topic packs in the database, which is their truth after import -------------------------------

_MAX_NOTE_CHARS = 10_000
_MAX_SAMPLE_CHARS = 1_000_000


@dataclass(frozen=True, slots=True)
class TopicRow:
    """An imported topic and how much it holds."""

    id: int
    name: str
    title: str
    description: str
    threshold: float
    terms: int
    sites: int
    samples: int


def save_pack(c: Connection, pack: TopicPack, *, now: float) -> int:
    """Make the database's topic exactly *pack*; returns the topic's id.

    Rows that stay keep their ids; what the pack no longer has is deleted.
    """
    row_id = _save_topic(c, pack, now)
    _replace(c, schema.term, row_id, "text", [_term_row(entry) for entry in pack.terms])
    _replace(c, schema.site, row_id, "host", [_site_row(entry) for entry in pack.sites])
    _replace(c, schema.sample, row_id, "name", [_sample_row(entry) for entry in pack.samples])
    return row_id


def load_pack(c: Connection, name: str) -> TopicPack:
    """The topic called *name*, its rows in the order of the imported pack.

    Raises:
        StorageError: it was never imported.
    """
    row_id = topic_id(c, name)
    head = c.execute(select(schema.topic).where(schema.topic.c.id == row_id)).one()
    return TopicPack(
        name=head.name,
        title=head.title,
        description=head.description,
        threshold=head.threshold,
        terms=_load(c, schema.term, row_id, _term),
        sites=_load(c, schema.site, row_id, _site),
        samples=_load(c, schema.sample, row_id, _sample),
        language=head.language,
    )


def load_pack_to_change(c: Connection, name: str) -> TopicPack:
    """The same, and nobody else changes it until this transaction ends.

    Raises:
        StorageError: it was never imported.
    """
    lock_topic(c, name)
    return load_pack(c, name)


def lock_topic(c: Connection, name: str) -> None:
    """Let no other transaction change the topic until this one ends; to be called before a read.

    What :func:`save_pack` is given is all there will be: of two who change a topic at the same
    time the second must read what the first wrote. SQLite has one writer anyway.
    """
    mine = schema.topic.c.name == clean_word(name, 64)
    c.execute(select(schema.topic.c.id).where(mine).with_for_update())


def list_topics(c: Connection) -> list[TopicRow]:
    """All imported topics by name."""
    topic = schema.topic
    counts = [
        select(func.count())
        .select_from(table)
        .where(table.c.topic_id == topic.c.id)
        .scalar_subquery()
        for table in (schema.term, schema.site, schema.sample)
    ]
    columns = (topic.c.id, topic.c.name, topic.c.title, topic.c.description, topic.c.threshold)
    rows = c.execute(select(*columns, *counts).order_by(topic.c.name))
    return [TopicRow(*row) for row in rows]


def topic_versions(c: Connection) -> dict[str, datetime]:
    """When each topic was changed last, by its name: it differs after every change."""
    rows = c.execute(select(schema.topic.c.name, schema.topic.c.updated_at))
    return {row.name: row.updated_at for row in rows}


def mark_changed(c: Connection, topic: int, now: float) -> None:
    """Have running crawls read the topic with this row id anew."""
    c.execute(
        update(schema.topic).where(schema.topic.c.id == topic).values(updated_at=_moment(now))
    )


def _moment(now: float) -> datetime:
    return datetime.fromtimestamp(now, UTC).replace(tzinfo=None)


def _save_topic(c: Connection, pack: TopicPack, now: float) -> int:
    when = _moment(now)
    # Refused rather than changed: the name is what every command asks for.
    name = clean_word(pack.name, 64)
    if name != pack.name or not name:
        raise StorageError(
            _("topic name {name!r} must be 1 to 64 characters of text", name=pack.name)
        )
    values = {
        "title": clean_word(pack.title, 200),
        "description": clean_text(pack.description, _MAX_NOTE_CHARS),
        "language": clean_word(pack.language, 16),
        "threshold": pack.threshold,
        "updated_at": when,
    }
    row_id = find_topic_id(c, name)
    if row_id is not None:
        c.execute(update(schema.topic).where(schema.topic.c.id == row_id).values(values))
        return row_id
    result = c.execute(insert(schema.topic).values(name=name, created_at=when, **values))
    return int(result.lastrowid)


def _replace(
    c: Connection, table: Table, topic: int, identity: str, rows: Sequence[dict[str, Any]]
) -> None:
    """Make the rows of *topic* in *table* those given, matched by their *identity* column."""
    new_rows = {row[identity]: {**row, "position": at} for at, row in enumerate(rows)}
    there = {
        row[identity]: row
        for row in c.execute(select(table).where(table.c.topic_id == topic)).mappings()
    }
    gone = [row["id"] for key, row in there.items() if key not in new_rows]
    # SQLite bounds the values of one statement.
    for start in range(0, len(gone), 500):
        c.execute(delete(table).where(table.c.id.in_(gone[start : start + 500])))
    # Updated, not deleted and inserted: other tables and running crawls refer to the row ids.
    for key, row in new_rows.items():
        if key in there and _differs(there[key], row):
            c.execute(update(table).where(table.c.id == there[key]["id"]).values(row))
    new = [{"topic_id": topic, **row} for key, row in new_rows.items() if key not in there]
    if new:
        c.execute(insert(table), new)


def _differs(old: Mapping[Any, Any], new: Mapping[str, Any]) -> bool:
    return any(old[name] != value for name, value in new.items())


def _load(c: Connection, table: Table, topic: int, make: Callable[[Any], Any]) -> tuple[Any, ...]:
    rows = c.execute(
        select(table).where(table.c.topic_id == topic).order_by(table.c.position, table.c.id)
    )
    return tuple(make(row) for row in rows)


def _term_row(term: Term) -> dict[str, Any]:
    return {
        "text": clean_word(term.text, 100),
        "kind": clean_word(term.kind, 32),
        "weight": term.weight,
        "note": clean_text(term.note, _MAX_NOTE_CHARS),
    }


def _term(row: Any) -> Term:
    return Term(text=row.text, kind=row.kind, weight=row.weight, note=row.note)


def _site_row(site: Site) -> dict[str, Any]:
    return {
        "host": clean_host(site.host),
        "name": clean_word(site.name, 200),
        "role": clean_word(site.role, 32),
        "tier": site.tier,
        "region": clean_word(site.region, 100),
        "kind": clean_word(site.kind, 32),
        "start_url": clean_text(site.start_url, _MAX_NOTE_CHARS),
        "render": site.render,
        "note": clean_text(site.note, _MAX_NOTE_CHARS),
    }


def _site(row: Any) -> Site:
    return Site(
        host=row.host,
        name=row.name,
        role=row.role,
        tier=row.tier,
        region=row.region,
        kind=row.kind,
        start_url=row.start_url,
        render=row.render,
        note=row.note,
    )


def _sample_row(sample: Sample) -> dict[str, Any]:
    return {
        "name": clean_word(sample.name, 200),
        "title": clean_text(sample.title, _MAX_NOTE_CHARS),
        "text": clean_text(sample.text, _MAX_SAMPLE_CHARS),
        "relevant": sample.relevant,
    }


def _sample(row: Any) -> Sample:
    return Sample(name=row.name, title=row.title, text=row.text, relevant=row.relevant)
