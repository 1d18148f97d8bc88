"""Other projects' Markdown of a page, for ``benchmarks/structure.py``; imported when asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

Writer = Callable[[str, str], str]
"""(source, URL or "") -> Markdown."""


def _trafilatura() -> Writer:
    module = import_module("trafilatura")

    def write(source: str, url: str) -> str:
        return module.extract(
            source, url=url or None, output_format="markdown", include_comments=False,
            include_tables=True, include_links=True, include_images=True, include_formatting=True,
        ) or ""  # fmt: skip

    return write


def _html2text_of_readability() -> Writer:
    document = import_module("readability").Document
    html2text = import_module("html2text")

    def write(source: str, url: str) -> str:
        writer = html2text.HTML2Text(baseurl=url)
        writer.body_width = 0
        writer.pad_tables = False
        return str(writer.handle(document(source, url=url or None).summary(html_partial=True)))

    return write


def _magic_html() -> Writer:
    extractor = import_module("magic_html").GeneralExtractor()
    html2text = import_module("html2text")

    def write(source: str, url: str) -> str:
        writer = html2text.HTML2Text(baseurl=url)
        writer.body_width = 0
        return str(writer.handle(extractor.extract(source, base_url=url)["html"]))

    return write


WRITERS: dict[str, Callable[[], Writer]] = {
    "trafilatura": _trafilatura,
    "readability+html2text": _html2text_of_readability,
    "magic-html+html2text": _magic_html,
}
"""Factories by name."""
