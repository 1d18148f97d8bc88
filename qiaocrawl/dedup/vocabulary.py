"""The vocabulary of titles: words by number, each with weight, class and letters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.vsm.growing_array import Column
from qiaocrawl.vsm.terms import CLASSES, NUMBER, word_class
from qiaocrawl.vsm.vectors import IdfSnapshot

# --- What an index is made of, as named arrays: so that it can be kept in a file and taken up
# again
# Whoever restores gets the very arrays that were saved, so all that is decided afterwards is what
# the saved index would have decided.

Array = NDArray[Any]
State = dict[str, Array]
SavedState = Mapping[str, Array]
"""A state that may be read array by array, each when it is asked for."""


def pack(value: object) -> Array:
    """Lists, dicts, texts and numbers as bytes; for what is small or of no even shape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Titles of pages may hold lone surrogates.
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)


def unpack(array: Array) -> Any:
    """What :func:`pack` was given, tuples as lists."""
    return json.loads(array.tobytes().decode("utf-8", "surrogatepass"))


# --- The vocabulary of titles: words by number, each with weight, class and letters ---------------

_NO_TERM = -1
# In probing order a number counts as this common: years and ordinals are, though each of them is
# unknown to a dictionary.
_USUAL_NUMBER = 0.01


class TermTable:
    """Words by number, in the order they were first seen; numbers never change.

    Memory: about 200 bytes a word, most of it the word itself and its entry in a dictionary.

    Args:
        snapshot: gives the weights, which therefore never change either.
    """

    def __init__(self, snapshot: IdfSnapshot) -> None:
        self.snapshot = snapshot
        self._ids: dict[str, int] = {}
        self._size = 0
        self._idf = Column(np.float32)
        self._commonness = Column(np.float32)
        self._kinds = Column(np.uint8)
        self._letters_at = Column(np.int32)
        self._letters = Column(np.uint32)

    def __len__(self) -> int:
        """Number of words."""
        return self._size

    def ids(self, words: list[str]) -> NDArray[np.int32]:
        """The number of each of *words*, -1 for what is no word (no letter or digit)."""
        numbers = list(map(self._ids.get, words))
        # Nearly all words are known: one pass of look-ups is the usual cost.
        if None in numbers:
            unknown = [word for word, term in zip(words, numbers, strict=True) if term is None]
            self._add(list(dict.fromkeys(unknown)))
            numbers = list(map(self._ids.get, words))
        return np.array(numbers, dtype=np.int32)

    def words(self) -> list[str]:
        """All words; the place of one is its number."""
        return [word for word, term in self._ids.items() if term != _NO_TERM]

    @property
    def idf(self) -> NDArray[Any]:
        """Weight of each word, float32."""
        return self._idf.data

    @property
    def commonness(self) -> NDArray[Any]:
        """The share of titles each word stands in, float32: rare ones are probed first."""
        return self._commonness.data

    @property
    def kinds(self) -> NDArray[Any]:
        """Index of each word's class in ``qiaocrawl.vsm.terms.CLASSES``, uint8."""
        return self._kinds.data

    @property
    def letters(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Where each word's code points begin (one more than there are words), and they."""
        return self._letters_at.data, self._letters.data

    def to_state(self) -> State:
        """The words by number; marks are left out, since they have none."""
        size = self._size
        return {
            "words.idf": self._idf.data[:size],
            "words.commonness": self._commonness.data[:size],
            "words.kinds": self._kinds.data[:size],
            "words.letters_at": self._letters_at.data[: size + 1],
            "words.letters": self._letters.data[: int(self._letters_at.data[size])],
        }

    def restore(self, state: SavedState) -> None:
        """Take up the words that were saved.

        Raises:
            ValueError: two of them are the same.
        """
        starts, letters = state["words.letters_at"], state["words.letters"]
        text = letters.astype("<u4").tobytes().decode("utf-32-le")
        bounds = starts.tolist()
        words = [text[first:last] for first, last in zip(bounds, bounds[1:], strict=False)]
        self._size = len(words)
        self._ids = dict(zip(words, range(self._size), strict=True))
        if len(self._ids) != self._size:
            raise ValueError("a word has two numbers")
        self._letters_at.restore(starts)
        self._letters.restore(letters)
        self._idf.restore(state["words.idf"])
        self._commonness.restore(state["words.commonness"])
        self._kinds.restore(state["words.kinds"])

    def _add(self, words: list[str]) -> None:
        """New words, all at once: entering them one by one costs more than all the rest."""
        lettered = [word for word in words if word.isalnum() or any(map(str.isalnum, word))]
        # Marks get a number too, so that they are not looked at again.
        self._ids.update(dict.fromkeys(words, _NO_TERM))
        first, last = self._size, self._size + len(lettered)
        self._ids.update(zip(lettered, range(first, last), strict=True))
        kinds = [word_class(word) for word in lettered]
        idf = np.array([self.snapshot.idf(word) for word in lettered])
        counted = self.snapshot.frequencies
        usual = [
            _USUAL_NUMBER if kind == NUMBER and word not in counted else 0.0
            for word, kind in zip(lettered, kinds, strict=True)
        ]
        self._idf.reserve(last)[first:last] = idf
        # exp(-idf) is the share of titles that hold the word.
        self._commonness.reserve(last)[first:last] = np.maximum(np.exp(-idf), usual)
        self._kinds.reserve(last)[first:last] = [CLASSES.index(kind) for kind in kinds]
        codes = np.frombuffer("".join(lettered).encode("utf-32-le", "replace"), "<u4")
        starts = self._letters_at.reserve(last + 1)
        starts[first + 1 : last + 1] = starts[first] + np.cumsum(list(map(len, lettered)))
        self._letters.reserve(int(starts[last]))[int(starts[first]) : int(starts[last])] = codes
        self._size = last


# --- A stream cut into batches: cheaper per item, and not everything has to be in memory ----------

T = TypeVar("T")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """*items* in lists of *size*; the last one may be shorter, none is empty."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
