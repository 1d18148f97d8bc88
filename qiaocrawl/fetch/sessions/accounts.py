"""The accounts of one site during one run: which is used next, which logs in, which rests.

Knows asyncio (all requests of a run share one loop), but neither Scrapy nor the database: how to
log in, and how to store the result, is handed in.

Rules (faults F-C6, F-C10):

* accounts are used round-robin for each host, none more often than the recipe's pause allows
* the requests of one login share one cookie jar; the next login starts a new one, so that a late
  answer to an old session cannot spoil the new one
* requests that see the same session end share one login
* after three failed logins in a run an account rests
"""

from __future__ import annotations

import asyncio
import math
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NoReturn

from qiaocrawl.errors import LoginError, LoginPageError, SessionRestError
from qiaocrawl.fetch.sessions.cookies import StoredCookie
from qiaocrawl.fetch.sessions.recipe import Recipe
from qiaocrawl.fetch.sessions.vault import Vault
from qiaocrawl.language import N_

MAX_FAILED_LOGINS = 3
"""Of one account in one run; most sites lock an account after five (faults F-C10)."""
# The pause after a login that failed for a passing reason.
_RETRY_SECONDS = 5.0

JarKey = tuple[str, int, int]


@dataclass
class LiveAccount:
    """An account in a run.

    Attributes:
        can_log_in: whether the program has what it needs to log in by itself.
        generation: counts its sessions; 0 before the first.
        is_open: whether it has a session that may still hold.
        is_unproven: whether this run made the session, and it has brought no page yet.
        failed: logins that failed.
        rests: why it is not used any more in this run; "" while it is.
    """

    id: int
    can_log_in: bool
    is_open: bool = False
    generation: int = 0
    is_unproven: bool = False
    failed: int = 0
    rests: str = ""
    next_at: float = 0.0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def jar(self) -> JarKey:
        """The key of its cookie jar: another one for every login."""
        return ("account", self.id, self.generation)


@dataclass(frozen=True, slots=True)
class AccountUse:
    """An account acquired for one request, which has to wait ``wait_seconds`` first."""

    account: LiveAccount
    generation: int
    wait_seconds: float


@dataclass(frozen=True, slots=True)
class LoginActions:
    """What the pool cannot do by itself.

    Attributes:
        log_in: logs an account in and fills the given jar; raises LoginError.
        is_logged_in: whether the account is logged in; None when nobody can tell.
        on_rest: remembers that an account rests, and why.
    """

    log_in: Callable[[LiveAccount, JarKey], Awaitable[None]]
    is_logged_in: Callable[[LiveAccount], Awaitable[bool | None]]
    on_rest: Callable[[LiveAccount, str], Awaitable[None]]


class AccountPool:
    """The accounts of *recipe* in one run.

    Args:
        clock: monotonic seconds.
    """

    def __init__(
        self,
        recipe: Recipe,
        accounts: Sequence[LiveAccount],
        actions: LoginActions,
        clock: Callable[[], float],
    ) -> None:
        self.recipe = recipe
        self.accounts = list(accounts)
        self.logins = 0
        """Logins tried in this run."""
        self._actions = actions
        self._clock = clock
        self._chosen: dict[str, int] = {}

    async def acquire(self, host: str) -> AccountUse:
        """The next account for a page of *host*, logged in.

        Raises:
            SessionRestError: no account may be used, or its login failed for now.
        """
        account = self._choose(host)
        # Before the pause is reserved: a login may take longer than the pause.
        await self._ensure_open(account)
        now = self._clock()
        start = max(now, account.next_at)
        # Reserved before the request goes out, so that parallel requests queue up behind it.
        account.next_at = start + self.recipe.pause_seconds
        return AccountUse(account, account.generation, start - now)

    def note_served(self, use: AccountUse) -> None:
        """The session of *use* has brought a page."""
        # A late answer to an old session proves nothing about the new one.
        if use.account.generation == use.generation:
            use.account.is_unproven = False

    async def renew(self, use: AccountUse, why: str) -> None:
        """A page says (*why*) that the session of *use* has ended: make sure of a new one.

        Raises:
            LoginPageError: the account is logged in all the same; this page wants more.
            SessionRestError: there is none for now.
        """
        account = use.account
        async with account.lock:
            # The lock makes requests that saw the same session end share one login.
            if account.generation != use.generation and account.is_open:
                return  # another request saw it first
            self._refuse_resting(account)
            # Open and not renewed yet: this request is the first to see the end.
            if account.is_open:
                await self._judge_end(account, why)
            await self._log_in(account)

    def _choose(self, host: str) -> LiveAccount:
        usable = [account for account in self.accounts if not account.rests]
        if not usable:
            reasons = "; ".join(
                f"account {account.id}: {account.rests}" for account in self.accounts
            )
            reason = reasons or "there is none; `qiaocrawl session add` makes one"
            raise SessionRestError(
                f"no account of {self.recipe.name} may be used: {reason}", math.inf
            )
        number = self._chosen.get(host, 0)
        self._chosen[host] = number + 1
        # Starts with a different one each time, as far as they are usable.
        ordered = [usable[(number + step) % len(usable)] for step in range(len(usable))]
        # Round-robin, but an account that is free now goes before one that has to wait.
        return min(ordered, key=lambda account: max(account.next_at - self._clock(), 0.0))

    async def _ensure_open(self, account: LiveAccount) -> None:
        if account.is_open:
            return
        async with account.lock:
            # Another request may have logged in, or failed for good, while this one waited.
            self._refuse_resting(account)
            if not account.is_open:
                await self._log_in(account)

    async def _judge_end(self, account: LiveAccount, why: str) -> None:
        """Whether the session really ended; leaves it closed if so."""
        if await self._actions.is_logged_in(account):
            raise LoginPageError(f"asks for a login although one is there ({why})")
        account.is_open = False
        if not account.can_log_in:
            await self._rest(
                account,
                f"its session ended ({why}); it takes a person to log in: "
                "`qiaocrawl session login`",
            )
        elif account.is_unproven:
            # Asked to log in right after a login: that login did not work.
            await self._fail_login(account, f"a login did not help ({why})")

    async def _log_in(self, account: LiveAccount) -> None:
        if not account.can_log_in:
            await self._rest(account, "it has no session; `qiaocrawl session login` gives it one")
        self.logins += 1
        # A new jar a login: cookies of the old session must not mix with those of the new one.
        jar = ("account", account.id, account.generation + 1)
        try:
            await self._actions.log_in(account, jar)
        except LoginError as error:
            if error.is_final:
                await self._rest(account, str(error))
            await self._fail_login(account, str(error))
        # Counted only after success: requests of the old session keep its jar.
        account.generation += 1
        account.is_open = account.is_unproven = True

    async def _fail_login(self, account: LiveAccount, why: str) -> NoReturn:
        account.failed += 1
        if account.failed >= MAX_FAILED_LOGINS:
            await self._rest(account, why)
        raise SessionRestError(f"login of account {account.id} failed: {why}", _RETRY_SECONDS)

    async def _rest(self, account: LiveAccount, why: str) -> NoReturn:
        account.is_open, account.rests = False, why
        await self._actions.on_rest(account, why)
        raise _resting(account)

    def _refuse_resting(self, account: LiveAccount) -> None:
        if account.rests:
            raise _resting(account)


def _resting(account: LiveAccount) -> SessionRestError:
    # Other accounts may go on at once; when none is left, the next acquire() says so.
    return SessionRestError(f"account {account.id} rests: {account.rests}", 0.0)


# --- Accounts: the logins of a site, with their secrets and cookies -------------------------------


class AccountState(StrEnum):
    """The states of an account."""

    NEW = "new"
    """It was never logged in."""
    ACTIVE = "active"
    RESTING = "resting"
    """Its logins failed, or its cookies ran out where nobody can log in without a person."""
    OUT = "out"
    """The operator logged it out."""


ACCOUNT_STATES = {
    AccountState.NEW: N_("new"),
    AccountState.ACTIVE: N_("active"),
    AccountState.RESTING: N_("resting"),
    AccountState.OUT: N_("logged out"),
}
"""In words, untranslated."""


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
