"""Every change that is made at the console: who, when, what, before and after."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from qiaocrawl.storage.schema import audit_entry
from qiaocrawl.storage.values import clean_text, clean_word, from_time, stored_moment

MAX_TARGET_CHARS = 500
# A pack of ten thousand terms, before and after; what is longer is cut, and no longer JSON.
_MAX_STATE_CHARS = 1_000_000

State = Mapping[str, Any] | None
"""What something was like; None: it was not there."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, and from which network address."""

    name: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One change; ``before`` and ``after`` are JSON, "" where there was nothing."""

    id: int
    at: datetime
    user_name: str
    address: str
    action: str
    target: str
    before: str
    after: str


def record(
    c: Connection, actor: Actor, action: str, target: str, before: State, after: State
) -> None:
    """Note a change in the transaction that makes it.

    Args:
        action: what was done, as ``area.verb``.
        target: what it was done to, as a person finds it again: a URL, a name.
        before, after: no secrets.
    """
    c.execute(
        insert(audit_entry).values(
            at=stored_moment(time.time()),
            user_name=actor.name,
            address=actor.address,
            action=action,
            target=clean_word(target, MAX_TARGET_CHARS),
            before=_as_json(before),
            after=_as_json(after),
        )
    )


def _as_json(state: State) -> str | None:
    if state is None:
        return None
    return clean_text(json.dumps(state, ensure_ascii=False, default=str), _MAX_STATE_CHARS)


def entries(c: Connection, *, before_id: int = 0, limit: int = 50) -> list[AuditEntry]:
    """The newest *limit* entries, of those before the entry *before_id* (0: of all)."""
    statement = select(audit_entry).order_by(audit_entry.c.id.desc()).limit(limit)
    if before_id:
        statement = statement.where(audit_entry.c.id < before_id)
    return [_entry(row) for row in c.execute(statement)]


def last_entry(c: Connection, action: str, target: str) -> AuditEntry | None:
    """The newest entry of *action* done to *target*; None without one."""
    mine = audit_entry.c.action == action, audit_entry.c.target == target
    row = c.execute(
        select(audit_entry).where(*mine).order_by(audit_entry.c.id.desc()).limit(1)
    ).one_or_none()
    return None if row is None else _entry(row)


def _entry(row: Row[Any]) -> AuditEntry:
    moment = from_time(row.at)
    assert moment is not None
    return AuditEntry(
        row.id,
        moment,
        row.user_name,
        row.address,
        row.action,
        row.target,
        row.before or "",
        row.after or "",
    )
