"""The samples of a topic as TF-IDF vectors, and a linear judge learnt from them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.items import PageText
from qiaocrawl.relevance.scorer import PagePlaces
from qiaocrawl.topic.pack import Sample
from qiaocrawl.topic.profile import PageWords, background_frequencies

Floats = NDArray[np.float64]

MAX_SAMPLES = 1000
"""Samples that are learnt from, half of them relevant where there are so many."""
FOLDS = 5
"""Parts of the samples that are left out in turn."""
IN_TITLE = "title:"
"""Before a word that stands in the title: a feature of its own."""

_TITLE_WEIGHT = 3.0
# The background collection counts as this many samples beside the real ones.
_BACKGROUND_PAGES = 50.0
# Distinct places for words on a page of the background collection.
_BACKGROUND_WORDS = 300.0
_COLUMNS_AT_A_TIME = 2000


class SampleVectors:
    """Unit vectors of samples, one column a word, title words apart from those of the text.

    A word weighs sqrt(tf) · idf, three times that in the title, with idf =
    ln((N + 50) / (df + 50·s)): N samples, df of them with the word, s the share of pages that
    hold it by the frequencies of jieba's dictionary (for Latin words, which that does not
    know, df/N). **(ours)** Words of fewer than two samples have no column; what a page has of
    them does not count for its length.

    Args:
        samples: the places of at most MAX_SAMPLES.
    """

    def __init__(self, samples: Sequence[PagePlaces]) -> None:
        sample_features = list(map(features, samples))
        frequencies = Counter(name for one in sample_features for name in one)
        # A word of a single sample can only be learnt by heart.
        names = sorted(name for name, times in frequencies.items() if times > 1)
        self._columns = {name: column for column, name in enumerate(names)}
        self.idf = dict(zip(names, _idf(names, frequencies, len(samples)), strict=True))
        """ln of how rare each word is, at least 0, by the name of its column."""
        self.rows = [self.vector(one) for one in sample_features]

    def vector(self, found: Mapping[str, float]) -> dict[str, float]:
        """The unit vector of what :func:`features` found; {} where no word has a column."""
        weights = {
            name: times * self.idf[name] for name, times in found.items() if name in self.idf
        }
        length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
        return {name: weight / length for name, weight in weights.items() if weight > 0}

    def products(self) -> Floats:
        """The inner product of every two samples, n x n, in [0, 1]."""
        size = len(self.rows)
        products = np.zeros((size, size))
        columns = [
            np.array([self._columns[name] for name in row], dtype=np.int64) for row in self.rows
        ]
        values = [np.array(list(row.values())) for row in self.rows]
        # Blocks of columns: a dense matrix of all words would take gigabytes.
        for first in range(0, len(self._columns), _COLUMNS_AT_A_TIME):
            block = np.zeros((size, _COLUMNS_AT_A_TIME))
            for number, (column, value) in enumerate(zip(columns, values, strict=True)):
                inside = (column >= first) & (column < first + _COLUMNS_AT_A_TIME)
                block[number, column[inside] - first] = value[inside]
            products += block @ block.T
        return products

    def combine(self, factors: Floats) -> dict[str, float]:
        """The sum of the samples' vectors, each times its factor: weights by word."""
        weights: dict[str, float] = dict.fromkeys(self._columns, 0.0)
        for factor, row in zip(factors, self.rows, strict=True):
            for name, value in row.items():
                weights[name] += float(factor) * value
        return weights


def occurrences(places: PagePlaces) -> Iterator[tuple[str, str, float]]:
    """Name of its column, word and weight before idf of each word of the text and the title."""
    for word, times in places.text.items():
        yield word, word, math.sqrt(times)
    for word, times in places.title.items():
        yield IN_TITLE + word, word, _TITLE_WEIGHT * math.sqrt(times)


def features(places: PagePlaces) -> dict[str, float]:
    """The weights before idf by name of their columns."""
    return {name: weight for name, _, weight in occurrences(places)}


def sample_places(samples: Iterable[Sample], words: PageWords) -> list[PagePlaces]:
    """The words of *samples*, which have title and text only."""
    return [PagePlaces(PageText(sample.title, sample.text), words) for sample in samples]


def learnt_samples(samples: Sequence[Sample]) -> list[Sample]:
    """The last MAX_SAMPLES of *samples*, of either kind half where there are so many."""
    yes = [sample for sample in samples if sample.relevant]
    no = [sample for sample in samples if not sample.relevant]
    room = max(MAX_SAMPLES // 2, MAX_SAMPLES - len(no))
    yes = yes[-room:]
    return [*yes, *no[len(no) - min(len(no), MAX_SAMPLES - len(yes)) :]]


def assign_folds(relevant: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The fold of each sample, 0 to FOLDS − 1; both kinds are dealt out evenly, in order."""
    folds = np.empty(len(relevant), dtype=np.int64)
    for kind in (True, False):
        folds[relevant == kind] = np.arange((relevant == kind).sum()) % FOLDS
    return folds


def _idf(names: Sequence[str], frequencies: Counter[str], samples: int) -> list[float]:
    plain = [name.removeprefix(IN_TITLE) for name in names]
    known, total = background_frequencies(plain)
    pages = samples + _BACKGROUND_PAGES
    idfs = []
    for name, word in zip(names, plain, strict=True):
        share = frequencies[name] / samples
        if not word.isascii():
            share = min(1.0, _BACKGROUND_WORDS * known[word] / total)
        share = max(share, 0.5 / pages)
        idf = math.log(pages / (frequencies[name] + _BACKGROUND_PAGES * share))
        idfs.append(max(0.0, idf))
    return idfs


# --- A linear judge over a page's words, learnt from samples in one step (least squares) ----------

RIDGE = 0.5
_BREADTH = 3.0


class WordJudge:
    """Weights of words that bring relevant samples to 1 and the others to −1.

    A least-squares support vector machine (Suykens and Vandewalle 1999) with linear kernel:
    (K + 1 + diag(0.5 / v))·a = t, with K the products of the samples' TF-IDF vectors, t = ±1,
    and v so that both kinds weigh the same in all. A page scores sum of a_i · (x_i·x + 1).
    Where only n words of a page are known, that is taken times 1 − exp(−n / 3), so that a page
    of one word says little **(ours)**.

    What each sample would score had it not been learnt from follows without learning again:
    t_i − a_i / (inverse)_ii.

    Args:
        samples: the places of each.
        relevant: which of them are; there are both kinds.
    """

    def __init__(self, samples: Sequence[PagePlaces], relevant: NDArray[np.bool_]) -> None:
        self._vectors = SampleVectors(samples)
        size, yes = len(samples), int(relevant.sum())
        importance = np.where(relevant, size / (2 * yes), size / (2 * (size - yes)))
        targets = np.where(relevant, 1.0, -1.0)
        products = self._vectors.products() + 1.0 + np.diag(RIDGE / importance)
        inverse = np.linalg.inv(products).astype(np.float64)
        factors: Floats = inverse @ targets
        self.left_out: Floats = targets - factors / np.diag(inverse)
        """The score of each sample by a judge that was learnt without it."""
        weights = self._vectors.combine(factors)
        self._table = {name: (idf, idf * weights[name]) for name, idf in self._vectors.idf.items()}
        self._constant = float(factors.sum())

    def of(self, places: PagePlaces) -> tuple[float, dict[str, float]]:
        """The score of a page, about −1 to 1, and what each of its words adds to it.

        0 for a page of unknown words.
        """
        parts: dict[str, float] = {}
        square = 0.0
        for name, word, times in occurrences(places):
            entry = self._table.get(name)
            if entry is not None:
                idf, weight = entry
                square += (times * idf) ** 2
                parts[word] = parts.get(word, 0.0) + times * weight
        if not parts or not square:
            return 0.0, {}
        enough = -math.expm1(-len(parts) / _BREADTH)
        scale = enough / math.sqrt(square)
        parts = {word: scale * part for word, part in parts.items()}
        return math.fsum(parts.values()) + enough * self._constant, parts
