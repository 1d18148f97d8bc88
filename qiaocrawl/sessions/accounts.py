"""Accounts: the logins of a site, with their secrets and cookies."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from qiaocrawl.sessions.cookies import StoredCookie
from qiaocrawl.sessions.vault import Vault


class AccountState(StrEnum):
    """The states of an account."""

    NEW = "new"
    """It was never logged in."""
    ACTIVE = "active"
    RESTING = "resting"
    """Its logins failed, or its cookies ran out where nobody can log in without a person."""
    OUT = "out"
    """The operator logged it out."""


@dataclass(frozen=True, slots=True)
class Account:
    """A row of the table; ``secret`` and ``session`` are sealed (see :class:`Vault`)."""

    id: int
    site: str
    name: str
    state: AccountState
    reason: str = ""
    secret: bytes = b""
    session: bytes = b""
    logged_in_at: datetime | None = None
    rests_until: datetime | None = None

    @property
    def owner(self) -> str:
        """What its sealed texts are bound to, and how messages call it."""
        return owner_name(self.site, self.name)


def owner_name(site: str, name: str) -> str:
    """How messages call the account *name* of *site*."""
    return f"{site}/{name}"


@dataclass(frozen=True, slots=True)
class Credentials:
    """User name and password; never printed."""

    user: str
    password: str = field(repr=False)

    def as_basic(self) -> bytes:
        """As HTTP's Basic scheme sends them (RFC 7617, in UTF-8)."""
        return b64encode(f"{self.user}:{self.password}".encode())

    def seal(self, vault: Vault, owner: str) -> bytes:
        """As it is stored."""
        return vault.seal(owner, {"user": self.user, "password": self.password})

    @classmethod
    def open(cls, vault: Vault, account: Account) -> Credentials | None:
        """Those of *account*; None when it has none (pasted cookies, a browser login).

        Raises:
            SecretKeyError: the key is another one.
        """
        opened = vault.open(account.owner, account.secret)
        return cls(opened["user"], opened["password"]) if opened else None


@dataclass(frozen=True, slots=True)
class SavedSession:
    """What a login left: cookies, and what a browser keeps beside them.

    ``origins`` is that part of Playwright's ``storage_state``: local storage by origin.
    """

    cookies: tuple[StoredCookie, ...] = field(repr=False, default=())
    origins: tuple[Mapping[str, Any], ...] = field(repr=False, default=())

    def seal(self, vault: Vault, owner: str) -> bytes:
        """As it is stored."""
        cookies = [cookie.to_dict() for cookie in self.cookies]
        return vault.seal(owner, {"cookies": cookies, "origins": list(self.origins)})

    @classmethod
    def open(cls, vault: Vault, account: Account) -> SavedSession:
        """That of *account*; without cookies when there is none.

        Raises:
            SecretKeyError: the key is another one.
        """
        opened = vault.open(account.owner, account.session)
        cookies = tuple(StoredCookie.from_dict(cookie) for cookie in opened.get("cookies", ()))
        return cls(cookies, tuple(opened.get("origins", ())))
