"""How common words are in Chinese at large: the frequencies jieba ships with."""

from __future__ import annotations

from collections.abc import Iterable

from qiaocrawl.vsm.terms import counts_of, total_count


def background_frequencies(words: Iterable[str]) -> tuple[dict[str, int], int]:
    """Frequencies of *words* in jieba's dictionary (0 for others), and their sum over all words."""
    return counts_of(dict.fromkeys(words)), total_count()
