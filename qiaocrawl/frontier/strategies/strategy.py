"""The contract of a crawl strategy, and the records of pages and links it gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.items import Link
from qiaocrawl.language import N_
from qiaocrawl.registry import Registry


@dataclass(frozen=True, slots=True)
class VisitedPage:
    """A fetched page as a strategy sees it.

    Attributes:
        url: canonical.
        depth: links from a start page; a start page itself is 0.
        relevance: for the crawl's topic, in [0, 1], by the page scorer the strategy names.
        relevant: that scorer's verdict.
        at: when it was fetched, in epoch seconds.
        node: its number in the crawl's graph; -1 where none is kept.
    """

    url: str
    host: str
    depth: int
    relevance: float
    relevant: bool
    at: float
    node: int = -1


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A link where it was found.

    Attributes:
        link: with anchor text, context and the other extended metadata (T5).
        position: place among the links followed on its page, from 0.
        links_on_page: how many links of that page are followed.
        node: number of its target in the crawl's graph; -1 where none is kept.
    """

    link: Link
    position: int
    links_on_page: int
    node: int = -1


class Strategy(Protocol):
    """Scores the links of a page by what is known of page and link alone.

    The highest score is fetched first, the older of equal scores before. Of several links to
    one URL the highest score counts. ``unit_scores = True`` on a class says that its scores lie
    in [0, 1] and mean the same throughout a crawl, so that a threshold does; ``is_instant = True``,
    that scores are no work (no word is looked at), so that no thread is kept for them.
    """

    name: ClassVar[str]
    page_scorer: ClassVar[str]
    """The page scorer whose judgement it wants; "" takes the operator's choice."""

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """A number for each of *links*, on the strategy's own scale; PRUNED leaves it out."""
        ...

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The parts the link's score is made of, by name."""
        ...


@runtime_checkable
class LearningStrategy(Protocol):
    """A strategy that remembers the graph, so that scores change after a URL is queued.

    It is told of pages in the order in which they were fetched, after a restart as well.
    """

    name: ClassVar[str]
    page_scorer: ClassVar[str]
    rescore_pages: int
    """Scores of waiting URLs are asked for again after this many pages."""

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """Learn from *page* and score its *links*; every node is that of the crawl's graph."""
        ...

    def seen(self, node: int, url: str, host: str, depth: int) -> None:
        """A start page, or what waits without a known link to it."""
        ...

    def rescored(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The scores of waiting *nodes* by what is known now, in their order."""
        ...

    def explain_node(self, node: int) -> Mapping[str, float]:
        """The parts the present score of *node* is made of, by name, the largest first."""
        ...


@runtime_checkable
class Trainable(Protocol):
    """A learning strategy that can go on with what a former crawl has learnt.

    A crawl loads the model first, then tells the strategy again of the pages of the log. While
    ``replaying`` is set, those are pages the model has learnt from already: they rebuild the
    graph, and must teach nothing a second time.
    """

    replaying: bool

    def save(self) -> bytes:
        """What was learnt, in a form of its own that names itself and its version; no pickle."""
        ...

    def load(self, data: bytes) -> None:
        """Begin with what :meth:`save` wrote, before the first page.

        Raises:
            ModelError: *data* is damaged or another's; the strategy is as it was before.
        """
        ...


class StrategyFactory(Protocol):
    """What is registered: a class, made once per crawl."""

    def __call__(self, topic: CrawlTopic) -> Strategy | LearningStrategy:
        """A strategy for a crawl of *topic*."""
        ...


def largest_first(parts: Mapping[str, float]) -> dict[str, float]:
    """The parts of a score as they are explained."""
    return dict(sorted(parts.items(), key=lambda part: -part[1]))


strategies: Registry[StrategyFactory] = Registry(
    N_("strategy"), "qiaocrawl.frontier.strategies", "qiaocrawl.strategies"
)
