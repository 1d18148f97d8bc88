"""Templates of sites that were made at the console: every version is kept, the newest counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select

from qiaocrawl.storage.schema import template_version
from qiaocrawl.storage.values import (
    clean_host,
    clean_word,
    from_time,
    json_mapping,
    to_json,
    to_stored_time,
)

MAX_PATH_CHARS = 500
_MAX_NAME_CHARS = 100
_MAX_JSON_CHARS = 60_000
_MOST_VERSIONS = 30


@dataclass(frozen=True, slots=True)
class TemplateVersion:
    """One version of the template of the pages of ``host`` whose path fits ``path``.

    Attributes:
        content: the table of a template file; None: from here on there was none.
        note: what its trial showed.
    """

    id: int
    host: str
    path: str
    content: Mapping[str, Any] | None
    by: str
    at: datetime
    note: str


def add_version(
    c: Connection,
    host: str,
    path: str,
    content: Mapping[str, Any] | None,
    *,
    by: str,
    note: str,
    now: datetime,
) -> int:
    """Let *content* count from now on, None for no template; returns the number of the version."""
    values = {
        "host": clean_host(host),
        "path": clean_word(path, MAX_PATH_CHARS),
        "content": "" if content is None else to_json(dict(content), max_chars=_MAX_JSON_CHARS),
        "made_by": clean_word(by, _MAX_NAME_CHARS),
        "made_at": to_stored_time(now),
        "note": clean_word(note, 500),
    }
    key = c.execute(insert(template_version).values(values)).inserted_primary_key
    assert key is not None
    return int(key[0])


def find_version(c: Connection, number: int) -> TemplateVersion | None:
    """The version of that number; None where there is none."""
    row = c.execute(select(template_version).where(template_version.c.id == number)).one_or_none()
    return None if row is None else _version(row)


def versions_of(c: Connection, host: str) -> list[TemplateVersion]:
    """The last versions of all templates of *host*, the newest first."""
    statement = (
        select(template_version)
        .where(template_version.c.host == clean_host(host))
        .order_by(template_version.c.id.desc())
        .limit(_MOST_VERSIONS)
    )
    return [_version(row) for row in c.execute(statement)]


def templates_in_force(c: Connection) -> list[TemplateVersion]:
    """The versions that count, of all hosts."""
    newest = (
        select(func.max(template_version.c.id))
        .group_by(template_version.c.host, template_version.c.path)
        .scalar_subquery()
    )
    statement = select(template_version).where(
        template_version.c.id.in_(newest), template_version.c.content != ""
    )
    return [_version(row) for row in c.execute(statement.order_by(template_version.c.id))]


def newest_version(c: Connection) -> int:
    """The number of the newest version of all; 0 for none. It grows with every change."""
    return int(c.scalar(select(func.max(template_version.c.id))) or 0)


def _version(row: Row[Any]) -> TemplateVersion:
    at = from_time(row.made_at)
    assert at is not None
    content = json_mapping(row.content) if row.content else None
    return TemplateVersion(row.id, row.host, row.path, content, row.made_by, at, row.note)
