"""Lexicons as tables on the screen and as sheets, and the texts they are built from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from qiaocrawl.cli.database import connection_to
from qiaocrawl.cli.options import start_of
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.export.readable import Sheet
from qiaocrawl.extract.documents.analysis import text_files
from qiaocrawl.language import _, choice_name
from qiaocrawl.lexicon.build import Lexicon
from qiaocrawl.lexicon.expansion import RELATIONS, Alias, Proposal
from qiaocrawl.lexicon.new_words import NewWord
from qiaocrawl.lexicon.terms import Document, TermRow, WeightRow
from qiaocrawl.options import Options
from qiaocrawl.options.project import command_here
from qiaocrawl.runtime.sent_files import FileWorker
from qiaocrawl.storage.pages.articles import count_texts, iter_texts
from qiaocrawl.storage.topics.topics import load_pack
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.zones import china_time
from qiaocrawl.topic.pack import TopicPack

DECISION_COLUMNS = ("决定（收/弃/同义）", "权重", "类别", "同义于", "备注")
"""Of the sheets that come back by ``lexicon decide``; rows without the first are undecided."""
_UNDECIDED = (None,) * len(DECISION_COLUMNS)

Examples = Mapping[str, Sequence[str]]

_SHOWN_TERMS, _SHOWN_OTHERS = 20, 10
_KNOWN = "已有"
# Of the files; at the terminal they are in the operator's language.
_ALIAS_KINDS = {"short": "简称", "full": "全称", "other": "又称", "bracket": "括注"}


def print_lexicon(console: Console, source: str, lexicon: Lexicon, known: Collection[str]) -> None:
    """The heads of a lexicon's tables."""
    console.print(
        _(
            "{source}: {documents:,} texts, {size:,} words, {sites} sites, {months} months",
            source=source,
            documents=lexicon.documents,
            size=lexicon.size,
            sites=lexicon.sites,
            months=lexicon.months,
        ),
        markup=False,
    )
    terms = _table(
        _("terms of the topic"),
        (_("term"), _("part of speech")),
        (_("frequency"), _("texts"), _("sites"), _("score")),
        (_("state"),),
    )
    for row in lexicon.terms[:_SHOWN_TERMS]:
        numbers = f"{row.frequency:,}", f"{row.documents:,}", f"{row.sites}", f"{row.score:.1f}"
        is_known = _("known") if row.text in known else ""
        _add(terms, row.text, row.tag or _("phrase"), *numbers, is_known)
    console.print(terms)
    if lexicon.new_words:
        words = _table(
            _("new words"),
            (_("word"),),
            (_("frequency"), _("cohesion"), _("freedom")),
            (_("state"),),
        )
        for new in lexicon.new_words[:_SHOWN_OTHERS]:
            bonds = new.bonds
            figures = f"{bonds.frequency:,}", f"{bonds.cohesion:.1f}", f"{bonds.freedom:.1f}"
            _add(words, new.text, *figures, _("known") if new.text in known else "")
        console.print(words)
    if lexicon.aliases:
        names = _table(_("other names"), (_("name"), _("other name"), _("how")), (_("texts"),))
        for alias in lexicon.aliases[:_SHOWN_OTHERS]:
            how = choice_name(alias.kind, _ALIAS_KINDS)
            _add(names, alias.name, alias.alias, how, f"{alias.texts}")
        console.print(names)


def print_proposals(console: Console, proposals: Sequence[Proposal], examples: Examples) -> None:
    """The closest proposals, with a sentence each."""
    table = _table(
        _("proposals"), (_("word"), _("from"), _("relation")), (_("closeness"),), (_("sentence"),)
    )
    for proposal in proposals[:_SHOWN_TERMS]:
        sentence = next(iter(examples.get(fold(proposal.text), ())), "")
        relation, closeness = choice_name(proposal.relation, RELATIONS), f"{proposal.closeness:.2f}"
        _add(table, proposal.text, proposal.of_term, relation, closeness, sentence)
    console.print(table)


def term_sheet(rows: Sequence[TermRow], known: Collection[str], examples: Examples) -> Sheet:
    """The ranked terms with all their figures."""
    columns = (
        "词",
        *DECISION_COLUMNS,
        "状态",
        "词性",
        "词数",
        "次数",
        "篇数",
        "站数",
        "月数",
        "特征度",
        "对数似然",
        "对数优势",
        "站间不均",
        "月间不均",
        "独立率",
        "例句一",
        "例句二",
    )
    return Sheet(
        "特征词",
        columns,
        [
            (
                row.text,
                *_UNDECIDED,
                _state(row.text, known),
                row.tag or "短语",
                row.words,
                row.frequency,
                row.documents,
                row.sites,
                row.months,
                round(row.score, 2),
                round(row.log_likelihood, 1),
                round(row.log_odds, 2),
                round(row.site_dispersion, 3),
                round(row.month_dispersion, 3),
                round(row.standing, 3),
                *_two(examples, row.text),
            )
            for row in rows
        ],
    )


def new_word_sheet(words: Sequence[NewWord], known: Collection[str], examples: Examples) -> Sheet:
    """The ranked new words."""
    columns = (
        "词",
        *DECISION_COLUMNS,
        "状态",
        "次数",
        "凝固度",
        "左自由度",
        "右自由度",
        "得分",
        "例句一",
        "例句二",
    )
    return Sheet(
        "新词",
        columns,
        [
            (
                new.text,
                *_UNDECIDED,
                _state(new.text, known),
                new.bonds.frequency,
                round(new.bonds.cohesion, 2),
                round(new.bonds.left_freedom, 2),
                round(new.bonds.right_freedom, 2),
                round(new.score, 2),
                *_two(examples, new.text),
            )
            for new in words
        ],
    )


def alias_sheet(rows: Sequence[Alias]) -> Sheet:
    """The names that texts state to be one."""
    return Sheet(
        "别称",
        ("名称", "别称", "说法", "篇数"),
        [(row.name, row.alias, _ALIAS_KINDS[row.kind], row.texts) for row in rows],
    )


def proposal_sheet(proposals: Sequence[Proposal], examples: Examples) -> Sheet:
    """All proposals."""
    return Sheet(
        "扩词",
        ("词", *DECISION_COLUMNS, "来自", "关系", "近度", "例句一", "例句二"),
        [
            (
                one.text,
                *_UNDECIDED,
                one.of_term,
                RELATIONS[one.relation],
                one.closeness,
                *_two(examples, fold(one.text)),
            )
            for one in proposals
        ],
    )


def yield_sheet(
    rows: Sequence[Sequence[str | int | float | None]],
    useless: Collection[str],
    spare: Collection[str],
) -> Sheet:
    """What each term brought, with room for a decision; what could go is named, for a filter.

    Args:
        rows: term, requests, URLs hit, articles, those on topic, their share, found by it alone.
        useless: terms that found nothing on topic.
        spare: terms without which enough is found.
    """
    columns = (
        "词",
        *DECISION_COLUMNS,
        "状态",
        "检索次数",
        "命中网址",
        "入库文章",
        "切题",
        "切题率",
        "仅此词找到",
    )
    states = {**dict.fromkeys(spare, "可省"), **dict.fromkeys(useless, "无切题产出")}
    return Sheet(
        "词的产出",
        columns,
        [(term, *_UNDECIDED, states.get(str(term), ""), *numbers) for term, *numbers in rows],
    )


def weight_sheet(rows: Sequence[WeightRow], titles: Sequence[str]) -> Sheet:
    """Token × title."""
    return Sheet(
        "分词与权重",
        ("词", "词性", "总次数", "标题数", "TF-IDF", *titles),
        [
            (
                row.token,
                row.tag,
                row.total,
                row.titles,
                round(row.tfidf, 3),
                *(count or None for count in row.by_title),
            )
            for row in rows
        ],
    )


def _two(examples: Examples, term: str) -> tuple[str, str]:
    first, second, *_ = (*examples.get(term, ()), "", "")
    return first, second


def _state(text: str, known: Collection[str]) -> str:
    return _KNOWN if text in known else ""


def _table(
    title: str, texts: Sequence[str], numbers: Sequence[str], more: Sequence[str] = ()
) -> Table:
    """A table with columns of text, then of numbers, then of text again."""
    table = Table(title=title, title_justify="left")
    for name in texts:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, overflow="fold", justify="right")
    for name in more:
        table.add_column(name, overflow="fold")
    return table


def _add(table: Table, *values: str) -> None:
    table.add_row(*map(Text, values))


# --- The texts that a lexicon is built from: stored articles, or files of a folder ----------------

TopicName = Annotated[str, typer.Option("--topic", help="An imported topic.")]
FromSite = Annotated[str, typer.Option("--from-site", help="All stored articles of this host.")]
FromFiles = Annotated[
    Path | None,
    typer.Option("--from-files", help="Texts of a folder: txt, md, html, docx, pdf, xlsx."),
]
FromStore = Annotated[
    bool, typer.Option("--from-store", help="Stored articles on topic (default).")
]
Since = Annotated[
    str,
    typer.Option(help="Only articles fetched since: today, yesterday, 7d, 2026-03-05."),
]


@dataclass(frozen=True, slots=True)
class Source:
    """Where the texts come from; at most one of site and files.

    Args:
        since: when stored articles were fetched at the earliest, aware; None for all.
    """

    topic: str
    site: str = ""
    files: Path | None = None
    since: datetime | None = None

    @property
    def label(self) -> str:
        """As a reader is told."""
        if self.files is not None:
            return str(self.files)
        return self.site or _("articles on topic {topic}", topic=self.topic)


def source_choice(
    topic: TopicName,
    from_site: FromSite = "",
    from_files: FromFiles = None,
    from_store: FromStore = False,
    since: Since = "",
) -> Source:
    """The source that the options name.

    Raises:
        ConfigError: more than one, a folder that is not there, or a time that is none.
    """
    if sum((bool(from_site), from_files is not None, from_store)) > 1:
        raise ConfigError(_("choose one of --from-site, --from-files and --from-store"))
    if from_files is not None and not from_files.is_dir():
        raise ConfigError(
            _("--from-files {from_files!r}: no such folder", from_files=str(from_files))
        )
    if from_files is not None and since:
        raise ConfigError(_("--since is of stored articles; --from-files takes all of a folder"))
    return Source(topic, from_site, from_files, start_of(since, "--since"))


def pack_of(source: Source, database: str) -> TopicPack:
    """The topic of *source*.

    Raises:
        StorageError: it was never imported.
    """
    with connection_to(database) as c:
        return load_pack(c, source.topic)


def count_documents(source: Source, database: str) -> int:
    """How many texts *source* has.

    Raises:
        StorageError: none; it says what would bring some.
    """
    if source.files is not None:
        number = len(text_files(source.files))
        hint = _("put .txt, .md, .html, .docx or .pdf files there")
    else:
        with connection_to(database) as c:
            number = count_texts(c, *_stored_source(source))
        start = f" -a start=https://{source.site}/" if source.site else ""
        command = command_here(f"qiaocrawl crawl site -a topic={source.topic}{start}")
        hint = _("crawl first: {command}", command=command)
    if not number:
        raise StorageError(_("no texts: {shown}; {hint}", shown=source.label, hint=hint))
    return number


def documents(source: Source, database: str) -> Iterator[Document]:
    """The texts of *source*."""
    if source.files is not None:
        seconds = Options.from_environment()["QIAO_EXTRACT_SECONDS"]
        with FileWorker(seconds) as worker:
            for path in text_files(source.files):
                page = worker.read_path(path)
                yield Document(page.title, page.text, path.parent.name, url=page.url or str(path))
        return
    with connection_to(database) as c:
        for one in iter_texts(c, *_stored_source(source)):
            month = china_time(one.published_at, "%Y-%m")
            yield Document(one.title, one.text, one.site, month, one.url)


def _stored_source(source: Source) -> tuple[str | None, str | None, datetime | None]:
    """Topic, site and earliest fetch of its stored articles."""
    return (None, source.site, source.since) if source.site else (source.topic, None, source.since)
