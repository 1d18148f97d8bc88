"""Deduplication of articles by titles and bodies: judge and remember in one step."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qiaocrawl.dedup.grouping import Grouping
    from qiaocrawl.dedup.title_index import TitleIndex

__all__ = ["Grouping", "TitleIndex"]

_PLACES = {"Grouping": "grouping", "TitleIndex": "title_index"}


def __getattr__(name: str) -> Any:
    # Imported on demand: analysis workers need only the fingerprints of bodies.
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
