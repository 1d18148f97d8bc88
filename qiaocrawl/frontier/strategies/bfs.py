"""Breadth first: all pages one link away, then all pages two links away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage, strategies


@strategies.register("bfs")
class BreadthFirst:
    """``score = -depth``; links of one depth in the order they were found."""

    name: ClassVar[str] = "bfs"
    page_scorer: ClassVar[str] = ""
    is_instant: ClassVar[bool] = True

    def __init__(self, topic: CrawlTopic) -> None:
        """Breadth first asks nothing of *topic*."""

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """Minus the depth of the links."""
        return [-float(page.depth + 1)] * len(links)

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The depth."""
        return {"minus depth": -float(page.depth + 1)}
