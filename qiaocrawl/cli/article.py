"""``qiaocrawl article …``: list, search and read what was collected, and open stored pages."""

from __future__ import annotations

import tempfile
import webbrowser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.text import Text

from qiaocrawl.cli.db import DatabaseUrl, connection_to
from qiaocrawl.cli.output import folding_table, shown_moment, table_console
from qiaocrawl.cli.shared_options import (
    combined,
    outlet_choice,
    publication_choice,
    selection_of,
    topic_choice,
    words_choice,
)
from qiaocrawl.errors import ConfigError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from qiaocrawl.storage.export.choice import Selection
    from qiaocrawl.storage.export.listing import ListedArticle
    from qiaocrawl.storage.reports.evidence import ArticleEvidence

app = typer.Typer(help="Articles: list, search, read, open. 文章", no_args_is_help=True)

Which = Annotated[str, typer.Argument(help="Its number in a list (编号), or its address.")]

_BEFORE, _AFTER = 12, 24
"""Characters of a text that are shown before and behind a word that was searched for."""
_TERMS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class _Shown:
    """How much of a list is shown, and out of which database."""

    limit: int
    by_story: bool
    database: str


def _shown(
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Rows shown. 行数")] = 20,
    stories: Annotated[bool, typer.Option("--stories", help="One row a story. 按报道")] = False,
    database: DatabaseUrl = "",
) -> _Shown:
    """The options beside the choice of articles."""
    return _Shown(limit, stories, database)


def _searched(
    words: Annotated[
        list[str], typer.Argument(help="Words that all stand in title or text, in either script.")
    ],
) -> dict[str, Any]:
    """What is searched for."""
    return {"words": tuple(word for argument in words for word in argument.split())}


@app.command("list")
@combined(_shown, topic_choice, words_choice, publication_choice, outlet_choice)
def list_(shown: _Shown, *choices: dict[str, Any]) -> None:
    """List articles, newest first, a page once. 列出文章，新者在前"""
    _print_list(shown, selection_of(*choices, by_story=shown.by_story))


@app.command()
@combined(_searched, _shown, topic_choice, publication_choice, outlet_choice)
def search(words: dict[str, Any], shown: _Shown, *choices: dict[str, Any]) -> None:
    """Search titles and texts; simplified and traditional characters find each other. 全文检索"""
    if not words["words"]:
        raise ConfigError("article search: no word was given")
    _print_list(shown, selection_of(words, *choices, by_story=shown.by_story))


@app.command()
def show(which: Which, database: DatabaseUrl = "") -> None:
    """Show an article with its evidence: who published it when, and why it is on topic.

    看一篇文章及其依据。
    """
    from qiaocrawl.storage.reports.evidence import evidence_of

    with connection_to(database) as c:
        evidence = evidence_of(c, _article_id(c, which))
    table = folding_table("项 what", "值 value")
    for name, value in _evidence_lines(evidence):
        table.add_row(name, escape(value))
    console = table_console()
    console.print(table)
    console.print(f"\n{evidence.listed.title}\n", style="bold", markup=False)
    console.print(evidence.text, markup=False, highlight=False, soft_wrap=not console.is_terminal)
    console.print(f"\n原网页存档 stored page: qiaocrawl article open {evidence.listed.id}")


@app.command("open")
def open_(
    which: Which,
    print_path: Annotated[
        bool, typer.Option("--print-path", help="Only write the file and print its path.")
    ] = False,
    database: DatabaseUrl = "",
) -> None:
    """Open the stored page of an article in the browser; nothing in it runs or is loaded.

    在浏览器中打开存档网页：不运行脚本，不载入外部内容。
    """
    from qiaocrawl.storage.export.stored_copy import write_copy

    with connection_to(database) as c:
        article_id = _article_id(c, which)
        # It has to outlive this command; a folder of its own lets nobody else put it there.
        file = Path(tempfile.mkdtemp(prefix="qiaocrawl-")) / f"{article_id}.html"
        if not write_copy(c, article_id, file):
            file.parent.rmdir()
            raise ConfigError(f"the page of article {which} is no longer stored 原网页已清理")
    typer.echo(str(file))
    if not print_path and not webbrowser.open(file.as_uri()):
        raise ConfigError(f"no browser could be started 打不开浏览器; the page is {file}")


def _article_id(c: Connection, which: str) -> int:
    """The article of a number or an address.

    Raises:
        ConfigError: there is none.
    """
    from qiaocrawl.storage.reports.evidence import has_article
    from qiaocrawl.storage.titles.reprint_groups import article_at

    if not which.isascii() or not which.isdigit():
        return article_at(c, which)
    article_id = int(which)
    if not has_article(c, article_id):
        raise ConfigError(f"there is no article {which} 没有这个编号的文章")
    return article_id


def _print_list(shown: _Shown, selection: Selection) -> None:
    from qiaocrawl.storage.export.listing import list_articles, with_details

    with connection_to(shown.database) as c:
        listed = list_articles(c, selection)
        page = list(with_details(c, listed[: shown.limit], selection.topic))
    console = table_console()
    table = folding_table("编号 no", "文章 article")
    table.columns[0].justify, table.columns[0].no_wrap = "right", True
    # A line each in a terminal; one line in all where rows go on to grep and the like.
    separator = Text("\n" if console.is_terminal else " · ")
    for article, details in page:
        lines = _lines(article, selection, details.text)
        table.add_row(str(article.id), separator.join(lines))
    console.print(table)
    more = len(listed) - len(page)
    what = "则报道 stories" if shown.by_story else "篇 articles"
    console.print(
        f"共 {len(listed)} {what}" + (f"，另有 {more} 未列 more (--limit)" if more else "")
    )
    if page:
        console.print(f"细看 read one: qiaocrawl article show {page[0][0].id}")


def _lines(article: ListedArticle, selection: Selection, text: str) -> Iterator[Text]:
    """Title, a line of facts, and where the words that were searched for stand."""
    from qiaocrawl.storage.export.readable import reprint_note, shown_time

    yield Text(" ".join(article.title.split()), style="bold")
    outlets = article.story.outlets
    taken_up = f"{len(outlets)} 家" if selection.by_story else reprint_note(article)
    score = "" if article.score is None else f"切题 {article.score:.0%}"
    facts = shown_time(article.published_at) or "日期不明", article.outlet.name, score, taken_up
    yield Text(" · ".join(fact for fact in facts if fact), style="dim")
    yield from _passages(text, selection.words)


def _passages(text: str, words: Sequence[str]) -> Iterator[Text]:
    """A line of *text* around the first place of each of *words* that it holds."""
    from qiaocrawl.text.normalise import script_forms

    lower = text.lower()
    for word in words:
        places = [(lower.find(form), form) for form in script_forms(word.lower())]
        at, form = min((place for place in places if place[0] >= 0), default=(-1, ""))
        if at >= 0:
            # Within its paragraph.
            start = max(at - _BEFORE, text.rfind("\n", 0, at) + 1)
            passage = text[start : at + len(form) + _AFTER].partition("\n")[0]
            line = Text(f"…{passage.strip()}…")
            line.highlight_words([text[at : at + len(form)]], "bold reverse")
            yield line


def _evidence_lines(evidence: ArticleEvidence) -> Iterator[tuple[str, str]]:
    listed, story = evidence.listed, evidence.listed.story
    yield "编号 number", str(listed.id)
    yield "网址 URL", listed.url
    for address in listed.other_urls:
        yield "其他网址 also at", address
    region = f"，{listed.outlet.region}" if listed.outlet.region else ""
    tier = f"，{listed.outlet.tier} 级" if listed.outlet.tier else ""
    yield "媒体 outlet", f"{listed.outlet.name}{region}{tier}"
    yield "发布 published", shown_moment(listed.published_at) or "未写明 unknown"
    yield "采集 fetched", shown_moment(listed.fetched_at)
    for name, value in (("来源 source", listed.source), ("作者 author", listed.author)):
        if value:
            yield name, value
    for judgement in evidence.judgements:
        verdict = "切题 on topic" if judgement.relevant else "不切题 off topic"
        by = "人工判定 by an operator" if judgement.method == "operator" else judgement.method
        terms = "、".join(str(term[0]) for term in judgement.terms[:_TERMS_SHOWN])
        yield f"主题 {judgement.topic}", f"{verdict} {judgement.score:.0%} ({by}) {terms}".strip()
    yield "同一报道 story", f"{len(story.outlets)} 家 outlets: {'、'.join(story.outlets)}"
    if not listed.is_first:
        yield "首发 first", f"{story.first_outlet} {story.first_url}"
    if evidence.found_on:
        anchor = f"「{evidence.anchor}」 " if evidence.anchor else ""
        yield "何处见到 found on", f"{anchor}{evidence.found_on}"
    for source in evidence.sources:
        period = f"{shown_moment(source.fetched_at)} – {shown_moment(source.last_seen_at)}"
        yield "存档 stored page", f"{period}, HTTP {source.http_status}, {source.body_bytes:,} B"
    yield "为何采它 why it was fetched", f"qiaocrawl why {listed.url}"
