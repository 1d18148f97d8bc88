"""Extraction: body, title, date and the other fields of a page; one technique per file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.extract.api import extract_article
    from qiaocrawl.extract.base import Body, Extractor, extractors
    from qiaocrawl.extract.extraction import Extraction, Field, PageKind
    from qiaocrawl.extract.page import analyse_html
    from qiaocrawl.extract.sites.boilerplate_model import BoilerplateModel

__all__ = [
    "Body",
    "Extraction",
    "Extractor",
    "Field",
    "PageKind",
    "BoilerplateModel",
    "extract_article",
    "extractors",
    "analyse_html",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "api": ("extract_article",),
        "base": ("Body", "Extractor", "extractors"),
        "extraction": ("Extraction", "Field", "PageKind"),
        "page": ("analyse_html",),
        "sites.boilerplate_model": ("BoilerplateModel",),
    },
)
