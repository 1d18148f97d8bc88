"""What a crawl strategy is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from qiaocrawl.items import Link
from qiaocrawl.registry import Registry


@dataclass(frozen=True, slots=True)
class LinkContext:
    """Where a link was found.

    Attributes:
        depth: links from a start page to the target (a start page itself is 0).
        position: place of the link among those followed on its page, from 0.
        links_on_page: how many links of that page are followed.
        discovered_at: epoch seconds.
        parent_relevance: the page's score for the crawl's topic, in [0, 1].
    """

    depth: int
    position: int
    links_on_page: int
    discovered_at: float
    parent_relevance: float


class Strategy(Protocol):
    """Scores links; the highest score is fetched first, the older of equal scores before."""

    name: str

    def score(self, link: Link, context: LinkContext) -> float:
        """A finite number; its scale is the strategy's own."""
        ...


strategies: Registry[Callable[[], Strategy]] = Registry("strategy", "qiaocrawl.frontier")
