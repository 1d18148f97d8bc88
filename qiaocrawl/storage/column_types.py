"""Column types that mean the same on SQLite, MySQL and MariaDB.

Text that is compared is binary-collated everywhere: ``utf8mb4_general_ci`` would make
``http://x/A`` equal to ``http://x/a`` and ``é`` equal to ``e``. ``utf8mb4_bin`` still ignores
trailing spaces, so such texts are stored stripped and URLs are keyed by a 16-byte hash.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, Dialect, Double, Integer, LargeBinary, String, Text
from sqlalchemy.dialects import mysql
from sqlalchemy.types import TypeDecorator, TypeEngine

from qiaocrawl.storage.packed_text import pack_text, unpack_text

MAX_HOST_CHARS = 260
"""The longest host name DNS allows (253) with a port."""

MAX_SKETCH_BYTES = 300
"""Digests of a body's sentences, as deduplication keeps them with a title."""

_MYSQL = ("mysql", "mariadb")


def id_type() -> TypeEngine[int]:
    """64-bit row id; SQLite numbers only an INTEGER primary key by itself."""
    # In SQLite an INTEGER has 64 bits anyway.
    return BigInteger().with_variant(Integer(), "sqlite")


def key_type() -> TypeEngine[bytes]:
    """16 bytes: the hash of a canonical URL or of a body. Never collated."""
    return LargeBinary(16).with_variant(mysql.BINARY(16), *_MYSQL)


def digest_type() -> TypeEngine[bytes]:
    """A digest of up to 64 bytes, as deduplication makes it."""
    return LargeBinary(64).with_variant(mysql.VARBINARY(64), *_MYSQL)


def short_bytes_type(max_bytes: int) -> TypeEngine[bytes]:
    """Up to *max_bytes* (at most some hundred) bytes, kept within the row."""
    return LargeBinary(max_bytes).with_variant(mysql.VARBINARY(max_bytes), *_MYSQL)


def code_type(max_chars: int = 32) -> TypeEngine[str]:
    """A short ASCII word compared byte by byte: a queue, an outcome, a host name."""
    plain = String(max_chars)
    # ASCII: one byte a character in an index, where utf8mb4 counts four.
    return plain.with_variant(
        mysql.VARCHAR(max_chars, charset="ascii", collation="ascii_bin"), *_MYSQL
    )


def name_type(max_chars: int) -> TypeEngine[str]:
    """Any text compared byte by byte, such as a term; stored without spaces at its ends."""
    plain = String(max_chars)
    return plain.with_variant(
        mysql.VARCHAR(max_chars, charset="utf8mb4", collation="utf8mb4_bin"), *_MYSQL
    )


def text_type() -> TypeEngine[str]:
    """Up to 64 KiB of text."""
    return Text()


def long_text_type() -> TypeEngine[str]:
    """Text of any length."""
    # MariaDB's TEXT ends at 64 KiB, in bytes; SQLite's has no end.
    return Text().with_variant(mysql.LONGTEXT(), *_MYSQL)


class PackedText(TypeDecorator[str]):
    """Text of any length, packed (``storage.packed_text``); a ``Statement`` packs it itself.

    A SQLite column of text holds bytes as well, so files of earlier versions need no change.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """LONGBLOB where a column of text must hold text."""
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else mysql.LONGBLOB())

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """What is stored of *value*."""
        return None if value is None else pack_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """The text in *value*."""
        return None if value is None else unpack_text(value)


def blob_type() -> TypeEngine[bytes]:
    """Bytes of any length."""
    return LargeBinary().with_variant(mysql.LONGBLOB(), *_MYSQL)


def time_type() -> TypeEngine[datetime]:
    """A UTC time without zone, to the microsecond."""
    # Without fsp MariaDB drops the fractions of a second.
    return DateTime().with_variant(mysql.DATETIME(fsp=6), *_MYSQL)


def seconds_type() -> TypeEngine[float]:
    """Epoch seconds or another 64-bit float."""
    # Double: MariaDB's FLOAT has 24 bits, which hold epoch seconds to two minutes only.
    return Double()
