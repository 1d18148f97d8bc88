"""Words that nobody used before: coinages, names and phrases that no earlier text has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from qiaocrawl.analysis.words.choosing import chosen, whole_words_among
from qiaocrawl.analysis.words.counting import KeptText, TimedText, WordCounter
from qiaocrawl.lexicon.new_words import LetterBonds, new_words
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.profile import background_frequencies

Origin = Literal["quoted", "letters", "latin", "phrase"]

_QUOTED = re.compile("[“「『]([\\w·]{2,12})[”」』]")
_LATIN = re.compile(r"[a-z][\w.+#-]+")
_DIGITS_ONLY = re.compile(r"[\d年月日时分.%一二三四五六七八九十百千万亿]+")
_LEAST_PHRASE_DOCUMENTS = 3
_CHECKED = 400
"""The most candidates that are looked for in the base."""


@dataclass(frozen=True, slots=True)
class FreshWord:
    """A word of this stretch of time that the base never has.

    Args:
        documents, sites: that have it.
        first: when the first of these texts was published.
        origin: why it is taken for a word: it stands in quotation marks, its letters hold together
            and its neighbours change, it is of Latin letters, or its words stand together.
    """

    text: str
    documents: int
    sites: int
    first: datetime
    origin: Origin


def fresh_words(
    now: WordCounter,
    before: Iterable[TimedText],
    *,
    count: int = 50,
    least_documents: int = 2,
    with_persons: bool = False,
) -> list[FreshWord]:
    """The new words, those of most texts first.

    Args:
        now: the stretch of time.
        before: texts of the base, read once, one at a time.
    """
    words = _candidates(now)
    uses = {word: own for word in words if len(own := _uses(word, now.texts)) >= least_documents}
    likeliest = sorted(uses, key=lambda word: (-len(uses[word]), word))[:_CHECKED]
    documents = {
        text: own.documents
        for text, own in now.counts.terms.items()
        if own.documents >= _LEAST_PHRASE_DOCUMENTS
    }
    whole = whole_words_among(documents | {word: len(own) for word, own in uses.items()})
    ranked = [word for word in _unused(likeliest, before) if word in whole]
    return [
        _fresh_word(word, uses[word], words[word])
        for word in chosen(ranked, now.texts, count, with_persons)
    ]


def _candidates(now: WordCounter) -> dict[str, Origin]:
    """Words that neither the dictionary nor the topic knows, with what speaks for each."""
    texts = [text.folded for text in now.texts]
    quoted = Counter(match for text in texts for match in _QUOTED.findall(text))
    terms = now.counts.terms
    phrases = {text for text, own in terms.items()
               if own.words > 1 and own.documents >= _LEAST_PHRASE_DOCUMENTS}  # fmt: skip
    latin = {text for text in terms if _LATIN.fullmatch(text)}
    usual, _total = background_frequencies({*quoted, *phrases, *latin, *now.words})
    known = {*now.terms, *(word for word, frequency in usual.items() if frequency)}
    letters = new_words(now.words, LetterBonds(texts), known.__contains__)
    origins: dict[str, Origin] = dict.fromkeys(phrases, "phrase")
    origins |= dict.fromkeys(latin, "latin")
    origins |= {word.text: "letters" for word in letters}
    origins |= {word: "quoted" for word, times in quoted.items()
                if times > 1 and not _DIGITS_ONLY.fullmatch(word)}  # fmt: skip
    return {word: origin for word, origin in origins.items() if word not in known}


def _uses(word: str, texts: Iterable[KeptText]) -> list[KeptText]:
    return [text for text in texts if word in text.folded]


def _unused(words: list[str], before: Iterable[TimedText]) -> list[str]:
    """*words* that no text of *before* has."""
    for text in before:
        folded = fold(f"{text.title}\n{text.text}")
        words = [word for word in words if word not in folded]
        if not words:
            break
    return words


def _fresh_word(word: str, uses: list[KeptText], origin: Origin) -> FreshWord:
    return FreshWord(
        word, len(uses), len({text.site for text in uses}), min(text.at for text in uses), origin
    )
