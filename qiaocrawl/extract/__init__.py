"""Extraction: body, title, date and the other fields of a page; one technique per file.

:func:`extract_article` is the door for everyone who has a page and no crawl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qiaocrawl.extract.api import extract_article

__all__ = ["extract_article"]


def __getattr__(name: str) -> Any:
    # On demand: it loads all methods, and most importers need one module of this package.
    if name != "extract_article":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from qiaocrawl.extract.api import extract_article

    return extract_article
