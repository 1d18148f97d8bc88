"""Files as pages: the analysis of a PDF, Word or Excel file; the text of an operator's own."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, unquote

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.documents.document import Document, DocumentError
from qiaocrawl.items import FetchedPage, Outcome, PageAnalysis, PageText
from qiaocrawl.items.article import DOCUMENT, Article
from qiaocrawl.language import _
from qiaocrawl.page.page import parse_page
from qiaocrawl.text.charset import decode_page
from qiaocrawl.text.dates import find_date
from qiaocrawl.text.normalise import clean_text, without_blanks
from qiaocrawl.urls import canonical_url

_HEAD_BYTES = 1024
_MAX_JUDGED_CHARS = 100_000
_TITLE_LINES = 8
_TITLE_CHARS = 80
_DATE_LINES = 10
_DATE_CHARS = 40
_OF_PROGRAMS = re.compile(
    r"^Microsoft (?:Word|Excel|PowerPoint) - |\.(?:docx?|xlsx?|pdf|wps)$", re.I
)
_NO_TITLE = re.compile(
    r"^(?:第?\s*[\d一二三四五六七八九十]+\s*页?|附件\s*\d*\s*[:：]?|[-—\s\d/.年月日]+)$"
)

_PARTS = {"word/document.xml": "docx", "xl/workbook.xml": "xlsx"}


def document_kind(body: bytes) -> str:
    """``pdf``, ``docx``, ``xlsx``, or "" for anything else, whatever its name says."""
    if b"%PDF-" in body[:_HEAD_BYTES]:
        return "pdf"
    return _office_kind(body) if body.startswith(b"PK\x03\x04") else ""


def _office_kind(body: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return ""
    return next((kind for part, kind in _PARTS.items() if part in names), "")


def _read(kind: str, body: bytes) -> Document:
    # Imported when the first file comes: together they take a quarter of a second, which every
    # process that analyses pages would pay for.
    if kind == "pdf":
        from qiaocrawl.extract.documents.pdf import read_pdf

        return read_pdf(body)
    from qiaocrawl.extract.documents.office import read_docx, read_xlsx

    return read_docx(body) if kind == "docx" else read_xlsx(body)


def analyse_document(fetched: FetchedPage) -> PageAnalysis | None:
    """The analysis of a file; None for what is none of these. Scores stay empty.

    A scanned file is SCANNED, one that cannot be read NOT_HTML; the reason says more.
    """
    kind = document_kind(fetched.body)
    if not kind:
        return None
    if fetched.connection_lost:
        return _none(Outcome.NOT_HTML, f"{kind}: the connection was lost before its end")
    if fetched.truncated:
        return _none(Outcome.NOT_HTML, f"{kind}: cut off at the size limit")
    try:
        document = _read(kind, fetched.body)
    except DocumentError as error:
        return _none(Outcome.NOT_HTML, clean_text(str(error)))
    if document.is_scanned:
        return _none(Outcome.SCANNED, "scanned document: pictures of pages without text")
    if not document.lines:
        return _none(Outcome.NOT_ARTICLE, f"{kind}: no text in it")
    return _document_analysis(fetched, kind, document)


def _none(outcome: Outcome, reason: str) -> PageAnalysis:
    return PageAnalysis(outcome, None, (), "", reason=reason)


def _document_analysis(fetched: FetchedPage, kind: str, document: Document) -> PageAnalysis:
    address = fetched.final_url or fetched.url
    url = canonical_url(address) or address
    title = _title(document, url)
    text = clean_text("\n".join(_without(document.lines, title)))
    published = _date(document, fetched.fetched_at)
    article = Article(
        url=url,
        title=title,
        text=text,
        method=kind,
        kind=DOCUMENT,
        html=clean_text(document.html),
        published_at=published.astimezone(UTC) if published is not None else None,
    )
    return PageAnalysis(
        Outcome.ARTICLE,
        article,
        (),
        "",
        reason="; ".join(document.notes),
        page_title=title,
        words=PageText(title, text[:_MAX_JUDGED_CHARS], url=url),
    )


def _title(document: Document, url: str) -> str:
    """The declared title where the file shows it, else its first line that can be one.

    Programs declare the names of files and of other documents as titles. **(ours)**
    """
    declared = clean_text(_OF_PROGRAMS.sub("", document.title)).strip()
    head = document.lines[:_TITLE_LINES]
    if declared and without_blanks(declared) in without_blanks("".join(head)):
        return declared
    lines = (line for line in head if len(line) <= _TITLE_CHARS and not _NO_TITLE.match(line))
    first = next((line for line in lines if sum(map(str.isalpha, line)) > 3), "")
    name = unquote(url.rpartition("/")[2].partition("?")[0].rpartition(".")[0])
    return clean_text(first or declared or name)


def _without(lines: Sequence[str], title: str) -> Sequence[str]:
    at = next((at for at, line in enumerate(lines[:_TITLE_LINES]) if line == title), -1)
    return lines if at < 0 or len(lines) == 1 else [*lines[:at], *lines[at + 1 :]]


def _date(document: Document, now: datetime) -> datetime | None:
    """The date below the text, else above it, else when the file was made.

    The signature's line of a Chinese document holds its date and nothing else. **(ours)**
    """
    lines = document.lines
    for line in (*reversed(lines[-_DATE_LINES:]), *lines[:_DATE_LINES]):
        found = find_date(line, now) if len(line) <= _DATE_CHARS else None
        if found is not None:
            return found
    created = document.created_at
    return created if created is not None and created <= now else None


# --- The text of a file of an operator: plain, a web page, Word or PDF ----------------------------

PLAIN, PAGES, DOCUMENTS = (
    frozenset({".txt", ".md"}),
    frozenset({".html", ".htm"}),
    frozenset({".pdf", ".docx", ".xlsx"}),
)
MAX_BYTES = 10 * 1024 * 1024


def text_files(folder: Path) -> list[Path]:
    """The files of *folder* and what is below it that :func:`read_text_file` reads, by name."""
    known = PLAIN | PAGES | DOCUMENTS
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in known and not path.name.startswith((".", "~$"))
    )


def require_size(path: Path) -> None:
    """Raise ConfigError where *path* has more than is read."""
    if path.stat().st_size > MAX_BYTES:
        raise ConfigError(_("{path!r} has more than 10 MiB", path=str(path)))


def read_text_file(path: Path) -> PageText:
    """Title, text and, of a web page that tells it, address of a file.

    The first line of a plain file is its title.

    Raises:
        ConfigError: it is too large, or cannot be read; the message names it.
    """
    require_size(path)
    return _text_of(str(path), path.absolute().as_uri(), path.read_bytes())


def read_text(name: str, body: bytes) -> PageText:
    """As :func:`read_text_file`, of the content of a file that somebody sent as *name*.

    Raises:
        ConfigError: it is too large, or cannot be read; the message has the name.
    """
    if len(body) > MAX_BYTES:
        raise ConfigError(_("{path!r} has more than 10 MiB", path=name))
    return _text_of(name, f"file:///{quote(name)}", body)


def _text_of(name: str, uri: str, body: bytes) -> PageText:
    suffix = Path(name).suffix.lower()
    if suffix in DOCUMENTS:
        return _document(name, uri, body)
    if suffix in PAGES:
        article, page = extract_article(body), parse_page(body, "", uri)
        address = page.canonical_link or canonical_url(page.meta.get("og:url", "")) or ""
        return PageText(article.title, article.text, url=address)
    title, _newline, rest = decode_page(body).text.strip().partition("\n")
    return PageText(title.lstrip("# ").strip(), rest)


def _document(name: str, uri: str, body: bytes) -> PageText:
    fetched = FetchedPage(uri, uri, 200, (), body, datetime.now(UTC))
    analysis = analyse_document(fetched)
    if analysis is None or analysis.words is None:
        no_file = _("is no {suffix} file", suffix=Path(name).suffix)
        reason = analysis.reason if analysis is not None else no_file
        raise ConfigError(f"{name!r}: {reason}")
    return PageText(analysis.words.title, analysis.words.text)
