"""Extraction: body, title, date and the other fields of a page; one technique per file."""

from __future__ import annotations

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
