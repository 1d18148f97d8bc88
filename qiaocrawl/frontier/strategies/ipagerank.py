"""IPageRank (T7): PageRank that flows along relevant links and starts at relevant pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.graph.rank_flow import DAMPING, RankFlow
from qiaocrawl.frontier.strategies.pagerank import MAX_DAMPING, PageRank
from qiaocrawl.frontier.strategies.ranges import within
from qiaocrawl.frontier.strategies.rw import THRESHOLD
from qiaocrawl.frontier.strategies.rwb import SECOND_LOOK, NearestWordWithTunnels
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage, strategies


@strategies.register("ipagerank")
class TopicPageRank(PageRank):
    """``IPR(a) = (1-d)·ρ(a) + d·Σ_i IPR(i)·w(i→a) / Σ_b w(i→b)`` **(ours; the chapter is lost)**.

    ρ is the relevance of a fetched page (0 for others), w the RWB relevance of a link, at
    least *floor*: a page on topic passes something on along links that say nothing. RWB's second
    look takes ρ for the page **(ours)**.

    Args:
        topic: to which words are compared.
        d: damping in [0, 0.99].
        c: RWB's threshold in [0, 1].
        stay: RWB's d, the share of the low links that stay low, in [0, 1].
        floor: what every link weighs at least, in [0, 1].

    Raises:
        ConfigError: an option out of these bounds.
    """

    name: ClassVar[str] = "ipagerank"
    page_scorer: ClassVar[str] = "vsm_breadth"

    def __init__(
        self,
        topic: CrawlTopic,
        *,
        d: float = DAMPING,
        c: float = THRESHOLD,
        stay: float = SECOND_LOOK,
        floor: float = 0.05,
    ) -> None:
        self._flow = RankFlow(within(self.name, "d", d, 0.0, MAX_DAMPING), jump=0.0)
        self._floor = within(self.name, "floor", floor, 0.0, 1.0)
        # Checked here, since RWB calls this option `d` and its own error would name that.
        within(self.name, "c", c, 0.0, 1.0)
        within(self.name, "stay", stay, 0.0, 1.0)
        self._links = NearestWordWithTunnels(topic, c=c, d=stay)
        self.rescore_pages = 1

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The ranks of the targets of *links* as far as they are known, 0 or more."""
        weights = [max(weight, self._floor) for weight in self._links.score(page, links)]
        targets = [link.node for link in links]
        ranks, self.rescore_pages = self._flow.add_page(page.node, page.relevance, targets, weights)
        scores: list[float] = ranks.tolist()
        return scores
