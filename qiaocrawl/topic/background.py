"""How common words are in Chinese at large: the frequencies jieba ships with."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import resources


def background_frequencies(words: Iterable[str]) -> tuple[dict[str, int], int]:
    """Frequencies of *words* in jieba's dictionary (0 for others), and their sum over all words.

    The file is read line by line and only what was asked for is kept (0.1 s, no memory), as
    each worker process needs a few thousand of its 349,045 words.
    """
    frequencies = dict.fromkeys(words, 0)
    with resources.files("jieba").joinpath("dict.txt").open(encoding="utf-8") as lines:
        for line in lines:
            word, _, rest = line.partition(" ")
            if word in frequencies:
                frequencies[word] = int(rest.partition(" ")[0])
    return frequencies, _all_frequencies()


@cache
def _all_frequencies() -> int:
    """The sum of all frequencies; read once a process (0.2 s)."""
    with resources.files("jieba").joinpath("dict.txt").open(encoding="utf-8") as lines:
        return sum(int(line.split(" ", 2)[1]) for line in lines)
