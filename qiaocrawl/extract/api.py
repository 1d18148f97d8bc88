"""``extract_article``: an article out of bytes, for everyone who has a page and no crawl."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from qiaocrawl.extract.attachments import attachments_of
from qiaocrawl.extract.base import Extractor, extractors
from qiaocrawl.extract.extraction import Extraction, Field, PageKind
from qiaocrawl.extract.fields.metadata import main_links_of
from qiaocrawl.extract.kind_features import why_not_html
from qiaocrawl.extract.page import ExtractedPage, extract_page
from qiaocrawl.page.page import parse_page
from qiaocrawl.text.normalise import clean_text
from qiaocrawl.urls import canonical_url

MAX_BODY_BYTES = 10 * 1024 * 1024
"""What the crawl fetches of a page at most; of more, the rest is left unread and that is said."""
KIND = "page_kind"
"""The field whose origin says in words why the page is of this kind."""
_KIND_CONFIDENCE = 0.9
"""The judgement gives no measure of its own; a constant **(ours)**."""
LIMITS = "limits"
"""The field that names, in words, what may have cost text; absent when nothing did."""


def extract_article(
    body: bytes,
    url: str = "",
    content_type: str = "",
    method: str = "blend",
    *,
    extras: bool = True,
) -> Extraction:
    """Text, title, date, authors, source and the other fields of a page.

    No bytes make it raise, and its time and memory are bounded: of a body only the first 10
    MiB are read, and markup that would cost an HTML5 parser quadratic time is cut down first.
    What may have cost text (such a limit, blocks left out, characters that could not be
    decoded) is named in ``fields["limits"]``, a tuple of texts. No text of the result holds
    NUL, other control characters, lone surrogates or noncharacters.

    Relative times on the page (3小时前) count from now.

    Args:
        body: the page as it came, after content decoding.
        url: where it came from; it settles relative links and is a witness of the date. ""
            or no URL at all will do.
        content_type: the Content-Type header, or "".
        method: name of a body extractor; :data:`qiaocrawl.extract.base.extractors` has the names.
        extras: also what reads the body once more: ``html``, ``comments``, ``engagement`` and
            ``fields["main_links"]`` and ``fields["attachments"]``; without them these are empty,
            and a page costs less.

    Raises:
        ConfigError: no extractor is called *method*.
        TypeError: *body* is no bytes, such as a text that was decoded already.
    """
    return examine(body, url, content_type, method, extras=extras)[1]


def examine(
    body: bytes,
    url: str,
    content_type: str,
    method: str,
    extractor: Extractor | None = None,
    *,
    extras: bool = True,
) -> tuple[ExtractedPage | None, Extraction]:
    """As :func:`extract_article`, with the extracted page behind it; None for what is no HTML.

    *extractor* is the one called *method* with options of its own; None for its defaults.

    Raises:
        ConfigError: no extractor is called *method*.
        TypeError: *body* is no bytes.
    """
    given: object = body
    if not isinstance(given, bytes):
        raise TypeError(f"body must be bytes, got {type(given).__name__}")
    extractor = extractor or extractors.get(method)
    not_html = why_not_html(body, content_type)
    if not_html:
        fields = {KIND: Field(str(PageKind.OTHER), _clean(f"bytes: {not_html}"), 1.0)}
        return None, Extraction(method=method, fields=fields)
    page = parse_page(body[:MAX_BODY_BYTES], content_type, url if canonical_url(url) else "")
    extracted = extract_page(page, method, datetime.now(UTC), extractor)
    cut = len(body) > MAX_BODY_BYTES
    return extracted, _extraction(extracted, method, cut=cut, extras=extras)


def _extraction(extracted: ExtractedPage, method: str, *, cut: bool, extras: bool) -> Extraction:
    """*extracted* as an :class:`Extraction`; *cut* says that the body went on."""
    metadata, kind = extracted.metadata, extracted.judgement.kind
    limits = extracted.doubts
    if cut:
        limits = (*limits, f"only the first {MAX_BODY_BYTES} bytes were read")
    # A plain dict: a result can go from one process to another.
    fields = {
        name: Field(_clean(field.value), _clean(field.origin), field.confidence)
        for name, field in metadata.fields.items()
    }
    links = main_links_of(extracted.page, extracted.body) if extras else ()
    if links:
        fields["main_links"] = Field(_clean(links), "links in the body", 0.9)
    files = attachments_of(extracted.page, extracted.body) if extras and extracted.text else ()
    if files:
        fields["attachments"] = Field(_clean(files), "links to files in the body or below", 0.8)
    fields[KIND] = Field(str(kind), _clean(extracted.judgement.reason), _KIND_CONFIDENCE)
    if limits:
        fields[LIMITS] = Field(_clean(limits), "parser", 1.0)
    return Extraction(
        text=extracted.text,
        title=_clean(metadata.title),
        published_at=metadata.published_at,
        authors=_clean(metadata.authors),
        source=_clean(metadata.source),
        page_kind=kind,
        confidence=min(max(extracted.body.score, 0.0), 1.0) if extracted.text else 0.0,
        method=method,
        fields=fields,
        html=extracted.html if extras else "",
        engagement=extracted.engagement if extras else {},
        comments=extracted.comments(datetime.now(UTC)) if extras else (),
    )


def _clean(value: Any) -> Any:
    """*value* with every text in it cleaned; tuples and their parts too."""
    if isinstance(value, str):
        return value if value.isprintable() else clean_text(value)
    if isinstance(value, tuple):
        parts = [_clean(part) for part in value]
        # A named tuple takes its parts one by one.
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value
