"""``qiaocrawl session …``: accounts of sites that want a login."""

from __future__ import annotations

import os
import re
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from qiaocrawl.cli.database import DatabaseUrl, connection_to, transaction_on
from qiaocrawl.cli.options import read_secret
from qiaocrawl.cli.output import echo, folding_table, table_console
from qiaocrawl.errors import ConfigError, LoginError, SessionError
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
from qiaocrawl.fetch.sessions.vault import Vault, new_key
from qiaocrawl.jobs.spider_command import login_command
from qiaocrawl.language import _
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.options import Options
from qiaocrawl.options.project import command_here
from qiaocrawl.storage.sites import accounts as stored
from qiaocrawl.text.zones import china_time

app = typer.Typer(help="Accounts of sites that want a login.", no_args_is_help=True)
key_app = typer.Typer(help="The key accounts are encrypted with.", no_args_is_help=True)
app.add_typer(key_app, name="key")

SiteName = Annotated[str, typer.Argument(help="Name of a login recipe (`session sites`).")]
AccountName = Annotated[str, typer.Argument(help="Name of the account, as you call it.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show the whole log too.")]

# What the log-in by hand says while it waits: a code to scan, seconds left. Of a log in JSON the
# message as it stands there.
_ASKS_A_PERSON = re.compile(
    r"qiaocrawl\.crawl\.login\.by_hand(?:\] INFO: |\", \"message\": \")(.*?)(?:\"[,}].*)?$"
)
# Of a log-in that could not be run: its end says why.
_LINES_SHOWN = 30


@key_app.command("new")
def new() -> None:
    """Print a new key for QIAO_SECRET_KEY; keep it where the crawls' environment is set."""
    echo(new_key())


@key_app.command("rotate")
def rotate(database: DatabaseUrl = "") -> None:
    """Encrypt all accounts anew with the first of several keys in QIAO_SECRET_KEY."""
    from qiaocrawl.news.warnings.channels import reseal_channels
    from qiaocrawl.news.warnings.persons import reseal_persons

    vault = _vault()
    with transaction_on(database) as c:
        number = stored.reseal_all(
            c, lambda owner, sealed: vault.seal(owner, vault.open(owner, sealed))
        )
        channels = reseal_channels(c, vault) + reseal_persons(c, vault)
    echo(_("{number} accounts are encrypted with the first key; the others may go", number=number))
    if channels:
        echo(_("so are the addresses of {number} channels of warnings", number=channels))


@app.command()
def sites() -> None:
    """List the login recipes: the shipped ones and those of QIAO_LOGINS_DIR."""
    table = folding_table(_("site"), _("way"), _("hosts"), _("name"))
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
    if recipe.takes_password:
        password = read_secret(f"{site} {account}", env=env, stdin=stdin)
        sealed = Credentials(user or account, password).seal(vault, owner_name(site, account))
    with transaction_on(database) as c:
        stored.add_account(c, site, account, sealed, now=datetime.now(UTC))
    echo(_("{site}: account {account} is kept", site=site, account=account))
    if recipe.way in ("browser", "cookies"):
        command = command_here(f"qiaocrawl session login {site} {account}")
        echo(_("log it in: {command}", command=command))


@app.command("list")
def list_command(database: DatabaseUrl = "") -> None:
    """List the accounts and how they stand; no secret is shown."""
    with connection_to(database) as c:
        accounts = stored.list_accounts(c)
    table = folding_table(
        _("no."), _("site"), _("account"), _("state"), _("logged in"), _("rests until"), _("reason")
    )
    for account in accounts:
        table.add_row(
            str(account.id),
            account.site,
            escape(account.name),
            _(ACCOUNT_STATES[account.state]),
            china_time(account.logged_in_at),
            china_time(account.rests_until),
            escape(shown_reason(account.reason)),
        )
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
    verbose: Verbose = False,
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
        raise ConfigError(
            _("{site} is logged in to with cookies: give them by --cookies", site=site)
        )
    if recipe.way == "http":
        raise ConfigError(
            _("{site} uses HTTP authentication: there is nothing to log in to", site=site)
        )
    if qr is not None and not qr.absolute().parent.is_dir():
        raise ConfigError(
            _("--qr {qr!r}: the folder {parent} does not exist", qr=str(qr), parent=qr.parent)
        )
    _run_spider(row, "login", database, is_verbose=verbose, qr=qr, seconds=seconds)
    _tell(_account(site, account, database))


@app.command()
def check(
    site: SiteName, account: AccountName, verbose: Verbose = False, database: DatabaseUrl = ""
) -> None:
    """Open the recipe's target with the account's cookies and say whether it is logged in."""
    find_recipe(_recipes(), site)
    _vault()
    _run_spider(_account(site, account, database), "check", database, is_verbose=verbose)
    _tell(_account(site, account, database))


@app.command()
def logout(site: SiteName, account: AccountName, database: DatabaseUrl = "") -> None:
    """Forget an account's cookies and do not use it until its next login."""
    row = _account(site, account, database)
    with transaction_on(database) as c:
        stored.save_state(c, row.id, AccountState.OUT, "", now=datetime.now(UTC))
    echo(_("{site}: account {account} is logged out", site=site, account=account))


@app.command()
def remove(site: SiteName, account: AccountName, database: DatabaseUrl = "") -> None:
    """Delete an account with its secret and cookies."""
    row = _account(site, account, database)
    with transaction_on(database) as c:
        stored.remove_account(c, row.id)
    echo(_("{site}: account {account} is removed", site=site, account=account))


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
    refused = ", ".join(f"{number} {_(why)}" for why, number in usable.refused.items())
    if not usable.cookies:
        raise SessionError(
            _(
                "none of the cookies can be used for {name}: {refused}",
                name=recipe.name,
                refused=refused,
            )
        )
    sealed = SavedSession(usable.cookies).seal(vault, row.owner)
    with transaction_on(database) as c:
        stored.save_session(c, row.id, sealed, now=datetime.now(UTC), logged_in=True)
    left = _("; left out: {refused}", refused=refused) if refused else ""
    echo(
        _(
            "{site}: {count} cookies kept for account {name}{left}",
            site=row.site,
            count=len(usable.cookies),
            name=row.name,
            left=left,
        )
    )


def _run_spider(
    row: Account,
    do: str,
    database: str,
    *,
    is_verbose: bool,
    qr: Path | None = None,
    seconds: int = 300,
) -> None:
    """A crawl that does nothing else, so that a login goes through guard and delays too.

    Of its log only what a person has to do is shown, unless it cannot be run.
    """
    command = login_command(row.id, do, seconds, qr, Path(os.devnull)).words
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings"}
    if database:
        # Not an argument: every user of the machine could read its password there.
        environment["QIAO_DATABASE_URL"] = database
    unshown: list[str] = []
    with subprocess.Popen(
        command,
        env=environment,
        stderr=None if is_verbose else subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stderr or ():
            if (asked := _ASKS_A_PERSON.search(line)) is not None:
                echo(asked[1], err=True)
            else:
                unshown.append(line.rstrip("\n"))
    if process.returncode:
        for line in unshown[-_LINES_SHOWN:]:
            echo(line, err=True)
        raise SessionError(_("the {do} could not be done; see above", do=do))


def _tell(row: Account) -> None:
    values = {"site": row.site, "name": row.name, "reason": shown_reason(row.reason)}
    if row.state is not AccountState.ACTIVE:
        raise LoginError(_("{site}: account {name} is not logged in: {reason}", **values))
    if row.reason:
        raise SessionError(_("{site}: account {name}: {reason}", **values))
    echo(_("ok: {site}: account {name} is logged in", site=row.site, name=row.name))
