"""Who works at the console. Passwords arrive hashed and are never shown."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage.console.audit_log import Actor, record
from qiaocrawl.storage.converters import from_time, stored_moment
from qiaocrawl.storage.schema import api_token, console_session, console_user

ROLES = ("reader", "editor", "administrator")
"""From the least to the most rights; each has those of the ones before it."""
MAX_NAME_CHARS = 64


@dataclass(frozen=True, slots=True)
class User:
    """One user; ``password`` is a hash. ``disabled_at`` is None for one who may log in."""

    id: int
    name: str
    password: str
    role: str
    must_change: bool
    created_at: datetime | None
    disabled_at: datetime | None

    def may(self, role: str) -> bool:
        """Whether they have the rights of *role*."""
        return ROLES.index(self.role) >= ROLES.index(role)


def find_user(c: Connection, name: str) -> User | None:
    """The user called *name*."""
    row = c.execute(select(console_user).where(console_user.c.name == name)).one_or_none()
    return None if row is None else user_of(row)


def user_by_id(c: Connection, user_id: int) -> User | None:
    """The user of that row."""
    row = c.execute(select(console_user).where(console_user.c.id == user_id)).one_or_none()
    return None if row is None else user_of(row)


def list_users(c: Connection) -> list[User]:
    """All users by name."""
    return [user_of(row) for row in c.execute(select(console_user).order_by(console_user.c.name))]


def count_users(c: Connection) -> int:
    """How many there are, disabled ones too."""
    count: int = c.execute(select(func.count()).select_from(console_user)).scalar_one()
    return count


def user_of(row: Row[tuple[object, ...]]) -> User:
    """A row of the table as a record."""
    return User(
        row.id, row.name, row.password, row.role, bool(row.must_change),
        from_time(row.created_at), from_time(row.disabled_at),
    )  # fmt: skip


def add_user(c: Connection, actor: Actor, name: str, password: str, role: str) -> int:
    """Make a user, who has to change the password first; returns the row.

    Raises:
        ConfigError: the name is taken or cannot be one, or there is no such role.
    """
    name = name.strip()
    if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise ConfigError(_("a name has 1 to {most} characters", most=MAX_NAME_CHARS))
    _check_role(role)
    if find_user(c, name) is not None:
        raise ConfigError(_("there is already a user {name!r}", name=name))
    result = c.execute(insert(console_user).values(
        name=name, password=password, role=role, must_change=True,
        created_at=stored_moment(time.time()), disabled_at=None,
    ))  # fmt: skip
    record(c, actor, "user.add", name, None, {"role": role})
    (row_id,) = result.inserted_primary_key or (0,)
    return int(row_id)


def set_password(c: Connection, actor: Actor, user: User, password: str, *, by_self: bool) -> None:
    """Change the password, end all sessions of the user, and take all tokens away."""
    c.execute(
        update(console_user)
        .where(console_user.c.id == user.id)
        .values(password=password, must_change=not by_self)
    )
    end_sessions(c, user.id)
    # Whoever knew the old password may have made one.
    tokens = c.execute(delete(api_token).where(api_token.c.user_id == user.id)).rowcount
    record(c, actor, "user.password", user.name, None,
           {"by_self": by_self, "tokens_removed": tokens})  # fmt: skip


def set_role(c: Connection, actor: Actor, user: User, role: str) -> None:
    """Give the user *role*.

    Raises:
        ConfigError: no such role, or nobody could administer any more.
    """
    _check_role(role)
    if role != ROLES[-1]:
        _keep_an_administrator(c, user)
    c.execute(update(console_user).where(console_user.c.id == user.id).values(role=role))
    record(c, actor, "user.role", user.name, {"role": user.role}, {"role": role})


def set_disabled(c: Connection, actor: Actor, user: User, *, disabled: bool) -> None:
    """Take the user's log-in, sessions and tokens away, or give the log-in back.

    Raises:
        ConfigError: nobody could administer any more.
    """
    if disabled:
        _keep_an_administrator(c, user)
        end_sessions(c, user.id)
        c.execute(delete(api_token).where(api_token.c.user_id == user.id))
    moment = stored_moment(time.time()) if disabled else None
    c.execute(update(console_user).where(console_user.c.id == user.id).values(disabled_at=moment))
    before, after = {"disabled": user.disabled_at is not None}, {"disabled": disabled}
    record(c, actor, "user.disable" if disabled else "user.enable", user.name, before, after)


def end_sessions(c: Connection, user_id: int) -> None:
    """Log the user out everywhere."""
    c.execute(delete(console_session).where(console_session.c.user_id == user_id))


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise ConfigError(
            _("a role is one of {roles}, got {role!r}", roles=", ".join(ROLES), role=role)
        )


def _keep_an_administrator(c: Connection, user: User) -> None:
    # All of them, in one order, until the change is committed: two who take each other's rights
    # away at the same time would leave nobody.
    able = (
        select(console_user.c.id)
        .where(console_user.c.role == ROLES[-1], console_user.c.disabled_at.is_(None))
        .order_by(console_user.c.id)
        .with_for_update()
    )
    if not {row_id for (row_id,) in c.execute(able)} - {user.id}:
        raise ConfigError(_("{name!r} is the last administrator", name=user.name))
