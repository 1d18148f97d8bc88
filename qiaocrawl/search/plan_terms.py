"""Groups terms that ask for the same: spelling variants always, synonyms if the engine has OR."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from qiaocrawl.ontology.folder import current_ontology
from qiaocrawl.ontology.topic_words import NAMED_KINDS
from qiaocrawl.text.normalise import fold
from qiaocrawl.topic.pack import Term

MAX_WORDS = 4
"""Words of one OR-group, the term included (ours): engines read a few dozen characters, and a
long list of results is cut sooner."""
MAX_CHARS = 30
"""Characters of one OR-group without its operators, for the same reason (ours)."""

Concept = Callable[[str], int | None]
"""The concept a folded word usually stands for; None for a word nobody knows."""


@dataclass(frozen=True, slots=True)
class TermGroup:
    """A term as it is asked, with the words asked in one group with it.

    ``weight`` is the heaviest word's; the term is that word, the first of equals.
    """

    term: str
    weight: float
    also: tuple[str, ...] = ()


def usual_concept(word: str) -> int | None:
    """The concept a folded *word* usually stands for in the ontologies at hand."""
    senses = current_ontology().senses(word)
    return senses[0] if senses else None


def group_terms(
    terms: Iterable[Term], most_words: int, concept: Concept = usual_concept
) -> list[TermGroup]:
    """*terms* folded, the heaviest first, in given order where equal.

    Words that differ by script (traditional, simplified), width, case or white space are one.
    Words whose usual concept is the same are asked together where the engine has OR-groups.
    None of them is left out, since our ontology also joins words that are only near (闽商 and
    粤商).
    Names of persons, places and media stay alone.

    Args:
        most_words: of one query; 1 where the engine has no OR-groups: only spellings are
            folded then, and the spelling of the heaviest is asked.
        concept: what joins words, by their folded form.
    """
    spellings = _by_spelling(terms)
    if most_words < 2:
        return [TermGroup(words[0].text, words[0].weight) for words in spellings]
    classes: dict[object, list[list[Term]]] = {}
    for number, words in enumerate(spellings):
        concept_id = None if words[0].kind in NAMED_KINDS else concept(_folded(words[0].text))
        classes.setdefault(("alone", number) if concept_id is None else concept_id, []).append(
            words
        )
    groups = [group for members in classes.values() for group in _filled(members, most_words)]
    return sorted(groups, key=lambda group: -group.weight)


def _folded(text: str) -> str:
    return "".join(fold(text).split())


def _by_spelling(terms: Iterable[Term]) -> list[list[Term]]:
    """Terms of one folded spelling together, the heaviest first; the heaviest lists first."""
    spellings: dict[str, dict[str, Term]] = {}
    for term in terms:
        text = " ".join(term.text.split())
        if not text:
            continue
        # Variants of one spelling: 台湾 and 臺灣; each is kept with its heaviest weight.
        same = spellings.setdefault(_folded(text), {})
        if text not in same or same[text].weight < term.weight:
            same[text] = Term(text, term.kind, term.weight)
    lists = [
        sorted(same.values(), key=lambda variant: -variant.weight) for same in spellings.values()
    ]
    return sorted(lists, key=lambda words: -words[0].weight)


def _filled(members: Sequence[list[Term]], most_words: int) -> Iterable[TermGroup]:
    """Groups of at most *most_words* words and :data:`MAX_CHARS` characters, in order."""
    words: list[Term] = []
    for term in (word for spelling in members for word in spelling):
        chars = sum(len(word.text) for word in words) + len(term.text)
        if words and (len(words) == most_words or chars > MAX_CHARS):
            yield _group(words)
            words = []
        words.append(term)
    yield _group(words)


def _group(words: Sequence[Term]) -> TermGroup:
    return TermGroup(words[0].text, words[0].weight, tuple(word.text for word in words[1:]))
