"""``qiaocrawl session …``: accounts of sites that want a login. 登录"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from qiaocrawl.cli.db import DatabaseUrl, connection_to, transaction_on
from qiaocrawl.cli.output import folding_table, shown_moment, table_console
from qiaocrawl.cli.secret_input import read_secret
from qiaocrawl.errors import ConfigError, LoginError, SessionError
from qiaocrawl.options import Options
from qiaocrawl.sessions import (
    Account,
    AccountState,
    Credentials,
    Recipe,
    SavedSession,
    Vault,
    find_recipe,
    load_recipes,
    new_key,
    owner_name,
)
from qiaocrawl.sessions.cookies import read_pasted, usable_for
from qiaocrawl.storage.sites import accounts as stored

app = typer.Typer(help="Accounts of sites that want a login. 登录", no_args_is_help=True)
key_app = typer.Typer(help="The key accounts are encrypted with. 密钥", no_args_is_help=True)
app.add_typer(key_app, name="key")

_STATES = {
    AccountState.NEW: "新 new", AccountState.ACTIVE: "可用 active",
    AccountState.RESTING: "休息 resting", AccountState.OUT: "已退出 logged out",
}  # fmt: skip

SiteName = Annotated[str, typer.Argument(help="Name of a login recipe (`session sites`).")]
AccountName = Annotated[str, typer.Argument(help="Name of the account, as you call it.")]


@key_app.command("new")
def new() -> None:
    """Print a new key for QIAO_SECRET_KEY; keep it where the crawls' environment is set."""
    typer.echo(new_key())


@key_app.command("rotate")
def rotate(database: DatabaseUrl = "") -> None:
    """Encrypt all accounts anew with the first of several keys in QIAO_SECRET_KEY."""
    vault = _vault()
    with transaction_on(database) as c:
        number = stored.reseal_all(
            c, lambda owner, sealed: vault.seal(owner, vault.open(owner, sealed))
        )
    typer.echo(f"{number} accounts are encrypted with the first key; the others may go")


@app.command()
def sites() -> None:
    """List the login recipes: the shipped ones and those of QIAO_LOGINS_DIR."""
    table = folding_table("网站 site", "方式 way", "主机 hosts", "说明 title")
    for recipe in _recipes().values():
        table.add_row(recipe.name, recipe.way, " ".join(recipe.hosts), escape(recipe.title))
    table_console().print(table)


@app.command()
def add(
    site: SiteName,
    account: AccountName,
    user: Annotated[
        str, typer.Option(help="User name at the site, where it is not the account's name.")
    ] = "",
    env: Annotated[str, typer.Option(help="Read the secret from this variable.")] = "",
    stdin: Annotated[bool, typer.Option("--stdin", help="Read it from standard input.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Keep an account, encrypted. Its password is asked for without echo, never an argument."""
    recipe = find_recipe(_recipes(), site)
    vault = _vault()
    sealed = b""
    if recipe.way in ("form", "sso", "http"):
        password = read_secret(f"{site} {account}", env=env, stdin=stdin)
        sealed = Credentials(user or account, password).seal(vault, owner_name(site, account))
    with transaction_on(database) as c:
        stored.add_account(c, site, account, sealed, now=datetime.now(UTC))
    typer.echo(f"{site}: account {account} is kept")
    if recipe.way in ("browser", "cookies"):
        typer.echo(f"log it in: qiaocrawl session login {site} {account}")


@app.command("list")
def list_command(database: DatabaseUrl = "") -> None:
    """List the accounts and how they stand; no secret is shown."""
    with connection_to(database) as c:
        accounts = stored.list_accounts(c)
    table = folding_table("号 no.", "网站 site", "账号 account", "状态 state", "登录于 logged in",
                          "休息至 rests until", "原因 reason")  # fmt: skip
    for account in accounts:
        table.add_row(str(account.id), account.site, escape(account.name), _STATES[account.state],
                      shown_moment(account.logged_in_at), shown_moment(account.rests_until),
                      escape(account.reason))  # fmt: skip
    table_console().print(table)


@app.command()
def login(
    site: SiteName,
    account: AccountName,
    cookies: Annotated[
        str,
        typer.Option(
            help="Take cookies instead: a FILE (mode 0600), env:NAME, or - for "
            "standard input; a header, a Netscape file or JSON."
        ),
    ] = "",
    qr: Annotated[
        Path | None, typer.Option(help="Save the QR code of the login as this PNG and wait.")
    ] = None,
    seconds: Annotated[
        int, typer.Option(min=1, max=3600, help="How long a browser waits for you.")
    ] = 300,
    database: DatabaseUrl = "",
) -> None:
    """Log an account in now, by its recipe's way, and keep its cookies encrypted."""
    recipe = find_recipe(_recipes(), site)
    vault = _vault()
    row = _account(site, account, database)
    if cookies:
        _keep_cookies(recipe, vault, row, read_secret("", file=cookies), database)
        return
    if recipe.way == "cookies":
        raise ConfigError(f"{site} is logged in to with cookies: give them by --cookies")
    if recipe.way == "http":
        raise ConfigError(f"{site} uses HTTP authentication: there is nothing to log in to")
    if qr is not None and not qr.absolute().parent.is_dir():
        raise ConfigError(f"--qr {str(qr)!r}: the folder {qr.parent} does not exist")
    _run_spider(row, "login", database, qr=qr, seconds=seconds)
    _tell(_account(site, account, database))


@app.command()
def check(site: SiteName, account: AccountName, database: DatabaseUrl = "") -> None:
    """Open the recipe's target with the account's cookies and say whether it is logged in."""
    find_recipe(_recipes(), site)
    _vault()
    _run_spider(_account(site, account, database), "check", database)
    _tell(_account(site, account, database))


@app.command()
def logout(site: SiteName, account: AccountName, database: DatabaseUrl = "") -> None:
    """Forget an account's cookies and do not use it until its next login."""
    row = _account(site, account, database)
    with transaction_on(database) as c:
        stored.save_state(c, row.id, AccountState.OUT, "", now=datetime.now(UTC))
    typer.echo(f"{site}: account {account} is logged out")


@app.command()
def remove(site: SiteName, account: AccountName, database: DatabaseUrl = "") -> None:
    """Delete an account with its secret and cookies."""
    row = _account(site, account, database)
    with transaction_on(database) as c:
        stored.remove_account(c, row.id)
    typer.echo(f"{site}: account {account} is removed")


def _options() -> Options:
    return Options.from_environment()


def _recipes() -> dict[str, Recipe]:
    return load_recipes(_options()["QIAO_LOGINS_DIR"] or None)


def _vault() -> Vault:
    return Vault.from_option(_options()["QIAO_SECRET_KEY"])


def _account(site: str, name: str, database: str) -> Account:
    with connection_to(database) as c:
        return stored.require_account(c, site, name)


def _keep_cookies(recipe: Recipe, vault: Vault, row: Account, text: str, database: str) -> None:
    usable = usable_for(recipe, read_pasted(text, recipe), now=time.time())
    refused = ", ".join(f"{number} {why}" for why, number in usable.refused.items())
    if not usable.cookies:
        raise SessionError(f"none of the cookies can be used for {recipe.name}: {refused}")
    sealed = SavedSession(usable.cookies).seal(vault, row.owner)
    with transaction_on(database) as c:
        stored.save_session(c, row.id, sealed, now=datetime.now(UTC), logged_in=True)
    left = f"; left out: {refused}" if refused else ""
    typer.echo(f"{row.site}: {len(usable.cookies)} cookies kept for account {row.name}{left}")


def _run_spider(
    row: Account, do: str, database: str, *, qr: Path | None = None, seconds: int = 300
) -> None:
    """A crawl that does nothing else, so that a login goes through guard and delays too."""
    command = [sys.executable, "-m", "scrapy", "crawl", "login", "-a", f"account={row.id}",
               "-a", f"do={do}", "-a", f"seconds={seconds}"]  # fmt: skip
    if qr is not None:
        command += ["-a", f"qr={qr.absolute()}"]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings"}
    if database:
        # Not an argument: every user of the machine could read its password there.
        environment["QIAO_DATABASE_URL"] = database
    done = subprocess.run(command, env=environment, check=False)
    if done.returncode:
        raise SessionError(f"the {do} could not be done; see above")


def _tell(row: Account) -> None:
    if row.state is not AccountState.ACTIVE:
        raise LoginError(f"{row.site}: account {row.name} is not logged in: {row.reason}")
    if row.reason:
        raise SessionError(f"{row.site}: account {row.name}: {row.reason}")
    typer.echo(f"好 {row.site}: account {row.name} is logged in")
