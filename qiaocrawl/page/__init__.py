"""A page: decoded once, parsed once, read by every later step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.page.lines import SourceLines, source_lines
    from qiaocrawl.page.links import LinkHarvest
    from qiaocrawl.page.page import Page, parse_page

__all__ = ["LinkHarvest", "Page", "SourceLines", "parse_page", "source_lines"]

__getattr__ = lazy_exports(
    __name__,
    {
        "lines": ("SourceLines", "source_lines"),
        "links": ("LinkHarvest",),
        "page": ("Page", "parse_page"),
    },
)
