"""Log-ins for an operator: by hand, by QR code, or one asked for on the command line.

Only cookies and local storage are taken; user name, password and captcha are between the
person, the browser and the site.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.cookies import CookiesMiddleware

from qiaocrawl.crawl.browser.guard import BrowserGuard, require_playwright
from qiaocrawl.crawl.login.login import LoginRunner
from qiaocrawl.errors import ConfigError, LoginError, QiaoError
from qiaocrawl.fetch.addresses import Allowance
from qiaocrawl.fetch.sessions.accounts import Account, AccountState, Credentials, SavedSession
from qiaocrawl.fetch.sessions.cookies import StoredCookie, from_browser, names_of, usable_for
from qiaocrawl.fetch.sessions.flow import SeenPage, matching_marker
from qiaocrawl.fetch.sessions.recipe import Recipe, find_recipe, load_recipes, origin_of
from qiaocrawl.fetch.sessions.vault import Vault
from qiaocrawl.language import _
from qiaocrawl.options import PREFIX
from qiaocrawl.storage.sites import accounts

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Locator, Page, Route
    from scrapy.crawler import Crawler

    from qiaocrawl.fetch.sessions.recipe import BrowserLogin
    from qiaocrawl.options import Options
    from qiaocrawl.runtime.runtime import Runtime

logger = logging.getLogger(__name__)

_POLL_SECONDS = 1.0
_TELL_SECONDS = 15.0
_OPEN_MS = 60_000
# Chromium refuses to start its sandbox as root and in most containers.
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
]


async def browser_login(
    recipe: Recipe, options: Options, qr: Path | None, seconds: float
) -> SavedSession:
    """Open the login page and wait until its signs say that somebody logged in.

    Args:
        qr: where the picture of the QR code goes; None opens a window instead.
        seconds: how long to wait.

    Raises:
        LoginError: nobody logged in within *seconds*, or the page cannot be opened.
        ConfigError: a picture is wanted of a recipe that names no QR code, or there is no
            screen for a window.
    """
    login = recipe.browser
    if login is None:
        raise ConfigError(_("{recipe}: the recipe has no [browser]", recipe=recipe.name))
    require_playwright(recipe.name)
    from playwright.async_api import Error, async_playwright

    _check_screen(recipe, login, qr)
    try:
        async with async_playwright() as driver:
            browser = await driver.chromium.launch(
                executable_path=options["QIAO_CHROMIUM"],
                headless=qr is not None,
                args=_ARGUMENTS,
                env=_environment(),
            )
            context = await browser.new_context()
            await _guard(context, BrowserGuard(Allowance.parse(options["QIAO_ALLOW_ADDRESSES"])))
            session = await _wait_for_login(recipe, login, context, qr, seconds)
            await browser.close()
            return session
    except Error as error:
        # Only the first line: the browser's log follows, and its addresses may hold tickets.
        raise LoginError(
            _("the browser failed: {error}", error=str(error).partition("\n")[0][:200])
        ) from None


def _check_screen(recipe: Recipe, login: BrowserLogin, qr: Path | None) -> None:
    if qr is not None and not login.qr:
        raise ConfigError(
            _("{recipe}: the recipe names no QR code (browser.qr)", recipe=recipe.name)
        )
    if qr is None and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise ConfigError(
            _(
                "there is no screen to open a browser on; --qr FILE.png saves the QR code as a "
                "picture, --cookies takes cookies of another browser"
            )
        )


def _environment() -> dict[str, str | float | bool]:
    """Ours without its options: the browser needs no key and no database."""
    return {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}


async def _guard(context: BrowserContext, guard: BrowserGuard) -> None:
    async def decide(route: Route) -> None:
        # Pictures are loaded here: the QR code is one.
        await (route.continue_() if guard.may_open(route.request.url) else route.abort())

    await context.route("**/*", decide)


async def _wait_for_login(
    recipe: Recipe, login: BrowserLogin, context: BrowserContext, qr: Path | None, seconds: float
) -> SavedSession:
    page = await context.new_page()
    await page.goto(login.page, timeout=_OPEN_MS)
    code = page.locator(login.qr).first if qr is not None else None
    # Only the changes of the picture are written.
    picture, last_told = b"", time.monotonic()
    deadline = last_told + seconds
    while time.monotonic() < deadline:
        session = await _session(recipe, context)
        if await _is_done(login, page, session):
            return session
        if code is not None and qr is not None:
            picture = await _save_picture(code, qr, picture)
        if time.monotonic() - last_told > _TELL_SECONDS:
            last_told = time.monotonic()
            logger.info("still waiting for the login, %d s left", deadline - last_told)
        await asyncio.sleep(_POLL_SECONDS)
    raise LoginError(_("nobody logged in within {seconds:g} s", seconds=seconds))


async def _is_done(login: BrowserLogin, page: Page, session: SavedSession) -> bool:
    # Status 0: the browser's state does not tell which one it saw.
    body = (
        b""
        if not (login.done.words or login.done.selectors)
        else (await page.content()).encode("utf-8", "replace")
    )
    seen = SeenPage(
        page.url, 0, body, "text/html; charset=utf-8", cookies=names_of(session.cookies)
    )
    return bool(matching_marker(login.done, seen))


async def _session(recipe: Recipe, context: BrowserContext) -> SavedSession:
    state = await context.storage_state()
    found = (from_browser(dict(written)) for written in state.get("cookies", []))
    cookies: list[StoredCookie] = [cookie for cookie in found if cookie is not None]
    origins = []
    # Local storage of other sites, such as one that serves the QR code, is not kept.
    for kept in state.get("origins", []):
        origin = origin_of(kept.get("origin", ""))
        if origin is not None and recipe.may_hold_cookies(origin.host):
            origins.append(dict(kept))
    return SavedSession(usable_for(recipe, cookies, now=time.time()).cookies, tuple(origins))


async def _save_picture(code: Locator, file: Path, last: bytes) -> bytes:
    """Write the QR code anew when it changed: sites renew it every few minutes."""
    from playwright.async_api import Error

    try:
        picture = await code.screenshot(timeout=5000)
    except Error:
        return last  # not there yet, or gone since it was scanned
    if picture != last:
        # Readable by the operator alone: whoever scans the code logs in here.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            # The file may have been there before, with a wider mode.
            os.chmod(file, 0o600)
            out.write(picture)
        logger.info("QR code saved: %s; scan it with the site's app", file)
    return picture


# --- One login or one check of an account, asked for on the command line --------------------------

_ONE_LOGIN_ARGUMENTS = {
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
    # scrapyd adds _job to every job, and _version where an egg was chosen.
    for name in given.keys() - _ONE_LOGIN_ARGUMENTS.keys() - {"_job", "_version"}:
        allowed = ", ".join(f"{key}= ({help})" for key, help in _ONE_LOGIN_ARGUMENTS.items())
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
            partial(accounts.load_account, account_id=self._asked.account_id)
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
            session = await browser_login(
                recipe, self._runtime.options, self._asked.qr, self._asked.seconds
            )
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
        await self._runtime.write(
            partial(
                accounts.save_session,
                account_id=row.id,
                session=session.seal(vault, row.owner),
                now=datetime.now(UTC),
                logged_in=True,
            )
        )

    async def _note(self, row: Account, state: AccountState, reason: str) -> None:
        await self._runtime.write(
            partial(
                accounts.save_state,
                account_id=row.id,
                state=state,
                reason=reason,
                now=datetime.now(UTC),
            )
        )
