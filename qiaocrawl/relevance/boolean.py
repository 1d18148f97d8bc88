"""Boolean relevance (E5, T8): how many of the topic's terms a page has, or an expression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from qiaocrawl.items import PageText
from qiaocrawl.relevance.expression import AND, Weighted
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.scorer import page_scorers
from qiaocrawl.relevance.term_scorer import ENOUGH_TERMS, TermScorer
from qiaocrawl.topic.pack import TopicPack


@page_scorers.register("boolean")
class BooleanScorer(TermScorer):
    """abs(D ∩ T) / abs(T): D the words of title and text, T the topic's terms (E5).

    With a *query* 1 where the page fulfils it, else 0 (T8): words joined by AND, OR, NOT and
    brackets. Neither weights nor how often a term comes count. A page with none of the words
    scores 0, whatever the query forbids **(ours)**; so is that two terms suffice without one.

    Args:
        query: such as ``侨 AND (领事 OR 使馆) AND NOT 足球``, for every topic; ``@FOLDER`` reads
            that of each topic from FOLDER/TOPIC.txt.

    Raises:
        ConfigError: a threshold outside [0, 1], or *query* is no expression.
    """

    name: ClassVar[str] = "boolean"

    def __init__(self, pack: TopicPack, threshold: float = 0.0, *, query: str = "") -> None:
        super().__init__(pack, threshold, query)

    def own_threshold(self) -> float:
        """Two terms; with a query its fulfilment."""
        return self.share_of_terms(ENOUGH_TERMS) if self.expression is None else 1.0

    def parts(self, page: PageText, places: PagePlaces) -> dict[str, float]:
        """1 for each term that is a word of the page."""
        return dict.fromkeys(self.weights.keys() & places.both.keys(), 1.0)

    def score(self, parts: dict[str, float]) -> float:
        """Their share of all terms, or whether they fulfil the query."""
        if self.expression is None:
            return len(parts) / len(self.weights)
        return self.expression.value(lambda word: (1.0, parts.get(word, 0.0)), _combined)


def _combined(operator: str, parts: Sequence[Weighted], p: float) -> float:
    values = [value for _, value in parts]
    return min(values) if operator == AND else max(values)
