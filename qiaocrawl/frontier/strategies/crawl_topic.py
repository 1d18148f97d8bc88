"""The topic of a crawl as strategies ask for it: how near short texts are to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache

from qiaocrawl.relevance.word_nearness import WordNearness
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import PageWords, TopicProfile, build_profile

# Texts whose words are kept: anchors of navigation come again on every page.
_MEMORY = 20_000


class CrawlTopic:
    """The words of *pack* and how texts meet them; loads dictionaries when first asked.

    The pack may change while a crawl runs; see :meth:`renew`.
    """

    def __init__(self, pack: TopicPack) -> None:
        self.pack = pack
        self.words_of = lru_cache(_MEMORY)(self._words_of)
        self.has_term = lru_cache(_MEMORY)(self._has_term)
        self.similarity = lru_cache(_MEMORY)(self._similarity)
        self._forgetting: list[Callable[[], None]] = []

    def when_renewed(self, forget: Callable[[], None]) -> None:
        """Have *forget* called after the topic changed, by whoever keeps what follows from it."""
        self._forgetting.append(forget)

    def renew(self, pack: TopicPack) -> None:
        """Go on with *pack*, the same topic with other terms or samples."""
        self.pack = pack
        for name in ("page_words", "profile", "terms"):
            self.__dict__.pop(name, None)
        self.words_of.cache_clear()
        self.similarity.cache_clear()
        for forget in self._forgetting:
            forget()

    @cached_property
    def page_words(self) -> PageWords:
        """Cuts texts, the topic's terms whole."""
        return PageWords(term.text for term in self.pack.terms)

    @cached_property
    def profile(self) -> TopicProfile:
        """The topic as a vector."""
        return build_profile(self.pack, self.page_words)

    @cached_property
    def terms(self) -> frozenset[str]:
        """The expert's terms, folded."""
        return frozenset(fold(term.text) for term in self.pack.terms)

    def _words_of(self, text: str) -> tuple[str, ...]:
        """The words of *text*, folded, with repetitions."""
        return tuple(self.page_words.count(text).elements())

    @cached_property
    def nearness(self) -> WordNearness:
        """How near words are to the topic."""
        return WordNearness(self.pack, self.profile)

    def _has_term(self, text: str) -> bool:
        """Whether a term of the topic, or a synonym of one, is among the words of *text*."""
        return any(map(self.nearness.is_term, self.nearness.words.count(text)))

    def _similarity(self, text: str) -> float:
        """Cosine of *text* and topic in [0, 1]; the words of the topic weigh as in its profile.

        x_i = frequency times the topic's weight, 1 for other words; the topic is restricted
        to the words of the text, as in :mod:`qiaocrawl.relevance.vsm_breadth`.
        """
        weights = self.profile.weights
        counts = self.page_words.count(text)
        parts = {word: times * weights[word] for word, times in counts.items() if word in weights}
        if not parts:
            return 0.0
        square = sum(part * part for part in parts.values())
        # Words of the text that the topic does not have count 1 each: long texts off
        # topic score low.
        square += sum(times * times for word, times in counts.items() if word not in weights)
        product = sum(part * weights[word] for word, part in parts.items())
        topic = math.sqrt(sum(weights[word] ** 2 for word in parts))
        # Rounding may give 1.0000000000000002.
        return min(1.0, product / (math.sqrt(square) * topic))
