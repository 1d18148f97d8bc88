"""``qiaocrawl topic new``: from samples, a few words or a node of the tree to a usable pack."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from qiaocrawl.cli.db import DatabaseUrl, opened_database
from qiaocrawl.cli.output import choice_name, folding_table, print_hanging, table_console
from qiaocrawl.cli.shared_options import combined
from qiaocrawl.cli.terminal import Terminal, echo
from qiaocrawl.cli.topic.new_sources import (
    ENOUGH_SAMPLES,
    Given,
    asked_start,
    first_search,
    node_samples,
    sources_of,
    words_of,
)
from qiaocrawl.cli.topic.places import make_tables, topics_dir
from qiaocrawl.cli.topic.report import print_next_step
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.options.project import advised
from qiaocrawl.relevance.topic_draft import DraftSources, TopicDraft, draft_topic, without
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.topics import list_topics, save_pack
from qiaocrawl.topic.check import PACK_FILE, pack_name_reason
from qiaocrawl.topic.folder import save_pack as save_folder
from qiaocrawl.topic.pack import SITE_KINDS, TERM_KINDS
from qiaocrawl.topic.tree import topic_tree


@dataclass(frozen=True)
class _Start:
    """What the topic is made of."""

    name: Annotated[str, typer.Argument(help="Its name: a to z, 0 to 9, _.")]
    samples: Annotated[
        Path | None,
        typer.Option(help="Folder of 10 to 50 texts: txt, md, html, docx, pdf."),
    ] = None
    words: Annotated[str, typer.Option(help="Some five words, with spaces between.")] = ""
    node: Annotated[str, typer.Option(help="A node of `topic tree`, as D6 or D/D6.")] = ""
    title: Annotated[str, typer.Option(help="Its title.")] = ""
    counter: Annotated[Path | None, typer.Option(help="Folder of texts that are not on topic.")] = (
        None
    )
    drop_samples: Annotated[str, typer.Option(help="Samples of the node to leave out, as 2,5.")] = (
        ""
    )


@dataclass(frozen=True)
class _Choices:
    """How it is made, and where it goes."""

    terms: Annotated[int, typer.Option(min=1, max=1000, help="Terms at most.")] = 60
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Instead of the measured one; 0 = that.")
    ] = 0.0
    search: Annotated[
        bool | None,
        typer.Option(help="Ask the chosen engines for the words first."),
    ] = None
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing; take all.")] = False
    force: Annotated[bool, typer.Option("--force", help="Replace a topic.")] = False
    database: DatabaseUrl = ""


@combined(_Start, _Choices)
def new(start: _Start, choices: _Choices) -> None:
    """Make a topic from samples, a few words or a node of the tree.

    Terms, threshold, samples and sites are proposed and shown; what is taken becomes a pack in
    QIAO_TOPICS_DIR and a topic of the database.
    """
    asks = not choices.yes and sys.stdin.isatty() and sys.stdout.isatty()
    given = _given(start, asks)
    console = table_console()
    with opened_database(choices.database, may_make=True) as database:
        make_tables(database)
        folder = topics_dir() / given.name
        _require_free(given.name, folder, database, choices.force)
        sources = _sources(given, choices, database, asks)
        draft = draft_topic(sources)
        if choices.threshold:
            draft = replace(draft, pack=replace(draft.pack, threshold=choices.threshold))
        _print_draft(console, draft, sources)
        if asks:
            draft = _chosen(draft)
        save_folder(draft.pack, folder)
        with database.engine.begin() as c:
            save_pack(c, draft.pack, now=time.time())
    _print_end(console, draft, folder)
    _print_afterwards(console, given, has_stored=any(text.url for text in sources.texts))


def _given(start: _Start, asks: bool) -> Given:
    """What the options and answers begin with.

    Raises:
        ConfigError: a wrong name or number, or nothing to begin with.
    """
    if reason := pack_name_reason(start.name):
        raise ConfigError(reason)
    node = topic_tree().find(start.node) if start.node else None
    given = Given(
        start.name, start.title, start.samples, start.counter, words_of(start.words), node
    )
    if given.samples is None and not given.words and node is None:
        if not asks:
            raise ConfigError(_('give --samples DIR, --words "…" or --node NODE'))
        given = asked_start(given)
    numbers = _numbers(start.drop_samples, len(node_samples(given)), "--drop-samples")
    if asks and given.node is not None and not start.drop_samples:
        numbers = _asked_samples(given)
    if asks and not given.title:
        given = replace(given, title=typer.prompt(_("title"), given.full_title))
    return replace(given, left_out=frozenset(numbers))


def _asked_samples(given: Given) -> list[int]:
    samples = node_samples(given)
    for number, sample in enumerate(samples, 1):
        echo(f"{number:4}  {sample.title}")
    return _asked_numbers(_("samples to leave out, Enter for none"), len(samples))


def _require_free(name: str, folder: Path, database: Database, force: bool) -> None:
    with database.engine.begin() as c:
        is_stored = name in {row.name for row in list_topics(c)}
    if not force and (is_stored or (folder / PACK_FILE).exists()):
        where = _("database") if is_stored else str(folder)
        raise ConfigError(
            _(
                "topic {name!r} is there already ({where}); --force replaces it",
                name=name,
                where=where,
            )  # fmt: skip
        )


def _sources(given: Given, choices: _Choices, database: Database, asks: bool) -> DraftSources:
    """What the draft is made of, after a first search where that is wanted."""
    sources = sources_of(given, database, choices.terms)
    search = choices.search
    if search is None and asks and given.words and len(sources.texts) < ENOUGH_SAMPLES:
        question = _(
            "only {count} stored articles have these words; search first?",
            count=len(sources.texts),
        )
        search = typer.confirm(question, default=False)
    if search and not given.words:
        raise ConfigError(_("--search needs --words"))
    if not search:
        return sources
    first_search(given, database, Terminal(stderr=True))
    return sources_of(given, database, choices.terms)


def _print_draft(console: Console, draft: TopicDraft, sources: DraftSources) -> None:
    pack = draft.pack
    own = len(sources.texts)
    console.print(
        _(
            "{name} {title}: {own} samples, {others} counter-examples, threshold {threshold:g}",
            name=pack.name,
            title=pack.title,
            own=own,
            others=len(sources.others),
            threshold=pack.threshold,
        ),  # fmt: skip
        markup=False,
    )
    table = folding_table(
        _("no."), _("term"), _("kind"), _("weight"), _("in samples"), _("in counter-examples")
    )
    for column in (0, 3, 4, 5):
        table.columns[column].justify = "right"
    for number, one in enumerate(draft.terms, 1):
        term = one.term
        table.add_row(
            str(number), Text(term.text), choice_name(term.kind, TERM_KINDS), f"{term.weight:g}",
            f"{one.texts}/{own}", f"{one.others}/{len(sources.others)}",
        )  # fmt: skip
    console.print(table)
    if not pack.sites:
        console.print(_("no sites: samples and searches have no addresses"))
        return
    sites = folding_table(_("no."), _("site"), _("pages on topic"), _("kind"), _("tier"))
    for column in (0, 2, 4):
        sites.columns[column].justify = "right"
    for number, site in enumerate(pack.sites, 1):
        pages, kind = str(draft.host_pages[site.host]), choice_name(site.kind, SITE_KINDS)
        sites.add_row(str(number), site.host, pages, kind, str(site.tier))
    console.print(sites)


def _chosen(draft: TopicDraft) -> TopicDraft:
    """*draft* without what the operator leaves out."""
    terms = _asked_numbers(_("terms to leave out, as 3 7-9, Enter for none"), len(draft.terms))
    sites: list[int] = []
    if draft.pack.sites:
        prompt = _("sites to leave out, Enter for none")
        sites = _asked_numbers(prompt, len(draft.pack.sites))
    return without(draft, [n - 1 for n in terms], [n - 1 for n in sites])


def _asked_numbers(prompt: str, most: int) -> list[int]:
    while True:
        try:
            return _numbers(typer.prompt(prompt, "", show_default=False), most, _("numbers"))
        except ConfigError as error:
            echo(f"  {error}")


def _numbers(text: str, most: int, name: str) -> list[int]:
    """The numbers in ``3 7-9`` or ``3,7``, from 1 to *most*.

    Raises:
        ConfigError: one is no number, or too large.
    """
    numbers: list[int] = []
    for word in words_of(text):
        first, _dash, last = word.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal()):
            raise ConfigError(_("{name}: {word!r} is no number, as 3 or 7-9", name=name, word=word))
        numbers += _within(range(int(first), int(last or first) + 1), most, name)
    return numbers


def _within(numbers: range, most: int, name: str) -> Iterable[int]:
    if not numbers or numbers[0] < 1 or numbers[-1] > most:
        raise ConfigError(_("{name}: must lie in 1–{most}", name=name, most=most))
    return numbers


def _print_end(console: Console, draft: TopicDraft, folder: Path) -> None:
    pack = draft.pack
    print_hanging(
        console,
        _(
            "written: {folder}; imported: {terms} terms, {sites} sites, {samples} samples",
            folder=folder,
            terms=len(pack.terms),
            sites=len(pack.sites),
            samples=len(pack.samples),
        ),  # fmt: skip
    )
    print_next_step(console, pack)


def _print_afterwards(console: Console, given: Given, *, has_stored: bool) -> None:
    """What to do beside crawling: stored articles were judged before the topic was what it is."""
    review = f"qiaocrawl lexicon review --topic {given.name}"
    show = advised(f"qiaocrawl topic show {given.name} --all")
    lines = [_("all of it:  {command}", command=show)]
    if given.samples is not None or has_stored:
        files = f" --from-files {given.samples}" if given.samples is not None else ""
        lines.insert(0, _("review its terms:  {command}", command=advised(review + files)))
    if has_stored:
        judge = advised("qiaocrawl reprocess --stage relevance")
        lines.insert(0, _("judge what is stored anew:  {command}", command=judge))
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
