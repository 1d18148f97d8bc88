"""A page: decoded once, parsed once, read by every later step."""

from __future__ import annotations

from qiaocrawl.page.lines import SourceLines, source_lines
from qiaocrawl.page.links import LinkHarvest
from qiaocrawl.page.page import Page, parse_page

__all__ = ["LinkHarvest", "Page", "SourceLines", "parse_page", "source_lines"]
