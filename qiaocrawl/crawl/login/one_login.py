"""One login or one check of an account, asked for on the command line."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.cookies import CookiesMiddleware

from qiaocrawl.crawl.login.by_hand import browser_login
from qiaocrawl.crawl.login.login import LoginRunner
from qiaocrawl.errors import ConfigError, LoginError, QiaoError
from qiaocrawl.fetch.sessions.accounts import Account, AccountState, Credentials, SavedSession
from qiaocrawl.fetch.sessions.recipe import Recipe, find_recipe, load_recipes
from qiaocrawl.fetch.sessions.vault import Vault
from qiaocrawl.language import _
from qiaocrawl.storage.sites import accounts as stored

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from qiaocrawl.runtime.runtime import Runtime

logger = logging.getLogger(__name__)

_ARGUMENTS = {
    "account": "number of an account",
    "do": "login or check",
    "qr": "file for the picture of a QR code",
    "seconds": "how long a browser waits for a person",
}
_MAX_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What the spider was asked for."""

    account_id: int
    check: bool
    qr: Path | None
    seconds: float


def checked_arguments(given: Mapping[str, Any]) -> Asked:
    """The spider's ``-a`` arguments.

    Raises:
        ConfigError: one is unknown or wrong.
    """
    # scrapyd adds _job to every job.
    for name in given.keys() - _ARGUMENTS.keys() - {"_job"}:
        allowed = ", ".join(f"{key}= ({help})" for key, help in _ARGUMENTS.items())
        raise ConfigError(
            _(
                "spider 'login' has no argument {name!r}; it takes {allowed}",
                name=name,
                allowed=allowed,
            )
        )
    account, do = str(given.get("account", "")), str(given.get("do", "login"))
    seconds = str(given.get("seconds", "300"))
    if not account.isdecimal():
        raise ConfigError(
            _("spider 'login' needs -a account=NUMBER; `qiaocrawl session` starts it")
        )
    if do not in ("login", "check"):
        raise ConfigError(_("do= must be login or check, got {do!r}", do=do))
    if not seconds.isdecimal() or not 1 <= int(seconds) <= _MAX_SECONDS:
        raise ConfigError(
            _(
                "seconds= must be from 1 to {max_seconds:g}, got {seconds!r}",
                max_seconds=_MAX_SECONDS,
                seconds=seconds,
            )
        )
    qr = Path(given["qr"]) if given.get("qr") else None
    return Asked(int(account), do == "check", qr, float(seconds))


class OneLogin:
    """Does what *asked* says and stores what came of it."""

    def __init__(self, crawler: Crawler, runtime: Runtime, asked: Asked) -> None:
        self._runtime = runtime
        self._asked = asked
        cookies = crawler.get_downloader_middleware(CookiesMiddleware)
        assert cookies is not None, "cookies are on in ONE_LOGIN_SETTINGS"
        self._runner = LoginRunner(crawler, cookies.jars)

    async def run(self) -> None:
        """Log in or check; the program's own errors go to the account's row, not to a traceback."""
        options = self._runtime.options
        row = await self._runtime.read(
            partial(stored.load_account, account_id=self._asked.account_id)
        )
        if row is None:
            logger.error("there is no account %d", self._asked.account_id)
            return
        try:
            vault = Vault.from_option(options["QIAO_SECRET_KEY"])
            recipe = find_recipe(load_recipes(options["QIAO_LOGINS_DIR"] or None), row.site)
            work = self._check if self._asked.check else self._log_in
            await work(vault, recipe, row)
        except LoginError as error:
            # An alert asks for a person: a captcha, a wrong password.
            level = logging.CRITICAL if error.is_alert else logging.WARNING
            logger.log(level, "%s: account %d: %s", row.site, row.id, error)
            await self._note(row, AccountState.RESTING, str(error))
        except QiaoError as error:
            await self._note(row, row.state, str(error))

    async def _log_in(self, vault: Vault, recipe: Recipe, row: Account) -> None:
        if recipe.way == "browser":
            session = await browser_login(recipe, self._runtime.options, self._asked.qr,
                                        self._asked.seconds)  # fmt: skip
            await self._keep(vault, row, session)
            return
        secret = Credentials.open(vault, row)
        if not recipe.logs_in_by_itself or secret is None:
            raise ConfigError(
                _(
                    "{recipe}: there is nothing to log in with (way {way}); paste cookies with "
                    "--cookies",
                    recipe=recipe.name,
                    way=recipe.way,
                )
            )
        # Generation 1: the only session of this run.
        jar = ("account", row.id, 1)
        await self._runner.log_in(recipe, secret, jar)
        cookies = self._runner.cookies(recipe, jar, time.time())
        await self._keep(vault, row, SavedSession(cookies))

    async def _check(self, vault: Vault, recipe: Recipe, row: Account) -> None:
        if not recipe.target:
            raise ConfigError(
                _("{recipe}: the recipe names no target to look at", recipe=recipe.name)
            )
        jar = ("account", row.id, 1)
        session = SavedSession.open(vault, row)
        self._runner.load(recipe, session.cookies, jar, time.time())
        why = await self._runner.why_out(recipe, jar)
        if why is None:
            raise ConfigError(_("{target} does not answer", target=recipe.target))
        if why:
            raise LoginError(why)
        cookies = self._runner.cookies(recipe, jar, time.time())
        # origins: local storage, which a check neither reads nor changes.
        await self._keep(vault, row, SavedSession(cookies, session.origins))

    async def _keep(self, vault: Vault, row: Account, session: SavedSession) -> None:
        await self._runtime.write(partial(
            stored.save_session, account_id=row.id, session=session.seal(vault, row.owner),
            now=datetime.now(UTC), logged_in=True,
        ))  # fmt: skip

    async def _note(self, row: Account, state: AccountState, reason: str) -> None:
        await self._runtime.write(partial(
            stored.save_state, account_id=row.id, state=state, reason=reason,
            now=datetime.now(UTC),
        ))  # fmt: skip
