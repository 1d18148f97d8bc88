"""``qiaocrawl console``: the pages for the people who read, mark and steer."""

from __future__ import annotations

import ipaddress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qiaocrawl.cli.database import DatabaseUrl, opened_database
from qiaocrawl.cli.output import echo
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.options.project import note_database
from qiaocrawl.text.visible import Terminal

if TYPE_CHECKING:
    from qiaocrawl.console.page import ConsoleSettings

app = typer.Typer(
    help="The pages in the browser: read, mark, steer; start them and log in.",
    invoke_without_command=True,
)


@app.callback()
def console(
    context: typer.Context,
    host: Annotated[str, typer.Option(help="Address instead of QIAO_CONSOLE_HOST.")] = "",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65_535, help="Port instead of QIAO_CONSOLE_PORT; 0 = any."),
    ] = None,
    root_path: Annotated[
        str, typer.Option(help="Path under which a reverse proxy shows it, such as /desk.")
    ] = "",
    database: DatabaseUrl = "",
) -> None:
    """The pages in the browser: read, mark, steer; start them and log in.

    The first start makes an administrator and prints the password. Ctrl-C ends it.
    """
    if context.invoked_subcommand is not None:
        return
    given = {
        "QIAO_DATABASE_URL": database,
        "QIAO_CONSOLE_HOST": host,
        "QIAO_CONSOLE_PORT": "" if port is None else str(port),
        "QIAO_CONSOLE_ROOT_PATH": root_path,
    }
    start(Options.from_environment({name: value for name, value in given.items() if value}))


@app.command()
def index(
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Build it anew.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Bring the full text index in step with the database, or build it anew.

    A console that runs does the first by itself.
    """
    from rich.progress import Progress

    from qiaocrawl.console.search_keeper import SearchKeeper, index_folder

    with opened_database(database) as opened:
        opened.require_current()
        folder = index_folder(opened, Options.from_environment()["QIAO_CONSOLE_SEARCH_DIR"])
        keeper = SearchKeeper(opened, folder)
        with Progress(console=Terminal(stderr=True)) as progress:
            task = progress.add_task(_("articles"))
            count = keeper.build(
                lambda done, total: progress.update(task, completed=done, total=total),
                anew=rebuild,
            )
    echo(_("{folder}: {count} articles", folder=folder, count=f"{count:,}"))


def start(options: Options, backup_dir: Path | None = None) -> None:
    """Serve the console over the database of *options* until a signal ends it.

    Backups are in *backup_dir*, else below the working folder.

    Raises:
        ConfigError: host or port cannot be listened on.
        StorageError: the database cannot be used.
    """
    from qiaocrawl.console.app import FIRST_NAME, first_administrator, run
    from qiaocrawl.console.page import ConsoleSettings

    settings = ConsoleSettings.from_options(options)
    if backup_dir is not None:
        settings = replace(settings, backup_dir=backup_dir)
    note_database(settings.database_url)
    with opened_database(settings.database_url, may_make=True) as database:
        database.upgrade()
        password = first_administrator(database)
    if password:
        echo(_("The first user: {name}", name=FIRST_NAME))
        echo(_("password, to be changed at the first log-in: {password}", password=password))
    _warn(settings)
    run(settings, lambda url: echo(_("The console is at {url} (Ctrl-C ends it)", url=url)))
    echo(_("The console has ended."))


def _warn(settings: ConsoleSettings) -> None:
    try:
        is_local = ipaddress.ip_address(settings.host).is_loopback
    except ValueError:
        is_local = settings.host == "localhost"
    if not is_local:
        echo(
            _(
                "{host} shows the console to the network without TLS: passwords can be read on "
                "the way. Listen on 127.0.0.1 behind a reverse proxy instead.",
                host=settings.host,
            ),
            err=True,
        )
