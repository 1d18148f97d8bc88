"""The base of the published methods: the topic's terms, and how a judgement is made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from qiaocrawl.items import PageText, Relevance
from qiaocrawl.relevance.expression import topic_expression
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.scorer import chosen_threshold, judgement
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import PageWords, background_frequencies, rarity

ENOUGH_TERMS = 2
"""Ordinary terms from which a page is on topic where a method has no scale of its own (ours)."""


class TermScorer(ABC):
    """A scorer that asks which of the topic's terms a page has; samples are not looked at.

    Args:
        pack: the topic.
        threshold: score in [0, 1] from which a page is on topic; 0 takes the method's own.
        query: an expression to judge by instead of the terms, see ``topic_expression``.

    Raises:
        ConfigError: a threshold outside [0, 1], or *query* is no expression.
    """

    name: ClassVar[str]

    def __init__(self, pack: TopicPack, threshold: float = 0.0, query: str = "") -> None:
        self._topic = pack.name
        self.expression = topic_expression(query, pack.name)
        self.weights = term_weights(pack)
        if self.expression is not None:
            self.weights = {word: self.weights.get(word, 1.0) for word in self.expression.words()}
        self.words = PageWords(self.weights)
        self.threshold = chosen_threshold(threshold, self.own_threshold())

    def judge(self, page: PageText) -> Relevance:
        """The score of a page, explained by the terms it has."""
        places = PagePlaces(page, self.words)
        parts = self.parts(page, places)
        score = min(1.0, max(0.0, self.score(parts))) if parts else 0.0
        return judgement(self._topic, self.name, score, self.threshold, parts, places)

    @abstractmethod
    def own_threshold(self) -> float:
        """The score from which a page is on topic where the operator says nothing."""

    @abstractmethod
    def parts(self, page: PageText, places: PagePlaces) -> dict[str, float]:
        """What each term of the topic gives, above 0; terms the page lacks are left out."""

    @abstractmethod
    def score(self, parts: dict[str, float]) -> float:
        """The score of a page by its parts, of which there is one at least."""

    def share_of_terms(self, terms: int) -> float:
        """What *terms* of average weight are of all terms, in [0, 1]; 1 for a topic of fewer."""
        return min(1.0, terms / max(len(self.weights), 1))


def term_weights(pack: TopicPack) -> dict[str, float]:
    """The expert's weight of each folded term, above 0; of equal terms the heavier counts."""
    weights: dict[str, float] = {}
    for term in pack.terms:
        text = fold(term.text)
        weights[text] = max(term.weight, weights.get(text, 0.0))
    return weights


def term_rarities(terms: dict[str, float]) -> dict[str, float]:
    """Each term's idf by the background collection, in [0.4, 1]; 1 for rare ones."""
    frequencies, total = background_frequencies(terms)
    return {term: rarity(frequencies[term] / total) for term in terms}
