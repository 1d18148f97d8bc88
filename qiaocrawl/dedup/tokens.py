"""Titles to the words they are compared by."""

from __future__ import annotations

from functools import cached_property

from qiaocrawl.items import TitleRecord
from qiaocrawl.text import Segmenter, fold

MAX_TITLE_CHARS = 2_000
"""As much of a title as the store keeps; what lies behind is not looked at."""
MAX_TOKENS = 256
"""A title has about ten words; more is a page's text in the wrong place."""
_MAX_TOKEN_CHARS = 64
_CACHE_SIZE = 100_000


class TitleTokens:
    """Cuts titles into words; words are folded, so scripts and widths make no difference.

    Words without a letter or digit (punctuation, ``-``, ``_``, white space) do not count.
    """

    def __init__(self) -> None:
        self._folded: dict[str, str] = {}

    def of(self, record: TitleRecord) -> list[str]:
        """The words of *record*: its own ``tokens`` if given, else jieba's; at most 256."""
        words = record.tokens[: 2 * MAX_TOKENS]
        if not words:
            words = tuple(self._segmenter.words(fold(record.title[:MAX_TITLE_CHARS])))
        kept = (folded for folded in map(self._fold, words) if folded)
        return [word for word, _ in zip(kept, range(MAX_TOKENS), strict=False)]

    @cached_property
    def _segmenter(self) -> Segmenter:
        # Built when first needed: loading the dictionary takes a second.
        return Segmenter()

    def _fold(self, word: str) -> str:
        """*word* folded, "" when it does not count; remembered, since titles repeat words."""
        known = self._folded.get(word)
        if known is None:
            known = fold(word[:_MAX_TOKEN_CHARS]).strip()
            known = known if any(letter.isalnum() for letter in known) else ""
            if len(self._folded) >= _CACHE_SIZE:
                self._folded.clear()
            if len(word) <= _MAX_TOKEN_CHARS:
                self._folded[word] = known
        return known
