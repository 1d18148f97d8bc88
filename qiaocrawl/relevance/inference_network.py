"""Probabilistic relevance (T8): an inference network from the page to the topic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from qiaocrawl.items import PageText
from qiaocrawl.options.kinds import within
from qiaocrawl.relevance.expression import AND, Weighted
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.scorer import page_scorers
from qiaocrawl.relevance.term_scorer import ENOUGH_TERMS, TermScorer, term_rarities
from qiaocrawl.topic.pack import TopicPack


@page_scorers.register("inference_network")
class InferenceNetworkScorer(TermScorer):
    """P(topic | page): the page's node is set true, and belief flows to words, then to the topic.

    T8 gives the network (page, its words, the topic's concepts, the topic) and no numbers;
    those of Turtle and Croft 1991 are taken **(ours)**: P(word | page) = b + (1 − b) · tf /
    highest tf of the page · idf, b where the page has not the word; the topic is the weighted
    sum Σ w·P / Σ w of its terms. With a *query* AND is Π P, OR 1 − Π (1 − P), NOT 1 − P. A
    concept is one word here: its other words are no nodes of their own **(ours)**.

    On topic from what two terms of average weight give that are each as frequent as can be
    **(ours)**; with a query from 0.5.

    Args:
        b: belief in a word the page has not, in [0, 0.99].
        query: as for ``boolean``.

    Raises:
        ConfigError: *b* or a threshold out of bounds, or *query* is no expression.
    """

    name: ClassVar[str] = "inference_network"

    def __init__(
        self, pack: TopicPack, threshold: float = 0.0, *, b: float = 0.4, query: str = ""
    ) -> None:
        self._default = within("page scorer 'inference_network'", "b", b, 0.0, 0.99)
        super().__init__(pack, threshold, query)
        self._idf = term_rarities(self.weights)

    def own_threshold(self) -> float:
        """The belief two terms give; with a query one half."""
        if self.expression is not None:
            return 0.5
        return self._default + (1 - self._default) * self.share_of_terms(ENOUGH_TERMS)

    def parts(self, page: PageText, places: PagePlaces) -> dict[str, float]:
        """What each term of the page adds to the belief in it."""
        counts = places.both
        highest = max(counts.values(), default=1)
        return {
            term: (1 - self._default) * counts[term] / highest * self._idf[term]
            for term in self.weights.keys() & counts.keys()
        }

    def score(self, parts: dict[str, float]) -> float:
        """The belief in the topic."""
        if self.expression is not None:
            return self.expression.value(
                lambda word: (1.0, self._default + parts.get(word, 0.0)), _combined
            )
        given = math.fsum(self.weights[term] * part for term, part in parts.items())
        return self._default + given / math.fsum(self.weights.values())


def _combined(operator: str, parts: Sequence[Weighted], p: float) -> float:
    if operator == AND:
        return math.prod(value for _, value in parts)
    return 1.0 - math.prod(1.0 - value for _, value in parts)
