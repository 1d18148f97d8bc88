"""A new account of a site: its password is sealed at once and shown to nobody."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qiaocrawl.console.forms import field
from qiaocrawl.console.page import EDITOR, Page
from qiaocrawl.console.render import render
from qiaocrawl.console.security.csrf import form_of
from qiaocrawl.console.state import actor_of, link
from qiaocrawl.console.work import write
from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.sessions.accounts import Credentials, owner_name
from qiaocrawl.fetch.sessions.recipe import Recipe, find_recipe, load_recipes
from qiaocrawl.fetch.sessions.vault import Vault
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.storage.audit_log import record
from qiaocrawl.storage.sites import accounts as stored
from qiaocrawl.storage.values import clean_word

_MOST_NAME_CHARS = 100
_MOST_PASSWORD_CHARS = 1_000


async def show(request: Request) -> Response:
    """The form; without a key to seal with it says how to get one."""
    _vault()
    recipes = await run_in_threadpool(_recipes)
    return render(request, "sites/new_account.html", recipes=list(recipes.values()))


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
        there = stored.find_account(c, recipe.name, name)
        row_id = stored.add_account(c, recipe.name, name, sealed, now=datetime.now(UTC))
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


PAGES = (
    Page("/sites/accounts/new", "sites.new_account", show, EDITOR),
    Page("/sites/accounts/new", "sites.add_account", add, EDITOR, "POST"),
)
