"""Where a new topic begins: files, words and what the store has of them, a node of the tree."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer
from rich.console import Console

from qiaocrawl.cli.spider_process import LOGS, run_with_bar, topic_command
from qiaocrawl.cli.terminal import echo
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.extract.documents.analysis import text_files
from qiaocrawl.items import PageText
from qiaocrawl.language import _
from qiaocrawl.lexicon.terms import Document
from qiaocrawl.options import Options
from qiaocrawl.relevance.blend import VsmBreadthScorer
from qiaocrawl.relevance.topic_draft import DraftSources, with_counter_examples
from qiaocrawl.runtime.sent_files import FileWorker
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.changes import articles_with_words, hit_hosts
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.folder import parse_sample
from qiaocrawl.topic.pack import DEFAULT_THRESHOLD, Term, TopicPack
from qiaocrawl.topic.tree import THRESHOLDS, NodeSample, TopicNode, topic_tree

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
        given.name, given.full_title, [*texts, *stored], others, words,
        hosts_of(database, given.words), threshold, most_terms,
    )  # fmt: skip
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
    echo(_("start from:\n  1 a folder of 10 to 50 samples\n  2 some five words\n"
                 "  3 a node of the topic tree"))  # fmt: skip
    choice = typer.prompt(_("choose 1, 2 or 3"), "1")
    if choice.strip() == "2":
        return replace(given, words=words_of(typer.prompt(_("words, with spaces between"))))
    if choice.strip() == "3":
        node = topic_tree().find(typer.prompt(_("node, as D6 or D/D6")))
        return replace(given, node=node)
    return replace(given, samples=Path(typer.prompt(_("folder"))).expanduser())
