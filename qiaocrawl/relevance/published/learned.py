"""Scorers learnt from a pack's samples: support vector machine (O5), TF-IDF cosine (T8)."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.items import PageText, Relevance
from qiaocrawl.options.kinds import within
from qiaocrawl.relevance.blend import BlendScorer, fit_platt, probability
from qiaocrawl.relevance.samples import (
    FOLDS,
    IN_TITLE,
    Floats,
    SampleVectors,
    assign_folds,
    features,
    learnt_samples,
    sample_places,
)
from qiaocrawl.relevance.scorer import (
    PagePlaces,
    chosen_threshold,
    judgement,
    page_scorers,
    term_weights,
)
from qiaocrawl.topic.pack import Sample, TopicPack
from qiaocrawl.topic.profile import PageWords
from qiaocrawl.vsm import SparseVector, TfIdf, Vocabulary, cosine

_log = logging.getLogger(__name__)

_COST = 1.0
_ROUNDS = 100
_STILL = 1e-3


@page_scorers.register("svm")
class SvmScorer:
    """w·x + b of the page's TF-IDF vector x, as a probability by Platt's scaling.

    w minimises ½·w² + sum of max(0, 1 − y_i·(w·x_i + b)) over the samples (O5 names SVM; the
    vectors are those of :class:`~qiaocrawl.relevance.samples.SampleVectors`). Slope and
    constant of the probability are fitted to scores of samples that were not trained on
    (five folds). From 0.5 on a page is on topic.

    Without samples of both kinds there is nothing to train on: then the topic's terms judge,
    as in ``blend``, and a warning says so.

    Args:
        pack: the topic.
        threshold: probability from which a page is on topic; 0 takes 0.5.

    Raises:
        ConfigError: a threshold outside [0, 1].
    """

    def __init__(self, pack: TopicPack, threshold: float = 0.0) -> None:
        self._topic = pack.name
        self.threshold = chosen_threshold(threshold, 0.5)
        self._by_terms: BlendScorer | None = None
        samples = learnt_samples(pack.samples)
        if len({sample.relevant for sample in samples}) < 2:
            _log.warning(
                "topic %r has no samples of both kinds for page scorer 'svm': pages are judged"
                " by the topic's terms",
                pack.name,
            )
            self._by_terms = BlendScorer(pack, threshold)
        else:
            self._train(samples, PageWords(term.text for term in pack.terms))

    def judge(self, page: PageText) -> Relevance:
        """The probability for a page, explained by the words that speak for the topic."""
        if self._by_terms is not None:
            return replace(self._by_terms.judge(page), method="svm")
        places = PagePlaces(page, self._words)
        if not places.both:
            return Relevance(self._topic, 0.0, False, "svm")
        vector = self._vectors.vector(features(places))
        parts = {name: value * self._weights[name] for name, value in vector.items()}
        decision = math.fsum(parts.values()) + self._constant
        score = probability(self._slope * decision + self._shift)
        return judgement(self._topic, "svm", score, self.threshold, _by_word(parts), places)

    def _train(self, samples: Sequence[Sample], words: PageWords) -> None:
        self._words = words
        self._vectors = SampleVectors(sample_places(samples, words))
        relevant = np.array([sample.relevant for sample in samples])
        products = self._vectors.products() + 1.0
        factors = support(products, relevant)
        self._weights = self._vectors.combine(factors)
        self._constant = float(factors.sum())
        self._slope, self._shift = fit_platt(_held_out_decisions(products, relevant), relevant)


def support(products: Floats, relevant: NDArray[np.bool_], cost: float = _COST) -> Floats:
    """The factor y_i·a_i of each sample in w, by dual coordinate descent (Hsieh and others 2008).

    Args:
        products: of every two samples, n x n; 1 was added where a constant is wanted.
        relevant: y = 1 or −1.
        cost: of a sample on the wrong side, above 0.

    Returns:
        n factors, those of the relevant samples in [0, cost], the others in [−cost, 0].
    """
    signs = np.where(relevant, 1.0, -1.0)
    factors = np.zeros(len(signs))
    margins = np.zeros(len(signs))
    # Random order makes coordinate descent converge fast; the seed makes it repeatable.
    order = np.random.default_rng(0)
    for _ in range(_ROUNDS):
        largest = 0.0
        for i in order.permutation(len(signs)):
            before = signs[i] * factors[i]
            gradient = signs[i] * margins[i] - 1.0
            after = min(max(before - gradient / products[i, i], 0.0), cost)
            if after != before:
                margins += (signs[i] * (after - before)) * products[i]
                factors[i] = signs[i] * after
                largest = max(largest, abs(after - before))
        if largest < _STILL:
            break
    return factors


def _held_out_decisions(products: Floats, relevant: NDArray[np.bool_]) -> Floats:
    """The decision for each sample by a machine that was trained without its fold."""
    folds = assign_folds(relevant)
    decisions = np.zeros(len(relevant))
    for fold in range(FOLDS):
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        factors = support(products[np.ix_(outside, outside)], relevant[outside])
        decisions[inside] = products[np.ix_(inside, outside)] @ factors
    return decisions


def _by_word(parts: dict[str, float]) -> dict[str, float]:
    """The parts of a word in the title and in the text together."""
    by_word: dict[str, float] = {}
    for name, part in parts.items():
        word = name.removeprefix(IN_TITLE)
        by_word[word] = by_word.get(word, 0.0) + part
    return by_word


# --- TF-IDF cosine (T8): how alike a page is to the middle of the topic's samples and terms -------

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
