"""Important tags (E5): how much of title, headings and meta data speaks of the topic."""

from __future__ import annotations

import math
from collections import Counter
from typing import ClassVar

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.scorer import page_scorers
from qiaocrawl.relevance.term_scorer import TermScorer
from qiaocrawl.topic.pack import TopicPack

_THRESHOLD = 0.1


@page_scorers.register("important_tags")
class ImportantTagsScorer(TermScorer):
    """1/3 · (alpha·S_title + beta·S_headings + gamma·S_meta) (E5); the text does not count.

    S of a place **(ours)**: of its words, terms counted by their weight and others by 1, the
    share that is terms; 0 for an empty place. A page without these tags scores 0. From 0.1
    on a page is on topic **(ours)**: three of ten words of the title alone.

    Args:
        alpha, beta, gamma: in [0, 1].

    Raises:
        ConfigError: a threshold or a factor outside [0, 1].
    """

    name: ClassVar[str] = "important_tags"

    def __init__(
        self,
        pack: TopicPack,
        threshold: float = 0.0,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 1.0,
    ) -> None:
        for name, factor in (("alpha", alpha), ("beta", beta), ("gamma", gamma)):
            if not 0 <= factor <= 1:
                raise ConfigError(f"{name} of important_tags must lie in [0, 1], got {factor!r}")
        self._factors = (alpha, beta, gamma)
        super().__init__(pack, threshold)

    def own_threshold(self) -> float:
        """0.1."""
        return _THRESHOLD

    def parts(self, page: PageText, places: PagePlaces) -> dict[str, float]:
        """What each term adds to the score."""
        parts: Counter[str] = Counter()
        read = (places.title, places.headings, places.meta)
        for factor, counts in zip(self._factors, read, strict=True):
            terms = {
                term: counts[term] * self.weights[term] for term in counts.keys() & self.weights
            }
            other_words = sum(counts.values()) - sum(counts[term] for term in terms)
            whole = math.fsum(terms.values()) + other_words
            for term, weight in terms.items():
                parts[term] += factor * weight / whole / len(read)  # type: ignore[assignment]
        return {term: part for term, part in parts.items() if part > 0}

    def score(self, parts: dict[str, float]) -> float:
        """Their sum."""
        return math.fsum(parts.values())
