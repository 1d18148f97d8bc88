"""Lists that a user comes back to, by name."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage.console.audit_log import Actor, record
from qiaocrawl.storage.console.users import User
from qiaocrawl.storage.converters import clean_word, stored_moment
from qiaocrawl.storage.schema import saved_search

MAX_NAME_CHARS, MAX_QUERY_CHARS = 100, 4_000


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A list: what stands behind the ``?`` of its address."""

    id: int
    name: str
    query: str


def list_searches(c: Connection, user: User) -> list[SavedSearch]:
    """The saved searches of *user* by name."""
    rows = c.execute(
        select(saved_search.c.id, saved_search.c.name, saved_search.c.query)
        .where(saved_search.c.user_id == user.id)
        .order_by(saved_search.c.name)
    )
    return [SavedSearch(*row) for row in rows]


def save_search(c: Connection, actor: Actor, user: User, name: str, query: str) -> None:
    """Keep a search under a name, in place of another one of that name.

    Raises:
        ConfigError: it has no name, or the query is too long.
    """
    name = clean_word(name, MAX_NAME_CHARS)
    if not name:
        raise ConfigError(_("a saved search needs a name"))
    if len(query) > MAX_QUERY_CHARS:
        most = MAX_QUERY_CHARS
        raise ConfigError(_("{name} has more than {most} characters", name="query", most=most))
    own = saved_search.c.user_id == user.id, saved_search.c.name == name
    before = c.execute(select(saved_search.c.query).where(*own)).scalar_one_or_none()
    c.execute(delete(saved_search).where(*own))
    c.execute(insert(saved_search).values(
        user_id=user.id, name=name, query=query, created_at=stored_moment(time.time()),
    ))  # fmt: skip
    state = None if before is None else {"query": before}
    record(c, actor, "search.save", name, state, {"query": query})


def remove_search(c: Connection, actor: Actor, user: User, search_id: int) -> None:
    """Forget a search of *user*; nothing happens where there is none."""
    own = saved_search.c.user_id == user.id, saved_search.c.id == search_id
    row = c.execute(select(saved_search.c.name, saved_search.c.query).where(*own)).one_or_none()
    if row is not None:
        c.execute(delete(saved_search).where(*own))
        record(c, actor, "search.remove", row.name, {"query": row.query}, None)
