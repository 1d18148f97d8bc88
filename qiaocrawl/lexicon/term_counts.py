"""Counts of the candidate terms of a corpus, text by text."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from qiaocrawl.lexicon.phrases import PERSON_TAGS, STOP_TAGS, candidate_phrases
from qiaocrawl.lexicon.tagged_words import Tagged

# Some 300 MB of counts. Beyond it phrases met once so far are forgotten, as lossy counting does: a
# term worth proposing stands more often in any stretch that long.
_MOST_PHRASES = 2_000_000


@dataclass(frozen=True, slots=True)
class Document:
    """A text of the corpus.

    Args:
        site: host or other name of where it stands; "" for unknown.
        month: of its publication, ``2026-11``; "" for unknown.
    """

    title: str
    text: str
    site: str = ""
    month: str = ""
    url: str = ""


@dataclass(slots=True)
class TermCount:
    """Counts of one candidate term; ``tag`` is jieba's of a word, "" of a phrase."""

    tag: str = ""
    words: int = 1
    frequency: int = 0
    documents: int = 0
    standing_alone: int = 0
    by_site: Counter[str] = field(default_factory=Counter)
    by_month: Counter[str] = field(default_factory=Counter)


class TermCounts:
    """Counts words and phrases of a corpus that is larger than memory.

    Args:
        stop_tags: first letters of the parts of speech left out.
        with_persons: whether names of people are counted.
        max_words: longest phrase in words; 1 counts words alone.
    """

    def __init__(
        self,
        *,
        stop_tags: frozenset[str] = STOP_TAGS,
        with_persons: bool = False,
        max_words: int = 5,
    ) -> None:
        self._stop_tags = stop_tags
        self._with_persons = with_persons
        self._max_words = max_words
        self.terms: dict[str, TermCount] = defaultdict(TermCount)
        self.documents = 0
        self.size = 0
        """Words of all texts, marks left out."""
        self.site_sizes: Counter[str] = Counter()
        self.month_sizes: Counter[str] = Counter()

    def add(self, document: Document, words: Sequence[Tagged]) -> None:
        """Count *words*, the tagged words of *document*'s title and text."""
        size = sum(1 for _, tag in words if tag not in ("x", "w"))
        self.documents += 1
        self.size += size
        self.site_sizes[document.site] += size
        self.month_sizes[document.month] += size
        if not self._with_persons:
            # They part phrases as marks do: 侨商张三公司 gives neither 侨商张三 nor 张三公司.
            words = [(word, "x" if tag in PERSON_TAGS else tag) for word, tag in words]
        phrases = candidate_phrases(words, self._stop_tags, self._max_words)
        spans = {(span.start, span.stop) for places in phrases.values() for span in places}
        for text, places in phrases.items():
            count = self.terms[text]
            first = places[0]
            count.words = first.stop - first.start
            count.tag = words[first.start][1] if count.words == 1 else ""
            count.frequency += len(places)
            count.documents += 1
            count.standing_alone += sum(
                (start - 1, stop) not in spans and (start, stop + 1) not in spans
                for start, stop in ((span.start, span.stop) for span in places)
            )
            count.by_site[document.site] += len(places)
            count.by_month[document.month] += len(places)
        if len(self.terms) > _MOST_PHRASES:
            self._forget_rare()

    def _forget_rare(self) -> None:
        kept = {text: count for text, count in self.terms.items() if count.documents > 1}
        self.terms = defaultdict(TermCount, kept)
