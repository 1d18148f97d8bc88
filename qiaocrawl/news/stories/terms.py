"""The terms of an article as numbers: its words, and its pairs of characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.news.stories.evidence import KINDS, Marks, is_long, kind_of
from qiaocrawl.news.stories.lead import is_round_up, lead_of, letter_pairs, without_days
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import Segmenter
from qiaocrawl.vsm.terms import FUNCTION, title_shares, word_class

TERM_BITS = 21
DIMENSIONS = 1 << TERM_BITS
"""Terms are hashed to that many numbers: two of an article share one in some 10,000 cases."""

PAIRED_CHARS = 120
"""Pairs of characters, which find names no dictionary has, are read from so much of a text."""

MARKED_CHARS = 220
"""Names and numbers are compared up to here: further on they are of what was before."""

_MASK = DIMENSIONS - 1
# Words and pairs that look alike are different terms.
_PAIR = "\u0000"
_RAREST_PAIR = 3e-6
_REMEMBERED_TERMS = 500_000
_NOT_COUNTED = -1

Ids = NDArray[np.int32]
Counts = NDArray[np.float32]


def term_id(term: str) -> int:
    """The number of a word, the same in every process."""
    return crc32(term.encode("utf-8", "surrogatepass")) & _MASK


def term_ids(word: str) -> set[int]:
    """The numbers of a word and of the pairs of characters in it."""
    folded = fold(word)
    pairs = {_PAIR + pair for pair in letter_pairs(folded)}
    return {term_id(term) for term in {folded, *pairs}}


class Terms(NamedTuple):
    """What an article says, in numbers.

    Args:
        ids: ascending numbers of its terms.
        counts: how often each stands there.
        words: those of two letters or more, by their numbers.
        marks: what tells its happening from others like it.
        places: ascending numbers of the names of places and of their pairs.
        is_round_up: it tells of several happenings, one after the other.
    """

    ids: Ids
    counts: Counts
    words: dict[int, str]
    marks: Marks
    places: Ids
    is_round_up: bool = False


class TermReader:
    """Reads the terms of articles.

    Args:
        words: to keep whole, such as the terms of topics; they are no marks.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        known = frozenset(map(fold, words))
        self._topical = known
        self._segmenter = Segmenter(known, "rjieba")
        self._words, self._pairs = _Numbers(_word_number), _Numbers(_pair_number)
        self._marked = _Remembered(self._mark_of)

    def terms(self, title: str, body: str = "") -> Terms:
        """The terms of an article: of its title and its lead."""
        heading, lead = fold(without_days(title)), fold(lead_of(title, body))
        title_words = list(self._segmenter.words(heading))
        lead_words = list(self._segmenter.words(lead))
        words = Counter(title_words + lead_words)
        pairs = Counter(letter_pairs(f"{heading}\n{lead}"[:PAIRED_CHARS]))
        word_numbers = self._words.of(words)
        numbers = np.array([*word_numbers, *self._pairs.of(pairs)], np.int32)
        counts = np.array([*words.values(), *pairs.values()], np.float32)
        ids, at = np.unique(numbers, return_inverse=True)
        merged = np.bincount(at, counts).astype(np.float32)
        marked = self._marked
        marked.forget_many()
        places = {number for word in words if (mark := marked[word]) for number in mark.places}
        # What does not count has the lowest number, and stands first.
        first = int(np.searchsorted(ids, 0))
        return Terms(
            ids[first:],
            merged[first:],
            {
                number: word
                for number, word in zip(word_numbers, words, strict=True)
                if len(word) > 1 and number >= 0
            },
            self._marks(title_words, lead_words, is_long(heading + lead)),
            np.array(sorted(places), np.int32),
            is_round_up(title, body),
        )

    def kind_of(self, word: str) -> str | None:
        """Which kind of mark the folded *word* is; None: of none."""
        return None if word in self._topical else kind_of(word)

    def _marks(self, title_words: list[str], lead_words: list[str], can_miss: bool) -> Marks:
        kinds: tuple[set[int], ...] = tuple(set() for _ in KINDS)
        named, heading = set(), set()
        reach = 0
        for words, is_heading in (title_words, True), (lead_words, False):
            for word in words:
                if mark := self._marked[word]:
                    named.add(mark.number)
                    if is_heading:
                        heading.add(mark.number)
                    if reach <= MARKED_CHARS:
                        kinds[mark.kind].add(mark.number)
                reach += len(word)
        return Marks(tuple(map(frozenset, kinds)), frozenset(heading), frozenset(named), can_miss)

    def _mark_of(self, word: str) -> _Mark | None:
        kind = self.kind_of(word)
        if kind is None:
            return None
        number = term_id(word)
        places = (number, *map(_pair_number, letter_pairs(word))) if kind == "place" else ()
        return _Mark(KINDS.index(kind), number, places)


class _Mark(NamedTuple):
    """What a word tells of a happening: the place of its kind, its number, and those of a place."""

    kind: int
    number: int
    places: tuple[int, ...]


@lru_cache(maxsize=1)
def _reader_of(words: tuple[str, ...]) -> TermReader:
    return TermReader(words)


def terms_of_texts(texts: Sequence[tuple[str, str]], words: tuple[str, ...]) -> list[Terms]:
    """The terms of texts (title, body); also called in other processes and on other machines.

    Args:
        words: as of :class:`TermReader`.
    """
    reader = _reader_of(words)
    return [reader.terms(title, body) for title, body in texts]


_T = TypeVar("_T")


class _Remembered(dict[str, _T]):
    """What is known of words or pairs, worked out once each."""

    def __init__(self, work_out: Callable[[str], _T]) -> None:
        super().__init__()
        self._work_out = work_out

    def __missing__(self, term: str) -> _T:
        known = self[term] = self._work_out(term)
        return known

    def forget_many(self) -> None:
        """Forget all of them where they are too many."""
        if len(self) > _REMEMBERED_TERMS:
            self.clear()


class _Numbers(_Remembered[int]):
    """Numbers of words or pairs, remembered; below 0 where one does not count."""

    def of(self, terms: Iterable[str]) -> list[int]:
        """The numbers of *terms*, in their order; two may share one."""
        self.forget_many()
        return list(map(self.__getitem__, terms))


def _word_number(word: str) -> int:
    return term_id(word) if _counts(word) else _NOT_COUNTED


def _pair_number(pair: str) -> int:
    return term_id(_PAIR + pair)


def _counts(word: str) -> bool:
    return any(letter.isalnum() for letter in word) and word_class(word) != FUNCTION


@cache
def usual_shares() -> NDArray[np.float32]:
    """The share of titles that hold each term by general usage, by its number: (DIMENSIONS,).

    Of words as :func:`~qiaocrawl.vsm.terms.title_share` has it; of pairs of characters, what the
    words they stand in come to.
    """
    words = title_shares()
    of_words = np.fromiter(words.values(), np.float64, len(words))
    pairs, of_pairs = _pair_shares(list(words), of_words)
    # As :func:`term_id`; the dictionary has no lone surrogates.
    terms = (*map(str.encode, words), *(f"{_PAIR}{pair}".encode() for pair in pairs))
    ids = np.fromiter(map(crc32, terms), np.int64, len(terms)) & _MASK
    shares = np.bincount(ids, np.concatenate([of_words, of_pairs]), DIMENSIONS)
    return np.clip(shares, _RAREST_PAIR, 1.0).astype(np.float32)


def _pair_shares(
    words: Sequence[str], shares: NDArray[np.float64]
) -> tuple[list[str], NDArray[np.float64]]:
    """Every pair of neighbours in *words*, in the order they come, and the sum of their shares."""
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    text = "".join(words)
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.uint64)
    word = np.repeat(np.arange(len(words)), lengths)
    at = np.flatnonzero(word[:-1] == word[1:])
    # Both characters as one number; a sum goes from left to right, as one by one.
    both = codes[at] << np.uint64(32) | codes[at + 1]
    _, first, number = np.unique(both, return_index=True, return_inverse=True)
    sums = np.bincount(number, shares[word[at]]).astype(np.float64)
    order = np.argsort(first)
    return [text[start : start + 2] for start in at[first[order]].tolist()], sums[order]


# --- Sparse vectors of whole numbers: their sums do not depend on the order of adding -------------

SCALE = 1 << 12
"""What 1 is in the values of a vector."""

Values = NDArray[np.int64]


class Vector(NamedTuple):
    """Values by ascending numbers of terms."""

    ids: Ids
    values: Values

    def plus(self, other: Vector) -> Vector:
        """The sum of both."""
        places = np.searchsorted(self.ids, other.ids)
        known = places < len(self.ids)
        known[known] = self.ids[places[known]] == other.ids[known]
        values = self.values.copy()
        values[places[known]] += other.values[known]
        new = ~known
        return Vector(
            np.insert(self.ids, places[new], other.ids[new]),
            np.insert(values, places[new], other.values[new]),
        )

    def top(self, count: int) -> Vector:
        """The *count* highest values, more of them where some are equal."""
        if len(self.ids) <= count:
            return self
        least = np.partition(self.values, -count)[-count]
        kept = self.values >= least
        return Vector(self.ids[kept], self.values[kept])

    def as_bytes(self) -> bytes:
        """For storing: numbers, then values, each as 32 bits."""
        return self.ids.astype("<i4").tobytes() + self.values.astype("<i4").tobytes()


def sum_of(vectors: Sequence[Vector]) -> Vector:
    """The sum of *vectors*, at least one."""
    ids, places = np.unique(np.concatenate([one.ids for one in vectors]), return_inverse=True)
    # Whole numbers up to 2**53 are exact.
    sums = np.bincount(places, np.concatenate([one.values for one in vectors]), len(ids))
    return Vector(ids, sums.astype(np.int64))


def vector_from(data: bytes) -> Vector:
    """What :meth:`Vector.as_bytes` gave."""
    numbers = np.frombuffer(data, "<i4")
    half = len(numbers) // 2
    return Vector(numbers[:half].astype(np.int32), numbers[half:].astype(np.int64))


# From so many times as many terms on, those of the other are looked for one by one.
_MANY_TIMES_LONGER = 6
_SMALL = 1 << 16
_SMALL_MASK = _SMALL - 1


class Multiplier:
    """Products of one vector with others."""

    def __init__(self) -> None:
        self._dense = np.zeros(DIMENSIONS, np.int64)
        # Most terms of others are none of the vector: a small table, which stays in the
        # processor's cache, tells so of nearly all.
        self._may_have = np.zeros(_SMALL, np.bool_)

    def products(self, vector: Vector, others: Sequence[Vector]) -> list[int]:
        """The inner product of *vector* with each of *others*, in units of ``SCALE`` squared."""
        dense = self._dense
        dense[vector.ids] = vector.values
        products = [0] * len(others)
        most = _MANY_TIMES_LONGER * len(vector.ids)
        lengths = [len(other.ids) for other in others]
        few = [at for at, length in enumerate(lengths) if length <= most]
        if few:
            # All these at once: one call of numpy, not one each. Some may have no terms.
            chosen = [others[at] for at in few]
            ids = np.concatenate([other.ids for other in chosen])
            own = vector.ids & _SMALL_MASK
            self._may_have[own] = True
            hits = np.flatnonzero(self._may_have[ids & _SMALL_MASK])
            self._may_have[own] = False
            values = np.concatenate([other.values for other in chosen])[hits]
            summed = [0, *np.cumsum(dense[ids[hits]] * values).tolist()]
            ends = np.fromiter(accumulate(lengths[at] for at in few), np.int64, len(few))
            before = 0
            for at, end in zip(few, hits.searchsorted(ends).tolist(), strict=True):
                products[at] = summed[end] - summed[before]
                before = end
        dense[vector.ids] = 0
        if len(few) < len(others):
            # Of the sum of many texts only what this one has is read.
            for at, other in enumerate(others):
                if lengths[at] > most:
                    places = np.searchsorted(other.ids, vector.ids)
                    places[places == len(other.ids)] = 0
                    values = np.where(other.ids[places] == vector.ids, other.values[places], 0)
                    products[at] = int(values @ vector.values)
        return products
