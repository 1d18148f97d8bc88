"""How often Chinese at large uses a word, and as what: jieba's dictionary.

Counts and parts of speech are those of jieba's ``dict.txt`` (MIT licence), which is there anyway;
nothing of it is copied into this project. A few words are found in the file as it is; for many, or
all, it is taken apart as a whole: line by line its 349,046 lines cost five times as much.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from functools import cache
from importlib.abc import FileLoader
from importlib.util import find_spec
from itertools import count

from qiaocrawl.vsm.dictionary_file import DictionaryFile

_COLUMNS = 3
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
    columns = _columns()
    return dict(zip(columns[::_COLUMNS], map(sys.intern, columns[2::_COLUMNS]), strict=True))


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
