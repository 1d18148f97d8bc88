"""A digest as one HTML page, to be read, printed or sent: no scripts, nothing loaded."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from sqlalchemy import Connection

from qiaocrawl.storage.export.base import ExportReport, Progress
from qiaocrawl.storage.export.choice import Selection
from qiaocrawl.storage.export.digest import Digest, DigestEntry, copies_of, digest_of
from qiaocrawl.storage.export.neutral import xml_text
from qiaocrawl.storage.outfile import growing_file, growing_folder

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
    yield PAGE_HEAD.format(title=_text(digest.title), about=_text(digest.about))
    for day, entries in digest.days:
        yield f"<h2>{_text(day)}</h2>\n"
        yield from map(_entry, entries)
    yield "</body></html>\n"


def _entry(entry: DigestEntry) -> str:
    copy = f' · <a href="{_text(entry.copy)}">存档</a>' if entry.copy else ""
    return (
        f'<article><h3><a href="{_text(entry.url)}" rel="noreferrer">{_text(entry.title)}</a></h3>'
        f'<p class="facts">{_text(entry.facts)}{copy}</p><p>{_text(entry.summary)}</p></article>\n'
    )


def _text(text: str) -> str:
    return escape(xml_text(text))
