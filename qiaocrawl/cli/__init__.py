"""The ``qiaocrawl`` command. Each group of commands is a module of its own here."""

from __future__ import annotations

import io
import sys

import typer
from rich.console import Console

from qiaocrawl import __version__
from qiaocrawl.cli import article, db, dedup, demo, engines, extractors, ontology, proxies, session
from qiaocrawl.cli import export as export_command
from qiaocrawl.cli import extract as extract_command
from qiaocrawl.cli import health as health_command
from qiaocrawl.cli import missed as missed_command
from qiaocrawl.cli import reprocess as reprocess_command
from qiaocrawl.cli import watch as watch_command
from qiaocrawl.cli import why as why_command
from qiaocrawl.cli.coverage import command as coverage_command
from qiaocrawl.cli.lexicon import command as lexicon_command
from qiaocrawl.cli.topic import command as topic_command
from qiaocrawl.errors import QiaoError, TopicError

_FAULTS_SHOWN = 100

app = typer.Typer(
    help="A focused crawler for Chinese-language topic news. Crawls run as `scrapy crawl …`.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(topic_command.app, name="topic")
app.add_typer(article.app, name="article")
app.add_typer(db.app, name="db")
app.add_typer(dedup.app, name="dedup")
app.add_typer(demo.app, name="demo")
app.add_typer(engines.app, name="engines")
app.add_typer(extractors.app, name="extractors")
app.add_typer(lexicon_command.app, name="lexicon")
app.add_typer(ontology.app, name="ontology")
app.add_typer(session.app, name="session")
app.command("coverage")(coverage_command.coverage)
app.add_typer(proxies.app, name="proxies")
app.add_typer(watch_command.app, name="watch")
app.command("export")(export_command.export)
app.command("extract")(extract_command.extract)
app.command("health")(health_command.health)
app.command("missed")(missed_command.missed)
app.command("reprocess")(reprocess_command.reprocess)
app.command("why")(why_command.why)


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


def main() -> None:
    """Run the command; an error of ours is one clear line on stderr and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # An argument may be bytes of no charset, and a terminal may not know a character.
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except QiaoError as error:
        console = Console(stderr=True, soft_wrap=True, highlight=False)
        console.print(f"qiaocrawl: {error}", markup=False)
        if isinstance(error, TopicError):
            for fault in error.faults[:_FAULTS_SHOWN]:
                console.print(f"  {fault}", markup=False)
            if len(error.faults) > _FAULTS_SHOWN:
                console.print(f"  … and {len(error.faults) - _FAULTS_SHOWN} more")
        sys.exit(1)
