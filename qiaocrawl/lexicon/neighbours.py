"""Words that a corpus uses alike: neighbours in a space of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_WINDOW = 5
_MOST_WORDS = 4_000
_DIMENSIONS = 100
# ln of the negative samples that the model of Mikolov et al. would draw (Levy and Goldberg 2014).
_SHIFT = np.log(2.0)
_SMOOTHING = 0.75
"""Power of the context counts (Levy, Goldberg and Dagan 2015): rare contexts count for less."""


class Neighbours:
    """Nearness of words by what stands around them: shifted positive PMI and its largest axes.

    Deterministic, and small: the most frequent 4,000 words, vectors of 100 numbers.

    Args:
        texts: their content words in order.
        least: words that stand there less often are left out.
    """

    def __init__(self, texts: Iterable[Sequence[str]], *, least: int = 5) -> None:
        texts = [list(words) for words in texts]
        counts = Counter(word for words in texts for word in words)
        self.words = [word for word, count in counts.most_common(_MOST_WORDS) if count >= least]
        self._numbers = {word: number for number, word in enumerate(self.words)}
        self._vectors = _vectors(_cooccurrences(texts, self._numbers))

    def nearest(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """The *count* words nearest to *word* with their cosines; none where it is unknown."""
        number = self._numbers.get(word)
        if number is None:
            return []
        cosines = self._vectors @ self._vectors[number]
        cosines[number] = -1.0
        order = np.argsort(-cosines, kind="stable")[:count]
        return [(self.words[other], float(cosines[other])) for other in order if cosines[other] > 0]


def _cooccurrences(texts: Sequence[Sequence[str]], numbers: dict[str, int]) -> Floats:
    """How often each word stands within five words of each other one."""
    size = len(numbers)
    counts = np.zeros((size, size))
    for words in texts:
        known = np.array([numbers[word] for word in words if word in numbers], np.int64)
        for apart in range(1, min(_WINDOW, len(known) - 1) + 1):
            np.add.at(counts, (known[:-apart], known[apart:]), 1.0)
    return counts + counts.T


def _vectors(counts: Floats) -> Floats:
    """A row of length 1 for each word (0 for a word without company)."""
    if not counts.any():
        return np.zeros((len(counts), 1))
    contexts = counts.sum(0) ** _SMOOTHING
    expected = np.outer(counts.sum(1), contexts / contexts.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.log(counts / expected) - _SHIFT
    information = np.where(counts > 0, np.maximum(information, 0.0), 0.0)
    vectors = _largest_axes(information)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit


def _largest_axes(matrix: Floats) -> Floats:
    """The rows of *matrix* on its largest axes, each scaled by the root of its length.

    A randomised range finder with a fixed seed (Halko, Martinsson and Tropp 2011): the whole
    decomposition of 4,000 words takes minutes.
    """
    dimensions = min(_DIMENSIONS, len(matrix))
    start = np.random.default_rng(0).standard_normal(
        (len(matrix), min(dimensions + 20, len(matrix)))
    )
    base = matrix @ start
    for _ in range(3):
        base, _ = np.linalg.qr(matrix @ (matrix.T @ base))
    base, _ = np.linalg.qr(base)
    left, lengths, _ = np.linalg.svd(base.T @ matrix, full_matrices=False)
    axes: Floats = (base @ left)[:, :dimensions] * np.sqrt(lengths[:dimensions])
    return axes
