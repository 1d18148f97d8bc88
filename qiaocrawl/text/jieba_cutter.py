"""jieba: the reference for words, and the only source of parts of speech."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from typing import Any

from qiaocrawl.vsm.usage import counts_with_beginnings

TERM_TAG = "n"
"""Part of speech of a term that jieba's dictionary does not know; jieba itself would say "x",
as of a punctuation mark."""
# jieba's time grows with the square of a run of letters that its dictionary does not know. So much
# Chinese without any mark is no prose; a word where it is cut may become two.
_LONGEST = 2_000
# Up to the last character that jieba never joins with another.
_TO_LAST_MARK = re.compile("(?s).*[^\u4e00-\u9fd5a-zA-Z0-9+#&._%\\-\r]")


class JiebaCutter:
    """jieba with a dictionary of its own.

    Args:
        terms: words of Chinese characters to add, shorter ones first: a frequency that keeps a
            word whole is reckoned from those of its parts.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        frequencies, total = _base_dictionary()
        self._jieba = _jieba().Tokenizer()
        self._jieba.FREQ, self._jieba.total = dict(frequencies), total
        # jieba would read its dictionary file again; ours is shared by all cutters of the process.
        self._jieba.initialized = True
        for term in terms:
            self._add(term)

    def words(self, text: str) -> list[str]:
        """The words of *text*."""
        if len(text) <= _LONGEST:
            return list(self._jieba.cut(text))
        return [word for stretch in _stretches(text) for word in self._jieba.cut(stretch)]

    def tags(self, text: str) -> Iterator[tuple[str, str]]:
        """The words of *text* as jieba's tagger cuts them, with their tags."""
        for stretch in _stretches(text):
            for pair in self._tagger.cut(stretch):
                yield pair.word, pair.flag

    def _add(self, term: str) -> None:
        # A term that is kept whole already needs no entry.
        if list(self._jieba.cut(term, HMM=False)) == [term]:
            return
        frequency = self._jieba.FREQ.get(term, 0)
        self._jieba.add_word(term, tag=None if frequency else TERM_TAG)
        # add_word() adds the new frequency to the total without taking the old one away.
        self._jieba.total -= frequency

    @cached_property
    def _tagger(self) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import jieba.posseg as posseg
        return posseg.POSTokenizer(self._jieba)


def _stretches(text: str) -> Iterator[str]:
    """*text* in pieces of 2,000 characters at most, cut behind marks where there are any."""
    start = 0
    while len(text) - start > _LONGEST:
        window = text[start : start + _LONGEST]
        mark = _TO_LAST_MARK.match(window)
        stretch = window if mark is None else mark[0]
        start += len(stretch)
        yield stretch
    yield text[start:]


@cache
def _jieba() -> Any:
    with warnings.catch_warnings():
        # jieba imports pkg_resources, which warns that it is going away.
        warnings.simplefilter("ignore")
        import jieba
    return jieba


@cache
def _base_dictionary() -> tuple[dict[str, int], int]:
    """jieba's word frequencies and their sum, read once a process.

    Read past jieba's own cache: that is a file of a fixed name in the shared temporary
    folder, where anyone on the machine could have put another one.
    """
    _jieba().setLogLevel(logging.WARNING)
    return counts_with_beginnings()


def dictionary_entries() -> Iterator[tuple[str, int, str]]:
    """The entries of jieba's dictionary: word, frequency, part of speech."""
    with _jieba().get_module_res("dict.txt") as lines:
        for line in lines:
            word, frequency, tag = line.decode().split()
            yield word, int(frequency), tag
