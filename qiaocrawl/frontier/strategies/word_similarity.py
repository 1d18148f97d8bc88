"""How near a link's words are to a topic (T6): the nearest of them counts."""

from __future__ import annotations

from functools import lru_cache

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.items import Link
from qiaocrawl.urls.hosts import url_words

_REMEMBERED = 20_000


class LinkSimilarity:
    """The highest similarity of a word in a link's metadata; texts are read once.

    That of a word is told by :class:`~qiaocrawl.relevance.word_nearness.WordNearness`.

    Args:
        topic: to which words are compared.
    """

    def __init__(self, topic: CrawlTopic) -> None:
        self._topic = topic
        self._of_text = lru_cache(_REMEMBERED)(self._highest)
        topic.when_renewed(self._forget)

    def _forget(self) -> None:
        self.__dict__.pop("_concepts", None)
        self._of_text.cache_clear()

    def of_word(self, word: str) -> float:
        """Similarity of *word*, folded, to the topic in [0, 1]."""
        return self._topic.nearness.of_word(word)

    def by_place(self, link: Link) -> dict[str, float]:
        """The highest similarity in URL, anchor text, text around it and title, in [0, 1]."""
        return {
            "nearest word of the URL": self._of_text(url_words(link.url)),
            "nearest word of the anchor": self._of_text(link.anchor),
            "nearest word around it": self._of_text(link.context),
            "nearest word of the title": self._of_text(link.title),
            "nearest word of other attributes": self._of_text(_others(link)),
        }

    def of(self, link: Link) -> float:
        """The highest of all places, in [0, 1]."""
        of = self._of_text
        nearest = max(of(link.anchor), of(link.context), of(link.title), of(_others(link)))
        # Where a term occurs, nothing can be nearer, and the URL need not be cut into words.
        return nearest if nearest == 1.0 else max(nearest, of(url_words(link.url)))

    def _highest(self, text: str) -> float:
        return max(map(self.of_word, self._topic.words_of(text)), default=0.0)


def _others(link: Link) -> str:
    """Name, onmouseover and the words of the picture's address."""
    if not (link.name or link.onmouseover or link.src):
        return ""
    return f"{link.name} {link.onmouseover} {url_words(link.src) if link.src else ''}"
