"""UH (T6): is a term of the topic in the URL?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from qiaocrawl.frontier.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategy import FoundLink, VisitedPage, strategies
from qiaocrawl.frontier.term_match import in_url


@strategies.register("uh")
class UrlMatch:
    """``score = 1`` when a topic term is in the URL, else 0."""

    name: ClassVar[str] = "uh"
    page_scorer: ClassVar[str] = ""

    def __init__(self, topic: CrawlTopic) -> None:
        self._topic = topic

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """1 or 0 for each of *links*."""
        return [in_url(self._topic, found.link) for found in links]

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The one part."""
        return {"term in the URL": in_url(self._topic, link.link)}
