"""How common words are in Chinese at large: the frequencies jieba ships with."""

from __future__ import annotations

from collections.abc import Iterable

from qiaocrawl.vsm.usage import word_counts


def background_frequencies(words: Iterable[str]) -> tuple[dict[str, int], int]:
    """Frequencies of *words* in jieba's dictionary (0 for others), and their sum over all words.

    The dictionary is read once a process; whoever cuts or compares titles has it anyway.
    """
    counts, total = word_counts()
    return {word: counts.get(word, 0) for word in words}, total
