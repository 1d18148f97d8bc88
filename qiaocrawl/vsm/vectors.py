"""Words as numbers, and in how many documents of a collection each stands."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.vsm.terms import title_share

# --- Sparse vectors: sorted term ids with their weights -------------------------------------------

Ids = NDArray[np.int64]
Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SparseVector:
    """A vector by its non-zero parts; ``ids`` ascend and are unique, ``weights`` are >= 0."""

    ids: Ids
    weights: Weights

    @classmethod
    def of(cls, weights: Mapping[int, float]) -> SparseVector:
        """The vector with these weights by term id.

        Raises:
            ValueError: a weight is negative or not finite.
        """
        # "w >= 0" is false for nan as well.
        bad = next((w for w in weights.values() if not (math.isfinite(w) and w >= 0)), None)
        if bad is not None:
            raise ValueError(f"a weight must be a finite number of at least 0, got {bad!r}")
        ids = sorted(weights)
        values = np.array([weights[i] for i in ids], dtype=np.float64)
        return cls(np.array(ids, dtype=np.int64), values)

    @property
    def norm(self) -> float:
        """Its length; 0 for the empty vector."""
        return math.sqrt(float(self.weights @ self.weights))


def cosine(a: SparseVector, b: SparseVector) -> float:
    """Cosine of the angle between *a* and *b*, in [0, 1]; 0 when one has no length.

    Each is scaled by its largest weight first, so that tiny and huge weights neither vanish
    nor overflow when squared.
    """
    a, b = _scale(a), _scale(b)
    lengths = a.norm * b.norm
    if lengths == 0.0:
        return 0.0
    # The shorter one is looked up in the longer one.
    if len(a.ids) > len(b.ids):
        a, b = b, a
    places = np.searchsorted(b.ids, a.ids)
    inside = places < len(b.ids)
    # Past the end of b nothing can be equal.
    places, ids, weights = places[inside], a.ids[inside], a.weights[inside]
    shared = b.ids[places] == ids
    # fsum: the same result in whatever order the ids are.
    product = math.fsum(weights[shared] * b.weights[places[shared]])
    return min(1.0, product / lengths)


def _scale(vector: SparseVector) -> SparseVector:
    largest = float(vector.weights.max(initial=0.0))
    if largest == 0.0:
        return vector
    return SparseVector(vector.ids, vector.weights / largest)


# --- Words as numbers, and in how many documents of a collection each stands ----------------------


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each term stands in one document: pairs (term id, frequency), ids ascending.

    Equal for documents of the same words in any order; hashable.
    """

    pairs: tuple[tuple[int, int], ...]

    @property
    def ids(self) -> tuple[int, ...]:
        """The distinct term ids, ascending."""
        return tuple(pair[0] for pair in self.pairs)


class Vocabulary:
    """Terms of a collection with their document frequencies.

    A term keeps its id for the life of the vocabulary, also when no document has it any more.
    """

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        # An array of 64-bit numbers: numpy can look at it without a copy.
        self._frequencies = array("q")
        self.documents = 0

    def __len__(self) -> int:
        """Number of terms ever counted."""
        return len(self._ids)

    def count(self, terms: Iterable[str]) -> Counts:
        """*terms* counted, as an id and a frequency each; new terms get an id (df 0)."""
        counted: Counter[int] = Counter(map(self._id_of, terms))
        return Counts(tuple(sorted(counted.items())))

    def add(self, document: Counts) -> None:
        """One more document of the collection."""
        for term, _ in document.pairs:
            self._frequencies[term] += 1
        self.documents += 1

    def remove(self, document: Counts) -> None:
        """Take back what :meth:`add` did.

        Raises:
            ValueError: no such document can have been added; nothing is changed then.
        """
        frequencies = self._frequencies
        # Checked before anything is changed.
        if self.documents == 0 or any(frequencies[term] == 0 for term, _ in document.pairs):
            raise ValueError(f"{document!r} is not in the collection")
        for term, _ in document.pairs:
            frequencies[term] -= 1
        self.documents -= 1

    def words(self) -> list[str]:
        """All terms; the place of one is its id."""
        return list(self._ids)

    def frequency(self, term: int) -> int:
        """In how many documents the term of this id stands."""
        return self._frequencies[term]

    def frequencies(self, terms: Ids) -> Ids:
        """The same for many ids at once."""
        if not len(terms):
            return np.zeros(0, dtype=np.int64)
        # The view is gone when this returns, so that the array can grow again.
        counted: Ids = np.frombuffer(self._frequencies, dtype=np.int64)[terms]
        return counted

    def _id_of(self, term: str) -> int:
        number = self._ids.get(term)
        if number is None:
            number = self._ids[term] = len(self._frequencies)
            self._frequencies.append(0)
        return number


# --- TF-IDF: how much a term says about a document of a collection --------------------------------


class TfIdf:
    """Weights by the state the vocabulary has when they are asked for.

    Args:
        vocabulary: the collection.
        smooth: ``tf * (ln((1 + N) / (1 + df)) + 1)`` instead of ``tf * ln(N / df)`` (Q6; the
            form is ours, the paper's formula is lost). The plain form gives 0 to a term
            that stands in every document, so a collection of one document has no weights;
            the smoothed one never gives 0.
    """

    def __init__(self, vocabulary: Vocabulary, *, smooth: bool = False) -> None:
        self.vocabulary = vocabulary
        self.smooth = smooth

    def idf(self, terms: Ids) -> Weights:
        """Inverse document frequency of each term, at least 0.

        A term no document has (df 0) counts as one that a single document has.
        """
        total, frequencies = self.vocabulary.documents, self.vocabulary.frequencies(terms)
        if self.smooth:
            ratio = (1.0 + total) / (1.0 + frequencies)
            return np.asarray(np.log(ratio) + 1.0, dtype=np.float64)
        ratio = np.maximum(total, 1) / np.maximum(frequencies, 1)
        return np.asarray(np.log(ratio), dtype=np.float64)

    def vector(self, document: Counts) -> SparseVector:
        """The weights of *document*, which need not be in the collection; no zeros."""
        # reshape: an empty document has no pairs, and would have no columns.
        pairs = np.array(document.pairs, dtype=np.int64).reshape(-1, 2)
        ids, frequencies = pairs[:, 0], pairs[:, 1]
        weights = frequencies * self.idf(ids)
        positive = weights > 0
        return SparseVector(ids[positive], weights[positive])


# --- Document frequencies of a title collection at one moment, so that weights do not drift -------

PRIOR_TITLES = 50_000.0
"""How many titles general usage counts for beside those of the collection."""


@dataclass(frozen=True, slots=True)
class IdfSnapshot:
    """Inverse document frequencies that stay as they are while the collection grows.

    The collection's counts are mixed with general usage, as if it held ``prior_titles`` more
    titles of usual words (ours). So a collection of a hundred titles gives nearly the weights
    of one of a million, and words nobody has seen yet have a weight as well. Without a prior
    the weights are the published ones, ln(N / df) (Q6; the form is ours, the paper's is lost),
    which are 0 for a collection of one title.

    Attributes:
        version: names this snapshot; 0 is general usage alone.
        documents: titles counted.
        frequencies: in how many of them each word stands; words left out stand in none.
        prior_titles: at least 0.
    """

    version: int = 0
    documents: int = 0
    frequencies: Mapping[str, int] = field(default_factory=dict)
    prior_titles: float = PRIOR_TITLES

    def __post_init__(self) -> None:
        """Refuse what gives no weights.

        Raises:
            ValueError: a negative or infinite number of titles, or a negative frequency.
        """
        if self.documents < 0:
            raise ValueError(f"documents must be at least 0, got {self.documents!r}")
        if not 0 <= self.prior_titles < math.inf:
            raise ValueError(f"prior_titles must be 0 or more, got {self.prior_titles!r}")
        least = min(self.frequencies.values(), default=0)
        if least < 0:
            raise ValueError(f"frequencies must be at least 0, got {least!r}")

    @classmethod
    def of(
        cls, titles: Iterable[Iterable[str]], *, version: int, prior_titles: float = PRIOR_TITLES
    ) -> IdfSnapshot:
        """The snapshot of a collection of segmented titles."""
        frequencies: Counter[str] = Counter()
        documents = 0
        for words in titles:
            # Once a title, however often the word stands there.
            frequencies.update(set(words))
            documents += 1
        return cls(version, documents, frequencies, prior_titles)

    def idf(self, term: str) -> float:
        """ln((N + prior) / (df + prior * share of titles by general usage)), at least 0."""
        frequency = self.frequencies.get(term, 0)
        if not self.prior_titles:
            return max(0.0, math.log(max(self.documents, 1) / max(frequency, 1)))
        titles = self.documents + self.prior_titles
        return max(0.0, math.log(titles / (frequency + self.prior_titles * title_share(term))))

    def share(self, term: str) -> float:
        """The share of titles that hold *term*, in (0, 1], as this snapshot estimates it."""
        return math.exp(-self.idf(term))
