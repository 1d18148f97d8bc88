"""Packing the pages that were stored before their site had a dictionary, beside running crawls."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from sqlalchemy import Connection, func, select

from qiaocrawl.errors import PageStoreError
from qiaocrawl.storage.batches import in_transaction
from qiaocrawl.storage.connection_cache import ConnectionCache
from qiaocrawl.storage.database import Database
from qiaocrawl.storage.packing import Packed, pack_in_windows
from qiaocrawl.storage.pages.site_dictionaries import FIRST_PAGES, SAMPLE_PAGES
from qiaocrawl.storage.raw_sql import ListStatement, Statement
from qiaocrawl.storage.schema import page_dictionary, page_source, url

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
    return pack_in_windows(database, page_source.c.id, _FIND_PLAIN, _pack, progress)


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


def _pack(c: Connection, *, keys: Sequence[int]) -> Packed:
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
