"""Accounts, one row each. Secrets arrive sealed and leave sealed: no key is known here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.sessions.accounts import Account, AccountState
from qiaocrawl.language import _
from qiaocrawl.storage.converters import clean_word, from_time, to_stored_time
from qiaocrawl.storage.schema import account as accounts

_MAX_REASON_CHARS = 500


def add_account(c: Connection, site: str, name: str, secret: bytes, *, now: datetime) -> int:
    """Store a new account; one that is there gets the new secret and loses its cookies.

    Returns:
        Its id.
    """
    # As after the first login: cookies belong to the login that got them, and a rest to
    # the old password.
    values = {
        "state": AccountState.NEW.value, "reason": "", "secret": secret, "session": b"",
        "logged_in_at": None, "rests_until": None, "updated_at": to_stored_time(now),
    }  # fmt: skip
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
        values |= {"state": AccountState.ACTIVE.value, "reason": "", "rests_until": None,
                   "logged_in_at": to_stored_time(now)}  # fmt: skip
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
        "state": state.value, "reason": clean_word(reason, _MAX_REASON_CHARS),
        "rests_until": None if rests_until is None else to_stored_time(rests_until),
        "updated_at": to_stored_time(now),
    }  # fmt: skip
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
