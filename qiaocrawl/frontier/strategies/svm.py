"""SVM + HITS (O5's baseline): a learned judge of pages, and the authorities of what it likes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.graph.authorities import Authorities
from qiaocrawl.frontier.strategies.ranges import within
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage, largest_first, strategies
from qiaocrawl.items import Link
from qiaocrawl.vsm.growing_array import Column

_MAX_WEIGHT = 10.0


@strategies.register("svm")
class SvmAndAuthorities:
    """``score = P(page) + w·sim(link) + v·authority(target)`` **(form ours)**.

    P is the probability of a support vector machine that the page with the link is on topic
    (page scorer ``svm``: trained on samples and seed pages), sim the cosine of the topic with
    the anchor text or the text around it, whichever is more. Authorities are those of HITS
    where the links of a page weigh as much as P says. Of several links to a page the best
    counts.

    Args:
        topic: to which texts are compared.
        w: weight of the link's words, in [0, 10].
        v: weight of the authority, in [0, 10].

    Raises:
        ConfigError: a weight out of these bounds.
    """

    name: ClassVar[str] = "svm"
    page_scorer: ClassVar[str] = "svm"

    def __init__(self, topic: CrawlTopic, *, w: float = 0.5, v: float = 0.25) -> None:
        self._word_weight = within(self.name, "w", w, 0.0, _MAX_WEIGHT)
        self._authority_weight = within(self.name, "v", v, 0.0, _MAX_WEIGHT)
        self._topic = topic
        self._parent = Column(np.float64)
        self._words = Column(np.float64)
        self._values = Authorities()
        self.rescore_pages = 1

    def seen(self, node: int, url: str, host: str, depth: int) -> None:
        """A page nothing is known of but that it exists."""
        self._values.name(node)
        self._parent.reserve(node + 1)
        self._words.reserve(node + 1)

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The scores of the targets of *links* by all links to them so far."""
        nodes = [link.node for link in links]
        values, self.rescore_pages = self._values.add_page(
            page.node, nodes, [page.relevance] * len(links)
        )
        self.seen(max([page.node, *nodes]), "", "", 0)
        parent, words = self._parent.data, self._words.data
        # Kept as a pair of the same link, as in Shark-Search.
        for found_link in links:
            word_score = self._word_weight * self._similarity(found_link.link)
            if page.relevance + word_score > parent[found_link.node] + words[found_link.node]:
                parent[found_link.node], words[found_link.node] = page.relevance, word_score
        scores = parent[nodes] + words[nodes] + self._authority_weight * values
        scored: list[float] = scores.tolist() if nodes else []
        return scored

    def rescored(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Weigh the graph anew, and give the scores of *nodes*."""
        self._values.converge()
        best = self._parent.data[nodes] + self._words.data[nodes]
        return np.asarray(best + self._authority_weight * self._values.of(nodes), np.float64)

    def explain_node(self, node: int) -> Mapping[str, float]:
        """The three parts for the best link, the largest first."""
        self.seen(node, "", "", 0)
        authority = float(self._values.of(np.array([node]))[0])
        parts = {
            "probability of the page": float(self._parent.data[node]),
            "words of the link": float(self._words.data[node]),
            "authority": self._authority_weight * authority,
        }
        return largest_first(parts)

    def _similarity(self, link: Link) -> float:
        return max(self._topic.similarity(link.anchor), self._topic.similarity(link.context))
