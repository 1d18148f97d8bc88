"""Candidate terms: words and phrases that their parts of speech let stand alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qiaocrawl.lexicon.tagged_words import Tagged, is_latin

PUBLISHED_STOP_TAGS = frozenset("dpcueo")
"""副介连助叹拟声 by the first letters of their tags: what the published lexicon drops (Q2)."""
STOP_TAGS = PUBLISHED_STOP_TAGS | frozenset("rmqftyhkzwx")
"""Besides them pronouns, numerals, measure and place words, times, particles and marks (ours)."""
PERSON_TAGS = frozenset({"nr", "nrfg", "nrt"})
"""Names of people, which no lexicon holds unless it is asked to."""

NEWSROOM_WORDS = frozenset({
    "日电", "日讯", "电讯", "网讯", "本报讯", "本网讯", "快讯", "据介绍", "据悉", "总编辑", "责编",
    "编辑", "通讯员",
})  # fmt: skip
"""Of datelines and imprints: every news text has them, and none is about them (ours)."""
MAX_WORDS = 5
_MIN_LETTERS, _MAX_LETTERS = 2, 24
# What a term may end with: nouns, verbs, abbreviations, idioms, attributes, places, adjectives.
_LAST_TAGS = frozenset("nvjlibsa")
# Letters and digits, and the marks inside of ``gpt-4``, ``c++`` and 迈克尔·杰克逊.
_WORD = re.compile(r"\w[\w·.+#&-]*")


@dataclass(frozen=True, slots=True)
class Span:
    """Where a phrase stands in a text: the words from *start* to *stop*, exclusive."""

    start: int
    stop: int


def is_content(word: str, tag: str, stop_tags: frozenset[str] = STOP_TAGS) -> bool:
    """Whether *word* means something by itself.

    >>> is_content("侨胞", "n"), is_content("非常", "d"), is_content("2024", "m")
    (True, False, False)
    """
    if tag == "eng":
        return len(word) > 1 and not word.isdigit()
    if word in NEWSROOM_WORDS:
        return False
    return tag[:1] not in stop_tags and _WORD.fullmatch(word) is not None and not word.isdigit()


def candidate_phrases(
    words: Sequence[Tagged], stop_tags: frozenset[str] = STOP_TAGS, max_words: int = MAX_WORDS
) -> dict[str, list[Span]]:
    """Every run of content words that may be a term, with the places where it stands.

    Runs overlap and lie in each other (侨务, 侨务强国, 侨务强国梦): which of them is meant is for
    statistics to say.

    Args:
        words: a text's words in order, marks and white space included.
        stop_tags: first letters of the parts of speech that part phrases.
        max_words: longest phrase; 1 gives single words.
    """
    phrases: dict[str, list[Span]] = defaultdict(list)
    for start, stop in _content_runs(words, stop_tags):
        for first in range(start, stop):
            for last in range(first, min(stop, first + max_words)):
                if words[last][1][:1] not in _LAST_TAGS and words[last][1] != "eng":
                    continue
                text = joined([word for word, _ in words[first : last + 1]])
                if len(text) > _MAX_LETTERS:
                    break
                if len(text) >= _MIN_LETTERS:
                    phrases[text].append(Span(first, last + 1))
    return dict(phrases)


def joined(words: Sequence[str]) -> str:
    """*words* as they are written: with a space between two of Latin letters or digits.

    >>> joined(["machine", "learning", "算法"])
    'machine learning算法'
    """
    text = words[0]
    for word in words[1:]:
        text += f" {word}" if is_latin(text[-1]) and is_latin(word[0]) else word
    return text


def _content_runs(words: Sequence[Tagged], stop_tags: frozenset[str]) -> Iterator[tuple[int, int]]:
    start = None
    for number, (word, tag) in enumerate(words):
        if is_content(word, tag, stop_tags):
            start = number if start is None else start
        elif start is not None:
            yield start, number
            start = None
    if start is not None:
        yield start, len(words)
