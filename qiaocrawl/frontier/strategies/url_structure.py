"""URL structure (U1-U3): links whose URLs look like those of relevant pages first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.graph.link_graph import RankingPace
from qiaocrawl.frontier.strategies.ranges import within
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage, largest_first, strategies
from qiaocrawl.urls.structure import DEPTH_WEIGHT, FILE_WEIGHT, Examples, UrlStructures
from qiaocrawl.vsm.growing_array import Column

MAX_EXAMPLES = 60
_PARTS = ("host", "directories", "layout")


@strategies.register("url_structure")
class UrlStructure:
    """``score = max s_m(URL, URL of a page judged relevant)``, in [0, 1]; 0 before there is one.

    Compared are the sixty newest relevant structures (in between two rescorings also those
    that have gone since). The weights of a URL's positions start halving from left to right;
    they are learnt anew, from all URLs seen, each time waiting URLs are scored anew.

    Args:
        topic: not asked; the page scorer knows it.
        gamma: share of the URLs a value must exceed to count as frequent, in [0, 1]
            **(ours)**.
        w_f, w_dd: weights of file and same depth at first, in [0, 0.49].

    Raises:
        ConfigError: an option out of these bounds.
    """

    name: ClassVar[str] = "url_structure"
    unit_scores: ClassVar[bool] = True
    page_scorer: ClassVar[str] = ""

    def __init__(
        self,
        topic: CrawlTopic,
        *,
        gamma: float = 0.01,
        w_f: float = FILE_WEIGHT,
        w_dd: float = DEPTH_WEIGHT,
    ) -> None:
        within(self.name, "w_f", w_f, 0.0, 0.49)
        within(self.name, "w_dd", w_dd, 0.0, 0.49)
        self._gamma = within(self.name, "gamma", gamma, 0.0, 1.0)
        self._structures = UrlStructures(w_f, w_dd)
        self._examples = Examples(MAX_EXAMPLES)
        self._of_node = Column(np.int64, -1)
        # By structure: the best likeness, and how many examples it has been compared with.
        self._best = Column(np.float64)
        self._met = Column(np.int64)
        self._pace = RankingPace()
        self.rescore_pages = 1

    def seen(self, node: int, url: str, host: str, depth: int) -> None:
        """One more URL to learn the weights from."""
        # -1 marks a node without a structure: each URL is counted once for the weights.
        if self._of_node.reserve(node + 1)[node] < 0:
            self._of_node.data[node] = self._structures.add(url)

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The similarity of each of *links* to the nearest relevant URL."""
        self.seen(page.node, page.url, page.host, page.depth)
        self.rescore_pages = self._pace.next_step()
        # Relevant pages only are examples, but all URLs count for what is frequent.
        if page.relevant:
            self._examples.add(self._structures, int(self._of_node.data[page.node]))
        for found_link in links:
            self.seen(found_link.node, found_link.link.url, found_link.link.host, page.depth + 1)
        return self._present([found_link.node for found_link in links])

    def rescored(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Learn the weights anew, and compare *nodes* with all examples."""
        self._structures.learn_weights(self._gamma)
        # What was compared by other weights is to be compared from the beginning.
        self._best.data[:] = 0.0
        self._met.data[:] = 0
        # Many URLs share a structure; each is compared once.
        numbers, place = np.unique(self._of_node.data[nodes], return_inverse=True)
        return np.asarray(self._compared(numbers)[place], np.float64)

    def explain_node(self, node: int) -> Mapping[str, float]:
        """The weighted parts of the likeness to the nearest example, the largest first."""
        number = self._of_node.reserve(node + 1)[node]
        if number < 0:
            # A URL no page has led to, and that has never been seen.
            return dict.fromkeys(_PARTS, 0.0)
        parts = self._structures.nearest(np.array([number]), self._examples)[1][0].tolist()
        return largest_first(dict(zip(_PARTS, parts, strict=True)))

    def _present(self, nodes: list[int]) -> list[float]:
        """The scores of *nodes* against the examples there are."""
        if not nodes:
            return []
        size = len(self._structures)
        self._best.reserve(size)
        self._met.reserve(size)
        numbers = self._of_node.data[nodes]
        # Only structures that have not met the newest examples are compared again.
        behind = self._met.data[numbers] < self._examples.ever
        if behind.any():
            self._compared(np.unique(numbers[behind]))
        scores: list[float] = self._best.data[numbers].tolist()
        return scores

    def _compared(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """The best likeness of structures *numbers*, after those they had not met."""
        size = len(self._structures)
        best, met = self._best.reserve(size)[numbers], self._met.reserve(size)[numbers]
        self._structures.raise_to_nearest(numbers, self._examples, met, best)
        self._best.data[numbers] = best
        self._met.data[numbers] = self._examples.ever
        return best
