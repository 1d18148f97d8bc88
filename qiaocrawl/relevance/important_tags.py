"""Important tags (E5): how much of title, headings and meta data speaks of the topic."""

from __future__ import annotations

import math
from collections import Counter
from typing import ClassVar

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText
from qiaocrawl.language import _
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.scorer import page_scorers
from qiaocrawl.relevance.term_scorer import TermScorer
from qiaocrawl.topic.pack import TopicPack

_THRESHOLD = 0.1


@page_scorers.register("important_tags")
class ImportantTagsScorer(TermScorer):
    """1/3 · (alpha·S_title + beta·S_headings + gamma·S_meta) (E5); the text does not count.

    S = (1/m) Σ w_i over the m words of a tag; w_i is the weight of a term over that of the
    heaviest, so that S lies in [0, 1] **(ours)**, and 0 for another word. Words without a letter
    and those of one character that are no terms are not counted **(ours)**. A page without these
    tags scores 0. From 0.1 on a page is on topic **(ours)**.

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
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 1.0,
    ) -> None:
        for name, factor in (("alpha", alpha), ("beta", beta), ("gamma", gamma)):
            if not 0 <= factor <= 1:
                raise ConfigError(
                    _(
                        "{name} of important_tags must lie in [0, 1], got {factor!r}",
                        name=name,
                        factor=factor,
                    )
                )
        self._factors = (alpha, beta, gamma)
        super().__init__(pack, threshold)
        self._heaviest = max(self.weights.values(), default=1.0)

    def own_threshold(self) -> float:
        """0.1."""
        return _THRESHOLD

    def parts(self, page: PageText, places: PagePlaces) -> dict[str, float]:
        """What each term adds to the score."""
        parts: dict[str, float] = {}
        read = (places.title, places.headings, places.meta)
        for factor, counts in zip(self._factors, read, strict=True):
            for term, share in self.shares(counts).items():
                parts[term] = parts.get(term, 0.0) + factor * share / len(read)
        return {term: part for term, part in parts.items() if part > 0}

    def shares(self, counts: Counter[str]) -> dict[str, float]:
        """What each term adds to S of the tag with these words."""
        words = sum(counts.values())
        return {
            term: counts[term] * self.weights[term] / self._heaviest / words
            for term in counts.keys() & self.weights
        }

    def score(self, parts: dict[str, float]) -> float:
        """Their sum."""
        return math.fsum(parts.values())


@page_scorers.register("important_tags_share")
class ImportantTagsShareScorer(ImportantTagsScorer):
    """The same with S **(ours)**: of a tag's words, terms by weight and others by 1, the terms'
    share. Three of ten words of the title alone suffice.
    """

    name: ClassVar[str] = "important_tags_share"

    def shares(self, counts: Counter[str]) -> dict[str, float]:
        """What each term adds to S of the tag with these words."""
        terms = {term: counts[term] * self.weights[term] for term in counts.keys() & self.weights}
        other_words = sum(counts.values()) - sum(counts[term] for term in terms)
        whole = math.fsum(terms.values()) + other_words
        return {term: weight / whole for term, weight in terms.items()}
