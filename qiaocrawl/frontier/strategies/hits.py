"""HITS on the crawled graph (Kleinberg 1999), the best authority first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.graph.authorities import Authorities
from qiaocrawl.frontier.strategies.ranges import within
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage, largest_first, strategies


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

    def seen(self, node: int, url: str, host: str, depth: int) -> None:
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

    def rescored(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Weigh all pages anew, and give the authorities of *nodes*."""
        self._values.converge()
        return self._values.of(nodes)

    def explain_node(self, node: int) -> Mapping[str, float]:
        """Authority, and what the page is worth as a hub once it is fetched."""
        hub = self._values.hub_of(node)
        parts = {"authority": float(self._values.of(np.array([node]))[0]), "hub": hub}
        return largest_first(parts)
