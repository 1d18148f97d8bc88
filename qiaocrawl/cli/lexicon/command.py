"""The commands of ``qiaocrawl lexicon``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from qiaocrawl.cli.db import DatabaseUrl, connection_to, opened_database
from qiaocrawl.cli.lexicon.corpus import (
    Source,
    count_documents,
    documents,
    pack_of,
    source_choice,
)
from qiaocrawl.cli.lexicon.desk import Desk
from qiaocrawl.cli.lexicon.review import (
    By,
    DatabaseBook,
    decide_from,
    history,
    queries_of_one_term,
    require_terminal,
    undo_decisions,
    user,
)
from qiaocrawl.cli.lexicon.tables import (
    alias_sheet,
    new_word_sheet,
    print_lexicon,
    print_proposals,
    proposal_sheet,
    term_sheet,
    weight_sheet,
)
from qiaocrawl.cli.lexicon.terminal import KeyTerminal
from qiaocrawl.cli.lexicon.yields import yield_
from qiaocrawl.cli.output import check_output, say_written, table_console
from qiaocrawl.cli.progress import shown_pass, stopping
from qiaocrawl.cli.shared_options import combined
from qiaocrawl.cli.terminal import Terminal, echo
from qiaocrawl.export.readable import check_ending, write_sheets
from qiaocrawl.language import _
from qiaocrawl.lexicon.build import LexiconBuilder, candidates
from qiaocrawl.lexicon.expansion import Proposal, expansion
from qiaocrawl.lexicon.phrases import PUBLISHED_STOP_TAGS, STOP_TAGS, tagged_words
from qiaocrawl.lexicon.terms import weight_table
from qiaocrawl.ontology.sources import current_ontology
from qiaocrawl.options.project import advised
from qiaocrawl.storage.topics.lexicon_decisions import rejected_words
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import Segmenter
from qiaocrawl.topic.pack import TopicPack

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
@combined(source_choice, _tables)
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
    lexicon = builder.lexicon(least_documents=wanted.least, without=_rejected(topic, database))
    known = {fold(term.text) for term in pack.terms}
    rows, new = lexicon.terms[: wanted.top], lexicon.new_words[: wanted.top]
    examples = builder.examples([*(row.text for row in rows), *(word.text for word in new)])
    print_lexicon(table_console(), source.shown, lexicon, known)
    write_sheets(
        target,
        [
            term_sheet(rows, known, examples),
            new_word_sheet(new, known, examples),
            alias_sheet(lexicon.aliases[: wanted.top]),
        ],
    )
    say_written(target, _("{terms:,} terms, {words:,} new words", terms=len(rows), words=len(new)))
    command = advised(f"qiaocrawl lexicon expand --topic {topic}")
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
@combined(source_choice, _Expansion)
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
    rejected = _rejected(topic, database)
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
@combined(source_choice, _Sitting)
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
@combined(source_choice, _WeightTable)
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


def _rejected(topic: str, database: str) -> frozenset[str]:
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
    target = out or Path(f"{topic}-{name}-{datetime.now(UTC):%Y%m%d}.xlsx")
    check_ending(target)
    check_output(target, "--out")
    return target
