"""Vector space model (E5, T8): frequencies of the topic's terms against their weights."""

from __future__ import annotations

import math
from typing import ClassVar

from qiaocrawl.items import PageText
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.scorer import page_scorers
from qiaocrawl.relevance.term_scorer import ENOUGH_TERMS, TermScorer


@page_scorers.register("vsm")
class VsmScorer(TermScorer):
    """Cosine of (w_1 … w_n) and (x_1·w_1 … x_n·w_n) over the n terms of the topic (E5).

    x_i = frequency of the term / highest frequency of a term on the page, w_i the expert's
    weight. Frequencies are those of title and text together. The text names no border: on topic
    from what two terms of equal weight give, sqrt(2/n) **(ours)**. ``vsm_breadth`` is ours.
    """

    name: ClassVar[str] = "vsm"

    def own_threshold(self) -> float:
        """Two terms of equal weight."""
        # Rounding may leave two terms a little below it.
        return math.sqrt(self.share_of_terms(ENOUGH_TERMS)) * (1 - 1e-9)

    def parts(self, page: PageText, places: PagePlaces) -> dict[str, float]:
        """x_i · w_i of each term of the page."""
        counts = places.title + places.text
        times = {term: counts[term] for term in self.weights.keys() & counts.keys()}
        highest = max(times.values(), default=1)
        return {term: n / highest * self.weights[term] for term, n in times.items()}

    def score(self, parts: dict[str, float]) -> float:
        """The cosine."""
        product = math.fsum(self.weights[term] * part for term, part in parts.items())
        topic = math.hypot(*self.weights.values())
        return product / (topic * math.hypot(*parts.values()))
