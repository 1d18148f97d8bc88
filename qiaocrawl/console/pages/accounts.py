"""Accounts of sites: made, how they stand, and their log-ins, with the QR code to scan."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from importlib.util import find_spec
from zlib import crc32

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from qiaocrawl.console.forms import field
from qiaocrawl.console.page import EDITOR, Page, actor_of, console_of, link, read, write
from qiaocrawl.console.render import render
from qiaocrawl.console.security.credentials import form_of
from qiaocrawl.errors import ConfigError, SecretKeyError
from qiaocrawl.fetch.sessions.accounts import (
    ACCOUNT_STATES,
    Account,
    AccountState,
    Credentials,
    SavedSession,
    owner_name,
)
from qiaocrawl.fetch.sessions.cookies import read_pasted, usable_for
from qiaocrawl.fetch.sessions.recipe import Recipe, find_recipe, load_recipes
from qiaocrawl.fetch.sessions.vault import Vault
from qiaocrawl.jobs.local import Logins
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.sites import accounts
from qiaocrawl.storage.values import clean_word

_MOST_COOKIE_CHARS = 100_000


async def show(request: Request) -> Response:
    """How an account stands; its log-in as it goes on, or the ways to one."""
    account = await _account(request)
    recipe = await run_in_threadpool(_recipe, account)
    login = _logins(request).find(account.id)
    return render(
        request,
        "sites/account.html",
        account=account,
        recipe=recipe,
        state_names=ACCOUNT_STATES,
        login=login,
        has_browser=find_spec("scrapy_playwright") is not None,
        is_under_way=login is not None and not login.is_over,
    )


async def _account(request: Request) -> Account:
    account = await read(request, accounts.load_account, request.path_params["account_id"])
    if account is None:
        raise HTTPException(404, _("There is no such account."))
    return account


def _recipe(account: Account) -> Recipe:
    options = Options.from_environment()
    return find_recipe(load_recipes(options["QIAO_LOGINS_DIR"] or None), account.site)


def _logins(request: Request) -> Logins:
    return console_of(request).jobs.logins


async def log_in(request: Request) -> Response:
    """Start a log-in or a check of one; the page of the account shows it."""
    account, do = await _account(request), await field(request, "do")
    recipe = await run_in_threadpool(_recipe, account)
    if do not in ("login", "check"):
        raise ConfigError(_("{value!r} must be one of {names}", value=do, names="login, check"))
    if do == "login" and recipe.way in ("cookies", "http"):
        raise ConfigError(_("{site} is not logged in to by a form or a QR code", site=account.site))
    Vault.from_option(Options.from_environment()["QIAO_SECRET_KEY"])
    with_picture = do == "login" and recipe.browser is not None
    await run_in_threadpool(_logins(request).start, account.id, do, with_picture=with_picture)
    states = {"state": account.state}, {"way": recipe.way if do == "login" else "check"}
    await write(request, record, actor_of(request), f"account.{do}", account.owner, *states)
    return _back(request, account)


async def take_cookies(request: Request) -> Response:
    """Keep cookies that somebody copied from a browser."""
    account, text = await _account(request), await field(request, "cookies", _MOST_COOKIE_CHARS)
    recipe = await run_in_threadpool(_recipe, account)
    vault = Vault.from_option(Options.from_environment()["QIAO_SECRET_KEY"])
    usable = usable_for(recipe, read_pasted(text, recipe), now=time.time())
    if not usable.cookies:
        refused = ", ".join(f"{number} {_(why)}" for why, number in usable.refused.items())
        raise ConfigError(
            _(
                "none of the cookies can be used for {name}: {refused}",
                name=recipe.name,
                refused=refused,
            )
        )
    sealed, actor = SavedSession(usable.cookies).seal(vault, account.owner), actor_of(request)

    def keep(c: Connection) -> None:
        accounts.save_session(c, account.id, sealed, now=datetime.now(UTC), logged_in=True)
        after = {"state": AccountState.ACTIVE, "count": len(usable.cookies)}
        record(c, actor, "account.cookies", account.owner, {"state": account.state}, after)

    await write(request, keep)
    return _back(request, account)


async def log_out(request: Request) -> Response:
    """Forget the cookies of an account, and do not use it until its next log-in."""
    account, actor = await _account(request), actor_of(request)

    def forget(c: Connection) -> None:
        accounts.save_state(c, account.id, AccountState.OUT, "", now=datetime.now(UTC))
        states = {"state": account.state}, {"state": AccountState.OUT}
        record(c, actor, "account.log_out", account.owner, *states)

    await write(request, forget)
    return _back(request, account)


def _back(request: Request, account: Account) -> Response:
    return RedirectResponse(link(request, "sites.account", account_id=account.id), 303)


async def progress(request: Request) -> Response:
    """How a log-in goes on, for the script of the page: the code's size tells a new one."""
    account = await _account(request)
    login = _logins(request).find(account.id)
    if login is None:
        return JSONResponse({"is_over": True, "code": 0, "words": ""})
    code = await run_in_threadpool(login.picture_bytes)
    words = await run_in_threadpool(login.last_words)
    return JSONResponse({"is_over": login.is_over, "code": crc32(code), "words": words})


async def code(request: Request) -> Response:
    """The QR code; whoever scans it logs in, so it is for editors."""
    login = _logins(request).find((await _account(request)).id)
    picture = b"" if login is None else await run_in_threadpool(login.picture_bytes)
    if not picture:
        raise HTTPException(404, _("There is no QR code now."))
    return Response(picture, media_type="image/png")


PAGES = (
    Page("/sites/accounts/{account_id:int}", "sites.account", show, EDITOR),
    Page("/sites/accounts/{account_id:int}/log-in", "sites.log_in", log_in, EDITOR, "POST"),
    Page("/sites/accounts/{account_id:int}/cookies", "sites.cookies", take_cookies, EDITOR, "POST"),
    Page("/sites/accounts/{account_id:int}/log-out", "sites.log_out", log_out, EDITOR, "POST"),
    Page(
        "/sites/accounts/{account_id:int}/progress",
        "sites.log_in_progress",
        progress,
        EDITOR,
        by_itself=True,
    ),
    Page("/sites/accounts/{account_id:int}/code.png", "sites.code", code, EDITOR, by_itself=True),
)


# --- A new account of a site: its password is sealed at once and shown to nobody ------------------

_MOST_NAME_CHARS = 100
_MOST_PASSWORD_CHARS = 1_000


# Recipes to write others by: nobody has an account there (RFC 2606).
_EXAMPLES = ("example.com", "example.net", "example.org")


async def show_new(request: Request) -> Response:
    """The form; without a key to seal with it says so, and how to get one."""
    trouble = ""
    try:
        _vault()
    except SecretKeyError as error:
        trouble = str(error)
    recipes = await run_in_threadpool(_recipes)
    return render(
        request,
        "sites/new_account.html",
        400 if trouble else 200,
        recipes=[own for name, own in recipes.items() if name not in _EXAMPLES],
        trouble=trouble,
    )


def _vault() -> Vault:
    return Vault.from_option(Options.from_environment()["QIAO_SECRET_KEY"])


def _recipes() -> dict[str, Recipe]:
    return load_recipes(Options.from_environment()["QIAO_LOGINS_DIR"] or None)


async def add(request: Request) -> Response:
    """Keep an account, as `qiaocrawl session add` does."""
    recipe = find_recipe(await run_in_threadpool(_recipes), await field(request, "site"))
    name, user = await field(request, "name"), await field(request, "user")
    # What is stored differently belongs to another owner, and would never open.
    if not name or clean_word(name, _MOST_NAME_CHARS) != name:
        raise ConfigError(
            _("an account's name has 1 to {most} characters of text", most=_MOST_NAME_CHARS)
        )
    owner, vault, sealed = owner_name(recipe.name, name), _vault(), b""
    if recipe.takes_password:
        sealed = Credentials(user or name, await _password(request)).seal(vault, owner)
    actor = actor_of(request)

    def keep(c: Connection) -> int:
        there = accounts.find_account(c, recipe.name, name)
        row_id = accounts.add_account(c, recipe.name, name, sealed, now=datetime.now(UTC))
        before = None if there is None else {"state": there.state}
        record(c, actor, "account.add", owner, before, {"way": recipe.way})
        return row_id

    row_id = await write(request, keep)
    return RedirectResponse(link(request, "sites.account", account_id=row_id), 303)


async def _password(request: Request) -> str:
    """As it was typed: white space around it may be part of it."""
    given = (await form_of(request)).get("password")
    password = given if isinstance(given, str) else ""
    if not password.strip() or len(password) > _MOST_PASSWORD_CHARS:
        raise ConfigError(
            _("this site wants a password of 1 to {most} characters", most=_MOST_PASSWORD_CHARS)
        )
    return password


NEW_ACCOUNT = (
    Page("/sites/accounts/new", "sites.new_account", show_new, EDITOR),
    Page("/sites/accounts/new", "sites.add_account", add, EDITOR, "POST"),
)
