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

from qiaocrawl.storage.column_types import MAX_HOST_CHARS

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
        text = json.dumps(_shortened(value, max_chars), ensure_ascii=False, separators=(",", ":"))
    if len(text) > max_chars:
        changes["cut_texts"] += 1
        # Half, since quoting may double what is cut.
        text = json.dumps({"cut": text[: max_chars // 2]}, ensure_ascii=False)
    if "\\u0000" in text:  # the escape would come back as U+0000 on reading
        text, replaced = _ESCAPED_NUL.subn(r"\g<1>" + REPLACEMENT, text)
        changes["replaced_chars"] += replaced
    return clean_text(text, len(text))


def _shortened(items: Sequence[object], max_chars: int) -> list[object]:
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
