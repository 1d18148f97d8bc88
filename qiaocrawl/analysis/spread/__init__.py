"""Spread: who published first, who took it from whom, how far and how fast, with evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.analysis.spread.credits import credits_in
    from qiaocrawl.analysis.spread.edges import Edge, Evidence
    from qiaocrawl.analysis.spread.figures import SpreadFigures, change_reports, spread_figures
    from qiaocrawl.analysis.spread.influence import OutletInfluence, influence_of
    from qiaocrawl.analysis.spread.publication import Change, Publication
    from qiaocrawl.analysis.spread.time_line_picture import time_line_svg
    from qiaocrawl.analysis.spread.tree import FirstPublisher, SpreadTree, spread_tree
    from qiaocrawl.analysis.spread.tree_picture import tree_svg

__all__ = [
    "Change",
    "Edge",
    "Evidence",
    "FirstPublisher",
    "OutletInfluence",
    "Publication",
    "SpreadFigures",
    "SpreadTree",
    "change_reports",
    "credits_in",
    "influence_of",
    "spread_figures",
    "spread_tree",
    "time_line_svg",
    "tree_svg",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "credits": ("credits_in",),
        "edges": ("Edge", "Evidence"),
        "figures": ("SpreadFigures", "change_reports", "spread_figures"),
        "influence": ("OutletInfluence", "influence_of"),
        "publication": ("Change", "Publication"),
        "time_line_picture": ("time_line_svg",),
        "tree": ("FirstPublisher", "SpreadTree", "spread_tree"),
        "tree_picture": ("tree_svg",),
    },
)
