"""Articles as Markdown files: a folder a host, an article a file, what is known on top."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

from sqlalchemy import Connection

from qiaocrawl.errors import StorageError
from qiaocrawl.export.base import ExportReport, Progress
from qiaocrawl.export.pages import safe_name
from qiaocrawl.extract.structure.html import paragraphs
from qiaocrawl.extract.structure.markdown import to_markdown
from qiaocrawl.language import _
from qiaocrawl.reading.records import ArticleRecord, iter_articles
from qiaocrawl.storage.selection import Selection
from qiaocrawl.text.visible import visible

_HEAD = (
    "url",
    "title",
    "published_at",
    "modified_at",
    "author",
    "source",
    "channel",
    "keywords",
    "language",
    "score",
    "relevant",
    "group_url",
)


def write_markdown(
    c: Connection, selection: Selection, out: Path, progress: Progress
) -> ExportReport:
    """``HOST/ID.md``: what is known of the article as YAML, then title and body.

    Raises:
        StorageError: *out* is a file or a folder with something in it.
    """
    written = 0
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise StorageError(_("folder {out!r} is not empty", out=str(out)))
        for record in iter_articles(c, selection):
            folder = out / safe_name(record.site, record.url)
            folder.mkdir(exist_ok=True)
            (folder / f"{record.id}.md").write_text(_file(record), encoding="utf-8", newline="\n")
            written += 1
            progress(1)
    except OSError as error:
        raise StorageError(
            _("cannot write below {out!r}: {error}", out=str(out), error=error)
        ) from error
    return ExportReport(written)


def _file(record: ArticleRecord) -> str:
    # JSON strings are YAML strings, whatever stands in them.
    head = "\n".join(
        f"{name}: {json.dumps(getattr(record, name), ensure_ascii=False, default=str)}"
        for name in _HEAD
    )
    title = to_markdown(f"<h1>{escape(' '.join(record.title.split()))}</h1>")
    body = record.markdown or to_markdown(paragraphs(record.text))
    return visible(f"---\n{head}\n---\n\n{title}\n\n{body}\n")
