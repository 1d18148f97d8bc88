"""Shark-Search (Hersovici and others 1998): relevance inherited, fading, and read off anchors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.ranges import within
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage, largest_first, strategies
from qiaocrawl.items import Link
from qiaocrawl.vsm.growing_array import Column

_Values = TypeVar("_Values", float, NDArray[np.float64])
NEVER = 1 << 62
"""Pages after which to rescore, for a strategy whose scores of waiting URLs only rise."""


@strategies.register("shark_search")
class SharkSearch:
    """``score = γ·inherited + (1-γ)·neighbourhood``, in [0, 1].

    ``inherited = δ·relevance of the page``, or, where that is 0, ``δ·inherited of the page``.
    ``neighbourhood = β·anchor + (1-β)·context``; ``anchor`` is the similarity of the anchor
    text, ``context`` 1 where that is above 0, else the similarity of the text around it. Of
    several links to a page the best counts; a start page has inherited nothing.

    Args:
        topic: to which texts are compared.
        decay: δ, in [0, 1].
        beta: in [0, 1].
        gamma: in [0, 1].

    Raises:
        ConfigError: an option out of these bounds.
    """

    name: ClassVar[str] = "shark_search"
    unit_scores: ClassVar[bool] = True
    page_scorer: ClassVar[str] = "vsm_breadth"

    def __init__(
        self, topic: CrawlTopic, *, decay: float = 0.5, beta: float = 0.8, gamma: float = 0.8
    ) -> None:
        self._decay = within(self.name, "decay", decay, 0.0, 1.0)
        self._beta = within(self.name, "beta", beta, 0.0, 1.0)
        self._gamma = within(self.name, "gamma", gamma, 0.0, 1.0)
        self._topic = topic
        self._inherited = Column(np.float64)
        self._near = Column(np.float64)
        self.rescore_pages = NEVER

    def seen(self, node: int, url: str, host: str, depth: int) -> None:
        """A page that has inherited nothing."""
        self._inherited.reserve(node + 1)
        self._near.reserve(node + 1)

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The best score of every target so far, in the order of *links*."""
        highest = max((link.node for link in links), default=page.node)
        # Makes room for all nodes up to the highest.
        self.seen(max(page.node, highest), "", "", 0)
        inherited, near = self._inherited.data, self._near.data
        source = page.relevance if page.relevance > 0 else float(inherited[page.node])
        handed_on = self._decay * source
        scores = []
        for found_link in links:
            node = found_link.node
            value = self._neighbourhood(found_link.link)
            score = self._potential(handed_on, value)
            # Inheritance and words are kept as a pair: both are of the same, best link.
            best = self._potential(inherited[node], near[node])
            if score > best:
                inherited[node], near[node] = handed_on, value
            scores.append(float(max(score, best)))
        return scores

    def rescored(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The best scores of *nodes* so far."""
        inherited, near = self._inherited.data[nodes], self._near.data[nodes]
        return self._potential(inherited, near)

    def explain_node(self, node: int) -> Mapping[str, float]:
        """What the page's best link inherited, and what its words say."""
        self.seen(node, "", "", 0)
        parts = {
            "inherited": self._gamma * float(self._inherited.data[node]),
            "anchor and context": (1.0 - self._gamma) * float(self._near.data[node]),
        }
        return largest_first(parts)

    def _potential(self, inherited: _Values, near: _Values) -> _Values:
        return self._gamma * inherited + (1.0 - self._gamma) * near

    def _neighbourhood(self, link: Link) -> float:
        anchor = self._topic.similarity(link.anchor)
        context = 1.0 if anchor > 0 else self._topic.similarity(link.context)
        return self._beta * anchor + (1.0 - self._beta) * context
