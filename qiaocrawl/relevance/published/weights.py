"""Scorers by terms and their places (E5, T8): p-norm, vector space, full text, tags, Boolean."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText
from qiaocrawl.language import _
from qiaocrawl.relevance.published.base import AND, ENOUGH_TERMS, TermScorer, Weighted
from qiaocrawl.relevance.scorer import PagePlaces, page_scorers, term_rarities
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import MAX_TEXT_CHARS, MAX_TITLE_CHARS


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
                self._combine,
            )
        return self._combine("", [(w, parts.get(t, 0.0) / w) for t, w in self.weights.items()], 0)

    def _combine(self, operator: str, parts: Sequence[Weighted], p: float) -> float:
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


# --- Vector space model (E5, T8): frequencies of the topic's terms against their weights ----------


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


# --- Full-text scan (T8): how often the topic's terms stand in the page's characters --------------


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


# --- Important tags (E5): how much of title, headings and meta data speaks of the topic -----------

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


# --- Boolean relevance (E5, T8): how many of the topic's terms a page has, or an expression -------


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
        return self.expression.value(lambda word: (1.0, parts.get(word, 0.0)), _combine)


def _combine(operator: str, parts: Sequence[Weighted], p: float) -> float:
    values = [value for _, value in parts]
    return min(values) if operator == AND else max(values)
