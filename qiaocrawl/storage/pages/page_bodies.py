"""Bodies of pages as they stand in the database."""

from __future__ import annotations

from sqlalchemy import Connection

from qiaocrawl.storage.connection_cache import ConnectionCache


def unpack_body(c: Connection, frame: bytes) -> bytes:
    """The body in ``page_source.body``; b"" where it is in a file.

    Raises:
        PageStoreError: it is damaged, or the dictionary of its site is.
    """
    return ConnectionCache.of(c).dictionaries.unpack(c, frame) if frame else b""


def is_all_that_came(body: bytes, body_bytes: int) -> bool:
    """Whether *body* was stored as it came: the size in its row stays that of what came."""
    return len(body) >= body_bytes
