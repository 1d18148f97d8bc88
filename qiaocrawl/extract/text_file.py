"""The text of a file of an operator: plain, a web page, Word or PDF."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.api import extract_article
from qiaocrawl.extract.documents.analysis import analyse_document
from qiaocrawl.items import FetchedPage, PageText
from qiaocrawl.language import _
from qiaocrawl.page.page import parse_page
from qiaocrawl.text.charset import decode_page
from qiaocrawl.urls import canonical_url

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
    return _text_of(str(path), path.as_uri(), path.read_bytes())


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
