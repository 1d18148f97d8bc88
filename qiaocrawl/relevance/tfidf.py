"""TF-IDF cosine (T8): how alike a page is to the middle of the topic's samples and terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from qiaocrawl.items import PageText, Relevance
from qiaocrawl.options.kinds import within
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.scorer import chosen_threshold, judgement, page_scorers
from qiaocrawl.relevance.term_scorer import term_weights
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.topic.profile import PageWords
from qiaocrawl.vsm import SparseVector, TfIdf, Vocabulary, cosine

_THRESHOLD = 0.2


@page_scorers.register("tfidf")
class TfIdfScorer:
    """Cosine of the page and the topic's centroid; what most focused crawlers judge by.

    Weights are tf · (ln((1 + N)/(1 + df)) + 1) over the N samples, counter-examples included.
    The centroid adds up the unit vectors of the relevant samples, and one made of the terms
    by their weights (Rocchio 1971 without the negative part). Words of a page that neither a
    sample nor a term has are not counted. From 0.2 on a page is on topic **(ours)**.

    Args:
        pack: the topic.
        threshold: score in [0, 1] from which a page is on topic; 0 takes 0.2.

    Raises:
        ConfigError: a threshold outside [0, 1].
    """

    name: ClassVar[str] = "tfidf"

    def __init__(self, pack: TopicPack, threshold: float = 0.0) -> None:
        self._topic = pack.name
        self.threshold = chosen_threshold(threshold, _THRESHOLD)
        weights = term_weights(pack)
        self._words = PageWords(weights)
        samples = [
            (sample.relevant, PagePlaces(PageText(sample.title, sample.text), self._words).both)
            for sample in pack.samples
        ]
        self._vocabulary = Vocabulary()
        self._vocabulary.count(weights)
        counted = [self._vocabulary.count(words.elements()) for _, words in samples]
        for document in counted:
            self._vocabulary.add(document)
        self._tfidf = TfIdf(self._vocabulary, smooth=True)
        names = self._vocabulary.words()
        self._ids = {word: number for number, word in enumerate(names)}
        terms = {self._ids[term]: weight for term, weight in weights.items()}
        relevant = [vector_ for vector_, (yes, _) in zip(counted, samples, strict=True) if yes]
        self._centroid = self._topic_vector(
            self._terms_vector(terms), list(map(self._tfidf.vector, relevant)), len(names)
        )
        self._names = names

    def _topic_vector(
        self, terms: SparseVector, relevant: list[SparseVector], size: int
    ) -> SparseVector:
        return _sum([terms, *relevant], size)

    def judge(self, page: PageText) -> Relevance:
        """The cosine, explained by the words both have."""
        places = PagePlaces(page, self._words)
        counts = Counter({word: n for word, n in places.both.items() if word in self._ids})
        vector = self._tfidf.vector(self._vocabulary.count(counts.elements()))
        score = cosine(vector, self._centroid)
        shared = vector.weights * self._dense(vector)
        words = [self._names[number] for number in vector.ids]
        parts = dict(zip(words, shared.tolist(), strict=True))
        return judgement(self._topic, self.name, score, self.threshold, parts, places)

    def _terms_vector(self, weights: dict[int, float]) -> SparseVector:
        """The terms as a document that has each of them as often as it weighs."""
        plain = SparseVector.of(weights)
        return SparseVector(plain.ids, plain.weights * self._tfidf.idf(plain.ids))

    def _dense(self, vector: SparseVector) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """The centroid's weights of the words of *vector*, 0 for those it lacks."""
        dense = np.zeros(len(self._names))
        dense[self._centroid.ids] = self._centroid.weights
        return dense[vector.ids]


@page_scorers.register("best_words")
class BestWordsScorer(TfIdfScorer):
    """Cosine of the page and the *words* heaviest TF-IDF words of the relevant samples (O5).

    The text takes 300 words of pages on the topic. Weights and unit vectors are those of ``tfidf``
    **(ours)**; without relevant samples the topic's terms take their place **(ours)**.

    Args:
        pack: the topic.
        threshold: score in [0, 1] from which a page is on topic; 0 takes 0.2.
        words: how many are kept, from 1 on.

    Raises:
        ConfigError: a threshold outside [0, 1], or no such number of words.
    """

    name: ClassVar[str] = "best_words"

    def __init__(self, pack: TopicPack, threshold: float = 0.0, *, words: int = 300) -> None:
        self._kept = int(within("page scorer 'best_words'", "words", words, 1, 10**6))
        super().__init__(pack, threshold)

    def _topic_vector(
        self, terms: SparseVector, relevant: list[SparseVector], size: int
    ) -> SparseVector:
        whole = _sum(relevant or [terms], size)
        # Equal weights: the word that was seen first.
        best = np.sort(np.argsort(-whole.weights, kind="stable")[: self._kept])
        return SparseVector(whole.ids[best], whole.weights[best])


def _sum(vectors: Iterable[SparseVector], size: int) -> SparseVector:
    """The sum of the vectors, each brought to length 1; those without length are left out."""
    dense = np.zeros(size)
    for vector in vectors:
        if vector.norm > 0:
            dense[vector.ids] += vector.weights / vector.norm
    ids = np.flatnonzero(dense)
    return SparseVector(ids, dense[ids])
