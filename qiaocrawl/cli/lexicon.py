"""``qiaocrawl lexicon …``: words of a topic from texts; what each term brings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from qiaocrawl.cli.database import DatabaseUrl, connection_to, opened_database
from qiaocrawl.cli.lexicon_review import (
    By,
    DatabaseBook,
    Desk,
    decide_from,
    history,
    queries_of_one_term,
    require_terminal,
    undo_decisions,
    user,
)
from qiaocrawl.cli.lexicon_tables import (
    Source,
    TopicName,
    alias_sheet,
    count_documents,
    documents,
    new_word_sheet,
    pack_of,
    print_lexicon,
    print_proposals,
    proposal_sheet,
    source_choice,
    term_sheet,
    weight_sheet,
    yield_sheet,
)
from qiaocrawl.cli.options import with_options
from qiaocrawl.cli.output import (
    check_output,
    echo,
    join_with_commas,
    say_written,
    shown_pass,
    stopping,
    table_console,
)
from qiaocrawl.errors import StorageError
from qiaocrawl.export.readable import Sheet, check_ending, write_sheets
from qiaocrawl.language import N_, _
from qiaocrawl.lexicon.build import LexiconBuilder, candidates
from qiaocrawl.lexicon.decisions import CoverStep, TermYield, cover, found_only_by
from qiaocrawl.lexicon.expansion import Proposal, expansion
from qiaocrawl.lexicon.phrases import PUBLISHED_STOP_TAGS, STOP_TAGS, tagged_words
from qiaocrawl.lexicon.terms import weight_table
from qiaocrawl.machine import KeyTerminal
from qiaocrawl.ontology.sources import current_ontology
from qiaocrawl.options.project import command_here
from qiaocrawl.storage.search.yields import term_yields
from qiaocrawl.storage.topics.lexicon_decisions import rejected_words
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import Segmenter
from qiaocrawl.text.visible import Terminal
from qiaocrawl.text.zones import SHANGHAI
from qiaocrawl.topic.pack import TopicPack

# --- ``qiaocrawl lexicon yield``: what each term brings, and which terms would do -----------------

_COLUMNS = (
    N_("term"),
    N_("requests"),
    N_("URLs hit"),
    N_("articles stored"),
    N_("on topic"),
    N_("share on topic"),
    N_("found by it alone"),
)
_CURVE_COLUMNS = (N_("term"), N_("more on topic"), N_("share in all"), N_("requests in all"))
_SHOWN = 30
_BAR = 24


def yield_(
    topic: TopicName,
    share: Annotated[
        float,
        typer.Option("--cover", help="Share that the fewest terms are to find.", min=0.01, max=1),
    ] = 0.95,
    out: Annotated[
        Path | None, typer.Option("--out", help="All terms as workbook (.xlsx) or CSV.")
    ] = None,
    database: DatabaseUrl = "",
) -> None:
    """Show what each term found, alone and with others, and which would do."""
    if out is not None:
        check_ending(out)
        check_output(out, "--out")
    with connection_to(database) as c:
        yields = term_yields(c, topic)
    if not yields:
        raise StorageError(
            _(
                "topic {topic!r}: nothing was asked yet: {command}",
                topic=topic,
                command=command_here(f"qiaocrawl crawl search -a topic={topic}"),
            )
        )
    only = found_only_by(yields)
    ranked = sorted(yields, key=lambda own: (-only[own.term], -len(own.on_topic), own.term))
    console = table_console()
    _print_terms(console, ranked, only)
    steps, enough = cover(yields), cover(yields, share)
    _print_cover(console, enough, share, requests=sum(own.requests for own in yields))
    _print_useless(console, yields)
    _print_next(console, topic, len(frozenset[bytes]().union(*(own.waiting for own in yields))))
    if out is not None:
        rows = [_row(own, only[own.term]) for own in ranked]
        useless = {own.term for own in yields if own.is_useless}
        needed = {step.term for step in enough}
        spare = {own.term for own in yields if own.on_topic} - needed
        curve = [(step.term, step.gained, round(step.share, 4), step.requests) for step in steps]
        curve_sheet = Sheet(_("coverage curve"), tuple(map(_, _CURVE_COLUMNS)), curve)
        write_sheets(out, [yield_sheet(rows, useless, spare), curve_sheet])
        say_written(out, _("{count:,} terms", count=len(rows)))


def _row(own: TermYield, only: int) -> tuple[str | int | float | None, ...]:
    if own.hits is None:
        return (own.term, own.requests, *(None,) * 5)
    counts = own.requests, own.hits, len(own.articles), len(own.on_topic)
    return (own.term, *counts, round(own.share_on_topic, 3), only)


def _print_terms(console: Console, ranked: Sequence[TermYield], only: dict[str, int]) -> None:
    table = Table(title=_("yield of terms"), title_justify="left")
    table.add_column(_(_COLUMNS[0]), overflow="fold")
    for name in _COLUMNS[1:]:
        table.add_column(_(name), justify="right")
    for own in ranked[:_SHOWN]:
        term, *numbers = _row(own, only[own.term])
        shown = ["?" if number is None else f"{number:,}" for number in numbers]
        if own.hits is not None:
            shown[-2] = f"{own.share_on_topic:.0%}"
        table.add_row(Text(str(term)), *shown)
    console.print(table)


def _print_cover(
    console: Console, enough: Sequence[CoverStep], share: float, *, requests: int
) -> None:
    """The curve: how much is found by one term, two, three …, of the *requests* of all."""
    if not enough:
        return
    of_all = f"{enough[-1].requests:,}/{requests:,}"
    console.print(
        _(
            "{count} terms ({requests} requests) find {share:.0%} of all articles on topic",
            count=len(enough),
            requests=of_all,
            share=share,
        ),
        markup=False,
    )
    for number, step in enumerate(enough[:_SHOWN], 1):
        bar = "█" * round(step.share * _BAR)
        line = f"{number:3} {bar:<{_BAR}} {step.share:4.0%} +{step.gained:<4} {step.term}"
        console.print(line, markup=False)


def _print_useless(console: Console, yields: Sequence[TermYield]) -> None:
    """Terms that were asked and found nothing on topic: what their removal would cost."""
    unknown = [own.term for own in yields if own.hits is None]
    if unknown:
        console.print(
            _(
                "{count} terms were asked before hits were kept (?); the next search tells what "
                "they find",
                count=len(unknown),
            ),
            markup=False,
        )
    useless = [own for own in yields if own.is_useless]
    if useless:
        requests = sum(own.requests for own in useless)
        names = join_with_commas(own.term for own in useless[:_SHOWN])
        more = _(" and others, {count} in all", count=len(useless)) if len(useless) > _SHOWN else ""
        console.print(
            _(
                "terms that found nothing on topic ({requests:,} requests; to leave them out costs "
                "no article): {names}{more}",
                requests=requests,
                names=names,
                more=more,
            ),
            markup=False,
        )


def _print_next(console: Console, topic: str, waiting: int) -> None:
    """What is to be done next: fetch what was found, then look for new words in it."""
    if waiting:
        fetch = command_here(f"qiaocrawl crawl pages -a topic={topic}")
        console.print(
            _("hits that wait to be fetched: {count:,}: {command}", count=waiting, command=fetch),
            markup=False,
        )
    review = command_here(f"qiaocrawl lexicon review --topic {topic} --since 7d")
    console.print(_("new words of this week's articles: {command}", command=review), markup=False)


app = typer.Typer(
    help="Words of a topic: from texts, beside known ones, decided, as tables.",
    no_args_is_help=True,
)
app.command("decide")(decide_from)
app.command("history")(history)
app.command("undo")(undo_decisions)
app.command("yield")(yield_)

Out = Annotated[Path | None, typer.Option("--out", help="Workbook (.xlsx) or CSV.")]


@dataclass(frozen=True, slots=True)
class _Tables:
    """Which tables are wanted, and where."""

    top: int
    least: int
    with_persons: bool
    stop_tags: frozenset[str]
    out: Path | None
    database: str


def _tables(
    top: Annotated[int, typer.Option(help="Terms shown, and written.", min=1)] = 500,
    least: Annotated[
        int, typer.Option("--min-documents", help="Texts a term stands in at least.", min=1)
    ] = 2,
    with_persons: Annotated[
        bool, typer.Option("--with-persons", help="Names of people too.")
    ] = False,
    published: Annotated[
        bool,
        typer.Option(
            "--published",
            help="Leave out only adverbs, prepositions, conjunctions, auxiliaries, interjections "
            "and onomatopoeia, as published.",
        ),
    ] = False,
    out: Out = None,
    database: DatabaseUrl = "",
) -> _Tables:
    """The options beside the choice of texts."""
    stop_tags = PUBLISHED_STOP_TAGS if published else STOP_TAGS
    return _Tables(top, least, with_persons, stop_tags, out, database)


@app.command()
@with_options(source_choice, _tables)
def build(source: Source, wanted: _Tables) -> None:
    """Rank the words, phrases and new words of a corpus by how much they are of it."""
    topic, database = source.topic, wanted.database
    target = _target(wanted.out, topic, "lexicon")
    pack = pack_of(source, database)
    builder = LexiconBuilder(
        [term.text for term in pack.terms],
        with_persons=wanted.with_persons,
        stop_tags=wanted.stop_tags,
    )
    _read(builder, source, database)
    lexicon = builder.lexicon(least_documents=wanted.least, without=_load_rejected(topic, database))
    known = {fold(term.text) for term in pack.terms}
    rows, new = lexicon.terms[: wanted.top], lexicon.new_words[: wanted.top]
    examples = builder.examples([*(row.text for row in rows), *(word.text for word in new)])
    print_lexicon(table_console(), source.label, lexicon, known)
    write_sheets(
        target,
        [
            term_sheet(rows, known, examples),
            new_word_sheet(new, known, examples),
            alias_sheet(lexicon.aliases[: wanted.top]),
        ],
    )
    say_written(target, _("{terms:,} terms, {words:,} new words", terms=len(rows), words=len(new)))
    command = command_here(f"qiaocrawl lexicon expand --topic {topic}")
    echo(_("next: {command}", command=command))


@dataclass(frozen=True, slots=True)
class _Expansion:
    """How words are proposed, and where they go."""

    without_texts: Annotated[
        bool, typer.Option("--without-texts", help="By the ontology alone.")
    ] = False
    out: Out = None
    database: DatabaseUrl = ""


@app.command()
@with_options(source_choice, _Expansion)
def expand(source: Source, wanted: _Expansion) -> None:
    """Propose words beside the topic's terms, each with where it comes from."""
    topic, database = source.topic, wanted.database
    target = _target(wanted.out, topic, "expansion")
    pack = pack_of(source, database)
    builder = LexiconBuilder([term.text for term in pack.terms])
    if wanted.without_texts:
        proposals = expansion(pack.terms, ontology=current_ontology())
    else:
        _read(builder, source, database)
        proposals = _proposals(pack, builder)
    rejected = _load_rejected(topic, database)
    proposals = [one for one in proposals if fold(one.text) not in rejected]
    examples = builder.examples([fold(proposal.text) for proposal in proposals])
    proposals = _evident_first(proposals, examples)
    print_proposals(table_console(), proposals, examples)
    write_sheets(target, [proposal_sheet(proposals, examples)])
    say_written(target, _("{count:,} proposals", count=len(proposals)))


@dataclass(frozen=True, slots=True)
class _Sitting:
    """Who decides about how many words."""

    count: Annotated[int, typer.Option(help="Words to decide about.", min=1)] = 100
    by: By = ""
    database: DatabaseUrl = ""


@app.command()
@with_options(source_choice, _Sitting)
def review(source: Source, wanted: _Sitting) -> None:
    """Decide about proposed words one by one, a key each; what is decided is kept at once."""
    require_terminal()
    topic, database = source.topic, wanted.database
    with opened_database(database) as opened:
        opened.require_current()
        pack = pack_of(source, database)
        builder = LexiconBuilder([term.text for term in pack.terms])
        _read(builder, source, database)
        with opened.engine.connect() as c:
            known = {fold(term.text) for term in pack.terms} | rejected_words(c, topic)
        proposals = _proposals(pack, builder)
        sentences = builder.examples([fold(one.text) for one in proposals])
        words = candidates(
            builder.lexicon(), _evident_first(proposals, sentences), known=known, count=wanted.count
        )
        terminal = KeyTerminal()
        desk = Desk(
            words,
            builder.examples([fold(word.text) for word in words]),
            DatabaseBook(opened, topic, wanted.by or user()),
            Terminal(highlight=False),
            terminal.read_key,
            terminal.ask,
            queries_of_one_term(opened, pack),
        )
        with terminal.keys():
            desk.run()


@dataclass(frozen=True, slots=True)
class _WeightTable:
    """How much is written, and where."""

    most: Annotated[int, typer.Option("--titles", help="Titles, the newest last.", min=1)] = 1000
    out: Out = None
    database: DatabaseUrl = ""


@app.command()
@with_options(source_choice, _WeightTable)
def table(source: Source, wanted: _WeightTable) -> None:
    """Write the segmentation and weight table: token × title with TF-IDF."""
    database = wanted.database
    target = _target(wanted.out, source.topic, "weights")
    pack = pack_of(source, database)
    count_documents(source, database)
    segmenter = Segmenter(fold(term.text) for term in pack.terms)
    titles = [document.title for document in documents(source, database) if document.title]
    titles = titles[-wanted.most :]
    rows = weight_table([tagged_words(segmenter, title) for title in titles])
    write_sheets(target, [weight_sheet(rows, titles)])
    say_written(
        target, _("{tokens:,} tokens × {titles:,} titles", tokens=len(rows), titles=len(titles))
    )


def _proposals(pack: TopicPack, builder: LexiconBuilder) -> list[Proposal]:
    return expansion(
        pack.terms,
        ontology=current_ontology(),
        neighbours=builder.neighbours(),
        stated=builder.lexicon().aliases,
    )


def _evident_first(
    proposals: Iterable[Proposal], examples: Mapping[str, Sequence[str]]
) -> list[Proposal]:
    """What the texts say themselves first, the closest before others: it is sure to be found.

    Other spellings come last: there is one for nearly every term, and nothing to decide about it.
    """
    return sorted(
        proposals,
        key=lambda one: (one.relation == "variant", not examples[fold(one.text)], -one.closeness),
    )


def _load_rejected(topic: str, database: str) -> frozenset[str]:
    with connection_to(database) as c:
        return rejected_words(c, topic)


def _read(builder: LexiconBuilder, source: Source, database: str) -> None:
    total = count_documents(source, database)
    console = Terminal(stderr=True)
    with stopping() as stopped, shown_pass(_("segmentation"), total, console, stopped) as shown:
        for document in documents(source, database):
            builder.add(document)
            if not shown.advance(1):
                break
    if shown.is_cut:
        shown.leave(console)


def _target(out: Path | None, topic: str, name: str) -> Path:
    """The file to write, checked before the work.

    Raises:
        ConfigError: its ending, folder or kind is wrong.
    """
    target = out or Path(f"{topic}-{name}-{datetime.now(SHANGHAI):%Y%m%d}.xlsx")
    check_ending(target)
    check_output(target, "--out")
    return target
