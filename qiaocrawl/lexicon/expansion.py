"""Words beside the terms of a topic: synonyms, wider and narrower ones, neighbours, variants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, Protocol

import opencc

from qiaocrawl.lexicon.aliases import Alias
from qiaocrawl.lexicon.neighbours import Neighbours
from qiaocrawl.ontology.concepts import Ontology
from qiaocrawl.text.normalise import fold

Relation = Literal["synonym", "near", "hypernym", "hyponym", "neighbour", "alias", "variant"]

RELATIONS: dict[str, str] = {
    "synonym": "同义",
    "near": "近义",
    "hypernym": "上位",
    "hyponym": "下位",
    "neighbour": "近邻",
    "alias": "别称",
    "variant": "异形",
}
"""Where a proposal comes from, with its Chinese word."""

_SYNONYM, _NEAR, _FAR = 1.0, 0.7, 0.4
_SENSES = 1
_MOST_WORDS = 8
_NEIGHBOURS = 5
# Cosines below it join what only stands in the same kind of text.
_LEAST_COSINE = 0.3
# Traditional letters as such, and the words that Taiwan uses for 软件, 网络, 视频.
_VARIANT_CONFIGS = ("s2t", "s2twp")


class Term(Protocol):
    """What is asked of a term of a topic."""

    @property
    def text(self) -> str:
        """As the topic has it."""
        ...


@dataclass(frozen=True, slots=True)
class Proposal:
    """A word to look at.

    Args:
        relation: a key of :data:`RELATIONS`.
        of_term: the term of the topic it belongs to, "" for none.
        closeness: 1 for a synonym, .5 to 1 for near ones, below for far ones (T6).
    """

    text: str
    relation: Relation
    of_term: str
    closeness: float


def expansion(
    terms: Sequence[Term],
    *,
    ontology: Ontology | None = None,
    neighbours: Neighbours | None = None,
    stated: Iterable[Alias] = (),
) -> list[Proposal]:
    """What stands beside *terms*, the closest first, each word once.

    Args:
        ontology: for synonyms, hypernyms and hyponyms; None leaves them out.
        neighbours: for words that the topic's own corpus uses alike.
        stated: other names that its texts state themselves.
    """
    own = {fold(term.text) for term in terms}
    best: dict[str, Proposal] = {}
    for proposal in _all(terms, ontology, neighbours, list(stated)):
        key = proposal.text if proposal.relation == "variant" else fold(proposal.text)
        known = best.get(key)
        if key not in own and (known is None or known.closeness < proposal.closeness):
            best[key] = proposal
    return sorted(best.values(), key=lambda proposal: (-proposal.closeness, proposal.text))


def _all(
    terms: Sequence[Term],
    ontology: Ontology | None,
    neighbours: Neighbours | None,
    stated: Sequence[Alias],
) -> Iterator[Proposal]:
    for term in terms:
        yield from _variants(term.text)
        if ontology is not None:
            yield from _relatives(term.text, ontology)
        if neighbours is not None:
            for word, cosine in neighbours.nearest(fold(term.text), _NEIGHBOURS):
                # A word of one letter is searched for by nobody: 会, 让, 国.
                if cosine >= _LEAST_COSINE and len(word) > 1:
                    # Below a synonym however alike: 北京 and 上海 stand beside the same words.
                    yield Proposal(word, "neighbour", term.text, round(min(cosine, 0.95), 2))
        yield from _aliases(term.text, stated)


def _variants(text: str) -> Iterator[Proposal]:
    for config in _VARIANT_CONFIGS:
        variant = _converter(config).convert(text)
        if variant != text:
            yield Proposal(variant, "variant", text, _SYNONYM)


@cache
def _converter(config: str) -> opencc.OpenCC:
    return opencc.OpenCC(config)


def _relatives(text: str, ontology: Ontology) -> Iterator[Proposal]:
    """Words of the usual sense of *text*, and of the concepts right above and below it."""
    for concept in ontology.senses(fold(text))[:_SENSES]:
        yield from _of_one_sense(ontology, concept, text)
        yield from _named(ontology, ontology.hyponyms(concept), "hyponym", text, _NEAR)
        yield from _named(ontology, ontology.hypernyms(concept), "hypernym", text, _FAR)


def _of_one_sense(ontology: Ontology, concept: int, term: str) -> Iterator[Proposal]:
    """The other words of *concept*: synonyms of *term* where they share every sense with it.

    A word that shares some stands for *term* in these only, so it is near: .5 to 1 by the share
    of the senses of either that both have **(ours)**.
    """
    own = set(ontology.senses(fold(term)))
    for one in _named(ontology, [concept], "synonym", term, _SYNONYM):
        senses = set(ontology.senses(fold(one.text)))
        shared = len(own & senses) / len(own | senses)
        if shared < 1:
            one = replace(one, relation="near", closeness=round(0.5 + shared / 2, 2))
        yield one


def _named(
    ontology: Ontology, concepts: Iterable[int], relation: Relation, term: str, closeness: float
) -> Iterator[Proposal]:
    words = sorted(word for word in ontology.words_of(set(concepts)) if len(word) > 1)
    for word in words[:_MOST_WORDS]:
        # Wordnets write phrases of English with an underscore.
        yield Proposal(word.replace("_", " "), relation, term, closeness)


def _aliases(text: str, stated: Sequence[Alias]) -> Iterator[Proposal]:
    key = fold(text)
    for alias in stated:
        if key == alias.name:
            yield Proposal(alias.alias, "alias", text, _SYNONYM)
        elif key == alias.alias:
            yield Proposal(alias.name, "alias", text, _SYNONYM)
