"""How near single words are to a topic (T6): 1 for its terms, less for what lies near them."""

from __future__ import annotations

from functools import cached_property

from qiaocrawl.ontology.similarity import TopicWords, named_words
from qiaocrawl.ontology.sources import current_ontology
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import PageWords, TopicProfile


class WordNearness:
    """Similarity of a word to a topic, in [0, 1]: the highest of

    - 1 for a term of the topic;
    - that of concepts in the ontologies at hand: 1 for synonyms, .67 one edge away, .45 two
      (``exp(-0.4·edges)``; names of places and persons meet other names of the same one only);
    - for a word learnt from the topic's samples, its weight in the topic's profile, 0.6 at
      most **(ours)**.

    Args:
        pack: the topic.
        profile: its vector.
    """

    def __init__(self, pack: TopicPack, profile: TopicProfile) -> None:
        self._pack, self._profile = pack, profile

    @cached_property
    def _concepts(self) -> TopicWords:
        """The terms in the concept space, all of the same weight; opened when first asked."""
        terms = self._profile.terms
        named = named_words(self._pack.terms)
        return TopicWords(current_ontology(), dict.fromkeys(terms, 1.0), terms, named)

    @cached_property
    def words(self) -> PageWords:
        """Cuts texts, the terms and the words of their concepts whole."""
        return PageWords([*self._profile.terms, *self._concepts.near_words()])

    def of_word(self, word: str) -> float:
        """Similarity of *word*, folded, to the topic in [0, 1]."""
        if word in self._profile.terms:
            return 1.0
        learnt = min(1.0, self._profile.weights.get(word, 0.0))
        return max(learnt, self._concepts.similarity(word))

    def is_term(self, word: str) -> bool:
        """Whether *word*, folded, is a term of the topic or a synonym of one."""
        return self.of_word(word) == 1.0
