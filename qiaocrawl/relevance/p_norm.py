"""Extended Boolean relevance (T8): the p-norm between strict Boolean and vector space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText
from qiaocrawl.language import _
from qiaocrawl.relevance.expression import AND, Weighted
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.scorer import page_scorers
from qiaocrawl.relevance.term_scorer import ENOUGH_TERMS, TermScorer, term_rarities
from qiaocrawl.topic.pack import TopicPack


@page_scorers.register("p_norm")
class PNormScorer(TermScorer):
    """OR: (Σ (w·d)^p / Σ w^p)^(1/p); AND: 1 − (Σ (w·(1 − d))^p / Σ w^p)^(1/p); NOT: 1 − d.

    After Salton, Fox and Wu 1983, whom T8 follows. d_t = tf / highest tf of the page, times
    the term's idf, in [0, 1]; the idf is that of the background collection. p = 1 is the
    vector model without lengths, where AND and OR are the same; a large p is strict Boolean.
    Without a *query* it is the OR of all terms of the topic. Words of a query weigh as in the
    pack, others 1, and so does an operation within another **(ours)**.

    By default a page is on topic that has half of what two terms of average weight and full
    d_t give, or half of its query **(ours)**.

    Args:
        p: of all operations that have none of their own (``AND^5``), 1 to 1,000.
        query: as for ``boolean``.

    Raises:
        ConfigError: a threshold outside [0, 1], *p* is no such number, or *query* no expression.
    """

    name: ClassVar[str] = "p_norm"

    def __init__(
        self, pack: TopicPack, threshold: float = 0.0, *, p: float = 2.0, query: str = ""
    ) -> None:
        if not 1 <= p <= _MAX_P:
            raise ConfigError(
                _(
                    "p of p_norm must be a number of at least 1 and at most {max_p}, got {p!r}",
                    max_p=_MAX_P,
                    p=p,
                )
            )
        self._p = p
        super().__init__(pack, threshold, query)
        self._idf = term_rarities(self.weights)

    def own_threshold(self) -> float:
        """Half the score of two terms of average weight; half of a query."""
        if self.expression is not None:
            return 0.5
        return float(0.5 * self.share_of_terms(ENOUGH_TERMS) ** (1 / self._p))

    def parts(self, page: PageText, places: PagePlaces) -> dict[str, float]:
        """w_t·d_t of each term of the page."""
        counts = places.both
        highest = max(counts.values(), default=1)
        return {
            term: self.weights[term] * counts[term] / highest * self._idf[term]
            for term in self.weights.keys() & counts.keys()
        }

    def score(self, parts: dict[str, float]) -> float:
        """The norm, over that of a page that has all terms fully."""
        if self.expression is not None:
            return self.expression.value(
                lambda word: (self.weights[word], parts.get(word, 0.0) / self.weights[word]),
                self._combined,
            )
        return self._combined("", [(w, parts.get(t, 0.0) / w) for t, w in self.weights.items()], 0)

    def _combined(self, operator: str, parts: Sequence[Weighted], p: float) -> float:
        p = p or self._p
        if operator == AND:
            return 1.0 - _norm([(weight, 1.0 - value) for weight, value in parts], p)
        return _norm(parts, p)


_MAX_P = 1_000


def _norm(parts: Sequence[Weighted], p: float) -> float:
    """(Σ (w·d)^p / Σ w^p)^(1/p)."""
    products = [weight * value for weight, value in parts]
    # Powers of shares of the largest: nothing overflows, and what vanishes is nothing.
    largest, heaviest = max(products, default=0.0), max((w for w, _ in parts), default=0.0)
    if largest <= 0:
        return 0.0
    above = math.fsum((product / largest) ** p for product in products)
    below = math.fsum((weight / heaviest) ** p for weight, _ in parts)
    return float(largest / heaviest * (above / below) ** (1 / p))
