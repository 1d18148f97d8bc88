"""Persons, places and organisations of texts, with the names they go by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.analysis.entities.entity import Entity
    from qiaocrawl.analysis.entities.gazetteers import Gazetteers, default_gazetteers, gazetteers_of
    from qiaocrawl.analysis.entities.places import Place, resolve_place
    from qiaocrawl.analysis.entities.recognition import entities_of

__all__ = [
    "Entity",
    "Gazetteers",
    "Place",
    "default_gazetteers",
    "entities_of",
    "gazetteers_of",
    "resolve_place",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "entity": ("Entity",),
        "gazetteers": ("Gazetteers", "default_gazetteers", "gazetteers_of"),
        "places": ("Place", "resolve_place"),
        "recognition": ("entities_of",),
    },
)
