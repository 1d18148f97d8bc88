"""A stored page as a file that is safe to open: nothing in it runs, nothing is loaded."""

from __future__ import annotations

import logging
import re
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, select

from qiaocrawl.errors import PageStoreError
from qiaocrawl.extract.structure.html import paragraphs
from qiaocrawl.items import FetchedPage
from qiaocrawl.storage.converters import changes
from qiaocrawl.storage.outfile import growing_file
from qiaocrawl.storage.packed_text import unpack_html
from qiaocrawl.storage.pages.page_versions import version_of
from qiaocrawl.storage.pages.raw_pages import PAGE_COLUMNS, page_of
from qiaocrawl.storage.schema import article, page_source, revision, url
from qiaocrawl.text.charset import decode_page
from qiaocrawl.text.normalise import clean_text
from qiaocrawl.text.visible import visible
from qiaocrawl.text.zones import china_time

logger = logging.getLogger(__name__)

# The page stands in a frame of no rights: no scripts, forms or navigation, not even by itself
# (HTML, "sandboxed automatic features"). The policy, which it inherits, keeps it from loading.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'none';"
    " form-action 'none'; base-uri 'none'"
)
_DOCUMENT = """<!doctype html>
<html lang="zh-CN"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta http-equiv="x-dns-prefetch-control" content="off">
<meta name="referrer" content="no-referrer"><title>{title}</title>
<style>html,body{{height:100%;margin:0}}body{{display:flex;flex-direction:column;
font:14px sans-serif}}p{{margin:0;padding:6px 10px;background:#fff3cd;overflow-wrap:anywhere}}
iframe{{flex:1;border:0;background:#fff}}</style></head>
<body><p>存档副本 stored copy · {when} · {address} · 不运行脚本，不载入外部内容 no scripts, nothing
loaded</p><iframe sandbox srcdoc="{page}"></iframe></body></html>
"""
# No policy keeps a browser from connecting to what <link rel=preconnect> or a frame names, though
# nothing is loaded then. These stand-ins are parsed as the elements are, and do nothing.
_INERT = {"link": "basefont", "frame": "basefont", "iframe": "noembed"}
_CONNECTING = re.compile(r"(</?)(link|frame|iframe)(?=[\s/>])", re.IGNORECASE | re.ASCII)
_NOT_IN_A_PATH = re.compile(r"[^\w./~-]")
_HTML = ("text/html", "application/xhtml+xml", "")


def write_copy(c: Connection, article_id: int, file: Path) -> bool:
    """Write the page that article was read from; False where its source is no longer stored.

    Of a PDF or another file its text is written.

    Raises:
        StorageError: the file cannot be written.
        PageStoreError: the page is in a file that is missing or damaged.
    """
    markup = stored_copy(c, article_id)
    if not markup:
        return False
    with growing_file(file) as part:
        part.write_text(markup, "utf-8", errors="replace")
    return True


def write_copy_beside(c: Connection, article_id: int, file: Path) -> bool:
    """As :func:`write_copy`, for a file of many articles: False also for a damaged page.

    That is counted (``unread_pages``) and logged.
    """
    try:
        return write_copy(c, article_id, file)
    except PageStoreError as error:
        changes["unread_pages"] += 1
        logger.error("the stored page of article %d cannot be read: %s", article_id, error)
        return False


def link_to_copy(file: Path) -> str:
    """What leads to *file* from a file beside its folder: a relative reference (RFC 3986).

    Letters of other scripts stay, as people see them; ``#`` and the like would end the path.
    """
    path = f"{file.parent.name}/{file.name}"
    return _NOT_IN_A_PATH.sub(lambda sign: quote(sign[0], safe=""), path)


def stored_copy(c: Connection, article_id: int, version: int = 0) -> str:
    """The page an article was read from as a document of its own; "" where it is not stored.

    Args:
        version: the row of a stored version of its page; 0 is the one it was read from.
    """
    row = c.execute(
        select(
            *PAGE_COLUMNS, article.c.title, article.c.text, article.c.html, page_source.c.id,
            article.c.page_source_id,
        )
        .select_from(article)
        .join(page_source, version_of(version))
        .join(url, url.c.id == article.c.url_id)
        .where(article.c.id == article_id)
    ).one_or_none()  # fmt: skip
    if row is None:
        return ""
    page, title = page_of(c, row[: len(PAGE_COLUMNS)]), str(row.title)
    content_type = page.header("content-type")
    if content_type.partition(";")[0].strip().lower() in _HTML:
        markup = decode_page(page.body, content_type).text
    else:
        title, body = _read_from(c, row)
        markup = f"<h1>{escape(title)}</h1>{body}"
    return sandboxed(page, title, markup)


def _read_from(c: Connection, row: Any) -> tuple[str, str]:
    """Title and text that were read from the version in *row*, the text as HTML.

    Of an earlier version of a file they are what the article said then, as far as that was kept.
    """
    if row.id == row.page_source_id:
        return str(row.title), unpack_html(row.html, row.text) or paragraphs(row.text)
    said = c.execute(
        select(revision.c.title, revision.c.text)
        .where(revision.c.page_source_id == row.id)
        .order_by(revision.c.id.desc())
        .limit(1)
    ).one_or_none()
    return ("", "") if said is None else (str(said.title), paragraphs(said.text))


def sandboxed(page: FetchedPage, title: str, markup: str) -> str:
    """*markup* of *page* in a document that gives it no rights."""
    inert = _CONNECTING.sub(lambda tag: tag[1] + _INERT[tag[2].lower()], clean_text(markup))
    return _DOCUMENT.format(
        policy=escape(_POLICY), title=escape(visible(title)), page=escape(inert),
        when=china_time(page.fetched_at),
        address=escape(page.url),
    )  # fmt: skip
