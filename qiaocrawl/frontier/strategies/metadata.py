"""Orders by a link's extended metadata (T5, T6): TeH, TiH, UH, AMH.

A synonym of a term, by the ontologies at hand, counts as the term.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from qiaocrawl.frontier.strategies.strategy import (
    CrawlTopic,
    FoundLink,
    VisitedPage,
    strategies,
    together_at_most_one,
)
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


# --- TeH (T6): is a term of the topic in the anchor text or around it? ----------------------------


@strategies.register("teh")
class TextMatch(TermMatch):
    """``score = 1`` when a topic term is in the anchor text or the text around it, else 0."""

    name: ClassVar[str] = "teh"
    part: ClassVar[str] = "term in the texts"

    def match(self, link: Link) -> float:
        """1 or 0."""
        return in_texts(self.topic, link)


# --- TiH (T6): is a term of the topic in the title attribute? -------------------------------------


@strategies.register("tih")
class TitleMatch(TermMatch):
    """``score = 1`` when a topic term is in the title attribute, else 0."""

    name: ClassVar[str] = "tih"
    part: ClassVar[str] = "term in the title"

    def match(self, link: Link) -> float:
        """1 or 0."""
        return in_title(self.topic, link)


# --- UH (T6): is a term of the topic in the URL? --------------------------------------------------


@strategies.register("uh")
class UrlMatch(TermMatch):
    """``score = 1`` when a topic term is in the URL, else 0."""

    name: ClassVar[str] = "uh"
    part: ClassVar[str] = "term in the URL"

    def match(self, link: Link) -> float:
        """1 or 0."""
        return in_url(self.topic, link)


# --- AMH (T6): where the topic's terms meet a link, all places together ---------------------------


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
