"""Extraction: body, title, date and the other fields of a page; one technique per file."""

from __future__ import annotations

from qiaocrawl.extract.base import Body, Extractor, extractors
from qiaocrawl.extract.reading import read_page

__all__ = ["Body", "Extractor", "extractors", "read_page"]
