"""Ontology relevance (O2): the page's words against the topic's concepts, in any language."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nlargest

from qiaocrawl.items import PageText, Relevance
from qiaocrawl.ontology import TopicWords, current_ontology
from qiaocrawl.ontology.similarity import DEFAULT_FUNCTION
from qiaocrawl.ontology.topic_words import LEAST, named_words
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.scorer import chosen_threshold, judgement, page_scorers
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import build_profile
from qiaocrawl.topic.words import PageWords

ALPHA, BETA = 0.4, 0.4
"""Weights of title and keywords, and of the body (ours); gamma is what is left of 1."""
TOP_TITLE_WORDS, TOP_BODY_WORDS = 5, 15
"""The k of Top-k (ours): what a title holds, and a paragraph's worth of a body."""

THRESHOLD = 0.15
"""Where nobody says otherwise (ours). The samples of both packs this repository carries lie on
their own side of it, with the own ontology alone (relevant ones from .19, others to .05) as with
WordNet and the open Chinese wordnets beside it (from .20, to .13)."""


@page_scorers.register("ontology")
class OntologyScorer:
    """Mean similarity of the page's nearest words to the topic, over concepts (O2).

    score = (alpha * mean Top-5 sim(title and keyword words) + beta * mean Top-15 sim(body
    words)) / (alpha + beta), over distinct words; where there are fewer than k, the others
    count as 0 **(the form is ours)**. The part of the pages that link here (gamma) is left
    out and the weights made whole again, since a page scorer sees one page; the strategy of
    this name has the parent's relevance.

    sim(word) is the similarity to the nearest term of the topic, times the term's weight over
    the heaviest one's, see :class:`qiaocrawl.ontology.TopicWords`. Chinese and English words
    meet over their concepts. A word no ontology knows meets itself only, as do the words
    learnt from the samples. ``terms`` of a judgement are the page's words with their shares.

    Args:
        pack: the topic.
        threshold: score in [0, 1] from which a page is on topic; 0 takes :data:`THRESHOLD`.
        function: of the word similarity: exponential, logarithmic or linear.

    Raises:
        ConfigError: a threshold outside [0, 1], or no such function.
        OntologyError: an installed ontology is damaged.
    """

    def __init__(
        self, pack: TopicPack, threshold: float = 0.0, *, function: str = DEFAULT_FUNCTION
    ) -> None:
        self._topic = pack.name
        self.threshold = chosen_threshold(threshold, THRESHOLD)
        terms = [term.text for term in pack.terms]
        profile = build_profile(pack, PageWords(terms))
        named = named_words(pack.terms)
        self._near = TopicWords(
            current_ontology(), profile.weights, profile.terms, named, function=function,
            least=LEAST,
        )  # fmt: skip
        self._words = PageWords([*terms, *self._near.near_words()])

    def judge(self, page: PageText) -> Relevance:
        """The score of a page, explained by the words that contributed most."""
        places = PagePlaces(page, self._words)
        shares: dict[str, float] = {}
        for words, weight, limit in (
            ({*places.title, *places.meta}, ALPHA, TOP_TITLE_WORDS),
            (places.text, BETA, TOP_BODY_WORDS),
        ):
            for alike, word in self._nearest(words, limit):
                shares[word] = shares.get(word, 0.0) + alike * weight / (ALPHA + BETA) / limit
        score = min(1.0, sum(shares.values()))
        return judgement(self._topic, "ontology", score, self.threshold, shares, places)

    def _nearest(self, words: Iterable[str], limit: int) -> list[tuple[float, str]]:
        """The *limit* words nearest to the topic, with their similarity; equal ones by word."""
        return nlargest(limit, ((self._near.similarity(word), word) for word in words))
