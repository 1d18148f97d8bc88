"""A text's words with their parts of speech, what a mark joins kept as one word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from qiaocrawl.text.normalise import fold

if TYPE_CHECKING:
    from qiaocrawl.text.segment import Segmenter

Tagged = tuple[str, str]
"""A word, folded, and its part of speech as jieba names it (ICTCLAS letters)."""

_JOINING = frozenset("-·.&#+_")


def tagged_words(segmenter: Segmenter, text: str) -> list[Tagged]:
    """The words of *text*, folded and tagged; joined they give the folded text back, but for
    spaces between words of Latin letters.

    ``gpt-4`` and 迈克尔·杰克逊 are one word each, of the tag of their first part: jieba's tagger
    cuts them at their marks.
    """
    return whole_words(segmenter.tags(fold(text)))


def whole_words(words: Iterable[Tagged]) -> list[Tagged]:
    """*words* of a folded text, those that a mark or a space between Latin letters joins as one."""
    return list(_without_latin_spaces(_compounds(words)))


def is_latin(letter: str) -> bool:
    """Whether *letter* belongs to words that spaces part."""
    return letter.isascii() and letter.isalnum()


def _compounds(words: Iterable[Tagged]) -> Iterator[Tagged]:
    """Join ``a - b`` where nothing else stands between them, and both are words or numbers."""
    pending: list[Tagged] = []
    for word, tag in words:
        if pending and (_continues(pending[-1][0], word) or _is_joining(pending, word)):
            pending.append((word, tag))
            continue
        yield from _one_word(pending)
        pending = [(word, tag)]
    yield from _one_word(pending)


def _is_joining(pending: list[Tagged], word: str) -> bool:
    before = pending[-1][0][-1]
    return word in _JOINING and (is_latin(before) or word == "·" and before.isalnum())


def _continues(mark: str, word: str) -> bool:
    """Whether *word* goes on after *mark*: Latin after any, Chinese after the dot of names."""
    return mark in _JOINING and (is_latin(word[0]) or mark == "·" and word[0].isalnum())


def _one_word(parts: list[Tagged]) -> Iterator[Tagged]:
    """The *parts* as one word; marks behind it stay by themselves."""
    end = len(parts)
    while end > 1 and parts[end - 1][0] in _JOINING:
        end -= 1
    if end:
        yield "".join(word for word, _ in parts[:end]), parts[0][1]
    yield from parts[end:]


def _without_latin_spaces(words: Iterable[Tagged]) -> Iterator[Tagged]:
    """Drop a space between two words of Latin letters: it parts no phrase of English."""
    space: Tagged | None = None
    before = ""
    for word, tag in words:
        if word == " " and before and is_latin(before[-1]):
            space = (word, tag)
            continue
        if space is not None and not is_latin(word[0]):
            yield space
        space = None
        yield word, tag
        before = word
    if space is not None:
        yield space
