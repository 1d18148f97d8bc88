"""Probabilistic scorers (T8): BM25, and an inference network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from qiaocrawl.items import PageText
from qiaocrawl.options.kinds import within
from qiaocrawl.relevance.published.base import AND, ENOUGH_TERMS, TermScorer, Weighted
from qiaocrawl.relevance.scorer import PagePlaces, page_scorers, term_rarities
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import background_frequencies

K1, B = 1.2, 0.75
AVERAGE_WORDS = 500
"""Words of an average page, title counted three times (ours)."""
# Pages the background collection stands for (ours).
_PAGES = 1_000_000


@page_scorers.register("bm25")
class Bm25Scorer(TermScorer):
    """s / (s + s0), s = sum of w_t · idf_t · tf·(k1+1) / (tf + k1·(1 − b + b·L/average)).

    T8 names the probabilistic model; BM25 (Robertson and others 1994) is today's form
    **(ours)**. idf = ln(1 + (N − n + 0.5)/(n + 0.5)), N a million pages of 500 words, n those
    of them that hold the term by the frequencies of jieba's dictionary: N·(1 − exp(−500·p))
    **(ours)**. L is the page's length in words; a word of the title counts three times.

    The published probabilistic model is ``inference_network``.

    BM25 knows no bound; s0 brings it to [0, 1]: what two ordinary terms give that a page of
    average length has once each, and nobody else has **(ours)**. So 0.5 is on topic.

    Args:
        k1: how slowly repetitions of a term cease to count, in [0, 10].
        b: how far long pages count less, in [0, 1].

    Raises:
        ConfigError: an option or a threshold out of bounds.
    """

    name: ClassVar[str] = "bm25"

    def __init__(
        self, pack: TopicPack, threshold: float = 0.0, *, k1: float = K1, b: float = B
    ) -> None:
        self._k1 = within("page scorer 'bm25'", "k1", k1, 0.0, 10.0)
        self._b = within("page scorer 'bm25'", "b", b, 0.0, 1.0)
        super().__init__(pack, threshold)
        # idf from general usage, not from the crawl: scores stay comparable from page to page.
        frequencies, total = background_frequencies(self.weights)
        self._idf = {term: idf(frequencies[term] / total) for term in self.weights}
        self._half = 2 * idf(0.0)

    def own_threshold(self) -> float:
        """0.5."""
        return 0.5

    def parts(self, page: PageText, places: PagePlaces) -> dict[str, float]:
        """What each term adds to the sum."""
        counts = places.both
        length = sum(counts.values())
        slow = self._k1 * (1 - self._b + self._b * length / AVERAGE_WORDS)
        return {
            term: self.weights[term]
            * self._idf[term]
            * counts[term]
            * (self._k1 + 1)
            / (counts[term] + slow)
            for term in self.weights.keys() & counts.keys()
        }

    def score(self, parts: dict[str, float]) -> float:
        """Their sum on a scale where 0.5 is two rare terms."""
        whole = math.fsum(parts.values())
        return whole / (whole + self._half)


def idf(share: float) -> float:
    """The idf, above 0, of a word with this share of all Chinese text, in [0, 1]."""
    pages = _PAGES * -math.expm1(-AVERAGE_WORDS * share)
    return math.log1p((_PAGES - pages + 0.5) / (pages + 0.5))


# --- Probabilistic relevance (T8): an inference network from the page to the topic ----------------


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
                lambda word: (1.0, self._default + parts.get(word, 0.0)), _combine
            )
        given = math.fsum(self.weights[term] * part for term, part in parts.items())
        return self._default + given / math.fsum(self.weights.values())


def _combine(operator: str, parts: Sequence[Weighted], p: float) -> float:
    if operator == AND:
        return math.prod(value for _, value in parts)
    return 1.0 - math.prod(1.0 - value for _, value in parts)
