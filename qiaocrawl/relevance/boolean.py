"""Boolean relevance (E5): how many of the topic's terms are among the page's words."""

from __future__ import annotations

from typing import ClassVar

from qiaocrawl.items import PageText
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.scorer import page_scorers
from qiaocrawl.relevance.term_scorer import ENOUGH_TERMS, TermScorer


@page_scorers.register("boolean")
class BooleanScorer(TermScorer):
    """abs(D ∩ T) / abs(T): D the words of title and text, T the topic's terms.

    E5 gives the numerator; over abs(T) is **(ours)**, and so is that two terms suffice.
    Neither weights nor how often a term comes count.
    """

    name: ClassVar[str] = "boolean"

    def own_threshold(self) -> float:
        """Two terms."""
        return self.share_of_terms(ENOUGH_TERMS)

    def parts(self, page: PageText, places: PagePlaces) -> dict[str, float]:
        """1 for each term that is a word of the page."""
        return dict.fromkeys(self.weights.keys() & places.both.keys(), 1.0)

    def score(self, parts: dict[str, float]) -> float:
        """Their share of all terms."""
        return len(parts) / len(self.weights)
