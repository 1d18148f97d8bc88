"""``qiaocrawl demo``: the main job end to end, offline, on the built-in demo web."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from qiaocrawl.cli.coverage.cells import cells_of
from qiaocrawl.cli.coverage.command import write_heat_map
from qiaocrawl.cli.coverage.summary import summary_lines
from qiaocrawl.cli.report import print_report
from qiaocrawl.demo.engines import build_engines
from qiaocrawl.demo.server import DemoServer
from qiaocrawl.demo.web import DemoWeb, build_web, demo_sites
from qiaocrawl.errors import ConfigError, QiaoError
from qiaocrawl.options import Options
from qiaocrawl.storage import Database
from qiaocrawl.storage.reports import summary
from qiaocrawl.storage.search import coverage as stored
from qiaocrawl.storage.topics.topics import load_pack as stored_pack
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.folder import load_pack
from qiaocrawl.topic.pack import Site, TopicPack

app = typer.Typer(
    help="The built-in demo web, and the main job on it.", invoke_without_command=True
)

_TOPIC = "qiaoqing"
_ENGINES = "demo_sou,demo_zhao"
_TERMS = 12
_POLL_SECONDS = 0.5

# (spider, what an operator sees, its arguments)
_STAGES = (
    ("search", "1/3  search: asking the engines  问搜索引擎", (f"terms={_TERMS}",)),
    ("site", "2/3  site: crawling authoritative sites  深采权威站点", ()),
    ("pages", "3/3  pages: fetching what was found  抓取待采页面", ()),
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
        run_demo(folder, Console())


@app.command()
def serve(port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 = any.")] = 0) -> None:
    """Serve the demo web until Ctrl-C, for trying things by hand."""
    server = DemoServer(_whole_web(), port=port)
    try:
        host, bound = server.start()
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise DemoError(f"cannot listen on port {port} of 127.0.0.1: {reason}") from None
    database_file = Path("data/demo/serve.db").resolve()
    database_file.parent.mkdir(parents=True, exist_ok=True)
    _demo_database(f"sqlite:///{database_file}").close()
    typer.echo(f"The demo web listens on {host}:{bound}. In another window:\n")
    typer.echo(
        f"  export QIAO_DEMO={host}:{bound} QIAO_ENGINES={_ENGINES} QIAO_SEARCH_PARK_AFTER=0"
    )
    typer.echo(f"  export QIAO_DATABASE_URL=sqlite:///{database_file}")
    typer.echo(f"  scrapy crawl site -a topic={_TOPIC}\n")
    typer.echo(
        f"Topic {_TOPIC} is imported there, with the sites of the demo web only."
        " `qiaocrawl topic import` would add real sites.\n\nCtrl-C ends it."
    )
    try:
        signal.pause()
    except KeyboardInterrupt:
        server.stop()


def run_demo(folder: Path, console: Console) -> None:
    """Run the three spiders on the demo web and print the report.

    Raises:
        DemoError: a spider failed; the message names its log.
        ConfigError: the topic pack is not where QIAO_TOPICS_DIR says.
    """
    folder.mkdir(parents=True, exist_ok=True)
    database_file = (folder / "demo.db").resolve()
    url = f"sqlite:///{database_file}"
    with console.status("building the demo web  生成演示网站 …"):
        web = _whole_web()
        database = _demo_database(url)
        with database.engine.connect() as c:
            pack = stored_pack(c, _TOPIC)
    server = DemoServer(web)
    host, port = server.start()
    console.print(
        f"demo web: {len(web.sites)} sites, {len(web.pages)} pages on {host}:{port}; "
        f"topic {pack.name}: {len(pack.terms)} terms, {len(pack.sites)} sites"
    )
    try:
        for spider, title, arguments in _STAGES:
            environment = _environment(url, f"{host}:{port}")
            _run_spider(spider, title, arguments, environment, database, folder, console)
    finally:
        server.stop()
    print_report(database, pack.name, console)
    picture = folder / "coverage.svg"
    _show_coverage(database, picture, console)
    database.close()
    shown = os.path.relpath(database_file)
    console.print(
        f"\nDatabase 数据库: {shown}    logs 日志: {folder}/*.log    "
        f"coverage picture 覆盖图: {picture}"
    )
    console.print(
        "Next 下一步:  "
        f"{own_command(sys.argv[0])} export --database sqlite:///{shown} --topic {pack.name} "
        "--only-relevant --out data/articles.xlsx"
    )


def _show_coverage(database: Database, picture: Path, console: Console) -> None:
    """What was searched, got and missed, in words and as a heat map."""
    with database.engine.connect() as c:
        rows = stored.ledger_rows(c, _TOPIC, stored.Chosen())
        cells = cells_of(rows, stored.lost_answers(c, _TOPIC))
    console.print("\n[bold]检索覆盖 Search coverage[/]")
    for line in summary_lines(cells):
        console.print(f"  {line}", markup=False, highlight=False)
    write_heat_map(cells, _TOPIC, picture)


def own_command(called: str) -> str:
    """How to call the command again that was called as *called*, the first of ``sys.argv``."""
    # `python -m qiaocrawl` puts a file there that cannot be called.
    if os.sep not in called or Path(called).name == "__main__.py":
        return "qiaocrawl"
    return os.path.relpath(called)


def _demo_database(url: str) -> Database:
    """The database at *url* with the demo's topic in it."""
    pack = demo_pack(Path(Options.from_environment()["QIAO_TOPICS_DIR"]))
    database = Database.open(url)
    database.upgrade()
    with database.engine.begin() as c:
        save_pack(c, pack, now=time.time())
    return database


def demo_pack(topics_dir: Path) -> TopicPack:
    """The shipped topic with the demo web's sites in place of real ones."""
    source = topics_dir / _TOPIC
    if not source.is_dir():
        raise ConfigError(
            f"QIAO_TOPICS_DIR: no topic pack {_TOPIC!r} in {str(topics_dir)!r}; run this in the "
            "project's folder"
        )
    sites = tuple(Site(**asdict(row)) for row in demo_sites())
    return replace(load_pack(source), sites=sites)


def _whole_web() -> DemoWeb:
    web = build_web()
    web.add_engines(build_engines(web))
    return web


def _environment(url: str, origin: str) -> dict[str, str]:
    return {
        **os.environ,
        "QIAO_DATABASE_URL": url,
        "QIAO_DEMO": origin,
        "QIAO_ENGINES": _ENGINES,
        "SCRAPY_SETTINGS_MODULE": "qiaocrawl.settings",
        "PYTHONUNBUFFERED": "1",
        # Its engines refuse by lot, a query at a time: three in a row mean nothing there.
        "QIAO_SEARCH_PARK_AFTER": "0",
    }


def _run_spider(
    spider: str,
    title: str,
    arguments: tuple[str, ...],
    environment: dict[str, str],
    database: Database,
    folder: Path,
    console: Console,
) -> None:
    log = folder / f"{spider}.log"
    command = [sys.executable, "-m", "scrapy", "crawl", spider, "-a", f"topic={_TOPIC}"]
    for argument in arguments:
        command += ["-a", argument]
    with log.open("wb") as out, _progress(title, console) as progress:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
        try:
            while process.poll() is None:
                _show(progress, database, spider)
                time.sleep(_POLL_SECONDS)
        except BaseException:
            process.terminate()
            process.wait()
            raise
        _show(progress, database, spider)
        progress.update(progress.task_ids[0], total=progress.tasks[0].completed)
    if process.returncode != 0:
        raise DemoError(f"spider {spider!r} ended with {process.returncode}; see {log}")


@contextmanager
def _progress(title: str, console: Console) -> Iterator[Progress]:
    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}"),
        BarColumn(24),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        progress.add_task(title, total=1, note="")
        yield progress


def _show(progress: Progress, database: Database, spider: str) -> None:
    with database.engine.connect() as c:
        counts = summary.queue_progress(c, spider)
    progress.update(
        progress.task_ids[0],
        total=max(counts.known, 1),
        completed=counts.done,
        note=f"{counts.articles} articles 篇",
    )
