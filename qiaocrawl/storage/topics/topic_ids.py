"""Topic names to row ids, remembered as long as the connection lives."""

from __future__ import annotations

from sqlalchemy import Connection

from qiaocrawl.errors import UnknownTopicError
from qiaocrawl.language import _
from qiaocrawl.storage.connection_cache import ConnectionCache
from qiaocrawl.storage.converters import clean_text
from qiaocrawl.storage.raw_sql import Statement

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
