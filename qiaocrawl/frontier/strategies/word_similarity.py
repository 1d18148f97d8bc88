"""How near single words are to a topic (T6): 1 for its terms, less for what lies near them."""

from __future__ import annotations

from functools import cached_property, lru_cache

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.items import Link
from qiaocrawl.ontology import TopicWords, current_ontology
from qiaocrawl.ontology.topic_words import named_words
from qiaocrawl.urls.words import url_words

_REMEMBERED = 20_000


class LinkSimilarity:
    """The highest similarity of a word in a link's metadata; texts are read once.

    Similarity of a word, in [0, 1], is the highest of

    - 1 for a term of the topic;
    - that of concepts in the ontologies at hand: 1 for synonyms, .67 one edge away, .45 two
      (``exp(-0.4·edges)``; names of places and persons meet other names of the same one only);
    - for a word learnt from the topic's samples, its weight in the topic's profile, 0.6 at
      most **(ours)**.

    Args:
        topic: to which words are compared.
    """

    def __init__(self, topic: CrawlTopic) -> None:
        self._topic = topic
        self._of_text = lru_cache(_REMEMBERED)(self._highest)

    @cached_property
    def _concepts(self) -> TopicWords:
        """The terms in the concept space, all of the same weight; opened when first asked."""
        terms = self._topic.terms
        named = named_words(self._topic.pack.terms)
        return TopicWords(current_ontology(), dict.fromkeys(terms, 1.0), terms, named)

    def of_word(self, word: str) -> float:
        """Similarity of *word*, folded, to the topic in [0, 1]."""
        if word in self._topic.terms:
            return 1.0
        learnt = min(1.0, self._topic.profile.weights.get(word, 0.0))
        return max(learnt, self._concepts.similarity(word))

    def by_place(self, link: Link) -> dict[str, float]:
        """The highest similarity in URL, anchor text, text around it and title, in [0, 1]."""
        return {
            "nearest word of the URL": self._of_text(url_words(link.url)),
            "nearest word of the anchor": self._of_text(link.anchor),
            "nearest word around it": self._of_text(link.context),
            "nearest word of the title": self._of_text(link.title),
        }

    def of(self, link: Link) -> float:
        """The highest of all places, in [0, 1]."""
        of = self._of_text
        nearest = max(of(link.anchor), of(link.context), of(link.title))
        # Where a term occurs, nothing can be nearer, and the URL need not be cut into words.
        return nearest if nearest == 1.0 else max(nearest, of(url_words(link.url)))

    def _highest(self, text: str) -> float:
        return max(map(self.of_word, self._topic.words_of(text)), default=0.0)
