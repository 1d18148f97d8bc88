"""``qiaocrawl topic new`` and ``tree``: from samples, a few words or a node to a usable pack."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from qiaocrawl.cli.database import DatabaseUrl, opened_database
from qiaocrawl.cli.options import with_options
from qiaocrawl.cli.output import (
    echo,
    folding_table,
    join_with_commas,
    print_hanging,
    table_console,
)
from qiaocrawl.cli.spider_process import LOGS, run_with_bar, topic_command
from qiaocrawl.cli.topic_report import make_tables, print_next_step, topics_dir
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.extract.documents.analysis import text_files
from qiaocrawl.items import PageText
from qiaocrawl.language import _, choice_name
from qiaocrawl.lexicon.terms import Document
from qiaocrawl.options import Options
from qiaocrawl.options.project import command_here
from qiaocrawl.relevance.blend import VsmBreadthScorer
from qiaocrawl.relevance.topic_draft import (
    DraftSources,
    TopicDraft,
    draft_topic,
    with_counter_examples,
    without,
)
from qiaocrawl.runtime.sent_files import FileWorker
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.changes import articles_with_words, hit_hosts
from qiaocrawl.storage.topics.topics import list_topics, save_pack
from qiaocrawl.text.visible import Terminal
from qiaocrawl.topic.check import PACK_FILE, pack_name_reason
from qiaocrawl.topic.folder import parse_sample
from qiaocrawl.topic.folder import save_pack as save_folder
from qiaocrawl.topic.pack import DEFAULT_THRESHOLD, SITE_KINDS, TERM_KINDS, Term, TopicPack
from qiaocrawl.topic.tree import ROOT, THRESHOLDS, NodeSample, TopicNode, TopicTree, topic_tree

# --- Where a new topic begins: files, words and what the store has of them, a node of the tree ----

MOST_SAMPLES = 50
"""Texts of the store that a topic of words is drafted from, at most."""
ENOUGH_SAMPLES = 10
_READ_OF_STORE = 2_000
_MOST_STORED = 200
_MOST_HOSTS = 50
_MINUTES = 10


@dataclass(frozen=True, slots=True)
class Given:
    """What the operator begins with; at least one of samples, words and node."""

    name: str
    title: str = ""
    samples: Path | None = None
    counter: Path | None = None
    words: tuple[str, ...] = ()
    node: TopicNode | None = None
    left_out: frozenset[int] = frozenset()
    """Numbers of the node's samples that are not taken, from 1."""

    @property
    def full_title(self) -> str:
        """The title, or what says the topic best without one."""
        node_name = self.node.name if self.node is not None else ""
        return self.title or node_name or "、".join(self.words[:3]) or self.name


def read_samples(folder: Path) -> tuple[list[Document], list[Document]]:
    """The texts of *folder*, and those whose header says that they are counter-examples.

    Raises:
        ConfigError: no such folder, no file in it, or one that cannot be read.
    """
    if not folder.is_dir():
        raise ConfigError(_("no such folder: {folder!r}", folder=str(folder)))
    texts: list[Document] = []
    others: list[Document] = []
    with FileWorker(Options.from_environment()["QIAO_EXTRACT_SECONDS"]) as worker:
        for path in text_files(folder):
            document, relevant = _read(path, worker)
            if document.text or document.title:
                (texts if relevant else others).append(document)
    if not texts and not others:
        raise ConfigError(
            _("no samples in {folder!r}: txt, md, html, docx, pdf", folder=str(folder))
        )
    return texts, others


def _read(path: Path, worker: FileWorker) -> tuple[Document, bool]:
    if path.suffix.lower() in (".txt", ".md"):
        try:
            sample = parse_sample(path.stem, path.read_bytes())
        except ValueError:
            pass
        else:
            return Document(sample.title, sample.text), sample.relevant
    page = worker.read_path(path)
    return Document(page.title, page.text, url=page.url), True


def node_samples(given: Given) -> list[NodeSample]:
    """The samples of the node, and of all below it."""
    return topic_tree().samples(given.node) if given.node is not None else []


def sources_of(given: Given, database: Database, most_terms: int) -> DraftSources:
    """All that the draft is made of, without a search."""
    texts, others = read_samples(given.samples) if given.samples is not None else ([], [])
    if given.counter is not None:
        others += [text for found in read_samples(given.counter) for text in found]
    texts += [
        Document(sample.title, sample.text)
        for number, sample in enumerate(node_samples(given), 1)
        if number not in given.left_out
    ]
    words = given.words + (tuple(topic_tree().words(given.node)) if given.node else ())
    threshold = THRESHOLDS[given.node.level] if given.node is not None else DEFAULT_THRESHOLD
    stored = stored_texts(database, given.words) if given.words and not texts else []
    sources = DraftSources(
        given.name,
        given.full_title,
        [*texts, *stored],
        others,
        words,
        hosts_of(database, given.words),
        threshold,
        most_terms,
    )
    tree = [Document(one.title, one.text) for one in topic_tree().other_samples(given.node)]
    own = {one.url for one in sources.texts if one.url}
    with database.reading() as c:
        articles = articles_with_words(c, (), _MOST_STORED)
    stored = [Document(one.title, one.text) for one in articles if one.url not in own]
    return with_counter_examples(sources, stored, tree)


def stored_texts(database: Database, words: Sequence[str]) -> list[Document]:
    """Stored articles that speak of *words*, those that do most first."""
    with database.reading() as c:
        articles = articles_with_words(c, words, _READ_OF_STORE)
    terms = tuple(Term(word, "core") for word in words)
    scorer = VsmBreadthScorer(TopicPack("t", "t", "", DEFAULT_THRESHOLD, terms, (), ()))
    judged = [(scorer.judge(PageText(one.title, one.text)), one) for one in articles]
    best = sorted((pair for pair in judged if pair[0].relevant), key=lambda pair: -pair[0].score)
    return [
        Document(one.title, one.text, one.site, url=one.url)
        for _judgement, one in best[:MOST_SAMPLES]
    ]


def hosts_of(database: Database, words: Sequence[str]) -> dict[str, int]:
    """Where the ledger's hits for *words* lie."""
    if not words:
        return {}
    with database.reading() as c:
        return hit_hosts(c, words, _MOST_HOSTS)


def first_search(given: Given, database: Database, console: Console) -> None:
    """Ask the chosen engines for the words, and fetch what they name, ten minutes at most each.

    The topic is stored with these words for it.

    Raises:
        ConfigError: no engine is chosen.
        StorageError: a spider failed; its log is named.
    """
    if not Options.from_environment()["QIAO_ENGINES"]:
        raise ConfigError(_("no engine is chosen: set QIAO_ENGINES (`qiaocrawl engines list`)"))
    terms = tuple(Term(word, "core") for word in given.words)
    pack = TopicPack(given.name, given.full_title, "", DEFAULT_THRESHOLD, terms, (), ())
    with database.engine.begin() as c:
        save_pack(c, pack, now=time.time())
    for spider, title in (("search", _("asking engines")), ("pages", _("fetching hits"))):
        settings = (f"QIAO_MAX_SECONDS={_MINUTES * 60}",)
        command = topic_command(spider, title, given.name, database, LOGS, settings)
        if run_with_bar(command, database, console) != 0:
            raise StorageError(_("the first search failed; log: {log}", log=command.log))


def words_of(text: str) -> tuple[str, ...]:
    """The words that an operator typed, parted by spaces or marks.

    >>> words_of("侨胞 归侨，侨眷、华侨")
    ('侨胞', '归侨', '侨眷', '华侨')
    """
    for mark in "，、,;；":
        text = text.replace(mark, " ")
    return tuple(dict.fromkeys(text.split()))


def asked_start(given: Given) -> Given:
    """*given* with what the operator types where nothing was given to begin with."""
    echo(
        _(
            "start from:\n  1 a folder of 10 to 50 samples\n  2 some five words\n"
            "  3 a node of the topic tree"
        )
    )
    choice = typer.prompt(_("choose 1, 2 or 3"), "1")
    if choice.strip() == "2":
        return replace(given, words=words_of(typer.prompt(_("words, with spaces between"))))
    if choice.strip() == "3":
        node = topic_tree().find(typer.prompt(_("node, as D6 or D/D6")))
        return replace(given, node=node)
    return replace(given, samples=Path(typer.prompt(_("folder"))).expanduser())


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


@with_options(_Start, _Choices)
def new(start: _Start, choices: _Choices) -> None:
    """Make a topic from samples, a few words or a node of the tree.

    Terms, threshold, samples and sites are proposed and shown; what is taken becomes a pack in
    QIAO_TOPICS_DIR and a topic of the database.
    """
    asks = not choices.yes and sys.stdin.isatty() and sys.stdout.isatty()
    given = _given_values(start, asks)
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
            draft = _choose_words(draft)
        save_folder(draft.pack, folder)
        with database.engine.begin() as c:
            save_pack(c, draft.pack, now=time.time())
    _print_end(console, draft, folder)
    _print_afterwards(console, given, has_stored=any(text.url for text in sources.texts))


def _given_values(start: _Start, asks: bool) -> Given:
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
            )
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
        ),
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
            str(number),
            Text(term.text),
            choice_name(term.kind, TERM_KINDS),
            f"{term.weight:g}",
            f"{one.texts}/{own}",
            f"{one.others}/{len(sources.others)}",
        )
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


def _choose_words(draft: TopicDraft) -> TopicDraft:
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
        ),
    )
    print_next_step(console, pack)


def _print_afterwards(console: Console, given: Given, *, has_stored: bool) -> None:
    """What to do beside crawling: stored articles were judged before the topic was what it is."""
    review = f"qiaocrawl lexicon review --topic {given.name}"
    show = command_here(f"qiaocrawl topic show {given.name} --all")
    lines = [_("all of it:  {command}", command=show)]
    if given.samples is not None or has_stored:
        files = f" --from-files {given.samples}" if given.samples is not None else ""
        lines.insert(0, _("review its terms:  {command}", command=command_here(review + files)))
    if has_stored:
        judge = command_here("qiaocrawl reprocess --stage relevance")
        lines.insert(0, _("judge what is stored anew:  {command}", command=judge))
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


# --- ``qiaocrawl topic tree``: the nodes a topic may begin with, and their samples ----------------


def tree(
    node: Annotated[str, typer.Option(help="Code, name or path, as D6 or D/D6.")] = ROOT,
    full: Annotated[bool, typer.Option("--all", help="All levels below it.")] = False,
) -> None:
    """List the topic tree: classes, what is below a node, its words and samples."""
    nodes = topic_tree()
    chosen = nodes.find(node)
    console = table_console()
    below = list(nodes.below(chosen))[1:] if full else nodes.children(chosen)
    if chosen.code != ROOT:
        _print_node(nodes, chosen)
    if below:
        table = folding_table(_("node"), _("also under"), _("threshold"), _("samples"))
        for column in (2, 3):
            table.columns[column].justify = "right"
        for one in below:
            table.add_row(
                Text(nodes.path(one) if full else f"{one.code} {one.name}"),
                " ".join(parent for parent in one.parents[1:]),
                f"{THRESHOLDS[one.level]:g}",
                str(len(nodes.samples(one))),
            )
        console.print(table)
    example = chosen.code if chosen.level else "D6"
    name = re.sub("[^a-z0-9]", "_", example.lower())
    command = f"qiaocrawl topic new {name} --node {example}"
    console.print(_("next:  {command}", command=command), markup=False)


def _print_node(nodes: TopicTree, node: TopicNode) -> None:
    console = table_console()
    threshold = _("threshold {threshold:g}", threshold=THRESHOLDS[node.level])
    console.print(f"{nodes.path(node)}  {threshold}", markup=False)
    if node.words:
        print_hanging(console, _("words: {words}", words=join_with_commas(node.words)))
    for number, sample in enumerate(nodes.samples(node), 1):
        print_hanging(console, f"{number:4}  {sample.title}")
