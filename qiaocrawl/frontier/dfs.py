"""Depth first: the first link of the page fetched last, as Q1 crawls authoritative sites."""

from __future__ import annotations

from qiaocrawl.frontier.strategy import LinkContext, strategies
from qiaocrawl.items import Link

# Links of one page are spread over this share of a second, the first one highest. Pages of
# one process follow each other by more; a double holds epoch seconds to 0.24 microseconds.
_SPREAD_SECONDS = 0.0005


@strategies.register("dfs")
class DepthFirst:
    """``score = time of discovery``, so the newest page's links come first.

    Wall-clock time keeps the order right after a restart, to the resolution of half a
    millisecond; links found within it by several workers may change places.
    """

    name = "dfs"

    def score(self, link: Link, context: LinkContext) -> float:
        """Epoch seconds, the first link of a page a little above the others."""
        share = 1.0 - context.position / max(context.links_on_page, 1)
        return context.discovered_at + _SPREAD_SECONDS * share
