"""RW (T6): the word of a link that is nearest to the topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.ranges import within
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage, strategies
from qiaocrawl.frontier.strategies.word_similarity import LinkSimilarity

THRESHOLD = 0.2
"""Below it a link counts as unrelated **(ours)**."""


@strategies.register("rw")
class NearestWord:
    """``score = max sim(word, topic)`` over URL, anchor, text around it and title; 0 below c.

    Terms and synonyms are 1, near-synonyms .5 to 1, far words 0 to .5, as
    :class:`~qiaocrawl.frontier.strategies.word_similarity.LinkSimilarity` tells. Links that score
    0 wait behind all others.

    Args:
        topic: to which words are compared.
        c: threshold in [0, 1].

    Raises:
        ConfigError: a threshold out of these bounds.
    """

    name: ClassVar[str] = "rw"
    unit_scores: ClassVar[bool] = True
    page_scorer: ClassVar[str] = ""

    def __init__(self, topic: CrawlTopic, *, c: float = THRESHOLD) -> None:
        self._threshold = within(self.name, "c", c, 0.0, 1.0)
        self._similarity = LinkSimilarity(topic)

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The similarity of the nearest word of each of *links*, in [0, 1]."""
        nearest = [self._similarity.of(found_link.link) for found_link in links]
        return [similarity if similarity >= self._threshold else 0.0 for similarity in nearest]

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The nearest word of each place, those below the threshold as they are."""
        return self._similarity.by_place(link.link)
