"""A lexicon from a corpus: the texts go in one by one, the tables come out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from qiaocrawl.lexicon.aliases import Alias, aliases
from qiaocrawl.lexicon.cohesion import MAX_LETTERS, LetterBonds
from qiaocrawl.lexicon.fresh_clauses import FreshClauses
from qiaocrawl.lexicon.keyness import Background
from qiaocrawl.lexicon.neighbours import Neighbours
from qiaocrawl.lexicon.new_words import NewWord, new_words
from qiaocrawl.lexicon.phrases import PERSON_TAGS, STOP_TAGS, is_content
from qiaocrawl.lexicon.tagged_words import tagged_words
from qiaocrawl.lexicon.term_counts import Document, TermCounts
from qiaocrawl.lexicon.term_table import TermRow, example_sentences, term_table
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import Segmenter
from qiaocrawl.topic.background import background_frequencies


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What a corpus says of its words.

    Args:
        documents, size, sites, months: texts, words, and parts of the corpus.
        terms: ranked by how much they are of the corpus.
        new_words: that the dictionary does not know, ranked.
        aliases: names that texts state to be one.
    """

    documents: int
    size: int
    sites: int
    months: int
    terms: tuple[TermRow, ...]
    new_words: tuple[NewWord, ...]
    aliases: tuple[Alias, ...]


class LexiconBuilder:
    """Takes texts and gives their lexicon.

    Args:
        terms: of the topic, which are kept whole and are no new words.
        with_persons: whether names of people may be terms.
        stop_tags: first letters of the parts of speech left out; see
            :data:`qiaocrawl.lexicon.phrases.PUBLISHED_STOP_TAGS`.
    """

    def __init__(
        self,
        terms: Sequence[str] = (),
        *,
        with_persons: bool = False,
        stop_tags: frozenset[str] = STOP_TAGS,
    ) -> None:
        self._terms = {fold(term) for term in terms}
        self._segmenter = Segmenter(self._terms)
        self._with_persons = with_persons
        self._stop_tags = stop_tags
        self._counts = TermCounts(stop_tags=stop_tags, with_persons=with_persons)
        self._cut: Counter[str] = Counter()
        self._texts: list[str] = []
        self._words: list[list[str]] = []
        self._fresh = FreshClauses()

    def add(self, document: Document) -> None:
        """Count one text; a clause that an earlier one had is no new evidence."""
        text = self._fresh.of(fold(f"{document.title}\n{document.text}"))
        words = tagged_words(self._segmenter, text)
        self._counts.add(document, words)
        content = [
            word
            for word, tag in words
            if is_content(word, tag, self._stop_tags)
            and (self._with_persons or tag not in PERSON_TAGS)
        ]
        self._cut.update(word for word in content if 2 <= len(word) <= MAX_LETTERS)
        self._texts.append(text)
        self._words.append(content)

    def lexicon(
        self, *, least_documents: int = 2, without: Collection[str] = frozenset()
    ) -> Lexicon:
        """The tables of all texts so far.

        Args:
            least_documents: in how many texts a term stands at least.
            without: folded words that are left out, since an expert rejected them.
        """
        frequencies, size = background_frequencies({*self._counts.terms, *self._cut})
        counts, background = self._counts, Background(frequencies, size)
        terms = term_table(counts, background, least_documents=least_documents)
        known = {*self._terms, *without, *(word for word in self._cut if frequencies[word])}
        return Lexicon(
            counts.documents,
            counts.size,
            len(counts.site_sizes),
            len(counts.month_sizes.keys() - {""}),
            tuple(row for row in terms if row.text not in without),
            tuple(new_words(self._cut, LetterBonds(self._texts), known.__contains__)),
            tuple(aliases(self._texts)),
        )

    def neighbours(self) -> Neighbours:
        """The space of the texts' words."""
        return Neighbours(self._words)

    def examples(self, terms: Sequence[str], each: int = 2) -> dict[str, list[str]]:
        """Sentences for each of *terms* (folded)."""
        return example_sentences(self._texts, terms, each=each)
