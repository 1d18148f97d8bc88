"""Full-text scan (T8): how often the topic's terms stand in the page's characters."""

from __future__ import annotations

import math
from typing import ClassVar

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText
from qiaocrawl.language import _
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.scorer import page_scorers
from qiaocrawl.relevance.term_scorer import ENOUGH_TERMS, TermScorer
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import MAX_TEXT_CHARS, MAX_TITLE_CHARS


@page_scorers.register("full_text")
class FullTextScorer(TermScorer):
    """Σ w_t · n_t/(n_t + 1) / Σ w_t: n_t how often the term stands on the page.

    T8: a page is relevant when the topic's words stand on it, the more often the more; the
    formula is **(ours)**. Title and text are scanned character by character, not word by word,
    so 华人 is found in 中华人民 and ``ai`` in ``email``. T8 asks for all words of a topic; a topic
    of hundreds has none such page, so two terms of average weight that stand there once suffice
    **(ours)**, unless *all_terms* asks for them.

    Args:
        all_terms: 1 = a page that lacks one of the terms scores 0, as T8 has it.

    Raises:
        ConfigError: a threshold outside [0, 1], or *all_terms* is neither 0 nor 1.
    """

    name: ClassVar[str] = "full_text"

    def __init__(self, pack: TopicPack, threshold: float = 0.0, *, all_terms: int = 0) -> None:
        if all_terms not in (0, 1):
            raise ConfigError(
                _("all_terms of full_text must be 0 or 1, got {all_terms!r}", all_terms=all_terms)
            )
        self._needs_all = all_terms == 1
        super().__init__(pack, threshold)

    def own_threshold(self) -> float:
        """Two terms of average weight, once each."""
        return self.share_of_terms(ENOUGH_TERMS) / 2

    def parts(self, page: PageText, places: PagePlaces) -> dict[str, float]:
        """What each term found gives."""
        text = fold(f"{page.title[:MAX_TITLE_CHARS]}\n{page.text[:MAX_TEXT_CHARS]}")
        times = {term: text.count(term) for term in self.weights if term in text}
        return {term: self.weights[term] * n / (n + 1) for term, n in times.items()}

    def score(self, parts: dict[str, float]) -> float:
        """Their share of the weight of all terms."""
        if self._needs_all and len(parts) < len(self.weights):
            return 0.0
        return math.fsum(parts.values()) / math.fsum(self.weights.values())
