"""What an expert is asked about: the best words of a corpus and beside the topic's terms."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from qiaocrawl.language import CHINESE, _, language
from qiaocrawl.lexicon.build import Lexicon
from qiaocrawl.lexicon.expansion import RELATIONS, Proposal
from qiaocrawl.text.normalise import fold


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
        facts = _(
            "{count:,} times, {texts:,} texts, {sites} sites, score {score:.1f}",
            count=row.frequency,
            texts=row.documents,
            sites=row.sites,
            score=row.score,
        )
        yield Candidate(row.text, _("term of the texts") if row.words == 1 else _("phrase"), facts)


def _new_words(lexicon: Lexicon) -> Iterator[Candidate]:
    for new in lexicon.new_words:
        bonds = new.bonds
        facts = _(
            "{count:,} times, cohesion {cohesion:.1f}, freedom {freedom:.1f}",
            count=bonds.frequency,
            cohesion=bonds.cohesion,
            freedom=bonds.freedom,
        )
        yield Candidate(new.text, _("new word"), facts)


def _proposed(proposals: Sequence[Proposal]) -> Iterator[Candidate]:
    for one in proposals:
        # Spellings in other letters need no decision: searches and texts are folded.
        if one.relation != "variant":
            relation = RELATIONS[one.relation] if language() == CHINESE else one.relation
            facts = _(
                "{relation} of “{term}”, closeness {closeness:.2f}",
                relation=relation,
                term=one.of_term,
                closeness=one.closeness,
            )
            yield Candidate(one.text, relation, facts, one.of_term)
