"""Titles to the numbers of their words, many at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.dedup.cleaning.cleaning import MAX_TITLE_CHARS
from qiaocrawl.dedup.index.vocabulary import TermTable
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import Segmenter

MAX_WORDS = 255
"""A title has about ten words; more is a page's text in the wrong place."""
_MAX_WORD_CHARS = 64


class TitleBatch(NamedTuple):
    """Titles as word numbers: title i is ``words[starts[i]:starts[i + 1]]``."""

    words: NDArray[np.int32]
    starts: NDArray[np.int64]


def line_of(title: str) -> str:
    """*title* as it is cut: without line breaks, which separate titles that are cut together."""
    return " ".join(title[:MAX_TITLE_CHARS].split())


class TitleWords:
    """Cuts titles into words with rjieba; words are folded, so scripts and widths are one.

    What holds no letter or digit (punctuation, ``-``, ``_``) does not count.

    Args:
        table: gives each word its number.
        terms: words to keep whole, such as those of a topic pack.
    """

    def __init__(self, table: TermTable, terms: Iterable[str] = ()) -> None:
        self._table = table
        self._segmenter = Segmenter(map(fold, terms), "rjieba")

    def of(self, titles: Sequence[str]) -> TitleBatch:
        """The words of each of *titles* by number, in order; at most 255 of each."""
        lines = list(map(line_of, titles))
        # One call for all: folding and cutting cost less than calling.
        words = self._segmenter.words(fold("\n".join(lines)))
        breaks = [at for at, word in enumerate(words) if word == "\n"]
        if len(breaks) != len(titles) - 1:
            # Some letter turned into a line end, or joined one.
            cut = [self._segmenter.words(fold(line)) for line in lines]
            words = [word for line in cut for word in line]
            ends = np.cumsum([len(line) for line in cut], dtype=np.int64)
        else:
            ends = np.array([*breaks, len(words)])
        # max() first: nearly no batch has such a word.
        if max(map(len, words), default=0) > _MAX_WORD_CHARS:
            words = [word[:_MAX_WORD_CHARS] for word in words]
        return _without_marks(self._table.ids(words), ends)

    def of_cut(self, words: Sequence[str]) -> TitleBatch:
        """What :meth:`of` gives for the one title whose words are *words*.

        Args:
            words: by :meth:`Segmenter.terms` of rjieba with the same terms.
        """
        kept = [word[:_MAX_WORD_CHARS] for word in words]
        return _without_marks(self._table.ids(kept), np.array([len(kept)]))

    def texts(self, titles: Sequence[str]) -> list[list[str]]:
        """The words of each of *titles* as text: what a snapshot counts."""
        batch = self.of(titles)
        names = self._table.words()
        bounds = zip(batch.starts[:-1].tolist(), batch.starts[1:].tolist(), strict=True)
        return [[names[term] for term in batch.words[start:end]] for start, end in bounds]


def _without_marks(numbers: NDArray[np.int32], ends: NDArray[np.int64]) -> TitleBatch:
    """*numbers* of titles that end at *ends*, without punctuation marks (-1)."""
    if len(ends) == 1:
        # A crawl brings one title at a time; all the sums below would cost more than its words.
        words = numbers[numbers >= 0][:MAX_WORDS]
        return TitleBatch(words, np.array([0, len(words)], np.int64))
    # -1 is a mark, no word: the sums say how many words stand before each place.
    counted = np.concatenate(([0], np.cumsum(numbers >= 0)))
    starts = np.concatenate(([0], counted[ends]))
    words = numbers[numbers >= 0]
    lengths = np.diff(starts)
    if lengths.max(initial=0) <= MAX_WORDS:
        return TitleBatch(words, starts)
    cut = [words[start : start + MAX_WORDS] for start in starts[:-1].tolist()]
    cut = [part[:length] for part, length in zip(cut, lengths.tolist(), strict=True)]
    starts = np.concatenate(([0], np.cumsum(np.minimum(lengths, MAX_WORDS))))
    return TitleBatch(np.concatenate(cut), starts)
