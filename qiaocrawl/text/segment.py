"""Word segmentation: jieba as the reference and for parts of speech, rjieba for bodies."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal

import rjieba

from qiaocrawl.errors import ConfigError
from qiaocrawl.text.normalise import fold

with warnings.catch_warnings():
    # jieba imports pkg_resources, which warns that it is going away.
    warnings.simplefilter("ignore")
    import jieba

Backend = Literal["jieba", "rjieba"]

_SURROGATES = re.compile("([\ud800-\udfff]+)")
_MAX_TERM_CHARS = 40
"""Longer dictionary entries are sentences; jieba stores every prefix of an entry."""


class Segmenter:
    """Cuts text into words, topic terms included; no state is shared between instances.

    Args:
        terms: words to add to the dictionary, such as the terms of a topic pack. Those with
            white space inside cannot be kept whole, since both backends cut there.
        backend: ``"jieba"`` (pure Python, the reference) or ``"rjieba"`` (Rust, about
            twenty times as fast, the same words on 98 % of titles).

    Raises:
        ConfigError: an unknown backend.
    """

    def __init__(self, terms: Iterable[str] = (), backend: Backend = "jieba") -> None:
        self._terms = tuple(dict.fromkeys(t for t in map(str.strip, terms) if _is_word(t)))
        self.backend = backend
        self._tagger: Any = None
        if backend == "jieba":
            self._tokenizer = _jieba_tokenizer(self._terms)
            self._cut = self._tokenizer.lcut
        elif backend == "rjieba":
            self._cut = _rjieba_tokenizer(self._terms).cut
        else:
            raise ConfigError(f"unknown segmenter {backend!r} (there are: jieba, rjieba)")

    def words(self, text: str) -> list[str]:
        """The words of *text*, white space and punctuation included: joined they give it back."""
        try:
            return list(self._cut(text))
        except UnicodeEncodeError:
            # rjieba takes no lone surrogates: cut around them.
            pieces = (piece for piece in _SURROGATES.split(text) if piece)
            return [
                word
                for piece in pieces
                for word in ([piece] if _SURROGATES.match(piece) else self._cut(piece))
            ]

    def terms(self, text: str) -> list[str]:
        """The words of *text*, folded, that hold a letter or digit: what is counted."""
        return [word for word in self.words(fold(text)) if _has_letter(word)]

    def tags(self, text: str) -> list[tuple[str, str]]:
        """The words of *text* with jieba's part-of-speech tags (ICTCLAS letters)."""
        if self._tagger is None:
            self._tagger = _pos_tokenizer(_jieba_tokenizer(self._terms))
        return [(pair.word, pair.flag) for pair in self._tagger.lcut(text)]


def _has_letter(word: str) -> bool:
    return word.isalnum() or (len(word) > 1 and any(letter.isalnum() for letter in word))


def _is_word(term: str) -> bool:
    return 0 < len(term) <= _MAX_TERM_CHARS and not any(letter.isspace() for letter in term)


@cache
def _base_dictionary() -> tuple[dict[str, int], int]:
    """jieba's word frequencies and their sum, read once a process (0.7 s).

    Read past jieba's own cache: that is a file of a fixed name in the shared temporary
    folder, where anyone on the machine could have put another one.
    """
    jieba.setLogLevel(logging.WARNING)
    reader = jieba.Tokenizer()
    frequencies, total = reader.gen_pfdict(reader.get_dict_file())
    return frequencies, total


def _jieba_tokenizer(terms: tuple[str, ...]) -> Any:
    frequencies, total = _base_dictionary()
    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total, tokenizer.initialized = dict(frequencies), total, True
    for term in terms:
        tokenizer.add_word(term)
    return tokenizer


def _rjieba_tokenizer(terms: tuple[str, ...]) -> rjieba.Jieba:
    tokenizer = rjieba.Jieba()
    for term in terms:
        tokenizer.add_word(term, None, None)
    return tokenizer


def _pos_tokenizer(tokenizer: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba.posseg as posseg
    return posseg.POSTokenizer(tokenizer)
