"""Words of a corpus that the dictionary does not know."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# --- How firmly letters hold together, and how freely what they make moves: one pass over a
# text
# A string of letters is a word as far as its parts belong together (each stands
# beside the other more often than chance has it) and its neighbours change (Sun,
# Shen and Tsou 1998; Feng et al. 2004).

Ints = NDArray[np.int64]
Codes = NDArray[np.uint64]
Floats = NDArray[np.float64]

MAX_LETTERS = 4
"""Longest string whose bonds are counted: with the letter behind it, five fit into 64 bits."""
_MOST_LETTERS = 7_131
_FIRST, _LAST = 0x4E00, 0x9FFF
# The number of marks: words end at them.
_BREAK = 0
# The only neighbours beside Chinese letters: a digit, any other letter. Each counts as one, so
# that 日讯 behind 3 and behind 15 is not free on its left.
_DIGIT, _OTHER = 1, 2
_OWN = 3


@dataclass(frozen=True, slots=True)
class Bonds:
    """How a string of letters behaves in a text.

    Args:
        frequency: how often it stands there.
        cohesion: pointwise mutual information of its two parts, in nats, where it is least.
        left_freedom, right_freedom: entropy of the letters before and behind it, in nats; the
            end of a sentence counts as a letter of its own each time.
    """

    frequency: int
    cohesion: float
    left_freedom: float
    right_freedom: float

    @property
    def freedom(self) -> float:
        """That of the side where it is less free: 侨联主 is followed by 席 and little else."""
        return min(self.left_freedom, self.right_freedom)


@dataclass(frozen=True, slots=True)
class _Strings:
    """The frequent strings of one length, sorted by code, with the freedom of their right side."""

    codes: Codes
    counts: Ints
    freedom: Floats

    def find(self, code: int) -> int | None:
        """The number of the string of this *code*."""
        number = int(np.searchsorted(self.codes, np.uint64(code)))
        is_there = number < len(self.codes) and int(self.codes[number]) == code
        return number if is_there else None


class LetterBonds:
    """The bonds of all strings of two to :data:`MAX_LETTERS` Chinese letters of *texts*.

    All suffixes are sorted by their first five letters, once forwards and once backwards: equal
    strings lie together then, and so do the letters that follow them. Takes some 60 bytes a letter
    while it counts.

    Args:
        texts: folded.
        least: strings that stand there less often are not counted.
    """

    def __init__(self, texts: Iterable[str], *, least: int = 5) -> None:
        letters, numbers = _number_letters("\n".join(texts), least)
        self._numbers = {letter: number for number, letter in enumerate(letters, _OWN)}
        self._base = len(letters) + _OWN
        self._counts = np.bincount(numbers, minlength=self._base)
        self.total = int(self._counts[_OWN:].sum())
        """Chinese letters of the texts, those that stand there too rarely left out."""
        self._forwards = _sorted_strings(numbers, self._base, least)
        self._backwards = _sorted_strings(numbers[::-1], self._base, least)

    def of(self, word: str) -> Bonds | None:
        """The bonds of *word*; None where it is too rare, too long, or not Chinese alone."""
        if not 2 <= len(word) <= MAX_LETTERS:
            return None
        code, backwards = self._code(word), self._code(word[::-1])
        if code is None or backwards is None:
            return None
        strings, reverse = self._forwards[len(word)], self._backwards[len(word)]
        number, mirrored = strings.find(code), reverse.find(backwards)
        if number is None or mirrored is None:
            return None
        count = int(strings.counts[number])
        cohesion = min(
            math.log(count * self.total / (self._count(word[:cut]) * self._count(word[cut:])))
            for cut in range(1, len(word))
        )
        left, right = float(reverse.freedom[mirrored]), float(strings.freedom[number])
        return Bonds(count, cohesion, left, right)

    def _code(self, word: str) -> int | None:
        code = 0
        for letter in word:
            number = self._numbers.get(letter)
            if number is None:
                return None
            code = code * self._base + number
        return code

    def _count(self, part: str) -> int:
        """How often *part* of a frequent string stands in the texts: at least as often."""
        code = self._code(part)
        assert code is not None
        if len(part) == 1:
            return int(self._counts[code])
        number = self._forwards[len(part)].find(code)
        assert number is not None, "a part is as frequent as the whole"
        return int(self._forwards[len(part)].counts[number])


def _number_letters(text: str, least: int) -> tuple[list[str], NDArray[np.uint16]]:
    """The frequent Chinese letters of *text*, numbered from 3, and the number of each place.

    Rare ones are left out: no string that holds one is frequent.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    counts = np.bincount(np.minimum(codes, _LAST + 1), minlength=_LAST + 2)
    used = np.flatnonzero(counts[_FIRST : _LAST + 1] >= least) + _FIRST
    most = _MOST_LETTERS - _OWN
    if len(used) > most:
        used = np.sort(used[np.argsort(-counts[used], kind="stable")[:most]])
    table = np.full(_LAST + 2, _BREAK, np.uint16)
    present = np.flatnonzero(counts[:_FIRST])
    table[present] = [_kind_of(chr(code)) for code in present]
    table[used] = np.arange(_OWN, _OWN + len(used))
    return [chr(code) for code in used], table[np.minimum(codes, _LAST + 1)]


def _kind_of(letter: str) -> int:
    return _DIGIT if letter.isdigit() else _OTHER if letter.isalpha() else _BREAK


def _sorted_strings(numbers: NDArray[np.uint16], base: int, least: int) -> dict[int, _Strings]:
    """The frequent strings by length."""
    suffixes = np.sort(_suffix_codes(numbers, base))
    runs = {length: _runs(suffixes, base, length) for length in range(2, MAX_LETTERS + 2)}
    return {
        length: _frequent(runs[length], runs[length + 1], base, least)
        for length in range(2, MAX_LETTERS + 1)
    }


def _suffix_codes(numbers: NDArray[np.uint16], base: int) -> Codes:
    """The five letters from each Chinese one on; behind any other nothing counts any more."""
    padded = np.concatenate([numbers, np.zeros(MAX_LETTERS, numbers.dtype)])
    codes = numbers.astype(np.uint64)
    goes_on = numbers >= _OWN
    for step in range(1, MAX_LETTERS + 1):
        letters = padded[step : step + len(numbers)]
        codes = codes * np.uint64(base) + np.where(goes_on, letters, np.uint16(_BREAK))
        goes_on &= letters >= _OWN
    begun: Codes = codes[numbers >= _OWN]
    return begun


def _runs(suffixes: Codes, base: int, length: int) -> tuple[Codes, Ints]:
    """Each string of *length* letters among the sorted *suffixes*, and how often it is there."""
    codes = suffixes // np.uint64(base ** (MAX_LETTERS + 1 - length))
    starts = np.flatnonzero(np.diff(codes, prepend=codes[:1] + np.uint64(1)))
    return codes[starts], np.diff(starts, append=len(codes))


def _frequent(
    runs: tuple[Codes, Ints], longer: tuple[Codes, Ints], base: int, least: int
) -> _Strings:
    """The frequent strings among *runs*; *longer* holds them with one letter more."""
    codes, counts = runs
    is_word = (counts >= least) & (codes % np.uint64(base) >= _OWN)
    next_codes, next_counts = longer
    owners = np.searchsorted(codes, next_codes // np.uint64(base))
    shares = next_counts / counts[owners]
    # Each end of a sentence is a neighbour of its own: n of them are n letters met once.
    is_end = next_codes % np.uint64(base) == _BREAK
    surprise = np.where(is_end, np.log(counts[owners]), -np.log(shares))
    freedom = np.bincount(owners, weights=shares * surprise, minlength=len(codes))
    frees: Floats = freedom[is_word].astype(np.float64)
    return _Strings(codes[is_word], counts[is_word], frees)


# --- Words of a corpus that the dictionary does not know ------------------------------------------

LEAST = 5
"""A string that stands there less often is not looked at: its neighbours say nothing yet."""
# A word whose neighbour on one side is nearly always the same is a piece of a longer one (nats).
_LEAST_FREEDOM = 0.7


@dataclass(frozen=True, slots=True)
class NewWord:
    """A word that the dictionary does not know, and why it is taken for one."""

    text: str
    bonds: Bonds
    score: float


def new_words(
    words: Mapping[str, int], bonds: LetterBonds, is_known: Callable[[str], bool]
) -> list[NewWord]:
    """The words that jieba's model of letters found, ranked by their bonds, the best first.

    That model (HMM) cuts what the dictionary does not know by the places that letters take in
    words; half of what it finds are pieces or runs. A word's letters hold together and its
    neighbours change: cohesion and freedom tell the two apart.

    Args:
        words: of the corpus as the segmenter cuts it, and how often each is cut so.
        bonds: of the strings of its texts.
        is_known: whether the dictionary has a word.
    """
    candidates = []
    for word, count in words.items():
        if count < LEAST or not 2 <= len(word) <= MAX_LETTERS or is_known(word):
            continue
        own = bonds.of(word)
        if own is not None and own.freedom >= _LEAST_FREEDOM:
            candidates.append(NewWord(word, own, word_score(own, count)))
    return sorted(candidates, key=lambda new: (-new.score, new.text))


def word_score(bonds: Bonds, cut_so: int) -> float:
    """How surely it is a word: share cut whole · (freedom + cohesion) · ln frequency **(ours)**.

    Args:
        cut_so: how often the segmenter made a word of it.
    """
    share = min(1.0, cut_so / bonds.frequency)
    return share * (bonds.freedom + bonds.cohesion) * math.log(bonds.frequency)


# --- What a text says that no earlier one said word for word --------------------------------------

_CLAUSE = re.compile(r"[^。！？!?;；,，\n]+[。！？!?;；,，\n]*")
# Shorter ones (他说, 记者:) are said again without being copied.
_SHORTEST_COPY = 6


class FreshClauses:
    """Takes texts and leaves out what stands in many word for word: legal notes, slogans."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def of(self, text: str) -> str:
        """The clauses of *text* (folded) that no earlier one had."""
        return "".join(self._fresh(text))

    def _fresh(self, text: str) -> Iterator[str]:
        for clause in _CLAUSE.findall(text):
            key = hash(clause.strip())
            if len(clause) < _SHORTEST_COPY or key not in self._seen:
                self._seen.add(key)
                yield clause
