"""Converts values for the database and back: clean text, times, JSON, stable ids.

No driver takes a lone surrogate (both raise) and U+0000 breaks what reads the database later,
so both become U+FFFD here, at the edge, and are counted. Over-long text is cut and counted.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, Dialect, Double, Integer, LargeBinary, String, Text
from sqlalchemy.dialects import mysql
from sqlalchemy.types import TypeDecorator, TypeEngine

from qiaocrawl.storage.packed_text import pack_text, unpack_text

# --- Column types that mean the same on SQLite, MySQL and MariaDB ---------------------------------
# Text that is compared is binary-collated everywhere: ``utf8mb4_general_ci`` would make
# ``http://x/A`` equal to ``http://x/a`` and ``é`` equal to ``e``. ``utf8mb4_bin`` still ignores
# trailing spaces, so such texts are stored stripped and URLs are keyed by a 16-byte hash.

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


# --- Converts values for the database and back: clean text, times, JSON, stable ids ---------------

REPLACEMENT = "\ufffd"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# With an even number of backslashes before it the backslash of \u0000 is not itself escaped.
_ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")

changes: Counter[str] = Counter()
"""What was changed on the way in: ``replaced_chars``, ``replaced_texts``, ``cut_texts``; and
``unread_texts``, that could not be read on the way out.

At least that: a replayed transaction counts again.
"""


def clean_text(text: str, max_chars: int) -> str:
    """*text* with U+0000 and lone surrogates replaced, cut to *max_chars*."""
    if len(text) > max_chars:
        changes["cut_texts"] += 1
        text = text[:max_chars]
    # isascii() first: it looks at a flag of the string, and URLs, codes and most words pass it.
    if "\0" not in text and (text.isascii() or _is_encodable(text)):
        return text
    text, replaced = _UNSTORABLE.subn(REPLACEMENT, text)
    changes["replaced_chars"] += replaced
    changes["replaced_texts"] += 1
    return text


def _is_encodable(text: str) -> bool:
    try:
        text.encode()  # four times as fast as searching for surrogates
    except UnicodeEncodeError:
        return False
    return True


def clean_word(text: str, max_chars: int) -> str:
    """Like :func:`clean_text`, stripped: collations ignore spaces at the end."""
    # Most are one word of letters and digits, in which there is nothing to change.
    if len(text) <= max_chars and text.isalnum():
        return text
    # Stripped again: the cut may have left a space at the end.
    return clean_text(text.strip(), max_chars).strip()


def clean_host(host: str) -> str:
    """*host* (with its port, if any) in lower-case ASCII."""
    # Host names are ASCII by now (IDNA); anything else is kept visible rather than refused.
    return host.strip().lower().encode("ascii", "backslashreplace").decode()[:MAX_HOST_CHARS]


def to_json(value: object, max_chars: int = 60_000) -> str:
    """*value* as JSON text; too long, a list loses its longest items, others are cut and marked."""
    # Chinese is not escaped: six characters for each would double the column.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if len(text) > max_chars and isinstance(value, list | tuple):
        changes["cut_texts"] += 1
        text = json.dumps(
            _shorten_items(value, max_chars), ensure_ascii=False, separators=(",", ":")
        )
    if len(text) > max_chars:
        changes["cut_texts"] += 1
        # Half, since quoting may double what is cut.
        text = json.dumps({"cut": text[: max_chars // 2]}, ensure_ascii=False)
    if "\\u0000" in text:  # the escape would come back as U+0000 on reading
        text, replaced = _ESCAPED_NUL.subn(r"\g<1>" + REPLACEMENT, text)
        changes["replaced_chars"] += replaced
    return clean_text(text, len(text))


def _shorten_items(items: Sequence[object], max_chars: int) -> list[object]:
    """*items* in their order without the longest ones, so that their JSON fits."""
    sizes = [len(json.dumps(item, ensure_ascii=False)) + 1 for item in items]
    chosen, room = set(), max_chars - 2
    # Shortest first: most items survive, and the oversized one is as a rule a fault of its page.
    for index in sorted(range(len(items)), key=sizes.__getitem__):
        room -= sizes[index]
        if room < 0:
            break
        chosen.add(index)
    return [item for index, item in enumerate(items) if index in chosen]


def from_json(text: str | None) -> Any:
    """The value of JSON *text*; None for empty text."""
    return json.loads(text) if text else None


def json_mapping(text: str | None) -> Mapping[str, object]:
    """The object in JSON *text*; {} for empty text or anything but an object."""
    value = from_json(text)
    return value if isinstance(value, dict) else {}


def readable_mapping(text: str | None) -> Mapping[str, object]:
    """As :func:`json_mapping`; {} for what is no JSON, such as bytes others put there."""
    try:
        return json_mapping(text)
    # RecursionError: JSON nested a thousand levels deep.
    except (ValueError, RecursionError):
        changes["unread_texts"] += 1
        return {}


def to_time(when: datetime | None) -> str | None:
    """*when* as both databases take it: UTC, ``YYYY-MM-DD HH:MM:SS.ffffff``.

    A time without zone is taken as UTC.
    """
    if when is None:
        return None
    if when.tzinfo is not None:
        when = when.astimezone(UTC)
    # strftime would write the year 800 as "800"; isoformat pads it.
    return when.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")


def from_time(value: str | datetime | None) -> datetime | None:
    """The aware UTC time of a stored *value* (SQLite gives text, PyMySQL datetimes)."""
    if value is None:
        return None
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value.replace(tzinfo=UTC)


def to_stored_time(when: datetime) -> datetime:
    """*when* for a Core expression: UTC without zone."""
    if when.tzinfo is not None:
        when = when.astimezone(UTC)
    return when.replace(tzinfo=None)


def stored_moment(seconds: float) -> datetime:
    """Epoch *seconds* for a Core expression."""
    return to_stored_time(datetime.fromtimestamp(seconds, UTC))


def epoch_time(seconds: float) -> str:
    """Epoch *seconds* as a stored time."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")


def digest16(data: bytes) -> bytes:
    """16-byte BLAKE2b of *data*: the identity of a body. Releases the GIL above 2 KiB."""
    return hashlib.blake2b(data, digest_size=16).digest()


def host_id(host: str) -> int:
    """The row id of *host*: 63 bits of its hash, so that nobody has to look it up."""
    digest = hashlib.blake2b(host.encode(), digest_size=8).digest()
    # >> 1: MariaDB's BIGINT and SQLite's INTEGER are signed.
    return int.from_bytes(digest, "big") >> 1
