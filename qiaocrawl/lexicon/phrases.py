"""Candidate terms: words and phrases that their parts of speech let stand alone."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.text.normalise import fold

if TYPE_CHECKING:
    from qiaocrawl.text.segment import Segmenter

# --- A text's words with their parts of speech, what a mark joins kept as one word ----------------

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


# --- Candidate terms: words and phrases that their parts of speech let stand alone ----------------

PUBLISHED_STOP_TAGS = frozenset("dpcueo")
"""副介连助叹拟声 by the first letters of their tags: what the published lexicon drops (Q2)."""
STOP_TAGS = PUBLISHED_STOP_TAGS | frozenset("rmqftyhkzwx")
"""Besides them pronouns, numerals, measure and place words, times, particles and marks (ours)."""
PERSON_TAGS = frozenset({"nr", "nrfg", "nrt"})
"""Names of people, which no lexicon holds unless it is asked to."""

NEWSROOM_WORDS = frozenset(
    {
        "日电",
        "日讯",
        "电讯",
        "网讯",
        "本报讯",
        "本网讯",
        "快讯",
        "据介绍",
        "据悉",
        "总编辑",
        "责编",
        "编辑",
        "通讯员",
    }
)
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
                text = join_words([word for word, _ in words[first : last + 1]])
                if len(text) > _MAX_LETTERS:
                    break
                if len(text) >= _MIN_LETTERS:
                    phrases[text].append(Span(first, last + 1))
    return dict(phrases)


def join_words(words: Sequence[str]) -> str:
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


# --- The phrases that say what one text is about, ranked ------------------------------------------

Floats = NDArray[np.float64]

# Of a logistic regression on authors' own keywords (ours); `benchmarks/keyphrases.py --train`
# prints them. In the order of `phrase_features`.
_WEIGHTS = np.array([0.40, 0.91, -1.30, -0.36, 1.26, -0.33, -2.46, -0.78])


@dataclass(frozen=True, slots=True)
class Frequencies:
    """In how many of *documents* texts a phrase stands."""

    documents: int
    of_phrase: Mapping[str, int]

    def rarity(self, phrase: str) -> float:
        """Inverse document frequency, ln((N + 1) / (n + .5)); above 0."""
        return math.log((self.documents + 1) / (self.of_phrase.get(phrase, 0) + 0.5))


def keyphrases(
    title: Sequence[Tagged], body: Sequence[Tagged], frequencies: Frequencies, count: int = 10
) -> list[str]:
    """The best *count* phrases of a text, the best first.

    Args:
        title: its tagged words; may be empty.
        body: its tagged words, without the title's.
        frequencies: of phrases in texts of its kind.
    """
    phrases, features = phrase_features(title, body, frequencies)
    if not phrases:
        return []
    order = np.argsort(-(features @ _WEIGHTS), kind="stable")
    return [phrases[number] for number in order[:count]]


def phrase_features(
    title: Sequence[Tagged], body: Sequence[Tagged], frequencies: Frequencies
) -> tuple[list[str], Floats]:
    """What tells a keyphrase from other phrases of its text.

    Returns:
        The candidates in the order of the text, and a row of eight features for each:
        frequency × rarity (ln tf · idf); whether it stands alone somewhere, no candidate word
        beside it; whether it has two letters; how often its words stand in the text for each
        time it does itself; whether the title has it; its letters; ln(1 + tf); whether it ends
        in Latin letters.
    """
    words = [*body, ("\n", "x"), *title]
    phrases = candidate_phrases(words)
    counts = Counter(word for word, _ in words)
    spans = {(span.start, span.stop) for places in phrases.values() for span in places}
    rows = [
        [
            math.log(len(places)) * frequencies.rarity(phrase),
            any(_stands_alone(span, spans) for span in places),
            len(phrase) == 2,
            _word_count(words, places[0], counts) / len(places),
            places[-1].stop > len(body),
            len(phrase),
            math.log1p(len(places)),
            is_latin(phrase[-1]),
        ]
        for phrase, places in phrases.items()
    ]
    return list(phrases), np.array(rows, np.float64)


def _stands_alone(span: Span, spans: set[tuple[int, int]]) -> bool:
    return (span.start - 1, span.stop) not in spans and (span.start, span.stop + 1) not in spans


def _word_count(words: Sequence[Tagged], span: Span, counts: Counter[str]) -> float:
    """How often the words of *span* stand in the text, on average."""
    own = words[span.start : span.stop]
    return sum(counts[word] for word, _ in own) / len(own)
