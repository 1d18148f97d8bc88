"""Other extractors behind one function each, for ``benchmarks/extraction.py``.

``pip install -e '.[benchmark]' -c constraints.txt`` brings them. They are imported only when
asked for; one that is not installed raises ImportError and is skipped. All take the decoded
page: decoding is not counted against them, while it is against ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from types import MappingProxyType
from typing import Any

from benchmarks.bodies.score import Found

Peer = Callable[[str, str, str], Found]
"""(source, URL or "", language) -> what was found."""

REFERENCE = "trafilatura"
"""The peer whose time is 1."""

_DAY = re.compile(r"((?:19|20)\d\d)\D{1,3}(\d{1,2})\D{1,3}(\d{1,2})")
_BLOCKS = (
    "address article blockquote br dd div dl dt figcaption h1 h2 h3 h4 h5 h6 li ol p pre "
    "section table td th tr ul"
)


def _trafilatura(**options: bool) -> Peer:
    module = import_module("trafilatura")

    def read(source: str, url: str, language: str) -> Found:
        document = module.bare_extraction(
            source, url=url or None, include_comments=False, with_metadata=True, **options
        )
        if document is None:
            return Found("", "", "", ())
        author = document.author or ""
        return Found(
            document.text or "",
            document.title or "",
            document.date or "",
            tuple(author.split("; ")) if author else (),
        )

    return read


def _trafilatura_text() -> Peer:
    module = import_module("trafilatura")

    def read(source: str, url: str, language: str) -> Found:
        return Found(module.extract(source, url=url or None, include_comments=False) or "")

    return read


def _readability() -> Peer:
    document = import_module("readability").Document
    lxml_html = import_module("lxml.html")

    def read(source: str, url: str, language: str) -> Found:
        article = document(source, url=url or None)
        tree = lxml_html.fromstring(article.summary(html_partial=True))
        return Found(_lines(tree), article.short_title() or "")

    return read


def _lines(tree: Any) -> str:
    """The text below an lxml element, with line ends around its block elements."""
    for element in tree.iter(*_BLOCKS.split()):
        element.text = f"\n{element.text or ''}"
        element.tail = f"\n{element.tail or ''}"
    lines = (line.strip() for line in tree.text_content().split("\n"))
    return "\n".join(filter(None, lines))


def _newspaper() -> Peer:
    article = import_module("newspaper").Article

    def read(source: str, url: str, language: str) -> Found:
        # It asks for an address, and never opens it when the page is given.
        parsed = article(url or "http://example.com/", language=language, fetch_images=False)
        parsed.download(input_html=source)
        parsed.parse()
        day = parsed.publish_date
        return Found(
            parsed.text,
            parsed.title or "",
            day.strftime("%Y-%m-%d") if day else "",
            tuple(_flat(parsed.authors)),
        )

    return read


def _flat(names: Any) -> list[str]:
    """Names out of lists in lists: newspaper4k hands on what a page's JSON-LD has."""
    if isinstance(names, str):
        return [names]
    return [name for part in names for name in _flat(part)] if isinstance(names, list) else []


def _gne() -> Peer:
    extractor = import_module("gne").GeneralNewsExtractor()

    def read(source: str, url: str, language: str) -> Found:
        fields = extractor.extract(source)
        day = _DAY.search(fields.get("publish_time") or "")
        date = "{:0>4}-{:0>2}-{:0>2}".format(*day.groups()) if day else ""
        author = fields.get("author") or ""
        return Found(fields.get("content") or "", fields.get("title") or "", date, (author,))

    return read


def _resiliparse() -> Peer:
    extract = import_module("resiliparse.extract.html2text").extract_plain_text

    def read(source: str, url: str, language: str) -> Found:
        return Found(
            extract(
                source,
                main_content=True,
                preserve_formatting=True,
                alt_texts=False,
                links=False,
                form_fields=False,
                noscript=False,
                list_bullets=False,
            )
        )

    return read


PEERS: MappingProxyType[str, Callable[[], Peer]] = MappingProxyType(
    {
        REFERENCE: _trafilatura,
        "trafilatura-precision": lambda: _trafilatura(favor_precision=True),
        "readability-lxml": _readability,
        "newspaper4k": _newspaper,
        "gne": _gne,
        "resiliparse": _resiliparse,
        # Without title, date and author, which cost it about as much again as the text.
        "trafilatura-text": _trafilatura_text,
    }
)
"""Factories by name."""

USUAL = ("trafilatura", "trafilatura-precision", "readability-lxml", "newspaper4k", "gne",
         "resiliparse")  # fmt: skip
"""What is measured unless others are named."""
