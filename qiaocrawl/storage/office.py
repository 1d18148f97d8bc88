"""What the office is called, and its mark: a small picture on every page and at the log-in."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage.schema import office as table
from qiaocrawl.storage.values import clean_word, to_stored_time

MOST_NAME_CHARS = 60
MOST_MARK_BYTES = 200 * 1024
_ONLY_ROW = 1
# Pictures that browsers show and that cannot hold a script; an SVG can.
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"RIFF": "image/webp",
}


class Office(NamedTuple):
    """The office: "" and b"" where nobody has said."""

    name: str = ""
    mark: bytes = b""
    mark_type: str = ""


def stored_office(c: Connection) -> Office:
    """The office as it was entered."""
    row = c.execute(select(table.c.name, table.c.mark, table.c.mark_type)).first()
    return Office() if row is None else Office(row.name, bytes(row.mark), row.mark_type)


def keep_office(c: Connection, office: Office, now: datetime) -> None:
    """Keep *office* in the place of what is there."""
    c.execute(delete(table))
    values = {**office._asdict(), "name": clean_word(office.name, MOST_NAME_CHARS)}
    c.execute(insert(table).values(id=_ONLY_ROW, changed_at=to_stored_time(now), **values))


def type_of_mark(data: bytes) -> str:
    """The media type of a picture that may be a mark, by what stands in it.

    Raises:
        ConfigError: it is none, or too large; the message says what would be right.
    """
    if len(data) > MOST_MARK_BYTES:
        raise ConfigError(
            _("The picture is too large: at most {most} KB.", most=MOST_MARK_BYTES // 1024)
        )
    for beginning, media_type in _BEGINNINGS.items():
        is_webp = beginning != b"RIFF" or data[8:12] == b"WEBP"
        if data.startswith(beginning) and is_webp:
            return media_type
    raise ConfigError(_("The picture must be a PNG, JPEG or WebP."))
