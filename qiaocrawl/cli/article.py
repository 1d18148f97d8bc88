"""``qiaocrawl article …``: list, search and read what was collected, and open stored pages."""

from __future__ import annotations

import getpass
import shlex
import tempfile
import webbrowser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.text import Text

from qiaocrawl.cli.database import DatabaseUrl, connection_to, transaction_on
from qiaocrawl.cli.options import (
    group_notes,
    outlet_choice,
    publication_choice,
    selection_of,
    topic_choice,
    with_options,
    words_choice,
)
from qiaocrawl.cli.output import echo, folding_table, join_with_commas, table_console
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _, ngettext
from qiaocrawl.options.project import command_here
from qiaocrawl.text.zones import china_time, china_time_or_day

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from qiaocrawl.reading.evidence import ArticleEvidence
    from qiaocrawl.reading.listing import ListedArticle
    from qiaocrawl.storage.selection import Selection
    from qiaocrawl.storage.topics.classes import StoredClass

app = typer.Typer(help="Articles: list, search, read, open.", no_args_is_help=True)

Which = Annotated[str, typer.Argument(help="Its number in a list, or its address.")]

_KEYPHRASES, _SUMMARY_CHARS, _READ_CHARS = 8, 120, 20_000
_TERMS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class _Shown:
    """How much of a list is shown, and out of which database."""

    limit: int
    by_group: bool
    database: str


def _display_options(
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Rows shown.")] = 20,
    groups: Annotated[bool, typer.Option("--groups", help="One row a reprint group.")] = False,
    database: DatabaseUrl = "",
) -> _Shown:
    """The options beside the choice of articles."""
    return _Shown(limit, groups, database)


def _search_filter(
    words: Annotated[
        list[str], typer.Argument(help="Words that all stand in title or text, in either script.")
    ],
) -> dict[str, Any]:
    """What is searched for."""
    return {"words": tuple(word for argument in words for word in argument.split())}


@app.command("list")
@with_options(_display_options, topic_choice, words_choice, publication_choice, outlet_choice)
def list_(shown: _Shown, *choices: dict[str, Any]) -> None:
    """List articles, newest first, a page once."""
    _print_list(shown, selection_of(*choices, by_group=shown.by_group))


@app.command()
@with_options(_search_filter, _display_options, topic_choice, publication_choice, outlet_choice)
def search(words: dict[str, Any], shown: _Shown, *choices: dict[str, Any]) -> None:
    """Search titles and texts; simplified and traditional characters find each other."""
    if not words["words"]:
        raise ConfigError(_("article search: no word was given"))
    _print_list(shown, selection_of(words, *choices, by_group=shown.by_group))


@app.command()
def show(which: Which, database: DatabaseUrl = "") -> None:
    """Show an article with its evidence: who published it when, and why it is on topic."""
    from qiaocrawl.reading.evidence import evidence_of
    from qiaocrawl.storage.topics.classes import classes_of

    with connection_to(database) as c:
        evidence = evidence_of(c, article_id_of(c, which))
        classes = classes_of(c, evidence.listed.id)
    table = folding_table(_("what"), _("value"))
    for name, value in (*_evidence_lines(evidence), *map(_class_line, classes)):
        table.add_row(name, escape(value))
    console = table_console()
    console.print(table)
    console.print(f"\n{evidence.listed.title}\n", style="bold", markup=False)
    console.print(evidence.text, markup=False, highlight=False, soft_wrap=not console.is_terminal)
    command = command_here(f"qiaocrawl article open {evidence.listed.id}")
    console.print(_("\nstored page: {command}", command=command), soft_wrap=True)


@app.command("class")
def class_(
    which: Which,
    name: Annotated[
        str, typer.Argument(help="Class: a kind of the topic's terms or one of your own.")
    ] = "",
    topic: Annotated[
        str, typer.Option(help="The topic it is a class of; the best one by itself.")
    ] = "",
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back what was said; the program judges again.")
    ] = False,
    database: DatabaseUrl = "",
) -> None:
    """Say which class an article is of: for ever, and as an example for others.

    Others are judged again with the next `qiaocrawl analyse`.
    """
    from qiaocrawl.reading.marks import best_topics
    from qiaocrawl.storage.topics.classes import class_label, class_named, mark_class

    wanted = class_named(name)
    if bool(wanted) == undo:
        raise ConfigError(_("article class: give a name, or --undo"))
    with transaction_on(database) as c:
        article_id = article_id_of(c, which)
        topic = topic or best_topics(c, [article_id]).get(article_id, "")
        mark_class(c, article_id, topic, wanted, by=getpass.getuser(), now=datetime.now(UTC))
    said = _("taken back") if undo else class_label(wanted)
    echo(_("article {which}: {said}", which=article_id, said=said))


@app.command("open")
def open_(
    which: Which,
    print_path: Annotated[
        bool, typer.Option("--print-path", help="Only write the file and print its path.")
    ] = False,
    database: DatabaseUrl = "",
) -> None:
    """Open the stored page of an article in the browser; nothing in it runs or is loaded."""
    from qiaocrawl.export.pages import write_copy

    with connection_to(database) as c:
        article_id = article_id_of(c, which)
        # It has to outlive this command; a folder of its own lets nobody else put it there.
        file = Path(tempfile.mkdtemp(prefix="qiaocrawl-")) / f"{article_id}.html"
        if not write_copy(c, article_id, file):
            file.parent.rmdir()
            raise ConfigError(_("the page of article {which} is no longer stored", which=which))
    echo(str(file))
    if not print_path and not webbrowser.open(file.as_uri()):
        raise ConfigError(_("no browser could be started; the page is {file}", file=file))


def _class_line(own: StoredClass) -> tuple[str, str]:
    """The class of an article for a topic, who said so or what spoke for it."""
    from qiaocrawl.storage.topics.classes import class_label

    why = _("by {name}", name=own.marked_by) if own.marked_by else join_with_commas(own.words)
    facts = class_label(own.name), f"{own.certainty:.0%}", f"({why})" if why else ""
    return _("class ({topic})", topic=own.topic), " ".join(filter(None, facts))


def article_id_of(c: Connection, which: str) -> int:
    """The article of a number or an address.

    Raises:
        ConfigError: there is none.
    """
    from qiaocrawl.reading.evidence import has_article
    from qiaocrawl.storage.titles.groups import article_at
    from qiaocrawl.urls import canonical_url

    if not which.isascii() or not which.isdigit():
        if canonical_url(which) is None:
            raise ConfigError(_("{which!r} is neither a number nor a web address", which=which))
        return article_at(c, which)
    article_id = int(which)
    if not has_article(c, article_id):
        raise ConfigError(_("there is no article {which}", which=which))
    return article_id


def _print_list(shown: _Shown, selection: Selection) -> None:
    from qiaocrawl.reading.listing import list_articles, with_details

    with connection_to(shown.database) as c:
        for note in group_notes(c, selection):
            echo(note, err=True)
        listed = list_articles(c, selection)
        page = list(with_details(c, listed[: shown.limit], selection.topic))
    console = table_console()
    table = folding_table(_("no."), _("article"))
    table.columns[0].justify, table.columns[0].no_wrap = "right", True
    # A line each in a terminal; one line in all where rows go on to grep and the like.
    separator = Text("\n" if console.is_terminal else " · ")
    for article, details in page:
        lines = _lines(article, selection, details.text)
        table.add_row(str(article.id), separator.join(lines))
    if page:
        console.print(table)
    more = len(listed) - len(page)
    count = len(listed)
    total = ngettext("{count} article", "{count} articles", count)
    if shown.by_group:
        total = ngettext("{count} reprint group", "{count} reprint groups", count)
    console.print(total + (_(", {more} not listed (--limit)", more=more) if more else ""))
    if page:
        command = command_here(f"qiaocrawl article show {page[0][0].id}")
        console.print(_("read one: {command}", command=command), soft_wrap=True)


def _lines(article: ListedArticle, selection: Selection, text: str) -> Iterator[Text]:
    """Title, a line of facts, and where the words that were searched for stand."""
    yield Text(" ".join(article.title.split()), style="bold")
    outlets = article.group.outlets
    taken_up = (
        _("{count} outlets", count=len(outlets)) if selection.by_group else _taken_up(article)
    )
    score = "" if article.score is None else _("on topic {score:.0%}", score=article.score)
    facts = (
        china_time_or_day(article.published_at) or _("no date"),
        article.outlet.name,
        score,
        taken_up,
    )
    yield Text(" · ".join(fact for fact in facts if fact), style="dim")
    yield from _passages(text, selection.words)


def _taken_up(article: ListedArticle) -> str:
    """Who had it first and how many took it up; "" for a group of one outlet."""
    others = len(article.group.outlets) - 1
    if others < 1:
        return ""
    if article.is_first:
        return _("first here, {count} more outlets", count=others)
    return _("first: {outlet}", outlet=article.group.first_outlet)


def _passages(text: str, words: Sequence[str]) -> Iterator[Text]:
    """A line of *text* around the first place of each of *words* that it holds."""
    from qiaocrawl.text.visible import passage

    for word in words:
        if (place := passage(text, word)) is not None:
            line = Text(f"…{''.join(place)}…")
            line.highlight_words([place.word], "bold reverse")
            yield line


def _keyphrases(evidence: ArticleEvidence) -> str:
    """The phrases that say what an article without declared keywords is about."""
    from qiaocrawl.lexicon.phrases import Frequencies, keyphrases, tagged_words
    from qiaocrawl.text.segment import Segmenter

    segmenter = Segmenter((), "jieba")
    title, body = (
        tagged_words(segmenter, text[:_READ_CHARS])
        for text in (evidence.listed.title, evidence.text)
    )
    return join_with_commas(keyphrases(title, body, Frequencies(1, {}), _KEYPHRASES))


def _opening(text: str) -> str:
    """The first sentences of *text*, as many as fit."""
    flat = " ".join(text[: 4 * _SUMMARY_CHARS].split())
    if len(flat) <= _SUMMARY_CHARS:
        return flat
    end = max(flat.rfind(mark, 0, _SUMMARY_CHARS) for mark in "。！？.!?")
    return flat[: end + 1] if end > 0 else f"{flat[:_SUMMARY_CHARS]}…"


def _evidence_lines(evidence: ArticleEvidence) -> Iterator[tuple[str, str]]:
    listed, group = evidence.listed, evidence.listed.group
    yield _("number"), str(listed.id)
    yield _("URL"), listed.url
    for address in listed.other_urls:
        yield _("also at"), address
    tier = _("tier {tier}", tier=listed.outlet.tier) if listed.outlet.tier else ""
    yield (
        _("outlet"),
        join_with_commas(filter(None, (listed.outlet.name, listed.outlet.region, tier))),
    )
    yield _("published"), china_time(listed.published_at) or _("not stated")
    yield _("fetched"), china_time(listed.fetched_at)
    for name, value in ((_("source"), listed.source), (_("author"), listed.author)):
        if value:
            yield name, value
    yield _("keywords"), evidence.keywords or _("{words} (extracted)", words=_keyphrases(evidence))
    yield _("summary"), evidence.description or _("{text} (opening)", text=_opening(evidence.text))
    for judgement in evidence.judgements:
        verdict = _("on topic") if judgement.relevant else _("off topic")
        by = _("by an operator") if judgement.method == "operator" else judgement.method
        terms = join_with_commas(str(term[0]) for term in judgement.terms[:_TERMS_SHOWN])
        yield (
            _("topic {topic}", topic=judgement.topic),
            f"{verdict} {judgement.score:.0%} ({by}) {terms}".strip(),
        )
    outlets = _(
        "{count} outlets: {names}", count=len(group.outlets), names=join_with_commas(group.outlets)
    )
    yield _("reprint group"), outlets
    if not listed.is_first:
        yield _("first"), f"{group.first_outlet} {group.first_url}"
    if evidence.found_on:
        anchor = f"“{evidence.anchor}” " if evidence.anchor else ""
        yield _("found on"), f"{anchor}{evidence.found_on}"
    for source in evidence.sources:
        period = f"{china_time(source.fetched_at)} – {china_time(source.last_seen_at)}"
        yield _("stored page"), f"{period}, HTTP {source.http_status}, {source.body_bytes:,} B"
    yield _("why it was fetched"), command_here(f"qiaocrawl report why {shlex.quote(listed.url)}")
