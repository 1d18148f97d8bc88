"""What an expert is asked about: the best words of a corpus and beside the topic's terms."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from qiaocrawl.lexicon.build import Lexicon
from qiaocrawl.lexicon.expansion import RELATIONS, Proposal
from qiaocrawl.text import fold


@dataclass(frozen=True, slots=True)
class Candidate:
    """A word to decide about.

    Args:
        origin: where it comes from, in Chinese.
        facts: what speaks for it, in Chinese.
        of_term: the term it is likely a synonym of, "" for none.
    """

    text: str
    origin: str
    facts: str
    of_term: str = ""


def candidates(
    lexicon: Lexicon,
    proposals: Sequence[Proposal],
    *,
    known: Collection[str],
    count: int,
) -> list[Candidate]:
    """The best *count* words that nobody has decided about, the sources in turn.

    Args:
        known: folded words that are terms already, or were rejected.
    """
    seen = set(known)
    chosen: list[Candidate] = []
    rows = zip_longest(_terms(lexicon), _new_words(lexicon), _proposed(proposals))
    for candidate in (one for row in rows for one in row if one is not None):
        key = fold(candidate.text)
        if key not in seen:
            seen.add(key)
            chosen.append(candidate)
        if len(chosen) == count:
            break
    return chosen


def _terms(lexicon: Lexicon) -> Iterator[Candidate]:
    for row in lexicon.terms:
        facts = (
            f"{row.frequency:,} 次，{row.documents:,} 篇，{row.sites} 站，特征度 {row.score:.1f}"
        )
        yield Candidate(row.text, "特征词" if row.words == 1 else "短语", facts)


def _new_words(lexicon: Lexicon) -> Iterator[Candidate]:
    for new in lexicon.new_words:
        bonds = new.bonds
        facts = f"{bonds.frequency:,} 次，凝固度 {bonds.cohesion:.1f}，自由度 {bonds.freedom:.1f}"
        yield Candidate(new.text, "新词", facts)


def _proposed(proposals: Sequence[Proposal]) -> Iterator[Candidate]:
    for one in proposals:
        # Spellings in other letters need no decision: searches and texts are folded.
        if one.relation != "variant":
            facts = f"“{one.of_term}”的{RELATIONS[one.relation]}，近度 {one.closeness:.2f}"
            yield Candidate(one.text, RELATIONS[one.relation], facts, one.of_term)
