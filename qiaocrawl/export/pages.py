"""A stored page as a file that is safe to open: nothing in it runs, nothing is loaded."""

from __future__ import annotations

import csv
import hashlib
import logging
import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, select

from qiaocrawl.errors import PageStoreError, StorageError
from qiaocrawl.export.base import ExportReport, Progress
from qiaocrawl.export.readable import neutral
from qiaocrawl.extract.structure.html import paragraphs
from qiaocrawl.items import FetchedPage
from qiaocrawl.language import _
from qiaocrawl.reading.records import iter_pages
from qiaocrawl.storage.backup import growing_file
from qiaocrawl.storage.packed_text import unpack_html
from qiaocrawl.storage.page_store.reading import info_member, page_member, picture_member
from qiaocrawl.storage.pages.raw_pages import PAGE_COLUMNS, page_of
from qiaocrawl.storage.pages.revisions import VersionChoice, iter_versions, version_of
from qiaocrawl.storage.schema import article, page_source, revision, url
from qiaocrawl.storage.selection import Selection
from qiaocrawl.storage.values import changes
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
            *PAGE_COLUMNS,
            article.c.title,
            article.c.text,
            article.c.html,
            page_source.c.id,
            article.c.page_source_id,
        )
        .select_from(article)
        .join(page_source, version_of(version))
        .join(url, url.c.id == article.c.url_id)
        .where(article.c.id == article_id)
    ).one_or_none()
    if row is None:
        return ""
    page, title = page_of(c, row[: len(PAGE_COLUMNS)]), str(row.title)
    content_type = page.header("content-type")
    if content_type.partition(";")[0].strip().lower() in _HTML:
        markup = decode_page(page.body, content_type).text
    else:
        title, body = _read_from(c, row)
        markup = f"<h1>{escape(title)}</h1>{body}"
    return sandbox_page(page, title, markup)


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


def sandbox_page(page: FetchedPage, title: str, markup: str) -> str:
    """*markup* of *page* in a document that gives it no rights."""
    inert = _CONNECTING.sub(lambda tag: tag[1] + _INERT[tag[2].lower()], clean_text(markup))
    return _DOCUMENT.format(
        policy=escape(_POLICY),
        title=escape(visible(title)),
        page=escape(inert),
        when=china_time(page.fetched_at),
        address=escape(page.url),
    )


# --- Pages as files in folders that mirror the URL's path (T4), with an index of what is where ----

INDEX = "~index.csv"
_INDEX_COLUMNS = ("path", "url", "status", "content_type", "fetched_at", "truncated")

_MAX_NAME_BYTES = 180
_MAX_FOLDERS = 30
_UNSAFE = re.compile(r"[^A-Za-z0-9._~%=&+,@!()-]")
# Names Windows gives to devices, with any suffix.
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
_EXTENSIONS = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/plain": ".txt",
    "application/json": ".json",
    "application/pdf": ".pdf",
}


def write_files(c: Connection, selection: Selection, out: Path, progress: Progress) -> ExportReport:
    """A folder a host, below it the URL's own folders; ``~index.csv`` lists every file.

    Raises:
        StorageError: *out* is a file or a folder with something in it.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise StorageError(_("folder {out!r} is not empty", out=str(out)))
        return _write_all(c, selection, out, progress)
    except OSError as error:
        raise StorageError(
            _("cannot write below {out!r}: {error}", out=str(out), error=error)
        ) from error


def _write_all(c: Connection, selection: Selection, out: Path, progress: Progress) -> ExportReport:
    written = 0
    with (out / INDEX).open("w", encoding="utf-8-sig", newline="") as file:
        index = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        index.writerow(_INDEX_COLUMNS)
        for page in iter_pages(c, selection):
            path = _write_page(out, page)
            index.writerow(
                [
                    path.as_posix(),
                    neutral(page.url),
                    page.status,
                    neutral(page.header("content-type")),
                    page.fetched_at.isoformat(),
                    int(page.truncated),
                ]
            )
            written += 1
            progress(1)
    return ExportReport(written)


def _write_page(out: Path, page: FetchedPage) -> Path:
    path = mirror_path(page)
    parent = out / path.parent
    if (out / path).exists() or not _can_be_made(out, path.parent):
        # Both /a and /a/b are pages, or two names differ only in what was cut from them.
        path = Path(path.parts[0]) / f"~{_digest(page.url)}{_extension(page)}"
        parent = out / path.parent
    parent.mkdir(parents=True, exist_ok=True)
    # "x": never over another page, and never through a link someone put there.
    with (out / path).open("xb") as file:
        file.write(page.body)
    return path


def _can_be_made(out: Path, folder: Path) -> bool:
    return not any((out / place).is_file() for place in (folder, *folder.parents))


def mirror_path(page: FetchedPage) -> Path:
    """Where *page* is put below the export's folder: ``host/folders/name``.

    The path keeps the URL's escapes; a query becomes part of the name behind ``%3F``. Every
    part is a plain name: no ``.``, ``..``, separator, device name or other host's folder.
    """
    host, _, rest = page.url.partition("://")[2].partition("/")
    path, _, query = rest.partition("?")
    *folders, name = path.split("/")
    host = safe_name(host.rpartition("@")[2], page.url)
    if len(folders) > _MAX_FOLDERS:
        return Path(host, f"~{_digest(page.url)}{_extension(page)}")
    if query or "." not in name:
        name = f"{name or 'index'}{'?' + query if query else ''}{_extension(page)}"
    return Path(host, *(safe_name(part, page.url) for part in (*folders, name)))


def safe_name(part: str, url: str) -> str:
    """*part* of *url* as the name of a file or folder that any system takes for a plain name."""
    name = _UNSAFE.sub(_percent_escape, part) or "%"
    if not name.strip("."):
        name = name.replace(".", "%2E")
    if name[-1] in ".":
        name = name[:-1] + "%2E"
    if name[0] == "~":  # names of our own begin so
        name = "%7E" + name[1:]
    if _DEVICE.match(name):
        name = "_" + name
    if len(name) > _MAX_NAME_BYTES:
        suffix = Path(name).suffix[:8]
        name = f"{name[: _MAX_NAME_BYTES - 30]}~{_digest(url + part)}{suffix}"
    return name


def _percent_escape(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogatepass"))


def _extension(page: FetchedPage) -> str:
    return _EXTENSIONS.get(page.header("content-type").partition(";")[0].strip().lower(), ".html")


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


# --- Pages as a WARC file, which this crawler and any web archive tool can replay -----------------


def write_warc(c: Connection, selection: Selection, out: Path, progress: Progress) -> ExportReport:
    """A ``response`` record a page, gzipped each on its own."""
    written = cut = 0
    with growing_file(out) as part, part.open("wb") as file:
        file.write(info_member(out.name))
        for page in iter_pages(c, selection):
            file.write(page_member(page))
            written += 1
            cut += page.truncated
            progress(1)
    return ExportReport(
        written, (_("{cut} pages had been cut when they were stored", cut=cut),) * bool(cut)
    )


def write_record(page: FetchedPage, out: Path) -> None:
    """Write one *page* as such a file.

    Raises:
        StorageError: the file cannot be written.
    """
    with growing_file(out) as part, part.open("wb") as file:
        file.write(info_member(out.name) + page_member(page))


def write_versions(
    c: Connection, choice: VersionChoice, out: Path, advance: Callable[[int], bool]
) -> tuple[int, int]:
    """Write every chosen version with its picture; returns records, and pages left out unread.

    Raises:
        StorageError: the file cannot be written.
    """
    written = unread = 0
    with growing_file(out) as part, part.open("wb") as file:
        file.write(info_member(out.name))
        for page, picture in iter_versions(c, choice):
            if page is None:
                unread += 1
            else:
                file.write(page_member(page))
                written += 1
            if page is not None and picture is not None:
                file.write(picture_member(page.final_url or page.url, picture))
                written += 1
            if not advance(1):
                break
    return written, unread
