"""PageRank of the crawled graph (Brin and Page 1998), the highest rank first.

As a crawl order after Cho, Garcia-Molina and Page (1998).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.graph.rank_flow import DAMPING, RankFlow
from qiaocrawl.frontier.strategies.ranges import within
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage, strategies

MAX_DAMPING = 0.99


@strategies.register("pagerank")
class PageRank:
    """``PR(a) = (1-d) + d·Σ_i PR(i)/C(i)``, i linking to a, C(i) the links of i.

    Args:
        topic: not asked.
        d: damping in [0, 0.99].

    Raises:
        ConfigError: a damping out of these bounds.
    """

    name: ClassVar[str] = "pagerank"
    page_scorer: ClassVar[str] = ""

    def __init__(self, topic: CrawlTopic, *, d: float = DAMPING) -> None:
        self._flow = RankFlow(within(self.name, "d", d, 0.0, MAX_DAMPING), jump=1.0)
        self.rescore_pages = 1

    def seen(self, node: int, url: str, host: str, depth: int) -> None:
        """A page nothing is known of but that it exists."""
        self._flow.name(node)

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The ranks of the targets of *links* as far as they are known."""
        targets = [link.node for link in links]
        ranks, self.rescore_pages = self._flow.add_page(page.node, 1.0, targets, [1.0] * len(links))
        scores: list[float] = ranks.tolist()
        return scores

    def rescored(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Rank all pages anew, and give the ranks of *nodes*."""
        self._flow.converge()
        return self._flow.ranks(nodes)

    def explain_node(self, node: int) -> Mapping[str, float]:
        """What comes along links, and what the page has by itself."""
        return self._flow.parts(node)
