"""The terms of a corpus, ranked by how much they are of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from qiaocrawl.lexicon.keyness import Background, dispersion, log_likelihood, log_odds
from qiaocrawl.lexicon.term_counts import TermCount, TermCounts

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
