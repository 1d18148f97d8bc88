"""Ontology (O3): anchor and URL by the concepts of their words, and the page they are on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from heapq import nlargest
from typing import ClassVar

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.ranges import together_at_most_one, within
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage, strategies
from qiaocrawl.items import PRUNED
from qiaocrawl.ontology.similarity import (
    DEFAULT_FUNCTION,
    LEAST,
    TopicWords,
    named_words,
    similarity_function,
)
from qiaocrawl.ontology.sources import current_ontology
from qiaocrawl.topic.profile import PageWords
from qiaocrawl.urls.hosts import url_words

ALPHA, BETA, GAMMA = 0.5, 0.2, 0.3
"""Weights of anchor, URL and page **(ours)**: an anchor says most of its target."""
THRESHOLD = 0.01
"""Links that score less are left out **(ours)**: only those of which anchor, URL and page say
next to nothing, since a lost hub costs more than a page fetched in vain."""
TOP_WORDS = 3
"""The k of Top-k in an anchor or a URL **(ours)**."""


@strategies.register("ontology")
class OntologyLinks:
    """``score = alpha * sim(anchor) + beta * sim(URL words) + gamma * relevance of the page``.

    sim of a text is the mean similarity to the topic of its nearest words, *top* at most, as
    in the page scorer of this name **(form ours)**. A link without anchor text is judged by
    its title. URL words are the runs of letters of path and query: English words, and pinyin
    where an ontology gives it. A link below the threshold is left out, except on start pages:
    there nothing is known yet **(ours)**.

    Args:
        topic: to which words are compared.
        alpha, beta, gamma: weights in [0, 1], together 1 at most.
        threshold: in [0, 1]; 0 leaves nothing out.
        top: the k of Top-k in an anchor or a URL, 1 to 1,000.
        function: of the word similarity: exponential, logarithmic or linear.

    Raises:
        ConfigError: a number out of these bounds, or no such function.
    """

    name: ClassVar[str] = "ontology"
    unit_scores: ClassVar[bool] = True
    page_scorer: ClassVar[str] = "ontology"

    def __init__(
        self, topic: CrawlTopic, *, alpha: float = ALPHA, beta: float = BETA,
        gamma: float = GAMMA, threshold: float = THRESHOLD, top: int = TOP_WORDS,
        function: str = DEFAULT_FUNCTION,
    ) -> None:  # fmt: skip
        self._top = int(within(self.name, "top", top, 1, 1000))
        together_at_most_one(self.name, alpha=alpha, beta=beta, gamma=gamma)
        similarity_function(function)
        self._weights = (alpha, beta, gamma)
        self._threshold = within(self.name, "threshold", threshold, 0.0, 1.0)
        self._function = function
        self._topic = topic
        topic.when_renewed(self._forget)

    def _forget(self) -> None:
        for name in ("_near", "_words"):
            self.__dict__.pop(name, None)

    @cached_property
    def _near(self) -> TopicWords:
        """The topic in the concept space; opened when first asked."""
        profile, pack = self._topic.profile, self._topic.pack
        named = named_words(pack.terms)
        return TopicWords(
            current_ontology(), profile.weights, profile.terms, named, function=self._function,
            least=LEAST,
        )  # fmt: skip

    @cached_property
    def _words(self) -> PageWords:
        """Cuts texts, the words of the topic's concepts whole."""
        return PageWords([*(t.text for t in self._topic.pack.terms), *self._near.near_words()])

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """The weighted sum for each of *links*, in [0, 1]; PRUNED below the threshold."""
        least = self._threshold if page.depth else 0.0
        scores = [sum(self.explain(page, link).values()) for link in links]
        return [score if score >= least else PRUNED for score in scores]

    def explain(self, page: VisitedPage, link: FoundLink) -> Mapping[str, float]:
        """The three parts, already weighted."""
        alpha, beta, gamma = self._weights
        return {
            "anchor": alpha * self._similarity(link.link.anchor or link.link.title),
            "URL": beta * self._similarity(url_words(link.link.url)),
            "page": gamma * page.relevance,
        }

    def _similarity(self, text: str) -> float:
        """Mean similarity of the nearest words of *text*, in [0, 1]; 0 for no words."""
        values = nlargest(self._top, map(self._near.similarity, self._words.count(text)))
        return sum(values) / len(values) if values else 0.0
