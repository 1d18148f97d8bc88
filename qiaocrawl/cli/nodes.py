"""``qiaocrawl nodes``: the list of scrapyd servers, their health, and the egg on them."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from qiaocrawl.cli import nodes_running as running
from qiaocrawl.cli.database import DatabaseUrl, opened_database, transaction_on
from qiaocrawl.cli.nodes_running import NodeName
from qiaocrawl.cli.output import echo, folding_table, table_console
from qiaocrawl.errors import ConfigError, JobError, NoLoginError, ServerAwayError
from qiaocrawl.jobs.nodes import SEED, NodeServers, no_node_yet
from qiaocrawl.jobs.scrapyd import VERSION_FORM, build_egg, code_of, server_address, version_of
from qiaocrawl.language import N_, _
from qiaocrawl.options import Options
from qiaocrawl.options.kinds import scrapyd_servers
from qiaocrawl.storage import schedules
from qiaocrawl.storage.schedules import Node, NodeTerms
from qiaocrawl.text.zones import china_time, china_time_at

app = typer.Typer(
    help="Machines that crawl together: scrapyd servers, their jobs, updates without a stop.",
    no_args_is_help=True,
)
_TROUBLE_NAMES = {ServerAwayError: N_("no answer"), NoLoginError: N_("no password here")}


@contextmanager
def opened_nodes(database: str) -> Iterator[NodeServers]:
    """The nodes of a database as servers that can be asked."""
    with opened_database(database) as opened:
        opened.require_current()
        servers = NodeServers(opened, Options.from_environment())
        servers.refresh()
        try:
            yield servers
        finally:
            servers.close()


@app.command()
def add(
    address: Annotated[str, typer.Argument(help="http://HOST:PORT, without user and password.")],
    login_env: Annotated[
        str | None,
        typer.Option(help="Environment variable that holds USER:PASSWORD; they are not stored."),
    ] = None,
    weight: Annotated[
        float | None, typer.Option(help="How much it can do beside the others; new: 1.")
    ] = None,
    spider: Annotated[
        list[str] | None, typer.Option(help="A spider it may run; again for more; '' = all.")
    ] = None,
    topic: Annotated[
        list[str] | None, typer.Option(help="A topic it may run; again for more; '' = all.")
    ] = None,
    database: DatabaseUrl = "",
) -> None:
    """Add a scrapyd server, or change what is known of it. Its password stays in the environment.

    Of one that is known, what is not named stays. Those of QIAO_SCRAPYD_SERVERS are in the list
    already.
    """
    try:
        (url,) = scrapyd_servers(address)
    except ValueError as error:
        raise ConfigError(f"{address!r}: {error}") from None
    name, plain = server_address(url)
    if plain != url:
        raise ConfigError(
            _("user and password do not belong in an argument; use --login-env VARIABLE")
        )
    _check_variable(login_env or "")
    if weight is not None and not 0.01 <= weight <= 1000:
        raise ConfigError(_("--weight {weight}: must be from 0.01 to 1000", weight=f"{weight:g}"))
    given = {
        "login_env": login_env,
        "weight": weight,
        "spiders": None if spider is None else tuple(filter(None, spider)),
        "topics": None if topic is None else tuple(filter(None, topic)),
    }
    named: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    with transaction_on(database) as c:
        known = {node.name: node.terms for node in schedules.list_nodes(c)}
        terms = replace(known.get(name, NodeTerms(plain)), address=plain, **named)
        is_new = schedules.save_node(c, name, terms, datetime.now(UTC))
    echo(_("{node}: added", node=name) if is_new else _("{node}: changed", node=name))
    if is_new:
        echo(_("next: qiaocrawl nodes deploy {node} && qiaocrawl nodes check", node=name))


def _check_variable(name: str) -> None:
    # QIAO_ names are options, and one nobody knows is refused by every command.
    is_good = re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) and not name.startswith("QIAO_")
    if name and name != SEED and not is_good:
        raise ConfigError(
            _("--login-env {name!r}: must be a variable such as EAST_LOGIN", name=name)
        )


@app.command("list")
def list_(database: DatabaseUrl = "") -> None:
    """List the nodes: what they may run, and how they were when they were asked last."""
    table = folding_table(
        _("crawl node"),
        _("weight"),
        _("may run"),
        _("password"),
        _("state"),
        _("code sent"),
        _("jobs"),
    )
    with opened_nodes(database) as servers:
        counts = running.job_counts(database)
        for name, node in servers.nodes.items():
            terms = node.terms
            sent = f"{node.version} {china_time(node.deployed_at)}".strip()
            table.add_row(
                name,
                f"{terms.weight:g}",
                escape(_may_run(terms)),
                terms.login_env or "–",
                _state(servers, node),
                sent,
                str(counts.get(name, 0)),
            )
        if not servers.nodes:
            echo(no_node_yet())
            return
    table_console().print(table)


def _may_run(terms: NodeTerms) -> str:
    if not (terms.spiders or terms.topics):
        return _("everything")
    spiders, topics = ", ".join(terms.spiders), ", ".join(terms.topics)
    return _(
        "{spiders} of {topics}",
        spiders=spiders or _("all spiders"),
        topics=topics or _("all topics"),
    )


def _state(servers: NodeServers, node: Node) -> str:
    try:
        servers.server(node.name)
    except JobError:
        return _("no password here")
    if node.is_draining:
        return _("draining")
    if node.away_since is not None:
        return _("away since {time}", time=china_time_at(node.away_since))
    return _("ready")


@app.command()
def remove(node: NodeName, database: DatabaseUrl = "") -> None:
    """Take a node out of the list. Its jobs must be over: drain it first."""
    if running.job_counts(database).get(node):
        raise ConfigError(_("{node} has jobs; `qiaocrawl nodes drain {node}` first", node=node))
    if node in dict(map(server_address, Options.from_environment()[SEED])):
        raise ConfigError(_("{node} stands in QIAO_SCRAPYD_SERVERS: take it out there", node=node))
    with transaction_on(database) as c:
        if not schedules.remove_node(c, node):
            raise _no_node(node)
    echo(_("{node}: removed", node=node))


@app.command()
def check(database: DatabaseUrl = "") -> None:
    """Ask every node how it is; exit code 1 if one has no answer or no code, or code differs."""
    table = folding_table(
        _("crawl node"), _("state"), _("jobs waiting"), _("jobs running"), _("code")
    )
    codes: set[str] = set()
    with opened_nodes(database) as servers:
        answers = servers.statuses(time.time())
    if not answers:
        echo(no_node_yet())
        return
    troubles: list[str] = []
    for name, answer in answers.items():
        if isinstance(answer, JobError):
            table.add_row(name, _(_TROUBLE_NAMES.get(type(answer), "refuses")), "", "", "")
            troubles.append(str(answer))
            continue
        newest = answer.versions[-1] if answer.versions else ""
        if newest:
            codes.add(code_of(newest))
        else:
            troubles.append(_("{node}: no code yet; `qiaocrawl nodes deploy {node}`", node=name))
        counts = str(answer.pending), str(answer.running)
        table.add_row(name, _("has answered"), *counts, escape(newest) or _("none"))
    table_console().print(table)
    if len(codes) > 1:
        troubles.append(_("the nodes run different code; that is for the length of an update only"))
    for trouble in troubles:
        echo(trouble)
    if troubles:
        raise typer.Exit(1)


@app.command()
def deploy(
    node: Annotated[
        list[str] | None, typer.Argument(help="HOST:PORT of those to send it to; none = all.")
    ] = None,
    egg: Annotated[
        Path | None, typer.Option(help="An egg that is there; else one is built in this folder.")
    ] = None,
    name: Annotated[
        str,
        typer.Option("--version", help="A new name for it; else the time and a digest."),
    ] = "",
    database: DatabaseUrl = "",
) -> None:
    """Send the code to the nodes; jobs that start from now on run it, those that run go on.

    Old and new code work on one database for the length of an update, as long as its tables stay
    the same: a job says so in one line, and stops, where they do not.
    """
    if name and not VERSION_FORM.fullmatch(name):
        raise ConfigError(
            _("--version {name!r}: must be of letters A-Z, digits, - and _", name=name)
        )
    with opened_nodes(database) as servers:
        chosen = _choose_servers(servers, node or ())
        body = _read_egg(egg) if egg is not None else build_egg(Path.cwd())
        version = name or version_of(body, time.time())
        failed = sum(not _send(servers, one, body, version, database) for one in chosen)
    if failed:
        raise typer.Exit(1)


def _read_egg(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None


def _choose_servers(servers: NodeServers, names: Sequence[str]) -> Sequence[str]:
    for name in names:
        if name not in servers.nodes:
            raise _no_node(name)
    if not servers.nodes:
        raise ConfigError(no_node_yet())
    return names or list(servers.nodes)


def _send(servers: NodeServers, name: str, egg: bytes, version: str, database: str) -> bool:
    try:
        spiders = servers.server(name).deploy(egg, version)
    except JobError as error:
        # It names the node.
        echo(str(error), err=True)
        return False
    with transaction_on(database) as c:
        schedules.set_version(c, name, version, datetime.now(UTC))
    echo(_("{node}: has {version}, {spiders} spiders", node=name, version=version, spiders=spiders))
    return True


def _no_node(name: str) -> ConfigError:
    return ConfigError(_("{server}: no such node; see `qiaocrawl nodes list`", server=name))


for _command in (running.start, running.stop, running.jobs, running.logs, running.drain):
    app.command()(_command)
