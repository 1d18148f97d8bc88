"""The terms of a corpus, ranked by how much they are of it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from qiaocrawl.lexicon.phrases import (
    PERSON_TAGS,
    PUBLISHED_STOP_TAGS,
    STOP_TAGS,
    Tagged,
    candidate_phrases,
)

# --- How much more often a term stands in a corpus than in Chinese at large -----------------------


@dataclass(frozen=True, slots=True)
class Background:
    """How often terms stand in general text of *size* words; what it does not know stands never."""

    frequencies: Mapping[str, int]
    size: int


def log_likelihood(frequency: int, size: int, background: int, background_size: int) -> float:
    """Signed log-likelihood ratio G² of two frequencies (Dunning 1993; Rayson and Garside 2000).

    Args:
        frequency, size: of the term in the corpus, and the corpus's words.
        background, background_size: the same of the background.

    Returns:
        2 · Σ observed · ln(observed / expected); below 0 where the term is rarer than usual.
        6.63 is p < .01 for one term.

    >>> round(log_likelihood(20, 1000, 10, 10000), 1)
    67.5
    """
    share = (frequency + background) / (size + background_size)
    expected, expected_background = size * share, background_size * share
    value = 2 * (_part(frequency, expected) + _part(background, expected_background))
    return value if frequency >= expected else -value


def log_odds(frequency: float, size: float, background: int, background_size: int) -> float:
    """Weighted log-odds with an informative prior (Monroe, Colaresi and Quinn 2008), as z.

    The background is the prior alone, as heavy as the corpus itself **(ours)**: as a second corpus
    beside the prior it would give a term that it does not know a variance so large that new words,
    which a lexicon is built for, came last. Such a term counts as half a one.

    Returns:
        (ln odds with the corpus − ln odds of the prior) / standard deviation.
    """
    prior = size * max(background, 0.5) / background_size
    odds = (frequency + prior) / max(2 * size - frequency - prior, 1.0)
    prior_odds = prior / max(size - prior, 1.0)
    return (math.log(odds) - math.log(prior_odds)) * math.sqrt(frequency + prior)


def dispersion(counts: Mapping[str, int], sizes: Mapping[str, int]) -> float:
    """How unevenly a term is spread over the parts of a corpus (Gries 2008, DP normalised).

    Args:
        counts: of the term in each part that has it.
        sizes: words of every part.

    Returns:
        0 where every part has its share, 1 where the smallest part has all; 0 for one part alone.

    >>> dispersion({"a": 5, "b": 5}, {"a": 100, "b": 100})
    0.0
    """
    total, size = sum(counts.values()), sum(sizes.values())
    if len(sizes) < 2 or not total:
        return 0.0
    apart = sum(abs(counts.get(part, 0) / total - own / size) for part, own in sizes.items()) / 2
    return min(1.0, apart / (1 - min(sizes.values()) / size))


def _part(observed: float, expected: float) -> float:
    return observed * math.log(observed / expected) if observed else 0.0


# --- Counts of the candidate terms of a corpus, text by text --------------------------------------

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


# --- The terms of a corpus, ranked by how much they are of it -------------------------------------

# What stands nearly always within longer terms (侨务强国 of 侨务强国梦) comes behind them. The
# power was chosen on tags of editors, of which those that it moves down are fewer than others.
_STANDING_POWER = 0.3
_LEAST_STANDING = 0.05


@dataclass(frozen=True, slots=True)
class TermRow:
    """A term of a corpus with its statistics.

    Args:
        tag: jieba's part of speech of a word, "" of a phrase.
        words: of which it is made.
        frequency, documents, sites, months: how often, and in how many of each, it stands.
        log_likelihood: signed G² against general Chinese.
        log_odds: z of the weighted log-odds against it.
        site_dispersion, month_dispersion: normalised DP, 0 for evenly spread, 1 for one part only.
        standing: share of its places where no longer candidate holds it.
        score: what the table is sorted by, log_odds · (standing + .05)^.3 **(ours)**.
    """

    text: str
    tag: str
    words: int
    frequency: int
    documents: int
    sites: int
    months: int
    log_likelihood: float
    log_odds: float
    site_dispersion: float
    month_dispersion: float
    standing: float
    score: float


def term_table(
    counts: TermCounts, background: Background, *, least_documents: int = 2
) -> list[TermRow]:
    """The terms that stand in *least_documents* texts or more, the most telling first."""
    rows = [
        _row(text, count, counts, background)
        for text, count in counts.terms.items()
        if count.documents >= least_documents
    ]
    return sorted(rows, key=lambda row: (-row.score, row.text))


def example_sentences(
    texts: Iterable[str], terms: Iterable[str], *, each: int = 2
) -> dict[str, list[str]]:
    """Up to *each* sentences of *texts* for every term, from different texts.

    Args:
        texts: folded.
        terms: folded, as :class:`TermRow` has them.
    """
    examples: dict[str, list[str]] = {term: [] for term in terms}
    missing = set(examples)
    for text in texts:
        if not missing:
            break
        for term in [term for term in missing if term in text]:
            examples[term].append(_sentence_around(text, text.index(term), len(term)))
            if len(examples[term]) == each:
                missing.discard(term)
    return examples


_ENDS = "。!?;\n！？；"
_MOST_LETTERS = 60


def _sentence_around(text: str, place: int, length: int) -> str:
    """The sentence of *text* at *place*, at most some sixty letters of it around the term."""
    start = max((text.rfind(end, 0, place) for end in _ENDS), default=-1) + 1
    stop = min(_ends_after(text, place + length), default=len(text))
    if stop - start > _MOST_LETTERS:
        start = max(start, place - _MOST_LETTERS // 2)
        stop = min(stop, start + _MOST_LETTERS)
    return text[start:stop].strip()


def _ends_after(text: str, place: int) -> Iterator[int]:
    for end in _ENDS:
        if (found := text.find(end, place)) >= 0:
            yield found


def _row(text: str, count: TermCount, counts: TermCounts, background: Background) -> TermRow:
    usual = background.frequencies.get(text, 0)
    odds = log_odds(count.frequency, counts.size, usual, background.size)
    standing = count.standing_alone / count.frequency
    return TermRow(
        text,
        count.tag,
        count.words,
        count.frequency,
        count.documents,
        len(count.by_site),
        len(count.by_month.keys() - {""}),
        log_likelihood(count.frequency, counts.size, usual, background.size),
        odds,
        dispersion(count.by_site, counts.site_sizes),
        dispersion(count.by_month, counts.month_sizes),
        standing,
        odds * (standing + _LEAST_STANDING) ** _STANDING_POWER,
    )


# --- The published tables of a lexicon (Q9): tokens by title, and their weights -------------------


@dataclass(frozen=True, slots=True)
class WeightRow:
    """A token with its weight in a collection of titles.

    Args:
        total: how often it stands in all titles.
        titles: in how many of them.
        tfidf: total · ln(titles of the collection / titles with it).
        by_title: how often it stands in each title, in their order.
    """

    token: str
    tag: str
    total: int
    titles: int
    tfidf: float
    by_title: tuple[int, ...]


def weight_table(titles: Sequence[Sequence[Tagged]]) -> list[WeightRow]:
    """The tokens of *titles* without 副介连助叹拟声 words and marks, the heaviest first."""
    columns = [Counter(_tokens(words)) for words in titles]
    totals: Counter[tuple[str, str]] = Counter()
    for column in columns:
        totals.update(column)
    rows = []
    for (token, tag), total in totals.items():
        by_title = tuple(column[token, tag] for column in columns)
        holding = sum(1 for count in by_title if count)
        tfidf = total * math.log(len(columns) / holding)
        rows.append(WeightRow(token, tag, total, holding, tfidf, by_title))
    return sorted(rows, key=lambda row: (-row.tfidf, -row.total, row.token))


def _tokens(words: Sequence[Tagged]) -> list[Tagged]:
    stop = PUBLISHED_STOP_TAGS | {"x", "w"}
    return [(word, tag) for word, tag in words if tag[:1] not in stop or tag == "eng"]
