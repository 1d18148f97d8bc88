"""Depth first: the first link of the page fetched last, as Q1 crawls authoritative sites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage, strategies

# Links of one page are spread over this share of a second, the first one highest. Pages of
# one process follow each other by more; a double holds epoch seconds to 0.24 microseconds.
_SPREAD_SECONDS = 0.0005


@strategies.register("dfs")
class DepthFirst:
    """``score = time of discovery``, so the newest page's links come first.

    Wall-clock time keeps the order right after a restart, to the resolution of half a
    millisecond; links found within it by several workers may change places.
    """

    name: ClassVar[str] = "dfs"
    page_scorer: ClassVar[str] = ""
    is_instant: ClassVar[bool] = True

    def __init__(self, topic: CrawlTopic) -> None:
        """Depth first asks nothing of *topic*."""

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """Epoch seconds, the first link of a page a little above the others."""
        return [_found_at(page, link) for link in links]

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The time of discovery."""
        return {"found at": _found_at(page, link)}


def _found_at(page: VisitedPage, link: FoundLink) -> float:
    return page.at + _SPREAD_SECONDS * (1.0 - link.position / max(link.links_on_page, 1))
