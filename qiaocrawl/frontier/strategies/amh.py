"""AMH (T6): where the topic's terms meet a link, all places together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.ranges import together_at_most_one
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage, strategies
from qiaocrawl.frontier.strategies.term_match import in_texts, in_title, in_url


@strategies.register("amh")
class AllMetadataMatch:
    """``score = a·UH + b·TeH + c·TiH``, in [0, 1].

    Args:
        topic: whose terms are looked for.
        a, b, c: weights of URL, texts and title in [0, 1], together at most 1; their
            defaults are **(ours)**.

    Raises:
        ConfigError: weights out of these bounds.
    """

    name: ClassVar[str] = "amh"
    unit_scores: ClassVar[bool] = True
    page_scorer: ClassVar[str] = ""

    def __init__(
        self, topic: CrawlTopic, *, a: float = 0.4, b: float = 0.4, c: float = 0.2
    ) -> None:
        together_at_most_one(self.name, a=a, b=b, c=c)
        self._topic, self._weights = topic, (a, b, c)

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The weighted sum for each of *links*."""
        return [sum(self.explain(page, link).values()) for link in links]

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """What each place adds."""
        a, b, c = self._weights
        return {
            "term in the URL": a * in_url(self._topic, link.link),
            "term in the texts": b * in_texts(self._topic, link.link),
            "term in the title": c * in_title(self._topic, link.link),
        }
