"""The words of anchors, contexts and URLs, and how near they are to the topic."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

from qiaocrawl.frontier.strategies.adaptive.link_features import (
    anchor_length,
    is_pager,
    singular,
    word_place,
)
from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic

_REMEMBERED = 20_000
# A word learnt from samples counts this much of an expert's term (ours).
_LEARNT_SHARE = 0.3


class WordPlaces(NamedTuple):
    """The words of a short text.

    Attributes:
        weighed: places in the table of weights, different for anchors and URLs.
        plain: places of the same words in the table of the samples.
        similarity: to the topic, in [0, 1].
    """

    weighed: tuple[int, ...]
    plain: tuple[int, ...]
    similarity: float


class LinkText(NamedTuple):
    """What the texts of a link tell, wherever it stands.

    Attributes:
        anchor: the words of anchor and title.
        numbers: how near anchor and context are to the topic, how many words the anchor has,
            whether it is empty, and whether it only leads to the next pages of a list.
    """

    anchor: WordPlaces
    numbers: tuple[float, float, float, float, float]


class LinkWords:
    """Cuts short texts; what was cut before is remembered."""

    def __init__(self, topic: CrawlTopic) -> None:
        self._topic = topic
        self._weights = _weights(topic)
        # Cached: anchors and contexts of navigation are repeated on every page.
        self.of_url = lru_cache(_REMEMBERED)(self._of_url)
        self.of_anchor = lru_cache(_REMEMBERED)(self._of_anchor)
        self.of_context = lru_cache(_REMEMBERED)(self._of_context)
        # One look a link: most links of a page stand on the page before as well.
        self.of_link = lru_cache(_REMEMBERED)(self._of_link)
        topic.when_renewed(self._forget)

    def _forget(self) -> None:
        self._weights = _weights(self._topic)
        for cached in (self.of_url, self.of_anchor, self.of_context, self.of_link):
            cached.cache_clear()

    def words(self, text: str) -> tuple[str, ...]:
        """The different words of *text*, English ones without plural s."""
        return tuple(dict.fromkeys(map(singular, self._topic.page_words.count(text))))

    def _of_url(self, text: str) -> WordPlaces:
        return self._places("url", self.words(text))

    def _of_anchor(self, anchor: str, title: str) -> WordPlaces:
        # Many sites repeat the anchor as title: its words would count twice.
        both = f"{anchor} {title}" if title and title != anchor else anchor
        return self._places("anchor", self.words(both))

    def _of_context(self, text: str) -> float:
        return self._similarity(self.words(text)) if text else 0.0

    def _of_link(self, anchor: str, title: str, context: str) -> LinkText:
        words = self.of_anchor(anchor, title)
        return LinkText(words, (
            words.similarity, self.of_context(context), anchor_length(len(words.weighed)),
            float(not anchor), float(is_pager(anchor)),
        ))  # fmt: skip

    def _places(self, kind: str, words: tuple[str, ...]) -> WordPlaces:
        return WordPlaces(
            # A word may mean more in an anchor than in a URL; the samples make no such difference.
            tuple(word_place(kind, word) for word in words),
            tuple(word_place("", word) for word in words),
            self._similarity(words),
        )

    def _similarity(self, words: tuple[str, ...]) -> float:
        """Sum of the topic's weights, the heaviest 1, over the root of the number of words."""
        total = sum(self._weights.get(word, 0.0) for word in words)
        return min(1.0, total / math.sqrt(len(words))) if total else 0.0


def _weights(topic: CrawlTopic) -> dict[str, float]:
    """The topic's weights, the heaviest 1, by singular."""
    profile = topic.profile
    heaviest = max(profile.weights.values(), default=1.0)
    return {
        singular(word): (1.0 if word in profile.terms else _LEARNT_SHARE) * weight / heaviest
        for word, weight in profile.weights.items()
    }
