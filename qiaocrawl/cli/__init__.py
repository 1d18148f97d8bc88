"""The ``qiaocrawl`` command: the table of its commands, each imported when it is called."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from qiaocrawl.cli.help_language import (
    localise,
    localise_parameters,
    localised_errors,
    print_command_list,
)
from qiaocrawl.cli.output import echo
from qiaocrawl.errors import QiaoError, TopicError
from qiaocrawl.jobs import COMMAND_VARIABLE
from qiaocrawl.kernels import check_loops
from qiaocrawl.language import _
from qiaocrawl.options.project import note_database
from qiaocrawl.text.visible import (
    JSON,
    PLAIN_LINE,
    Terminal,
    is_json_log,
    use_json_records,
    use_visible_records,
)

# --- Commands that are imported when they are called, so that help costs nothing ------------------


class CommandEntry(NamedTuple):
    """One row of the table of commands."""

    name: str
    home: str
    """``module:attribute`` of a function, or of a ``typer.Typer`` with commands of its own."""
    panel: str
    """The heading it is listed under."""
    help: str
    """The line in the list of commands, as the command's own help begins, without a full stop."""

    @property
    def passes_on(self) -> bool:
        """Whether it hands options it does not know on to another program."""
        return self.home.endswith(":crawl")


class Unloaded(TyperCommand):
    """Stands in the list of commands for one that is not imported yet."""

    def __init__(self, entry: CommandEntry, *, is_hidden: bool = False) -> None:
        super().__init__(entry.name, help=entry.help, rich_help_panel=entry.panel, hidden=is_hidden)
        self.entry = entry


class _LazyGroup(TyperGroup):
    """Loads a command of its table when it is called."""

    table: tuple[CommandEntry, ...] = ()

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # In the order of the table; what was registered as usual comes last.
        self.commands = {entry.name: Unloaded(entry) for entry in self.table} | dict(self.commands)
        localise(self)

    def make_context(self, *args: Any, **settings: Any) -> Any:
        """As Typer has it; what is wrong is said in the operator's language."""
        # Typer adds options of its own to the group it has made.
        localise_parameters(self)
        with localised_errors():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: Any) -> Any:
        """As Typer has it; what is wrong is said in the operator's language."""
        with localised_errors():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command itself, where the list has a stand-in."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(command.entry) if isinstance(command, Unloaded) else command, rest


def lazy_group(entries: Iterable[CommandEntry]) -> type[TyperGroup]:
    """The class of a group with the commands of *entries*, for ``typer.Typer(cls=…)``."""
    return type("LazyGroup", (_LazyGroup,), {"table": tuple(entries)})


def load(entry: CommandEntry) -> Any:
    """Import the command of *entry*."""
    module, _, attribute = entry.home.partition(":")
    target = getattr(import_module(module), attribute)
    if isinstance(target, typer.Typer):
        return localise(get_group(target))
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    # A spider's own -a and -s are Scrapy's matter.
    passes_on = {"allow_extra_args": True, "ignore_unknown_options": True}
    single.command(entry.name, context_settings=passes_on if entry.passes_on else None)(target)
    return localise(get_command(single))


_FAULTS_SHOWN = 100

_DAILY, _RESULTS, _TOPICS = "Every day", "Results", "Topics and sources"
_PARTS, _CARE = "Methods", "Running it"

# A row: name, where it is, its panel, and how its own help begins (tests compare), in one line of
# a terminal.
# fmt: off
_TABLE = (
    ("init", "setup:init", _DAILY,
     "Set up the folder you are in: topic, contact, database"),
    ("run", "run:run", _DAILY,
     "Watch, search, fetch, crawl and analyse TOPIC in one go"),
    ("console", "console:app", _DAILY,
     "The pages in the browser: read, mark, steer"),
    ("export", "export:export", _DAILY,
     "Write articles as Excel, Word, HTML, CSV, JSON Lines or Markdown"),
    ("briefing", "briefing:app", _DAILY,
     "Briefings: what happened on one page, each sentence cited"),
    ("health", "metrics:health", _DAILY,
     "Name what is wrong; exit code 1 if anything is"),
    ("schedule", "setup:schedule", _DAILY,
     "Print (or --install) a systemd user timer that runs TOPIC"),
    ("report", ":reports", _RESULTS,
     "Reports: coverage, missed, why, words, trends, spread, outlets …"),
    ("article", "article:app", _RESULTS,
     "Articles: list, search, read, open"),
    ("evidence", "evidence:evidence", _RESULTS,
     "Write an article or an event as one package that proves itself"),
    ("story", "story:app", _RESULTS,
     "Stories: what articles tell together"),
    ("warnings", "warnings:app", _RESULTS,
     "Warnings: stories that your rules hold for"),
    ("watch", "watch:app", _RESULTS,
     "Pages that are looked at again and again"),
    ("dedup", "dedup:app", _RESULTS,
     "Reprint groups: look at them, correct them"),
    ("analyse", "analyse:analyse", _RESULTS,
     "Put new articles into stories, read whom they name"),
    ("topic", "topic:app", _TOPICS,
     "Topic packs: terms, sites and samples"),
    ("lexicon", "lexicon:app", _TOPICS,
     "Words of a topic: from texts, beside known ones, decided"),
    ("engines", "engines:app", _TOPICS,
     "Search engines: which there are, and whether they still answer"),
    ("session", "session:app", _TOPICS,
     "Accounts of sites that want a login"),
    ("proxies", "proxies:app", _TOPICS,
     "The proxies in the database"),
    ("extract", "extract:extract", _PARTS,
     "Print title, date, author, source and text of a page"),
    ("extractors", "extractors:app", _PARTS,
     "Extraction methods: list, train, what sites taught"),
    ("model", "model:app", _PARTS,
     "A language model that drafts: whether it may be asked"),
    ("ontology", "ontology:app", _PARTS,
     "Ontologies: wordnets in one space of Chinese and English"),
    ("reprocess", "reprocess:reprocess", _PARTS,
     "Run a stage again over stored pages, and say what changed"),
    ("crawl", "run:crawl", _CARE,
     "Run a spider as `scrapy crawl` does, with its -a and -s"),
    ("startproject", "setup:startproject", _CARE,
     "Write a Scrapy project: settings over ours"),
    ("demo", "demo:app", _CARE,
     "The built-in demo web, and the main job on it"),
    ("docs", "manual:docs", _CARE,
     "Read the manual here: its pages, or one of them"),
    ("options", "manual:options", _CARE,
     "List the QIAO_* options: what each means, its value here"),
    ("db", "db:app", _CARE,
     "The database: schema, health, size, backup"),
    ("pages", "pages:app", _CARE,
     "Raw pages: read one as it came, verify them, write them as WARC"),
    ("url", "url:app", _CARE,
     "Single URLs of a crawl"),
    ("nodes", "nodes:app", _CARE,
     "Machines that crawl together: scrapyd servers, their jobs"),
    ("units", "setup:units", _CARE,
     "Print (or write) systemd units for this folder"),
    ("metrics", "metrics:metrics", _CARE,
     "Serve figures of crawls and database to Prometheus"),
    ("mcp", "assistant:mcp", _CARE,
     "Let an assistant ask what is stored"),
    ("version", "manual:version", _CARE,
     "Print the version, and whether inner loops are machine code"),
)
# The same below `qiaocrawl report`.
_REPORT_TABLE = (
    ("coverage", "coverage:coverage", _RESULTS,
     "Show what was searched, what it brought, what was missed"),
    ("missed", "missed:missed", _RESULTS,
     "List pages of sites that were found but not got"),
    ("why", "url:why", _RESULTS,
     "Show why a URL was fetched, left out or waits"),
    ("words", "words:app", _RESULTS,
     "Words of a day, week or month: hot, new, as a cloud"),
    ("trends", "trends:trends", _RESULTS,
     "Count articles of TOPIC over time"),
    ("spread", "spread:spread", _RESULTS,
     "Show who published a story first, who took it from whom"),
    ("outlets", "spread:outlets", _RESULTS,
     "List outlets by how many others take articles from them"),
    ("entities", "entities:app", _PARTS,
     "Persons, places and organisations that texts name"),
    ("tone", "tone:app", _PARTS,
     "The tone of texts, and towards what they name"),
)
# fmt: on


def _entries(table: Iterable[tuple[str, str, str, str]]) -> tuple[CommandEntry, ...]:
    return tuple(
        CommandEntry(name, f"qiaocrawl.cli{'' if home[0] == ':' else '.'}{home}", panel, text)
        for name, home, panel, text in table
    )


COMMANDS, REPORTS = _entries(_TABLE), _entries(_REPORT_TABLE)
# Inner loops are compiled at installation: what is left to tell is whether they were.
_FORMER = _entries((("compile", "manual:version", *_TABLE[-1][2:]),))

reports = typer.Typer(
    cls=lazy_group(REPORTS),
    no_args_is_help=True,
    help="Reports: coverage, missed, why, words, trends, spread, outlets …",
)


class _Root(lazy_group(COMMANDS)):  # type: ignore[misc]
    """The command itself: the reports by their former names too, and a list of one line each."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # Until the next release. What is hidden is neither listed nor allowed in our pages.
        for entry in (*REPORTS, *_FORMER):
            self.commands[entry.name] = localise(Unloaded(entry, is_hidden=True))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command; one that has another name now says so."""
        name, command, rest = super().resolve_command(ctx, args)
        # Typer asks more than once.
        if name != ctx.meta.get(__name__) and any(name == entry.name for entry in REPORTS):
            ctx.meta[__name__] = name
            told = _(
                "`{old}` is `{new}` now; the old name goes with the next release",
                old=f"qiaocrawl {name}",
                new=f"qiaocrawl report {name}",
            )
            echo(told, err=True)
        return name, command, rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """All commands on two screens: a line each, and no frames."""
        formatter.write(print_command_list(self, ctx))


app = typer.Typer(cls=_Root, no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def qiaocrawl() -> None:
    """A focused crawler for Chinese-language topic news.

    Begin with `qiaocrawl init`, then `qiaocrawl run TOPIC`.
    """
    # What Scrapy reads in this folder (settings module, .env) holds for every command.
    from qiaocrawl.options.project import use_project

    use_project()
    check_loops()


def main() -> None:
    """Run the command; an error of ours is one clear line on stderr and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # An argument may be bytes of no charset, and a terminal may not know a character.
            stream.reconfigure(errors="backslashreplace")
    from qiaocrawl.options.project import read_env_file

    # The language of .env is that of the help too. A wrong line is told when a command reads it.
    with suppress(QiaoError):
        read_env_file()
    _set_up_log()
    if COMMAND_VARIABLE in os.environ:
        from qiaocrawl.jobs.local import exit_noted

        with exit_noted():
            _run_command()
    else:
        _run_command()


def _run_command() -> None:
    try:
        app()
    except QiaoError as error:
        _print_error(error)
        sys.exit(1)
    finally:
        note_database("")


def _set_up_log() -> None:
    """Lines as QIAO_LOG_FORMAT says; the value is checked when a command reads its options."""
    if os.environ.get("QIAO_LOG_FORMAT", "").strip() != JSON:
        use_visible_records()
        return
    use_json_records()
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(PLAIN_LINE))
    # Without a handler logging writes warnings and worse; so it does with ours.
    handler.setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)


def _print_error(error: QiaoError) -> None:
    if is_json_log():
        faults = [str(fault) for fault in error.faults] if isinstance(error, TopicError) else []
        logging.getLogger("qiaocrawl").error("%s", "\n".join([str(error), *faults]))
        return
    console = Terminal(stderr=True, soft_wrap=True, highlight=False)
    console.print(f"qiaocrawl: {error}", markup=False)
    if isinstance(error, TopicError):
        from qiaocrawl.topic.check import fault_lines

        lines = fault_lines(error.faults)
        for line in lines[:_FAULTS_SHOWN]:
            console.print(f"  {line}", markup=False)
        if len(lines) > _FAULTS_SHOWN:
            console.print(_("  … {more} more", more=len(lines) - _FAULTS_SHOWN))
