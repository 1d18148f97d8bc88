"""Full-text scan (T8): which terms of the topic stand anywhere in the page's characters."""

from __future__ import annotations

import math
from typing import ClassVar

from qiaocrawl.items import PageText
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.scorer import page_scorers
from qiaocrawl.relevance.term_scorer import ENOUGH_TERMS, TermScorer
from qiaocrawl.text import fold
from qiaocrawl.topic.words import MAX_TEXT_CHARS, MAX_TITLE_CHARS


@page_scorers.register("full_text")
class FullTextScorer(TermScorer):
    """Weighted share of the terms that are found: sum of w_t of found ones / sum of all w_t.

    T8 names the method; the formula is **(ours)**. Title and text are scanned character by
    character, not word by word, so 华人 is found in 中华人民 and ``ai`` in ``email``; how often
    a term stands there does not count. Two terms of average weight suffice **(ours)**.
    """

    name: ClassVar[str] = "full_text"

    def own_threshold(self) -> float:
        """Two terms of average weight."""
        return self.share_of_terms(ENOUGH_TERMS)

    def parts(self, page: PageText, places: PagePlaces) -> dict[str, float]:
        """The weight of each term found."""
        text = fold(f"{page.title[:MAX_TITLE_CHARS]}\n{page.text[:MAX_TEXT_CHARS]}")
        return {term: weight for term, weight in self.weights.items() if term in text}

    def score(self, parts: dict[str, float]) -> float:
        """Their share of the weight of all terms."""
        return math.fsum(parts.values()) / math.fsum(self.weights.values())
