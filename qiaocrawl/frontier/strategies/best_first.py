"""Best first: the links of the most relevant page first.

After Cho, Garcia-Molina and Page, "Efficient Crawling Through URL Ordering" (1998), and
Menczer, Pant and Srinivasan, "Topical Web Crawlers" (2004), whose "Best-First" this is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage, strategies


@strategies.register("best_first")
class BestFirst:
    """``score = relevance of the page the link is on``, in [0, 1].

    Links of one page score alike; their order on the page decides.
    """

    name: ClassVar[str] = "best_first"
    unit_scores: ClassVar[bool] = True
    page_scorer: ClassVar[str] = "vsm_breadth"

    def __init__(self, topic: CrawlTopic) -> None:
        """The page scorer knows the topic; nothing else is asked of it."""

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The relevance of *page*, once for each of *links*."""
        return [page.relevance] * len(links)

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The relevance of the page."""
        return {"relevance of the page": float(page.relevance)}


@strategies.register("best_first_words")
class BestFirstWords(BestFirst):
    """The same by the 300 heaviest TF-IDF words: the baseline of the ontology's experiment (O5)."""

    name: ClassVar[str] = "best_first_words"
    page_scorer: ClassVar[str] = "best_words"
