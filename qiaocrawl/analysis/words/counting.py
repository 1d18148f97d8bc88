"""Counts the words of the texts of one stretch of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from qiaocrawl.lexicon.new_words import MAX_LETTERS, FreshClauses
from qiaocrawl.lexicon.phrases import is_content, whole_words
from qiaocrawl.lexicon.terms import Document, TermCounts
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import RjiebaCutter
from qiaocrawl.text.zones import SHANGHAI

_LONGEST_PHRASE = 4


class TimedText(NamedTuple):
    """A text with its time.

    Args:
        key: by which the caller finds it again.
        site: host or other name of who published it.
        at: aware; of its publication.
    """

    key: str
    title: str
    text: str
    site: str
    at: datetime


class KeptText(NamedTuple):
    """What is kept of a text: title and text folded, without what earlier ones said."""

    key: str
    site: str
    at: datetime
    folded: str


class WordCounter:
    """Counts words and phrases by text, site and day of China.

    A clause that an earlier text had word for word is no new evidence. Copies of a text are the
    caller's to leave out.

    Args:
        terms: of the topic, which are kept whole.
        keeps_texts: whether ``texts`` is filled; a base to compare with needs none.
    """

    def __init__(self, terms: Iterable[str] = (), *, keeps_texts: bool = True) -> None:
        self.terms = frozenset(map(fold, terms))
        self.counts = TermCounts(with_persons=True, max_words=_LONGEST_PHRASE)
        self.words: Counter[str] = Counter()
        """How often a short word was cut out, for :func:`qiaocrawl.lexicon.new_words.new_words`."""
        self.texts: list[KeptText] = []
        self._keeps_texts = keeps_texts
        self._cutter = RjiebaCutter(sorted(filter(str.isalnum, self.terms), key=len))
        self._fresh = FreshClauses()

    @property
    def documents(self) -> int:
        """How many texts were counted."""
        return self.counts.documents

    def add(self, text: TimedText) -> None:
        """Count one text."""
        folded = self._fresh.of(fold(f"{text.title}\n{text.text}"))
        words = whole_words(self._cutter.tags(folded))
        day = f"{text.at.astimezone(SHANGHAI):%Y-%m-%d}"
        self.counts.add(Document(text.title, text.text, text.site, day), words)
        if self._keeps_texts:
            self.texts.append(KeptText(text.key, text.site, text.at, folded))
            self.words.update(
                word for word, tag in words if len(word) <= MAX_LETTERS and is_content(word, tag)
            )
