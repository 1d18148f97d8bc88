"""What is known of a word by itself: how common it is, and what kind of word."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib.abc import FileLoader
from importlib.util import find_spec
from itertools import count

import numpy as np
from numpy.typing import NDArray

# --- jieba's dictionary as it is in its file: words are found there, none is taken out ------------
# Making a dictionary of Python of its 349,046 lines takes half a second, a tenth of what the start
# of a crawl took; finding the lines, by the first bytes of their words, a fifteenth of that.

Numbers = NDArray[np.int64]
Keys = NDArray[np.uint64]

_SPACE, _LINE_END, _ZERO = b" \n0"
_COLUMNS = 3
_BYTES = 8


class DictionaryFile:
    """Lines of word, count and part of speech, divided by single blanks.

    Args:
        data: of the whole file, in UTF-8.

    Raises:
        ValueError: *data* is no such file.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data if data.endswith(b"\n") else data + b"\n"
        letters = np.frombuffer(self._data, np.uint8)
        is_line_end = letters == _LINE_END
        marks = np.flatnonzero((letters == _SPACE) | is_line_end)
        self._ends, self._count_ends, self._line_ends = (
            marks[column::_COLUMNS] for column in range(_COLUMNS)
        )
        lines = len(self._line_ends)
        # Every third mark is a line end, and no other mark is one.
        ends_lines = int(is_line_end[self._line_ends].sum()) == lines
        if len(marks) != lines * _COLUMNS or not ends_lines or is_line_end.sum() != lines:
            raise ValueError("a line of the dictionary has not three columns")
        self._starts = np.concatenate(([0], self._line_ends[:-1] + 1))
        self.total = _sum_of_numbers(letters, self._ends + 1, self._count_ends)
        """The sum of all counts."""
        keys = _keys(self._data, self._starts, self._ends - self._starts)
        # Stable: quick where the lines are nearly in order, as they are.
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def find(self, word: str) -> tuple[int, str] | None:
        """Count and part of speech of *word*, by its last line; None where it has none."""
        # Lone surrogates are in no file.
        letters = word.encode("utf-8", "surrogatepass")
        key = np.uint64(int.from_bytes(letters[:_BYTES].ljust(_BYTES, b"\0"), "big"))
        first = int(self._keys.searchsorted(key))
        last = int(self._keys.searchsorted(key, "right"))
        lines = self._order[first:last]
        lines = lines[self._ends[lines] - self._starts[lines] == len(letters)]
        for line in reversed(lines.tolist()):
            end = int(self._ends[line])
            if self._data[self._starts[line] : end] == letters:
                count_end = int(self._count_ends[line])
                tag = self._data[count_end + 1 : self._line_ends[line]]
                return int(self._data[end + 1 : count_end]), tag.decode()
        return None


def _sum_of_numbers(letters: NDArray[np.uint8], starts: Numbers, ends: Numbers) -> int:
    """Of the decimal numbers written from *starts* to *ends*, digit by digit from the last."""
    total, value, at = 0, 1, ends - 1
    while len(at):
        total += value * int((letters[at].astype(np.int64) - _ZERO).sum())
        value *= 10
        at = at - 1
        has_more = at >= starts
        at, starts = at[has_more], starts[has_more]
    return total


def _keys(data: bytes, starts: Numbers, lengths: Numbers) -> Keys:
    """The first eight bytes of each word as a number, zeros behind a shorter one."""
    padded = data + bytes(_BYTES)
    # The eight bytes from every place on.
    windows = np.ndarray(len(data), ">u8", padded, strides=(1,))
    own = np.array([2**64 - 2 ** (64 - 8 * count) for count in range(_BYTES + 1)], np.uint64)
    return windows[starts].astype(np.uint64) & own[np.minimum(lengths, _BYTES)]


# --- How often Chinese at large uses a word, and as what: jieba's dictionary ----------------------
# Counts and parts of speech are those of jieba's ``dict.txt`` (MIT licence), which is there
# anyway; nothing of it is copied into this project. A few words are found in the file as it
# is; for many, or all, it is taken apart as a whole: line by line its 349,046 lines cost
# five times as much.

# So many words, found one by one, take as long as taking the file apart.
_MANY = 20_000

# Of this process; next() needs no lock.
_asked = count()


def usage(word: str) -> tuple[int, str] | None:
    """Count and part of speech of *word*; None where the dictionary does not know it."""
    if next(_asked) < _MANY:
        return _file().find(word)
    tag = word_tags().get(word)
    return None if tag is None else (word_counts()[0][word], tag)


def load_file() -> None:
    """Have the dictionary at hand, for the processes that are forked from this one."""
    _file()


def total_count() -> int:
    """The sum of the counts of all lines."""
    return _file().total


def counts_of(words: Collection[str]) -> dict[str, int]:
    """The counts of *words*, 0 for those the dictionary does not know."""
    if len(words) >= _MANY:
        counts, _ = word_counts()
        return {word: counts.get(word, 0) for word in words}
    found = {word: usage(word) for word in words}
    return {word: known[0] if known else 0 for word, known in found.items()}


@cache
def word_counts() -> tuple[Mapping[str, int], int]:
    """Each word's count, and their sum over all lines (0.15 s, 55 MB)."""
    columns = _columns()
    counts = list(map(int, columns[1::_COLUMNS]))
    return dict(zip(columns[::_COLUMNS], counts, strict=True)), sum(counts)


@cache
def word_tags() -> Mapping[str, str]:
    """Each word's part of speech, as jieba tags it."""
    return {word: sys.intern(tag) for word, tag in tagged_words()}


def tagged_words() -> Iterator[tuple[str, str]]:
    """As :func:`word_tags`, for whoever needs them once: nothing is kept."""
    columns = _columns()
    return zip(columns[::_COLUMNS], columns[2::_COLUMNS], strict=True)


def counts_with_beginnings() -> tuple[dict[str, int], int]:
    """As :func:`word_counts`, and 0 for each beginning of a word that is none, as jieba has it."""
    counts, total = word_counts()
    found: dict[str, int] = {}
    words, length = list(counts), 0
    while words:
        length += 1
        words = [word for word in words if len(word) > length]
        found.update(dict.fromkeys([word[:length] for word in words], 0))
    # Last: a beginning may be a word itself.
    found.update(counts)
    return found, total


@cache
def _file() -> DictionaryFile:
    return DictionaryFile(_read())


def _columns() -> list[str]:
    """All fields of the dictionary, three a word."""
    # Bytes are cut at ASCII blanks alone, whatever blanks Unicode has.
    return _read().decode().split()


def _read() -> bytes:
    # Not imported: that takes as long as reading the file.
    spec = find_spec("jieba")
    if spec is None or not isinstance(spec.loader, FileLoader) or spec.origin is None:
        raise ModuleNotFoundError("No module named 'jieba'", name="jieba")
    return spec.loader.get_data(spec.origin.replace("__init__.py", "dict.txt"))


# --- What is known of a word by itself: how common it is, and what kind of word -------------------

NUMBER = "number"
LATIN = "latin"
NAME = "name"
UNKNOWN = "unknown"
FUNCTION = "function"
COMMON = "common"

CLASSES = (NUMBER, LATIN, NAME, UNKNOWN, FUNCTION, COMMON)
"""Classes of words, by what a difference in one means for two titles."""

_HAN_DIGITS = frozenset("零〇一二两三四五六七八九十百千万亿半")
_NAME_TAGS = ("nr", "ns", "nt", "nz")
# jieba's tags: u auxiliary, c conjunction, p preposition, d adverb, f locative, r pronoun, y
# particle, o onomatopoeia, e interjection.
_FUNCTION_TAGS = frozenset("ucpdfryoe")
# Words of a title, on average.
_TITLE_WORDS = 12.0
# The share of titles a word is taken to stand in when nothing is known of it.
_RAREST = 1e-6


def title_share(word: str) -> float:
    """The share of titles, in (0, 1], that hold *word* by general usage (ours).

    A word of relative frequency p stands in 1 - exp(-12 p) of texts of twelve words.
    """
    known = usage(word)
    return _RAREST if known is None else _share(known[0], total_count())


def title_shares() -> dict[str, float]:
    """As :func:`title_share`, of all words whose usage is known."""
    counts, total = word_counts()
    # Most words have one of a few thousand counts.
    shares = {count: _share(count, total) for count in set(counts.values())}
    return {word: shares[count] for word, count in counts.items()}


def _share(count: int, total: int) -> float:
    # expm1: 1 - exp(-x) of a tiny x would round to 0.
    return max(-math.expm1(-_TITLE_WORDS * count / total), _RAREST)


def word_class(word: str) -> str:
    """Which of :data:`CLASSES` the folded *word* belongs to.

    A word with a digit is a number (``2024``, ``4g``), so is one of Chinese digits, and an
    ordinal (``第十二``).
    """
    if any(letter.isdigit() for letter in word) or _HAN_DIGITS.issuperset(word):
        return NUMBER
    if len(word) > 1 and word[0] == "第" and word[1] in _HAN_DIGITS:
        return NUMBER
    if word.isascii():
        return LATIN
    known = usage(word)
    if known is None:
        return UNKNOWN
    tag = known[1]
    if tag.startswith(_NAME_TAGS):
        return NAME
    return FUNCTION if tag[:1] in _FUNCTION_TAGS else COMMON
