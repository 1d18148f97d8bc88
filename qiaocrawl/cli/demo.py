"""``qiaocrawl demo``: the main job end to end, offline, on the built-in demo web."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import time
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from qiaocrawl.cli.coverage import write_heat_map
from qiaocrawl.cli.heat_map import summary_lines
from qiaocrawl.cli.output import echo, print_hanging
from qiaocrawl.cli.run import print_report
from qiaocrawl.cli.spider_process import run_with_bar
from qiaocrawl.demo import happenings as office
from qiaocrawl.demo.engines import build_engines
from qiaocrawl.demo.server import DemoServer
from qiaocrawl.demo.web import DemoWeb, build_web, demo_sites
from qiaocrawl.errors import QiaoError
from qiaocrawl.jobs.spider_command import SpiderCommand
from qiaocrawl.language import N_, _
from qiaocrawl.options import Options
from qiaocrawl.reading import summary
from qiaocrawl.search.query import AnswerState
from qiaocrawl.storage import Database
from qiaocrawl.storage.search import coverage as stored
from qiaocrawl.storage.search.coverage import Cell, cells_of
from qiaocrawl.storage.sites import watched
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.text.visible import Terminal
from qiaocrawl.topic.folder import SHIPPED_PACKS, load_pack
from qiaocrawl.topic.pack import Site, TopicPack

app = typer.Typer(
    help="The built-in demo web, and the main job on it.", invoke_without_command=True
)

_TOPIC = "qiaoqing"
_ENGINES = "demo_sou,demo_zhao"
_TERMS = 12
_WATCH_SECONDS = 60

# (spider, what an operator sees, its arguments)
_STAGES = (
    ("search", N_("1/3 ask search engines"), (f"terms={_TERMS}",)),
    ("site", N_("2/3 crawl sites"), ()),
    ("pages", N_("3/3 fetch pages"), ()),
)


class DemoError(QiaoError):
    """A stage of the demo did not end well."""


@app.callback()
def demo(
    context: typer.Context,
    folder: Annotated[Path, typer.Option(help="Where the demo keeps database and logs.")] = Path(
        "data/demo"
    ),
) -> None:
    """Search, crawl and judge the demo web, then show what came of it."""
    if context.invoked_subcommand is None:
        run_demo(folder, Terminal())
    # `demo --folder F briefing` means F too.
    context.default_map = {name: {"folder": str(folder)} for name in ("console", "briefing")}


@app.command()
def serve(port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 = any.")] = 0) -> None:
    """Serve the demo web until Ctrl-C, for trying things by hand."""
    server = DemoServer(_whole_web(), port=port)
    try:
        host, bound = server.start()
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise DemoError(
            _("cannot listen on port {port} of 127.0.0.1: {reason}", port=port, reason=reason)
        ) from None
    database_file = Path("data/demo/serve.db").resolve()
    database_file.parent.mkdir(parents=True, exist_ok=True)
    _demo_database(f"sqlite:///{database_file}").close()
    echo(_("The demo web listens on {host}:{bound}. In another window:\n", host=host, bound=bound))
    echo(f"  export QIAO_DEMO={host}:{bound} QIAO_ENGINES={_ENGINES} QIAO_SEARCH_PARK_AFTER=0")
    echo(f"  export QIAO_DATABASE_URL=sqlite:///{database_file}")
    echo(f"  scrapy crawl site -a topic={_TOPIC}\n")
    echo(
        _(
            "Topic {topic} is imported there, with the sites of the demo web only. `qiaocrawl "
            "topic import` would add real sites.\n\nCtrl-C ends it.",
            topic=_TOPIC,
        )
    )
    try:
        signal.pause()
    except KeyboardInterrupt:
        server.stop()


@app.command()
def console(
    folder: Annotated[Path, typer.Option(help="Where the demo kept its database.")] = Path(
        "data/demo"
    ),
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port on 127.0.0.1; 0 = any.")] = 0,
) -> None:
    """Open the console over what the demo found; Ctrl-C ends it."""
    from qiaocrawl.cli.console import start

    url = _url_in(folder)
    web = _whole_web()
    web.pass_time()
    server = DemoServer(web)
    host, bound = server.start()
    # Its jobs are processes with this environment: they ask the demo web, as the demo did.
    os.environ.update(_environment(url, f"{host}:{bound}"))
    os.environ.update(office.environment(folder, next(iter(web.sites))))
    try:
        _furnish(url, folder, web)
        # Beside its database: where one tries it an office may keep backups of its own.
        start(Options.from_environment({"QIAO_CONSOLE_PORT": str(port)}), folder / "backups")
    finally:
        server.stop()


@app.command()
def briefing(
    folder: Annotated[Path, typer.Option(help="Where the demo kept its database.")] = Path(
        "data/demo"
    ),
) -> None:
    """Look again a week later, tell stories, and write a briefing of the demo's last month."""
    from qiaocrawl.cli.demo_meaning import analyse_demo, write_briefing

    url = _url_in(folder)
    look_again(url, folder, Terminal())
    write_briefing(url, analyse_demo(url, _TOPIC, Terminal()), folder)


def look_again(url: str, folder: Path, console: Console) -> None:
    """See what the demo web's sites corrected and deleted within a week.

    Raises:
        DemoError: the spider failed; the message names its log.
    """
    web = _whole_web()
    web.pass_time()
    with DemoServer(web) as server, Database.open(url) as database:
        database.upgrade()
        with database.engine.begin() as c:
            office.look_again(c, _TOPIC, web.changing_urls(), datetime.now(UTC))
        command = SpiderCommand(
            "watch",
            _("look again"),
            folder / "look.log",
            (f"topic={_TOPIC}", f"site={','.join(sorted({host for host, _path in web.later}))}"),
            (f"QIAO_MAX_SECONDS={_WATCH_SECONDS}",),
            environment=_environment(url, server.address),
        )
        _run_stage(command, database, console)


def _url_in(folder: Path) -> str:
    """The address of the database that a demo kept in *folder*.

    Raises:
        DemoError: there is none.
    """
    file = folder / "demo.db"
    if not file.exists():
        raise DemoError(
            _(
                "there is no {file}; run `{command}` first",
                file=file,
                command=f"{own_command(sys.argv[0])} demo",
            )
        )
    return f"sqlite:///{file.resolve()}"


def _furnish(url: str, folder: Path, web: DemoWeb) -> None:
    """Watch the sites' pages once, tell stories, and add what else an office has."""
    with Database.open(url) as database:
        database.upgrade()
        with database.engine.begin() as c:
            office.furnish(c, _TOPIC, datetime.now(UTC))
            hosts = {page.host for page in watched.watched_pages(c, _TOPIC)}
            deep = {site.host for site in web.sites.values() if site.role == "authoritative"}
            is_watching = deep <= hosts
            if not is_watching:
                office.look_again(c, _TOPIC, web.changing_urls(), datetime.now(UTC))
        if not is_watching:
            command = SpiderCommand(
                "watch",
                _("revisit watched pages"),
                folder / "watch.log",
                (f"topic={_TOPIC}",),
                (f"QIAO_MAX_SECONDS={_WATCH_SECONDS}",),
            )
            _run_stage(command, database, Terminal())

    from qiaocrawl.cli.demo_meaning import analyse_demo

    analyse_demo(url, _TOPIC, Terminal())


def _run_stage(command: SpiderCommand, database: Database, console: Console) -> None:
    """Run a spider to its end under a bar, its log begun anew.

    Raises:
        DemoError: it failed; the message names its log.
    """
    command.log.unlink(missing_ok=True)
    if (code := run_with_bar(command, database, console)) != 0:
        raise DemoError(
            _(
                "spider {spider!r} ended with {code}; see {log}",
                spider=command.spider,
                code=code,
                log=command.log,
            )
        )


def run_demo(folder: Path, console: Console) -> None:
    """Run the three spiders on the demo web and print the report.

    Raises:
        DemoError: a spider failed; the message names its log.
    """
    folder.mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{(folder / 'demo.db').resolve()}"
    web, database = _prepare(url, console)
    server = DemoServer(web)
    host, port = server.start()
    console.print(
        _(
            "demo web: {sites} sites, {pages} pages, {host}:{port}",
            sites=len(web.sites),
            pages=len(web.pages),
            host=host,
            port=port,
        )
    )
    try:
        for spider, title, arguments in _STAGES:
            command = SpiderCommand(
                spider,
                _(title),
                folder / f"{spider}.log",
                (f"topic={_TOPIC}", *arguments),
                environment=_environment(url, f"{host}:{port}"),
            )
            _run_stage(command, database, console)
    finally:
        server.stop()
    _report(database, folder, console)
    database.close()


def _prepare(url: str, console: Console) -> tuple[DemoWeb, Database]:
    """The demo web, and the database at *url*."""
    with console.status(_("building the demo web …")):
        return _whole_web(), _demo_database(url)


def _report(database: Database, folder: Path, console: Console) -> None:
    """What came of it, in words, tables and a picture, and what to do next."""
    cells = _searched_cells(database)
    print_report(database, _TOPIC, cells, console)
    console.print(f"\n[bold]{_('Search coverage')}[/]")
    for line in summary_lines(cells):
        print_hanging(console, f"  {line}")
    picture = folder / "coverage.svg"
    write_heat_map(cells, _TOPIC, picture)
    console.print()
    print_hanging(console, _("database: {path}", path=os.path.relpath(folder / "demo.db")))
    print_hanging(console, _("logs: {folder}/*.log", folder=folder))
    print_hanging(console, _("coverage picture: {picture}", picture=picture))
    console.print(f"\n[bold]{_('Next steps')}[/]")
    for purpose, command in next_steps(database, folder):
        print_hanging(console, f"  {purpose}")
        # Never broken by us: it is copied from here.
        console.print(f"    {command}", markup=False, highlight=False, soft_wrap=True)


def next_steps(database: Database, folder: Path) -> list[tuple[str, str]]:
    """Some commands to try, each with what it is for."""
    own = own_command(sys.argv[0])
    url = shlex.join(("--database", f"sqlite:///{os.path.relpath(folder / 'demo.db')}"))
    book = shlex.quote(str(folder / "articles.xlsx"))
    with database.engine.connect() as c:
        best = summary.best_articles(c, _TOPIC, 1)
    steps = [
        (
            _("on-topic articles as a workbook:"),
            f"{own} export {url} --topic {_TOPIC} --only-relevant --out {book}",
        ),
        (
            _(
                "a week later: a fire that many tell of, figures that were corrected, an "
                "article that is gone; told as stories, with warnings and a briefing of the month:"
            ),
            _demo_command(own, "briefing", folder),
        ),
        (_("a topic of your own, on the real web:"), f"{own} init"),
        (
            _("all of it in the browser, to read, search and mark:"),
            _demo_command(own, "console", folder),
        ),
    ]
    if best:
        why = f"{own} report why {url} {shlex.quote(best[0].url)}"
        steps.insert(1, (_("where a page came from, and why it was fetched:"), why))
    return steps


def _demo_command(own: str, name: str, folder: Path) -> str:
    chosen = "" if folder == Path("data/demo") else f" --folder {shlex.quote(str(folder))}"
    return f"{own} demo {name}{chosen}"


def _searched_cells(database: Database) -> list[Cell]:
    """What the demo's engines were asked; those nobody chose are not of its world."""
    with database.engine.connect() as c:
        rows = stored.ledger_rows(c, _TOPIC, stored.Chosen())
        cells = cells_of(rows, stored.lost_answers(c, _TOPIC))
    return [cell for cell in cells if cell.state is not AnswerState.ROBOTS]


def _environment(url: str, origin: str) -> dict[str, str]:
    return {
        "QIAO_DATABASE_URL": url,
        "QIAO_DEMO": origin,
        "QIAO_ENGINES": _ENGINES,
        "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings",
        # Its engines refuse by lot, a query at a time: three in a row mean nothing there.
        "QIAO_SEARCH_PARK_AFTER": "0",
    }


def own_command(called: str) -> str:
    """How to call the command again that was called as *called*, the first of ``sys.argv``."""
    # `python -m qiaocrawl` puts a file there that cannot be called; the shell gives the whole path
    # of what it has found by its name.
    by_name = shutil.which("qiaocrawl")
    if os.sep not in called or Path(called).name == "__main__.py" or called == by_name:
        return "qiaocrawl"
    return os.path.relpath(called)


def _demo_database(url: str) -> Database:
    """The database at *url* with the demo's topic in it."""
    pack = demo_pack()
    database = Database.open(url)
    database.upgrade()
    with database.engine.begin() as c:
        save_pack(c, pack, now=time.time())
    return database


def demo_pack() -> TopicPack:
    """The shipped topic with the demo web's sites in place of real ones."""
    sites = tuple(Site(**asdict(row)) for row in demo_sites())
    return replace(load_pack(SHIPPED_PACKS / _TOPIC), sites=sites)


def _whole_web() -> DemoWeb:
    web = build_web()
    web.add_engines(build_engines(web))
    return web
