"""``qiaocrawl ontology …``: wordnets to install, to check and to look words up in."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from qiaocrawl.cli.output import folding_table, say_written, table_console
from qiaocrawl.errors import ConfigError, OntologyError
from qiaocrawl.language import _
from qiaocrawl.ontology.concepts import Ontology
from qiaocrawl.ontology.similarity import FUNCTIONS, WordSimilarity
from qiaocrawl.ontology.sources import (
    OPTION,
    OWN,
    folder_of,
    installed_files,
    open_ontology,
    own_wordnet,
    size_of,
    sources_of,
)
from qiaocrawl.ontology.sources import install as install_one
from qiaocrawl.ontology.stored import ENDING, StoredWordnet, read_wordnet
from qiaocrawl.options import Options
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.visible import Terminal

app = typer.Typer(
    help="Ontologies: wordnets in one space of Chinese and English concepts.",
    no_args_is_help=True,
)


@app.command()
def install(
    source: Annotated[
        str,
        typer.Argument(
            help="A WN-LMF or tab file (.gz and .xz too), a folder of them or of WordNet 3.0, or a "
            "name: wordnet, qiaoqing.",
            metavar="PATH|NAME",
        ),
    ],
) -> None:
    """Read wordnets once and keep them in compact form."""
    folder = _folder()
    sources = sources_of(source)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Terminal(stderr=True)) as progress:
        for name, path in sources:
            task = progress.add_task(name, total=size_of(path) or None)
            wordnet = install_one(name, path, folder, partial(progress.advance, task))
            progress.update(task, total=1, completed=1)
            words = ", ".join(f"{n:,} {code}" for code, n in _words(wordnet).items())
            facts = _(
                "{concepts:,} concepts; words: {words}", concepts=wordnet.concepts, words=words
            )
            say_written(folder / f"{name}{ENDING}", facts)


@app.command()
def check() -> None:
    """Say what is installed and whether it can be read; exit code 1 if not."""
    folder = _folder()
    wordnets: list[StoredWordnet] = []
    damaged: list[str] = []
    for file in installed_files(folder):
        try:
            wordnets.append(read_wordnet(file))
        except OntologyError as error:
            damaged.append(str(error))
    came_along = all(wordnet.name != OWN for wordnet in wordnets)
    if came_along:
        wordnets.append(own_wordnet())
    console = table_console()
    console.print(f"{folder} ({OPTION})", markup=False)
    table = folding_table(
        _("name"), _("version"), _("concepts"), _("words"), _("hypernyms"), _("licence")
    )
    for wordnet in wordnets:
        words = " ".join(f"{code} {n:,}" for code, n in _words(wordnet).items())
        notice = wordnet.notice
        name = wordnet.name
        if came_along and name == OWN:
            name = _("{name} (comes along)", name=name)
        table.add_row(
            *map(
                Text,
                (
                    name,
                    notice.version,
                    f"{wordnet.concepts:,}",
                    words,
                    f"{len(wordnet.edges):,}",
                    notice.licence,
                ),
            )
        )
    console.print(table)
    _print_joined(console, Ontology(wordnets))
    for line in damaged:
        console.print(_("unreadable: {line}", line=line), markup=False, style="red")
    if damaged:
        raise typer.Exit(1)


def _print_joined(console: Console, joined: Ontology) -> None:
    words = ", ".join(f"{code} {n:,}" for code, n in joined.count_lemmas().items())
    for line in (
        _("joined: {size:,} concepts; words: {words}", size=joined.size, words=words),
        _("deepest: {max_depth} edges", max_depth=joined.max_depth),
        _("in circles of hypernyms: {count:,} concepts", count=int(joined.in_circles.sum())),
        _("without any relation: {count:,} concepts", count=joined.without_relations),
        _("without a word: {count:,} concepts", count=joined.without_words),
    ):
        console.print(line, markup=False)


@app.command()
def show(
    word: Annotated[str, typer.Argument(help="A word of any language.")],
    other: Annotated[
        str, typer.Argument(help="A second word: how far the two are apart.", show_default=False)
    ] = "",
) -> None:
    """Print the concepts of a word, what stands above them, and its synonyms."""
    ontology = open_ontology(_folder())
    console = table_console()
    for queried in filter(None, (word, other)):
        _print_senses(console, ontology, queried)
    if other:
        _print_similarity(console, ontology, word, other)


def _print_senses(console: Console, ontology: Ontology, word: str) -> None:
    senses = ontology.senses(fold(word))
    summary = _("{count} senses", count=len(senses)) if senses else _("not in it")
    console.print(Text(word, "bold"), Text(summary))
    for number, concept in enumerate(senses, start=1):
        names = " ".join(ontology.names(concept))
        console.print(Text(f"{number}. {names}", "dim"))
        for language, lemmas in ontology.lemmas(concept).items():
            console.print(Text(f"   {language}: {', '.join(lemmas)}"))
        chain = " → ".join(_label(ontology, above) for above in _chain(ontology, concept))
        if chain:
            console.print(Text(f"   ↑ {chain}"), soft_wrap=True)


def _chain(ontology: Ontology, concept: int) -> list[int]:
    """The concepts above *concept*, by the first hypernym of each."""
    chain: list[int] = []
    above = ontology.hypernyms(concept)
    while above and above[0] not in chain and above[0] != concept:
        chain.append(above[0])
        above = ontology.hypernyms(above[0])
    return chain


def _label(ontology: Ontology, concept: int) -> str:
    """A word of each language, or the name in the indexes where there is none."""
    words = [lemmas[0] for lemmas in ontology.lemmas(concept).values()]
    return " ".join(words) or " ".join(ontology.names(concept))


def _print_similarity(console: Console, ontology: Ontology, word: str, other: str) -> None:
    distance = WordSimilarity(ontology).distance(word, other)
    shown = _("nothing joins them") if distance is None else f"{distance} edges"
    console.print(_("distance: {shown}", shown=shown), markup=False)
    for name in FUNCTIONS:
        alike = WordSimilarity(ontology, name)(word, other)
        console.print(_("similarity, {name}: {alike:.3f}", name=name, alike=alike), markup=False)


def _words(wordnet: StoredWordnet) -> dict[str, int]:
    """Words of *wordnet* by language."""
    return {
        code: int((wordnet.lemma_language == place).sum())
        for place, code in enumerate(wordnet.languages)
    }


def _folder() -> Path:
    folder = folder_of(Options.from_environment()[OPTION])
    if folder.exists() and not folder.is_dir():
        raise ConfigError(_("{option} {folder!r} is no folder", option=OPTION, folder=str(folder)))
    return folder
