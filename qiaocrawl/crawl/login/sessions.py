"""The sessions of one run: whose cookies a request gets, and what its answer says of them.

Joins the pools (:mod:`qiaocrawl.fetch.sessions.accounts`) to the database and Scrapy's cookie jars.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import MutableMapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from qiaocrawl.crawl.login.login import LoginRunner
from qiaocrawl.errors import LoginError
from qiaocrawl.fetch.sessions.accounts import (
    Account,
    AccountPool,
    AccountState,
    AccountUse,
    Credentials,
    JarKey,
    LiveAccount,
    LoginActions,
    SavedSession,
)
from qiaocrawl.fetch.sessions.flow import SeenPage, login_wanted
from qiaocrawl.fetch.sessions.recipe import Recipe, find_recipe, load_recipes, origin_of
from qiaocrawl.fetch.sessions.vault import Vault
from qiaocrawl.storage.engine import latest_due
from qiaocrawl.storage.sites import accounts
from qiaocrawl.text.zones import china_time

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http.cookies import CookieJar

    from qiaocrawl.options import Options
    from qiaocrawl.runtime.runtime import Runtime

logger = logging.getLogger(__name__)


def chosen_recipes(options: Options) -> list[Recipe]:
    """The recipes QIAO_SESSIONS names, checked before a run starts.

    Raises:
        ConfigError: one does not exist, or recipes have faults.
        SecretKeyError: recipes are chosen, but there is no key to open their accounts with.
    """
    names: tuple[str, ...] = options["QIAO_SESSIONS"]
    if not names:
        return []
    Vault.from_option(options["QIAO_SECRET_KEY"])
    recipes = load_recipes(options["QIAO_LOGINS_DIR"] or None)
    return [find_recipe(recipes, name) for name in names]


class _Site:
    """A recipe with its accounts, as rows and as they are in this run."""

    def __init__(
        self,
        recipe: Recipe,
        live: list[LiveAccount],
        rows: dict[int, Account],
        sessions: CrawlSessions,
    ) -> None:
        self.recipe = recipe
        self.rows = rows
        actions = LoginActions(
            log_in=partial(sessions.log_in, self),
            is_logged_in=partial(sessions.is_logged_in, self),
            on_rest=partial(sessions.on_rest, self),
        )
        self.pool = AccountPool(recipe, live, actions, time.monotonic)


class CrawlSessions:
    """The accounts of all sites that QIAO_SESSIONS names.

    Args:
        jars: the cookie middleware's jars by key.
    """

    def __init__(
        self,
        crawler: Crawler,
        runtime: Runtime,
        recipes: list[Recipe],
        jars: MutableMapping[Any, CookieJar],
    ) -> None:
        self._runtime = runtime
        self._stats = crawler.stats
        self._jars = jars
        self._runner = LoginRunner(crawler, jars)
        self._vault = Vault.from_option(runtime.options["QIAO_SECRET_KEY"])
        self._recipes = recipes
        self._opened: dict[str, asyncio.Future[_Site]] = {}
        self._saved: dict[int, SavedSession] = {}

    def recipe_for(self, url: str) -> Recipe | None:
        """The recipe whose account is used for *url*; None for none."""
        origin = origin_of(url)
        if origin is None:
            return None
        for recipe in self._recipes:
            if recipe.way == "http":
                if origin in recipe.http_origins:
                    return recipe
            elif recipe.covers(origin.netloc):
                return recipe
        return None

    async def acquire(self, recipe: Recipe, host: str) -> AccountUse:
        """The account to use next, logged in.

        Raises:
            SessionRestError: none may be used now.
            SecretKeyError: what is stored cannot be opened with this key.
        """
        site = await self._site(recipe)
        return await site.pool.acquire(host)

    async def credentials(self, recipe: Recipe, use: AccountUse) -> Credentials | None:
        """User name and password of the account of *use* (HTTP authentication)."""
        site = await self._site(recipe)
        return Credentials.open(self._vault, site.rows[use.account.id])

    def browser_state(self, recipe: Recipe, use: AccountUse) -> dict[str, Any]:
        """The session of *use* as Playwright's ``storage_state``."""
        jar = ("account", use.account.id, use.generation)
        cookies = self._runner.cookies(recipe, jar, time.time())
        saved = self._saved.get(use.account.id, SavedSession())
        return {
            "cookies": [cookie.for_browser() for cookie in cookies],
            "origins": [dict(origin) for origin in saved.origins],
        }

    async def judge(self, recipe: Recipe, use: AccountUse, seen: SeenPage) -> bool:
        """Whether to request the page *seen* again, with the current session.

        Raises:
            LoginPageError: it asks for a login whoever is logged in.
            SessionRestError: there is no session for it now.
        """
        why = login_wanted(recipe, seen)
        pool = (await self._site(recipe)).pool
        if not why:
            pool.note_served(use)
            return False
        self._count("expired")
        logger.info("%s: account %d: %s", recipe.name, use.account.id, why)
        await pool.renew(use, why)
        return True

    async def save(self) -> None:
        """Write the cookies of all sessions back, where they changed."""
        for opened in self._opened.values():
            # Sites that were never needed, or could not be opened, have nothing to keep.
            if opened.done() and not opened.cancelled() and opened.exception() is None:
                site = opened.result()
                for account in site.pool.accounts:
                    if account.is_open and site.recipe.way != "http":
                        await self._save(site, account, account.jar, logged_in=False)

    # --- accounts -----------------------------------------------------------------------------

    async def _site(self, recipe: Recipe) -> _Site:
        if recipe.name not in self._opened:
            self._opened[recipe.name] = asyncio.ensure_future(self._open(recipe))
        return await asyncio.shield(self._opened[recipe.name])

    async def _open(self, recipe: Recipe) -> _Site:
        rows = await self._runtime.read(partial(accounts.list_accounts, site=recipe.name))
        # OUT means logged out on purpose.
        live = [self._live(recipe, row) for row in rows if row.state is not AccountState.OUT]
        return _Site(recipe, live, {row.id: row for row in rows}, self)

    def _live(self, recipe: Recipe, row: Account) -> LiveAccount:
        secret = Credentials.open(self._vault, row)
        account = LiveAccount(row.id, can_log_in=recipe.logs_in_by_itself and secret is not None)
        now = time.time()
        longest = 3_600.0 * self._runtime.options["QIAO_SESSION_REST_HOURS"]
        until = 0.0 if row.rests_until is None else row.rests_until.timestamp()
        if row.rests_until is not None and now < until <= latest_due(now, longest):
            account.rests = f"until {china_time(row.rests_until)}: {row.reason}"
            return account
        if recipe.way == "http":
            account.is_open = secret is not None
            return account
        session = self._saved[row.id] = SavedSession.open(self._vault, row)
        # Stored cookies count as a session until a page shows that they do not.
        if row.state is AccountState.ACTIVE and session.cookies:
            account.generation = 1
            account.is_open = bool(self._runner.load(recipe, session.cookies, account.jar, now))
        return account

    async def log_in(self, site: _Site, account: LiveAccount, jar: JarKey) -> None:
        """For the pool: log in and keep the cookies."""
        secret = Credentials.open(self._vault, site.rows[account.id])
        assert secret is not None, "an account without a secret was said to log in by itself"
        self._count("logins")
        try:
            await self._runner.log_in(site.recipe, secret, jar)
        except LoginError as error:
            self._count("alerts" if error.is_alert else "logins_failed")
            level = logging.CRITICAL if error.is_alert else logging.WARNING
            logger.log(level, "%s: account %d: %s", site.recipe.name, account.id, error)
            raise
        # No request can still need the jar of the session before last.
        self._jars.pop(("account", account.id, jar[2] - 2), None)
        await self._save(site, account, jar, logged_in=True)
        logger.info("%s: account %d is logged in", site.recipe.name, account.id)

    async def _save(
        self, site: _Site, account: LiveAccount, jar: JarKey, *, logged_in: bool
    ) -> None:
        cookies = self._runner.cookies(site.recipe, jar, time.time())
        before = self._saved.get(account.id, SavedSession())
        session = SavedSession(cookies, before.origins)
        # Pages may renew cookies; where none has, there is nothing to write.
        if not logged_in and session == before:
            return
        sealed = session.seal(self._vault, site.rows[account.id].owner)
        await self._runtime.write(
            partial(
                accounts.save_session,
                account_id=account.id,
                session=sealed,
                now=datetime.now(UTC),
                logged_in=logged_in,
            )
        )
        self._saved[account.id] = session

    async def is_logged_in(self, site: _Site, account: LiveAccount) -> bool | None:
        """For the pool: whether the account is logged in; None when nobody can tell."""
        if site.recipe.way == "http":
            return False
        why = await self._runner.why_out(site.recipe, account.jar)
        return None if why is None else not why

    async def on_rest(self, site: _Site, account: LiveAccount, why: str) -> None:
        """For the pool: remember that an account rests."""
        self._count("rested")
        logger.warning("%s: account %d rests: %s", site.recipe.name, account.id, why)
        now = datetime.now(UTC)
        hours = self._runtime.options["QIAO_SESSION_REST_HOURS"]
        # Without a way to log in by itself only the operator can end the rest.
        until = now + timedelta(hours=hours) if account.can_log_in else None
        await self._runtime.write(
            partial(
                accounts.save_state,
                account_id=account.id,
                state=AccountState.RESTING,
                reason=why,
                now=now,
                rests_until=until,
            )
        )

    def _count(self, name: str) -> None:
        self._stats.inc_value(f"qiaocrawl/session/{name}")
