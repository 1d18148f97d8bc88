"""Who is logged in: sessions of people, tokens of programs, failed tries.

Cookies and tokens are random; the database has their digests only.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import time
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Row, delete, func, insert, or_, select, update

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.schema import (
    api_token,
    console_identity,
    console_session,
    console_user,
    event_link,
    login_failure,
    saved_search,
)
from qiaocrawl.storage.values import clean_word, from_time, stored_moment

# --- Who works at the console. Passwords arrive hashed and are never shown ------------------------

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
        row.id,
        row.name,
        row.password,
        row.role,
        bool(row.must_change),
        from_time(row.created_at),
        from_time(row.disabled_at),
    )


def add_user(
    c: Connection, actor: Actor, name: str, password: str, role: str, *, must_change: bool = True
) -> int:
    """Make a user, who has to change the password first if *must_change*; returns the row.

    Raises:
        ConfigError: the name is taken or cannot be one, or there is no such role.
    """
    name = name.strip()
    if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise ConfigError(_("a name has 1 to {most} characters", most=MAX_NAME_CHARS))
    _check_role(role)
    if find_user(c, name) is not None:
        raise ConfigError(_("there is already a user {name!r}", name=name))
    result = c.execute(
        insert(console_user).values(
            name=name,
            password=password,
            role=role,
            must_change=must_change,
            created_at=stored_moment(time.time()),
            disabled_at=None,
        )
    )
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
    record(
        c, actor, "user.password", user.name, None, {"by_self": by_self, "tokens_removed": tokens}
    )


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
    """Take the user's log-in, sessions, tokens and links away, or give the log-in back.

    Raises:
        ConfigError: nobody could administer any more.
    """
    if disabled:
        _keep_an_administrator(c, user)
        end_sessions(c, user.id)
        c.execute(delete(api_token).where(api_token.c.user_id == user.id))
        # What they let strangers read ends with them.
        links = event_link.c.made_by == user.name, event_link.c.revoked_at.is_(None)
        ended = stored_moment(time.time())
        c.execute(update(event_link).where(*links).values(revoked_at=ended))
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


# --- Which user somebody is whom the office's own provider signs in ------------------------------

_MOST_IDENTITY_CHARS = 255


def user_of_identity(c: Connection, issuer: str, subject: str) -> User | None:
    """The user that this subject of that issuer is; None for nobody yet."""
    row = c.execute(
        select(console_user)
        .join(console_identity, console_identity.c.user_id == console_user.c.id)
        .where(console_identity.c.digest == _identity_digest(issuer, subject))
    ).one_or_none()
    return None if row is None else user_of(row)


def connect_identity(c: Connection, actor: Actor, user: User, issuer: str, subject: str) -> None:
    """Let this subject of that issuer be *user* from now on, whatever it is called there."""
    c.execute(
        insert(console_identity).values(
            digest=_identity_digest(issuer, subject),
            user_id=user.id,
            issuer=clean_word(issuer, _MOST_IDENTITY_CHARS),
            subject=clean_word(subject, _MOST_IDENTITY_CHARS),
            connected_at=stored_moment(time.time()),
        )
    )
    record(c, actor, "user.connect", user.name, None, {"issuer": issuer, "subject": subject})


def _identity_digest(issuer: str, subject: str) -> bytes:
    text = f"{issuer}\0{subject}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).digest()


# --- Who is logged in: sessions of people, tokens of programs, failed tries -----------------------

FAILURE_WINDOW_SECONDS = 900.0
"""How long a failed log-in counts."""
MAX_FAILURES_OF_PAIR, MAX_FAILURES_OF_ADDRESS, MAX_FAILURES_OF_NAME = 5, 30, 50
"""Within that time: of one name from one address, of one address, of one name from anywhere."""
_BROWSER = "browser "
# Writing the time of every request would take SQLite's write lock for every page.
_SEEN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Token:
    """A program's right to read in a user's name."""

    id: int
    name: str
    user_name: str
    created_at: datetime | None
    last_used_at: datetime | None


def digest(secret: str) -> bytes:
    """What is stored of a cookie or token."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def open_session(c: Connection, user_id: int, cookie: str, address: str) -> None:
    """Log the user in."""
    now = stored_moment(time.time())
    c.execute(
        insert(console_session).values(
            digest=digest(cookie),
            user_id=user_id,
            created_at=now,
            last_seen_at=now,
            address=address,
        )
    )


def close_session(c: Connection, actor: Actor, cookie: str) -> None:
    """Log out."""
    c.execute(delete(console_session).where(console_session.c.digest == digest(cookie)))
    record(c, actor, "session.end", actor.name, None, None)


def session_user(
    c: Connection, cookie: str, *, idle_seconds: float, total_seconds: float
) -> tuple[User, bool] | None:
    """The user of a session that is not over, and whether :func:`note_seen` is due.

    Args:
        idle_seconds, total_seconds: how long a session lasts without a request, and in all.
    """
    now = time.time()
    row = c.execute(
        select(console_user, console_session.c.last_seen_at)
        .join(console_session, console_session.c.user_id == console_user.c.id)
        .where(
            console_session.c.digest == digest(cookie),
            console_session.c.last_seen_at > stored_moment(now - idle_seconds),
            console_session.c.created_at > stored_moment(now - total_seconds),
            console_user.c.disabled_at.is_(None),
        )
    ).one_or_none()
    if row is None:
        return None
    return user_of(row), _is_due(row.last_seen_at)


def note_seen(c: Connection, cookie: str) -> None:
    """Let the idle time of a session begin now."""
    c.execute(
        update(console_session)
        .where(console_session.c.digest == digest(cookie))
        .values(last_seen_at=stored_moment(time.time()))
    )


def drop_old(c: Connection, *, idle_seconds: float, total_seconds: float) -> None:
    """Delete sessions that are over and failures that no longer count."""
    now = time.time()
    c.execute(
        delete(console_session).where(
            or_(
                console_session.c.last_seen_at <= stored_moment(now - idle_seconds),
                console_session.c.created_at <= stored_moment(now - total_seconds),
            )
        )
    )
    expired = login_failure.c.failed_at <= stored_moment(now - FAILURE_WINDOW_SECONDS)
    c.execute(delete(login_failure).where(expired))


def counted_address(address: str) -> str:
    """What tries from *address* are counted by: of IPv6 its /64, which one machine has whole."""
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv4Address):
        return str(known)
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(ipaddress.ip_network((known, 64), strict=False))


def browser_mark(user: User) -> str:
    """A secret for a browser in which *user* logged in, by which its tries are counted alone.

    It is worth nothing at the log-in itself, and ends with the password.
    """
    nonce = secrets.token_hex(8)
    return f"{nonce}.{_mark(user, nonce)}"


def counted_browser(user: User | None, mark: str) -> str:
    """What tries of the browser that has *mark* are counted by; "" where *user* gave it none."""
    nonce, _dot, proof = mark.partition(".")
    if user is None or not nonce:
        return ""
    is_own = hmac.compare_digest(_mark(user, nonce).encode(), proof.encode("utf-8", "replace"))
    return f"{_BROWSER}{nonce[:32]}" if is_own else ""


def _mark(user: User, nonce: str) -> str:
    # The stored password is the secret: it is in the database alone, and changes with each choice.
    text = f"{user.id} {nonce}".encode("utf-8", "surrogatepass")
    return hmac.new(user.password.encode(), text, hashlib.sha256).hexdigest()


def note_try(c: Connection, name: str, address: str) -> bool:
    """Count a log-in as failed before its password is looked at; False where none may be tried.

    Once this is committed :func:`is_throttled` has to be asked again: only then does each of
    several tries at the same time see the others. :func:`forget_failures` takes it back.
    """
    if is_throttled(c, name, address):
        return False
    c.execute(
        insert(login_failure).values(
            name_key=_name_key(name), address=address, failed_at=stored_moment(time.time())
        )
    )
    return True


def record_failure(c: Connection, name: str, address: str, counted: str) -> None:
    """Put a log-in that failed into the log of changes, and that it was the last for a while.

    Args:
        counted: what its tries are counted by (:func:`is_throttled`).
    """
    user = find_user(c, name)
    # A name that is nobody's may be a password in the wrong field, and is not kept.
    known = "" if user is None else user.name
    record(c, Actor(known, address), "session.fail", known, None, None)
    if is_throttled(c, name, counted):
        record(c, Actor(known, address), "session.throttle", known, None, None)


def forget_failures(c: Connection, name: str, address: str) -> None:
    """Count no longer what failed before the log-in that succeeded."""
    c.execute(
        delete(login_failure).where(
            login_failure.c.name_key == _name_key(name), login_failure.c.address == address
        )
    )


def is_throttled(c: Connection, name: str, address: str, *, own: int = 0) -> bool:
    """Whether too many log-ins failed lately for one more to be tried.

    Args:
        address: :func:`counted_address`, or :func:`counted_browser` where that is not "".
        own: tries that are counted already and are yet to be made.
    """
    of_name = login_failure.c.name_key == _name_key(name)
    of_address = login_failure.c.address == address
    bounds = [
        ((of_name, of_address), MAX_FAILURES_OF_PAIR),
        ((of_address,), MAX_FAILURES_OF_ADDRESS),
    ]
    if not address.startswith(_BROWSER):
        # Strangers do not lock out who was here before; nor does that browser count with them.
        strangers = login_failure.c.address.not_like(f"{_BROWSER}%")
        bounds.append(((of_name, strangers), MAX_FAILURES_OF_NAME))
    recent = login_failure.c.failed_at > stored_moment(time.time() - FAILURE_WINDOW_SECONDS)
    return any(
        c.execute(
            select(func.count()).select_from(login_failure).where(recent, *which)
        ).scalar_one()
        >= most + own
        for which, most in bounds
    )


def add_token(c: Connection, actor: Actor, user: User, name: str, token: str) -> None:
    """Let a program read in the name of *user*.

    Raises:
        ConfigError: it has no name.
    """
    name = clean_word(name, 100)
    if not name:
        raise ConfigError(_("a token needs a name: the program that has it"))
    c.execute(
        insert(api_token).values(
            digest=digest(token), user_id=user.id, name=name, created_at=stored_moment(time.time())
        )
    )
    record(c, actor, "token.add", f"{user.name}: {name}", None, {"name": name})


def list_tokens(c: Connection, user: User | None = None) -> list[Token]:
    """The tokens of *user*; of everybody for None."""
    statement = (
        select(
            api_token.c.id,
            api_token.c.name,
            console_user.c.name.label("user_name"),
            api_token.c.created_at,
            api_token.c.last_used_at,
        )
        .join(console_user)
        .order_by(console_user.c.name, api_token.c.id)
    )
    if user is not None:
        statement = statement.where(api_token.c.user_id == user.id)
    return [
        Token(
            row.id, row.name, row.user_name, from_time(row.created_at), from_time(row.last_used_at)
        )
        for row in c.execute(statement)
    ]


def remove_token(c: Connection, actor: Actor, token_id: int, user: User | None = None) -> bool:
    """Take a token away; False where *user* (None: nobody) has no such one."""
    owned = [token for token in list_tokens(c, user) if token.id == token_id]
    if not owned:
        return False
    c.execute(delete(api_token).where(api_token.c.id == token_id))
    target = f"{owned[0].user_name}: {owned[0].name}"
    record(c, actor, "token.remove", target, {"name": owned[0].name}, None)
    return True


def token_user(c: Connection, token: str) -> tuple[User, bool] | None:
    """The user in whose name a program asks, and whether :func:`note_token_used` is due."""
    row = c.execute(
        select(console_user, api_token.c.last_used_at)
        .join(api_token, api_token.c.user_id == console_user.c.id)
        .where(api_token.c.digest == digest(token), console_user.c.disabled_at.is_(None))
    ).one_or_none()
    return None if row is None else (user_of(row), _is_due(row.last_used_at))


def note_token_used(c: Connection, token: str) -> None:
    """Note that a program used its token."""
    c.execute(
        update(api_token)
        .where(api_token.c.digest == digest(token))
        .values(last_used_at=stored_moment(time.time()))
    )


def _is_due(noted: datetime | None) -> bool:
    """Whether a use noted at *noted* (None: never) is so long ago that it is noted anew."""
    seen = from_time(noted)
    return seen is None or time.time() - seen.timestamp() > _SEEN_SECONDS


def _name_key(name: str) -> bytes:
    return digest(name.strip())[:16]


# --- Lists that a user comes back to, by name -----------------------------------------------------

MAX_SEARCH_NAME_CHARS, MAX_QUERY_CHARS = 100, 4_000


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
    name = clean_word(name, MAX_SEARCH_NAME_CHARS)
    if not name:
        raise ConfigError(_("a saved search needs a name"))
    if len(query) > MAX_QUERY_CHARS:
        most = MAX_QUERY_CHARS
        raise ConfigError(_("{name} has more than {most} characters", name="query", most=most))
    own = saved_search.c.user_id == user.id, saved_search.c.name == name
    before = c.execute(select(saved_search.c.query).where(*own)).scalar_one_or_none()
    c.execute(delete(saved_search).where(*own))
    c.execute(
        insert(saved_search).values(
            user_id=user.id, name=name, query=query, created_at=stored_moment(time.time())
        )
    )
    state = None if before is None else {"query": before}
    record(c, actor, "search.save", name, state, {"query": query})


def remove_search(c: Connection, actor: Actor, user: User, search_id: int) -> None:
    """Forget a search of *user*; nothing happens where there is none."""
    own = saved_search.c.user_id == user.id, saved_search.c.id == search_id
    row = c.execute(select(saved_search.c.name, saved_search.c.query).where(*own)).one_or_none()
    if row is not None:
        c.execute(delete(saved_search).where(*own))
        record(c, actor, "search.remove", row.name, {"query": row.query}, None)
