"""Packing the texts that earlier versions stored, beside running crawls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from sqlalchemy import Column, Connection, func, select

from qiaocrawl.storage.batches import in_transaction
from qiaocrawl.storage.database import Database
from qiaocrawl.storage.packed_text import (
    FRAME,
    LEAST_BYTES,
    pack_html,
    pack_text,
    unpack_html,
    unpack_text,
)
from qiaocrawl.storage.raw_sql import ListStatement, Statement
from qiaocrawl.storage.schema import metadata

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
        "article", "id",
        Statement(_FIND_ARTICLE + _OLD, mysql=_FIND_ARTICLE + _OLD_MYSQL),
        ListStatement(_READ_ARTICLE, mysql=_READ_ARTICLE + _LOCKED),
        Statement("UPDATE article SET text = :text, html = :html WHERE id = :key"),
    ),
    _Place(
        "article_part", "url_id",
        Statement(_FIND_PART + _OLD, mysql=_FIND_PART + _OLD_MYSQL),
        ListStatement(_READ_PART, mysql=_READ_PART + _LOCKED),
        Statement("UPDATE article_part SET text = :text, html = :html WHERE url_id = :key"),
    ),
    _Place(
        "revision", "id",
        Statement(_FIND_REVISION + _OLD_TEXT, mysql=_FIND_REVISION + _OLD_TEXT_MYSQL),
        ListStatement(_READ_REVISION, mysql=_READ_REVISION + _LOCKED),
        Statement("UPDATE revision SET text = :text WHERE id = :key"),
    ),
)  # fmt: skip


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
    for key, text, *markup in place.read.fetch(c, keys):
        said = unpack_text(text)
        values = {"key": key, "text": pack_text(said)}
        if markup:
            values["html"] = pack_html(unpack_html(markup[0], said), said)
        before += _bytes(text) + sum(map(_bytes, markup))
        after += len(values["text"]) + _bytes(values.get("html"))
        packed += 1
        place.write.run(c, values)
    return Packed(0, packed, before, after)


def _bytes(stored: str | bytes | None) -> int:
    return len(stored.encode() if isinstance(stored, str) else stored or b"")


def sum_of(one: Packed, other: Packed) -> Packed:
    """Both together."""
    return Packed(*(a + b for a, b in zip(one, other, strict=True)))
