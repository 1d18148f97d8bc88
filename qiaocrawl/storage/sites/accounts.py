"""Accounts, one row each. Secrets arrive sealed and leave sealed: no key is known here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.proxies import Proxy, ProxyState
from qiaocrawl.fetch.sessions.accounts import Account, AccountState
from qiaocrawl.language import _
from qiaocrawl.storage.schema import account as accounts
from qiaocrawl.storage.schema import proxy as table
from qiaocrawl.storage.values import clean_word, from_time, to_stored_time

_MAX_REASON_CHARS = 500


def add_account(c: Connection, site: str, name: str, secret: bytes, *, now: datetime) -> int:
    """Store a new account; one that is there gets the new secret and loses its cookies.

    Returns:
        Its id.
    """
    # As after the first login: cookies belong to the login that got them, and a rest to
    # the old password.
    values = {
        "state": AccountState.NEW.value,
        "reason": "",
        "secret": secret,
        "session": b"",
        "logged_in_at": None,
        "rests_until": None,
        "updated_at": to_stored_time(now),
    }
    there = find_account(c, site, name)
    if there is not None:
        c.execute(update(accounts).where(accounts.c.id == there.id).values(values))
        return there.id
    result = c.execute(insert(accounts).values(site=site, name=clean_word(name, 100), **values))
    return int(result.lastrowid)


def find_account(c: Connection, site: str, name: str) -> Account | None:
    """The account *name* of *site*; None when there is none."""
    condition = (accounts.c.site == site) & (accounts.c.name == clean_word(name, 100))
    row = c.execute(select(accounts).where(condition)).fetchone()
    return None if row is None else _account(row)


def require_account(c: Connection, site: str, name: str) -> Account:
    """The account *name* of *site*.

    Raises:
        ConfigError: there is none; the message lists what there is.
    """
    account = find_account(c, site, name)
    if account is None:
        there = ", ".join(other.name for other in list_accounts(c, site)) or "none"
        raise ConfigError(
            _(
                "site {site!r} has no account {name!r} (there are: {there}); `qiaocrawl session "
                "add {site} {name}` makes it",
                site=site,
                name=name,
                there=there,
            )
        )
    return account


def load_account(c: Connection, account_id: int) -> Account | None:
    """The account with this id; None when it was removed."""
    row = c.execute(select(accounts).where(accounts.c.id == account_id)).fetchone()
    return None if row is None else _account(row)


def list_accounts(c: Connection, site: str = "") -> list[Account]:
    """All accounts, or those of *site*, in the order they were made."""
    query = select(accounts).order_by(accounts.c.site, accounts.c.id)
    if site:
        query = query.where(accounts.c.site == site)
    return [_account(row) for row in c.execute(query)]


def save_session(
    c: Connection, account_id: int, session: bytes, *, now: datetime, logged_in: bool
) -> None:
    """Store the sealed cookies of an account.

    Args:
        logged_in: whether a login brought them, which ends a rest; else they are only newer.
    """
    values: dict[str, Any] = {"session": session, "updated_at": to_stored_time(now)}
    if logged_in:
        # The rest applied to the refused session; a new login starts without one.
        values |= {
            "state": AccountState.ACTIVE.value,
            "reason": "",
            "rests_until": None,
            "logged_in_at": to_stored_time(now),
        }
    c.execute(update(accounts).where(accounts.c.id == account_id).values(values))


def save_state(
    c: Connection,
    account_id: int,
    state: AccountState,
    reason: str,
    *,
    now: datetime,
    rests_until: datetime | None = None,
) -> None:
    """Store the state of an account; one that is logged out loses its cookies."""
    values: dict[str, Any] = {
        "state": state.value,
        "reason": clean_word(reason, _MAX_REASON_CHARS),
        "rests_until": None if rests_until is None else to_stored_time(rests_until),
        "updated_at": to_stored_time(now),
    }
    # A session that a site has ended would only be refused again.
    if state is AccountState.OUT:
        values["session"] = b""
    c.execute(update(accounts).where(accounts.c.id == account_id).values(values))


def reseal_all(c: Connection, reseal: Callable[[str, bytes], bytes]) -> int:
    """Replace every sealed text by what *reseal* (owner, text) makes of it; how many accounts."""
    stored = list_accounts(c)
    for account in stored:
        values = {
            # Empty where no login was made yet: there is nothing sealed to open.
            "secret": reseal(account.owner, account.secret) if account.secret else b"",
            "session": reseal(account.owner, account.session) if account.session else b"",
        }
        c.execute(update(accounts).where(accounts.c.id == account.id).values(values))
    return len(stored)


def remove_account(c: Connection, account_id: int) -> None:
    """Delete an account with its secret and cookies."""
    c.execute(delete(accounts).where(accounts.c.id == account_id))


def _account(row: Row[Any]) -> Account:
    return Account(
        row.id,
        row.site,
        row.name,
        AccountState(row.state),
        row.reason,
        bytes(row.secret),
        bytes(row.session),
        from_time(row.logged_in_at),
        from_time(row.rests_until),
    )


# --- Proxies an operator added, and how they have done. No password is stored, only where it is

_MAX_LOGIN_CHARS = 100
_MAX_NOTE_CHARS = 200


@dataclass(frozen=True, slots=True)
class StoredProxy:
    """One row: the proxy without its password, where that is, and how it has done.

    Attributes:
        password_env: name of an environment variable; "" where no password is needed.
        state: with times as epoch seconds; what is known of single hosts is not kept.
    """

    id: int
    proxy: Proxy
    password_env: str
    note: str
    state: ProxyState

    def with_password(self, environment: Mapping[str, str]) -> Proxy:
        """The proxy as it is used.

        Raises:
            ValueError: the environment lacks the variable.
        """
        if not self.password_env:
            return self.proxy
        if self.password_env not in environment:
            raise ValueError(f"there is no environment variable {self.password_env}")
        proxy = self.proxy
        password = environment[self.password_env]
        return Proxy(proxy.scheme, proxy.host, proxy.port, proxy.user, password)


def add_proxy(c: Connection, proxy: Proxy, *, password_env: str, note: str, now: float) -> None:
    """Add *proxy*; its password is not stored.

    Raises:
        ConfigError: it is there already, or its user name is too long.
    """
    # Refused, not cut: a proxy would answer a cut name with 407 for ever.
    if len(proxy.user) > _MAX_LOGIN_CHARS:
        raise ConfigError(
            _(
                "the user name of {proxy} is longer than {max_login_chars} characters",
                proxy=proxy,
                max_login_chars=_MAX_LOGIN_CHARS,
            )
        )
    try:
        c.execute(
            insert(table).values(
                scheme=proxy.scheme,
                host=proxy.host,
                port=proxy.port,
                login=proxy.user,
                password_env=password_env,
                note=clean_word(note, _MAX_NOTE_CHARS),
                added_at=datetime.fromtimestamp(now, UTC).replace(tzinfo=None),
                successes=0.0,
                failures=0.0,
                latency_seconds=0.0,
                failures_in_row=0,
                resting_until=0.0,
            )
        )
    # from None: the driver's error would show the whole statement with its values.
    except IntegrityError:
        raise ConfigError(_("proxy {proxy} is in the database already", proxy=proxy)) from None


def remove_proxy(c: Connection, proxy: Proxy) -> bool:
    """Remove *proxy* (of all user names when it has none); says whether it was there."""
    same = (table.c.scheme == proxy.scheme) & (table.c.host == proxy.host)
    same &= table.c.port == proxy.port
    if proxy.user:
        same &= table.c.login == proxy.user
    return c.execute(delete(table).where(same)).rowcount > 0


def list_proxies(c: Connection) -> list[StoredProxy]:
    """All proxies in the order they were added."""
    return [
        StoredProxy(
            row.id,
            Proxy(row.scheme, row.host, row.port, row.login),
            row.password_env,
            row.note,
            ProxyState(
                successes=row.successes,
                failures=row.failures,
                latency_seconds=row.latency_seconds,
                failures_in_row=row.failures_in_row,
                resting_until=row.resting_until,
            ),
        )
        for row in c.execute(select(table).order_by(table.c.id))
    ]


def save_states(c: Connection, states: Sequence[tuple[Proxy, ProxyState]]) -> None:
    """Write how proxies have done; ``resting_until`` is epoch seconds. Unknown ones are left."""
    for proxy, state in states:
        # Without an upsert: a proxy that was removed while the crawl ran must not come back.
        c.execute(
            update(table)
            .where(table.c.scheme == proxy.scheme, table.c.host == proxy.host)
            .where(table.c.port == proxy.port, table.c.login == proxy.user)
            .values(
                successes=state.successes,
                failures=state.failures,
                latency_seconds=state.latency_seconds,
                failures_in_row=state.failures_in_row,
                resting_until=state.resting_until,
            )
        )
