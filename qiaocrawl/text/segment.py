"""Word segmentation: jieba as the reference and for parts of speech, rjieba for many texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.text.jieba_cutter import TERM_TAG, JiebaCutter
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.rjieba_cutter import RjiebaCutter

Backend = Literal["jieba", "rjieba"]

# What both dictionaries can hold. Longer entries are sentences, and jieba stores every prefix of an
# entry; in a run of Latin letters a dictionary finds ``ai`` in ``email``.
_DICTIONARY_TERM = re.compile("[\u4e00-\u9fd5]{1,40}")
# Letters and digits of the scripts that set words apart: between two of them is no border.
_LETTER = "[^\\W_\u2e80-\U0010ffff]"


class Segmenter:
    """Cuts text into words, topic terms whole; no state is shared between instances.

    The backends are jieba (pure Python) and rjieba (Rust, about fifteen times as fast). They
    give the same words: what rjieba joins on purpose (``gpt-4``, ``24-25``, ``1.4nm``, rare
    characters in a row) is cut as jieba does. What remains is repeated characters whose cuts
    are equally likely (``好|好好``, ``好好|好``), where the last bit of a logarithm decides: six
    of 100,000 titles with a topic's terms, none without; and runs of more than 2,000 letters
    without any mark, which jieba gets in pieces.

    Args:
        terms: words to keep whole, such as the terms of a topic pack, in the form of the texts
            (folded, if those are). A term of Chinese characters goes into the dictionary: it
            is kept whole by itself and between marks, but within other characters the
            likelier cut decides (华人 is not found in 中华人民), and of terms that overlap the
            likelier one. Any other term (Latin letters, digits, spaces, ``·``, more than 40
            characters) is kept whole wherever it stands, but not inside a longer run of Latin
            letters or digits; of those that begin at one place the longest is. Terms with a
            line end are left out.
        backend: ``"jieba"`` or ``"rjieba"``.

    Raises:
        ConfigError: an unknown backend.
    """

    def __init__(self, terms: Iterable[str] = (), backend: Backend = "jieba") -> None:
        self.backend = backend
        plain = {term for term in map(str.strip, terms) if term and "\n" not in term}
        phrases = {term for term in plain if not _DICTIONARY_TERM.fullmatch(term)}
        self._terms = sorted(plain - phrases, key=_length_first)
        self._phrases = _any_of(sorted(phrases, key=_length_first, reverse=True))
        self._jieba: JiebaCutter | None = None
        if backend == "jieba":
            self._jieba = JiebaCutter(self._terms)
            self._cut = self._jieba.words
        elif backend == "rjieba":
            self._cut = RjiebaCutter(self._terms).words
        else:
            raise ConfigError(
                _("unknown segmenter {backend!r} (there are: jieba, rjieba)", backend=backend)
            )

    def words(self, text: str) -> list[str]:
        """The words of *text*, white space and punctuation included: joined they give it back."""
        if self._phrases is None or self._phrases.search(text) is None:
            return self._cut(text)
        # Splitting at a group keeps it: every other piece is a phrase.
        pieces = self._phrases.split(text)
        words = self._cut(pieces[0])
        for phrase, piece in zip(pieces[1::2], pieces[2::2], strict=True):
            words.append(phrase)
            words += self._cut(piece)
        return words

    def terms(self, text: str) -> list[str]:
        """The words of *text*, folded, that hold a letter or digit: what is counted."""
        return [word for word in self.words(fold(text)) if _has_letter(word)]

    def tags(self, text: str) -> list[tuple[str, str]]:
        """The words of *text* with jieba's part-of-speech tags (ICTCLAS letters).

        Whatever the backend, these are the words of jieba's tagger, which cuts what is in no
        dictionary in its own way and up to a hundred times as slowly. Terms unknown to jieba
        are nouns.
        """
        if self._jieba is None:
            self._jieba = JiebaCutter(self._terms)
        pieces = [text] if self._phrases is None else self._phrases.split(text)
        tags: list[tuple[str, str]] = []
        for number, piece in enumerate(pieces):
            tags += [(piece, TERM_TAG)] if number % 2 else self._jieba.tags(piece)
        return tags


def _length_first(term: str) -> tuple[int, str]:
    return len(term), term


def _any_of(phrases: list[str]) -> re.Pattern[str] | None:
    """A pattern whose one group is any of *phrases*, the first that fits; None without any."""
    if not phrases:
        return None
    joined = "|".join(map(_bordered, phrases))
    # Testing one character first is what makes the search fast.
    starts = "".join(sorted({re.escape(phrase[0]) for phrase in phrases}))
    return re.compile(f"(?=[{starts}])({joined})")


def _bordered(phrase: str) -> str:
    before = f"(?<!{_LETTER})" if re.match(_LETTER, phrase[0]) else ""
    after = f"(?!{_LETTER})" if re.match(_LETTER, phrase[-1]) else ""
    return f"{before}{re.escape(phrase)}{after}"


def _has_letter(word: str) -> bool:
    return word.isalnum() or (len(word) > 1 and any(letter.isalnum() for letter in word))
