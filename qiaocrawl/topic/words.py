"""Page text to the words it is scored by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import Segmenter

MAX_TEXT_CHARS = 20_000
"""What lies behind the first twenty thousand characters no longer changes a judgement."""
MAX_TITLE_CHARS = 500


class PageWords:
    """Counts the words of pages, the topic's terms whole.

    Measured on 1,500 characters: folding 0.07 ms, compiled jieba with the terms in its
    dictionary 0.16 ms, one regular expression of all terms 0.18 ms (0.07 ms as a trie), plain
    jieba 5.6 ms. The expression finds 华人 in 中华人民 and 北流 in 东北流动; words do not, and
    they give the rest of the page's vector as well.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = frozenset(map(fold, terms))
        self._segmenter = Segmenter(self._terms, backend="rjieba")

    def count(self, text: str) -> Counter[str]:
        """How often each word of *text* stands in it, folded.

        Words of one character and those with a digit or mark count if they are terms only.
        """
        words = Counter(self._segmenter.words(fold(text)))
        return Counter(
            {
                word: times
                for word, times in words.items()
                if (len(word) > 1 and word.isalpha()) or word in self._terms
            }
        )
