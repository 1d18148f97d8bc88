"""TiH (T6): is a term of the topic in the title attribute?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from qiaocrawl.frontier.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategy import FoundLink, VisitedPage, strategies
from qiaocrawl.frontier.term_match import in_title


@strategies.register("tih")
class TitleMatch:
    """``score = 1`` when a topic term is in the title attribute, else 0."""

    name: ClassVar[str] = "tih"
    page_scorer: ClassVar[str] = ""

    def __init__(self, topic: CrawlTopic) -> None:
        self._topic = topic

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """1 or 0 for each of *links*."""
        return [in_title(self._topic, found.link) for found in links]

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The one part."""
        return {"term in the title": in_title(self._topic, link.link)}
