"""A page: decoded once, parsed once, read by every later step; :func:`parse_page` is the door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qiaocrawl.page.page import parse_page

__all__ = ["parse_page"]


def __getattr__(name: str) -> Any:
    # On demand: who reads blocks alone loads no parser of HTML.
    if name != "parse_page":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from qiaocrawl.page.page import parse_page

    return parse_page
