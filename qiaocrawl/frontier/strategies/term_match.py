"""Whether a link's extended metadata (T5) hold a term of the topic: what T6 is built on.

A synonym of a term, by the ontologies at hand, counts as the term.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage
from qiaocrawl.items import Link
from qiaocrawl.urls.hosts import url_words


def in_url(topic: CrawlTopic, link: Link) -> float:
    """UH: 1 when a term is in the URL, onmouseover or the picture's address, else 0."""
    written = (link.onmouseover, url_words(link.src) if link.src else "")
    return float(topic.has_term(url_words(link.url)) or any(map(topic.has_term, written)))


def in_texts(topic: CrawlTopic, link: Link) -> float:
    """TeH: 1 when a term is in the anchor text or the text around it, else 0."""
    return float(topic.has_term(link.anchor) or topic.has_term(link.context))


def in_title(topic: CrawlTopic, link: Link) -> float:
    """TiH: 1 when a term is in the title or name attribute, else 0.

    The alt text of a picture without words beside it is the link's anchor text, and
    counts there.
    """
    return float(topic.has_term(link.title) or topic.has_term(link.name))


class TermMatch(ABC):
    """``score = match(link)``, 1 or 0: the base of UH, TeH and TiH.

    Args:
        topic: whose terms are looked for.
    """

    page_scorer: ClassVar[str] = ""
    unit_scores: ClassVar[bool] = True
    part: ClassVar[str]
    """The name of the one part where a score is explained."""

    def __init__(self, topic: CrawlTopic) -> None:
        self.topic = topic

    @abstractmethod
    def match(self, link: Link) -> float:
        """1 when a term is where the strategy looks for it, else 0."""

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """1 or 0 for each of *links*."""
        return [self.match(found_link.link) for found_link in links]

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The one part."""
        return {self.part: self.match(link.link)}
