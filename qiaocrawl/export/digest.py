"""What a digest holds, whatever it is written as: a choice of articles by day, in short."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from sqlalchemy import Connection, select

from qiaocrawl.export.base import ExportReport, Progress
from qiaocrawl.export.pages import link_to_copy, write_copy_beside
from qiaocrawl.export.readable import reprint_note, summary_of
from qiaocrawl.reading.listing import ListedArticle, list_articles, with_details
from qiaocrawl.storage.backup import growing_file, growing_folder
from qiaocrawl.storage.schema import topic
from qiaocrawl.storage.selection import Selection
from qiaocrawl.text.visible import markup_text
from qiaocrawl.text.zones import SHANGHAI, china_time, china_time_or_day

_WEEKDAYS = "一二三四五六日"
_SUMMARY_CHARS = 200


@dataclass(frozen=True, slots=True)
class DigestEntry:
    """One article or story; ``facts`` is a line about it, ``copy`` the stored page's file."""

    title: str
    url: str
    facts: str
    summary: str
    copy: str


@dataclass(frozen=True, slots=True)
class Digest:
    """Its title, a line about it, and its entries by day, to be read once."""

    title: str
    about: str
    days: Iterator[tuple[str, Iterator[DigestEntry]]]
    entries: int


def copies_of(out: Path) -> Path:
    """The folder of stored pages beside the digest *out*."""
    return out.with_name(f"{out.stem}-copies")


def digest_of(c: Connection, selection: Selection, out: Path, progress: Progress) -> Digest:
    """The digest of *selection*, whose file will be *out*; stored pages go beside it.

    Raises:
        StorageError: the selection's topic was never imported.
    """
    listed = list_articles(c, selection)
    kind, what = ("个", "转载组") if selection.by_group else ("篇", "文章")
    about = f"{what} {len(listed)} {kind} · {_period(selection)}制于 {_now()}（北京时间）"
    pages = _entries(c, selection, listed, out, progress)
    days = ((day, (entry for _, entry in rows)) for day, rows in groupby(pages, key=_first))
    return Digest(f"{_topic_title(c, selection)}摘报", about, days, len(listed))


def _first(pair: tuple[str, DigestEntry]) -> str:
    return pair[0]


def _entries(
    c: Connection, selection: Selection, listed: list[ListedArticle], out: Path, progress: Progress
) -> Iterator[tuple[str, DigestEntry]]:
    folder = copies_of(out)
    for article, details in with_details(c, listed, selection.topic):
        file = folder / f"{article.id}.html"
        is_there = selection.with_copies and write_copy_beside(c, article.id, file)
        yield (
            _day(article),
            DigestEntry(
                article.title or article.url,
                article.url,
                _facts(article, selection.by_group),
                summary_of(details.text, _SUMMARY_CHARS),
                link_to_copy(file) if is_there else "",
            ),
        )
        progress(1)


def _day(article: ListedArticle) -> str:
    when = article.published_at or article.fetched_at
    assert when is not None, "every article was fetched"
    local = when.astimezone(SHANGHAI)
    return f"{local.year}年{local.month}月{local.day}日 星期{_WEEKDAYS[local.weekday()]}"


def _facts(article: ListedArticle, by_group: bool) -> str:
    outlets = article.group.outlets
    when = china_time_or_day(article.published_at) or "发布日期不明"
    facts = [article.outlet.name, article.outlet.region, when]
    if article.score is not None:
        facts.append(f"切题度 {article.score:.0%}")
    if by_group and len(outlets) > 1:
        facts.append(f"{len(outlets)} 家媒体刊发：{'、'.join(outlets)}")
    else:
        facts.append(reprint_note(article))
    return " · ".join(fact for fact in facts if fact)


def _period(selection: Selection) -> str:
    # `before` is the first moment that no longer counts.
    first = f"{china_time_or_day(selection.since)} 起 " if selection.since else ""
    last = f"{china_time_or_day(selection.before)} 前 " if selection.before else ""
    return f"{first}{last}· " if first or last else ""


def _now() -> str:
    return china_time(datetime.now(UTC))


def _topic_title(c: Connection, selection: Selection) -> str:
    if selection.topic is None:
        return ""
    titles = c.execute(select(topic.c.title).where(topic.c.name == selection.topic)).scalars()
    return next(titles, "") or selection.topic


# --- A digest as one HTML page, to be read, printed or sent: no scripts, nothing loaded -----------

PAGE_HEAD = """<!doctype html>
<html lang="zh-CN"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'">
<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">
<title>{title}</title><style>
body{{max-width:46em;margin:2em auto;padding:0 1em;line-height:1.7;
font-family:"Noto Serif CJK SC","Source Han Serif SC",SimSun,serif;color:#222}}
h1{{font-size:1.6em;text-align:center}}h2{{font-size:1.1em;border-bottom:1px solid #aaa}}
h3{{font-size:1.05em;margin:1.2em 0 0}}p{{margin:.2em 0}}.facts,.about{{color:#666;
font-size:.85em}}.about{{text-align:center}}a{{color:#1f4e8c;text-decoration:none}}
article{{break-inside:avoid}}</style></head><body>
<h1>{title}</h1><p class="about">{about}</p>
"""
"""The beginning of a page, with a title and a line about it."""


def write_html(c: Connection, selection: Selection, out: Path, progress: Progress) -> ExportReport:
    """The page, and beside it a folder with the stored pages it leads to."""
    with (
        growing_folder(copies_of(out)),
        growing_file(out) as part,
        part.open("w", encoding="utf-8", newline="\n") as file,
    ):
        digest = digest_of(c, selection, out, progress)
        for piece in _pieces(digest):
            file.write(piece)
    return ExportReport(digest.entries)


def _pieces(digest: Digest) -> Iterator[str]:
    yield PAGE_HEAD.format(title=markup_text(digest.title), about=markup_text(digest.about))
    for day, entries in digest.days:
        yield f"<h2>{markup_text(day)}</h2>\n"
        yield from map(_entry, entries)
    yield "</body></html>\n"


def _entry(entry: DigestEntry) -> str:
    copy = f' · <a href="{markup_text(entry.copy)}">存档</a>' if entry.copy else ""
    return (
        f'<article><h3><a href="{markup_text(entry.url)}" rel="noreferrer">'
        f"{markup_text(entry.title)}</a></h3>"
        f'<p class="facts">{markup_text(entry.facts)}{copy}</p>'
        f"<p>{markup_text(entry.summary)}</p></article>\n"
    )
