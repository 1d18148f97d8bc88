"""Breadth first: all pages one link away, then all pages two links away."""

from __future__ import annotations

from qiaocrawl.frontier.strategy import LinkContext, strategies
from qiaocrawl.items import Link


@strategies.register("bfs")
class BreadthFirst:
    """``score = -depth``; links of one depth in the order they were found."""

    name = "bfs"

    def score(self, link: Link, context: LinkContext) -> float:
        """Minus the depth."""
        return -float(context.depth)
