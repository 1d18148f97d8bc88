"""``qiaocrawl proxies``: the pool kept in the database (QIAO_PROXY_POOL=database)."""

from __future__ import annotations

import os
import socket
import time
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Annotated
from urllib.parse import urlsplit

import typer
from rich.markup import escape

from qiaocrawl.cli.database import DatabaseUrl, connection_to, transaction_on
from qiaocrawl.cli.output import echo, folding_table, table_console
from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.addresses import Allowance, Origin, is_public_address
from qiaocrawl.fetch.proxies import Proxy, parse_proxy
from qiaocrawl.fetch.user_agent import default_user_agent
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.storage.sites import accounts
from qiaocrawl.urls import canonical_url

app = typer.Typer(
    help="The proxies in the database, for QIAO_PROXY_POOL=database.", no_args_is_help=True
)

ProxyUrl = Annotated[str, typer.Argument(help="http://HOST:PORT, without user and password.")]
_SECONDS = 15.0
_MOST_BYTES = 65536


@app.command()
def add(
    proxy: ProxyUrl,
    user: Annotated[str, typer.Option(help="Whom the proxy knows us as.")] = "",
    password_env: Annotated[
        str, typer.Option(help="Environment variable that holds the password; it is not stored.")
    ] = "",
    note: Annotated[str, typer.Option(help="Where it comes from, for those who read it.")] = "",
    database: DatabaseUrl = "",
) -> None:
    """Add a proxy. A password stays in the environment: only its variable is stored."""
    parsed = _parse_proxy(proxy)
    if password_env and not user:
        raise ConfigError(_("--password-env needs --user"))
    if not password_env.isidentifier() and password_env:
        raise ConfigError(
            _(
                "--password-env: {password_env!r} is no name of a variable",
                password_env=password_env,
            )
        )
    parsed = Proxy(parsed.scheme, parsed.host, parsed.port, user)
    with transaction_on(database) as c:
        accounts.add_proxy(c, parsed, password_env=password_env, note=note, now=time.time())
    echo(_("{parsed}: added", parsed=parsed))


@app.command()
def remove(proxy: ProxyUrl, database: DatabaseUrl = "") -> None:
    """Remove a proxy, whatever user names it is known with."""
    parsed = _parse_proxy(proxy)
    with transaction_on(database) as c:
        if not accounts.remove_proxy(c, parsed):
            raise ConfigError(_("there is no proxy {parsed} in the database", parsed=parsed))
    echo(_("{parsed}: removed", parsed=parsed))


@app.command("list")
def list_(database: DatabaseUrl = "") -> None:
    """List the proxies, with how they have done in crawls."""
    table = folding_table(_("proxy"), _("user"), _("score"), _("latency"), _("state"), _("note"))
    for row in _all(database):
        rest = row.state.resting_until - time.time()
        state = _("rests {rest:.0f} s", rest=rest) if rest > 0 else _("ready")
        if row.password_env and row.password_env not in os.environ:
            state = _("no variable {password_env}", password_env=row.password_env)
        table.add_row(
            row.proxy.origin,
            escape(row.proxy.user),
            f"{row.state.score:.2f}",
            f"{row.state.latency_seconds:.2f} s",
            state,
            escape(row.note),
        )
    table_console().print(table)


@app.command()
def check(
    url: Annotated[str, typer.Argument(help="A page of the site that is to be asked.")],
    database: DatabaseUrl = "",
) -> None:
    """Ask the site's robots.txt once through every proxy, and say what came of it.

    The site itself is asked, no third party: a proxy that works elsewhere may be blocked here.
    """
    target = _target(url)
    rows = _all(database)
    if not rows:
        raise ConfigError(
            _(
                "no proxy in the database; `qiaocrawl proxies add` adds one (a list in a file or "
                "at an address is tried by a crawl only)"
            )
        )
    table = folding_table(_("proxy"), _("result"), _("seconds"))
    good = 0
    for row in rows:
        begun = time.monotonic()
        try:
            outcome = _through(row.with_password(os.environ), target)
        except ValueError as error:
            outcome = str(error)
        good += outcome.startswith(("HTTP 2", "HTTP 404"))
        table.add_row(row.proxy.origin, escape(outcome), f"{time.monotonic() - begun:.2f}")
    table_console().print(table)
    echo(_("usable for {target}: {good}", target=target, good=good))


def _parse_proxy(text: str) -> Proxy:
    try:
        parsed = parse_proxy(text, {})
    except ValueError as error:
        raise ConfigError(_("proxy {error}", error=error)) from None
    if parsed.user or parsed.password:
        raise ConfigError(
            _(
                "proxy {parsed}: user and password do not belong in an argument; use --user and "
                "--password-env",
                parsed=parsed,
            )
        )
    return parsed


def _all(database: str) -> list[accounts.StoredProxy]:
    with connection_to(database) as c:
        return accounts.list_proxies(c)


def _target(url: str) -> str:
    """robots.txt of the site of *url*, which must be a public one or named by the operator."""
    canonical = canonical_url(url)
    if canonical is None:
        raise ConfigError(_("{url!r} is no http or https address", url=url))
    origin = Origin.of(canonical)
    options = Options.from_environment()
    if not Allowance.parse(options["QIAO_ALLOW_ADDRESSES"]).permits(origin):
        _require_public(origin.host, resolved_there=options["QIAO_PROXY_REMOTE_DNS"])
    return f"{origin}/robots.txt"


def _require_public(host: str, *, resolved_there: bool) -> None:
    try:
        addresses = {str(place[4][0]) for place in socket.getaddrinfo(host, None)}
    except OSError:
        if resolved_there:
            return
        raise ConfigError(
            _(
                "{host} cannot be looked up here; QIAO_PROXY_REMOTE_DNS=1 leaves that to the "
                "proxies",
                host=host,
            )
        ) from None
    private = sorted(address for address in addresses if not is_public_address(address))
    if private:
        raise ConfigError(
            _(
                "{host} ({address}) is no public address; QIAO_ALLOW_ADDRESSES can name it",
                host=host,
                address=private[0],
            )
        )


def _through(proxy: Proxy, target: str) -> str:
    """What came of asking *target* through *proxy*, without words of the proxy's own."""
    if not proxy.serves(urlsplit(target).scheme):
        return _("cannot serve https sites: it speaks https itself")
    handler = urllib.request.ProxyHandler({"http": proxy.secret_url, "https": proxy.secret_url})
    opener = urllib.request.build_opener(handler)
    request = urllib.request.Request(target, headers={"User-Agent": default_user_agent()})
    try:
        with opener.open(request, timeout=_SECONDS) as response:
            response.read(_MOST_BYTES)
            return f"HTTP {response.status}"
    except urllib.error.HTTPError as error:
        return f"HTTP {error.code}"
    except urllib.error.URLError as error:
        reason = error.reason
        return type(reason).__name__ if isinstance(reason, BaseException) else _("no answer")
    except (OSError, HTTPException) as error:
        return type(error).__name__
