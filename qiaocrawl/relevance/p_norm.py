"""Extended Boolean relevance (T8): the p-norm between "any term" and "the more the better"."""

from __future__ import annotations

import math
from typing import ClassVar

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.scorer import page_scorers
from qiaocrawl.relevance.term_scorer import ENOUGH_TERMS, TermScorer, term_rarities
from qiaocrawl.topic.pack import TopicPack


@page_scorers.register("p_norm")
class PNormScorer(TermScorer):
    """The OR of all terms: (sum of (w_t·d_t)^p / sum of w_t^p)^(1/p).

    After Salton, Fox and Wu 1983, whom T8 follows. d_t = tf / highest tf of the page, times
    the term's idf, in [0, 1]; the idf is that of the background collection. p = 1 is the
    vector model without lengths, p towards infinity the strict Boolean OR.

    By default a page is on topic that has half of what two terms of average weight and full
    d_t give **(ours)**.

    Args:
        p: at least 1, finite.

    Raises:
        ConfigError: a threshold outside [0, 1], or *p* is no such number.
    """

    name: ClassVar[str] = "p_norm"

    def __init__(self, pack: TopicPack, threshold: float = 0.0, p: float = 2.0) -> None:
        if not 1 <= p < math.inf:
            raise ConfigError(f"p of p_norm must be a finite number of at least 1, got {p!r}")
        self._p = p
        super().__init__(pack, threshold)
        self._idf = term_rarities(self.weights)

    def own_threshold(self) -> float:
        """Half the score of two terms of average weight."""
        return float(0.5 * self.share_of_terms(ENOUGH_TERMS) ** (1 / self._p))

    def parts(self, page: PageText, places: PagePlaces) -> dict[str, float]:
        """(w_t·d_t)^p of each term of the page."""
        counts = places.both
        highest = max(counts.values(), default=1)
        return {
            term: (self.weights[term] * counts[term] / highest * self._idf[term]) ** self._p
            for term in self.weights.keys() & counts.keys()
        }

    def score(self, parts: dict[str, float]) -> float:
        """The norm, over that of a page that has all terms fully."""
        whole = math.fsum(weight**self._p for weight in self.weights.values())
        return float((math.fsum(parts.values()) / whole) ** (1 / self._p))
