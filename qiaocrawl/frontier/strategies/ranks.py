"""Orders by ranks of the crawled graph: HITS (1999), PageRank (1998), IPageRank (T7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.frontier.strategies.graph import DAMPING, Authorities, RankFlow
from qiaocrawl.frontier.strategies.strategy import (
    CrawlTopic,
    FoundLink,
    VisitedPage,
    largest_first,
    strategies,
    within,
)
from qiaocrawl.frontier.strategies.words import RW_THRESHOLD as THRESHOLD
from qiaocrawl.frontier.strategies.words import SECOND_LOOK, NearestWordWithTunnels


@strategies.register("hits")
class BestAuthority:
    """``score = authority`` of the target, about [0, 1], in the graph crawled so far.

    With *focus* the links of a page weigh ``1 - focus + focus·relevance of the page``, after
    Bharat and Henzinger (1998): what pages on topic link to, by what their links are worth.

    Args:
        topic: not asked; the page scorer knows it.
        focus: in [0, 1]; 0 is HITS, 1 counts pages by their relevance only.

    Raises:
        ConfigError: a focus out of these bounds.
    """

    name: ClassVar[str] = "hits"
    page_scorer: ClassVar[str] = ""

    def __init__(self, topic: CrawlTopic, *, focus: float = 0.0) -> None:
        self._focus = within(self.name, "focus", focus, 0.0, 1.0)
        self._values = Authorities()
        self.rescore_pages = 1

    # After the first page; then as often as the size of the graph allows.

    def add_node(self, node: int, url: str, host: str, depth: int) -> None:
        """A page nothing is known of but that it exists."""
        self._values.name(node)

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The authorities of the targets of *links* as far as they are known."""
        weight = 1.0 - self._focus + self._focus * page.relevance
        values, self.rescore_pages = self._values.add_page(
            page.node, [link.node for link in links], [weight] * len(links)
        )
        scores: list[float] = values.tolist()
        return scores

    def rescore(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Weigh all pages anew, and give the authorities of *nodes*."""
        self._values.converge()
        return self._values.of(nodes)

    def explain_node(self, node: int) -> Mapping[str, float]:
        """Authority, and what the page is worth as a hub once it is fetched."""
        hub = self._values.hub_of(node)
        parts = {"authority": float(self._values.of(np.array([node]))[0]), "hub": hub}
        return largest_first(parts)


# --- PageRank of the crawled graph (Brin and Page 1998), the highest rank first -------------------
# As a crawl order after Cho, Garcia-Molina and Page (1998).

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

    def add_node(self, node: int, url: str, host: str, depth: int) -> None:
        """A page nothing is known of but that it exists."""
        self._flow.name(node)

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The ranks of the targets of *links* as far as they are known."""
        targets = [link.node for link in links]
        ranks, self.rescore_pages = self._flow.add_page(page.node, 1.0, targets, [1.0] * len(links))
        scores: list[float] = ranks.tolist()
        return scores

    def rescore(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Rank all pages anew, and give the ranks of *nodes*."""
        self._flow.converge()
        return self._flow.ranks(nodes)

    def explain_node(self, node: int) -> Mapping[str, float]:
        """What comes along links, and what the page has by itself."""
        return self._flow.parts(node)


# --- IPageRank (T7): PageRank that flows along relevant links and starts at relevant pages --------


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
