"""Words beside the terms of a topic: synonyms, wider and narrower ones, neighbours, variants."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, Protocol

import numpy as np
import opencc
from numpy.typing import NDArray

from qiaocrawl.ontology.concepts import Ontology
from qiaocrawl.text.normalise import fold

# --- Other names that texts give to a thing themselves: 简称, 全称, 又称, brackets behind a name

Kind = Literal["short", "full", "other", "bracket"]

_QUOTE = "[“”\"'「」『』《》‘’]?"
_NAME = r"[\w·-]{2,24}"
_SHORT = "(?:以下简称|下称|简称)为?"
_OTHER = "(?:又称|亦称|也称|又叫|俗称|别称|别名|原名|旧称|曾用名|英文名?称?)为?"
_FULL = "全称为?"
_WORDS: tuple[tuple[Kind, str], ...] = (("short", _SHORT), ("other", _OTHER), ("full", _FULL))
# The name before: 中国华侨公共外交协会(简称侨协); 中华全国归国华侨联合会(以下简称“中国侨联”)成立.
_STATED: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(f"({_NAME}){_QUOTE}[(,]?{word}[:]?{_QUOTE}({_NAME}?){_QUOTE}[),.。;]"))
    for kind, word in _WORDS
)
# 世界卫生组织(WHO), 华助中心(华人互助中心).
_BRACKET = re.compile(rf"({_NAME}){_QUOTE}\({_QUOTE}([A-Za-z][\w .&-]{{1,40}}|{_NAME}){_QUOTE}\)")
# What a sentence has before a name, and no name has within it.
_LEAD = re.compile(".*(?:近日|日前|今天|昨天|当天|当日|记者从|[由在对向及的是于被把让了])")
_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Alias:
    """Two names of one thing.

    Args:
        name: the one that stands first in the text.
        alias: the other one.
        kind: how the text says so.
        texts: in how many texts it does.
    """

    name: str
    alias: str
    kind: Kind
    texts: int = 1


def aliases(texts: Iterable[str], *, least_texts: int = 1) -> list[Alias]:
    """The names that *texts* state to be one, the most often stated first.

    What stands in brackets alone counts where it could be an abbreviation: its letters stand in the
    name in this order, or it is of Latin letters.
    """
    counts: Counter[tuple[str, str, Kind]] = Counter()
    for text in texts:
        counts.update(set(_stated_pairs(fold(text))))
    return [
        Alias(name, alias, kind, number)
        for (name, alias, kind), number in sorted(
            counts.items(), key=lambda item: (-item[1], item[0])
        )
        if number >= least_texts
    ]


def is_abbreviation(short: str, full: str) -> bool:
    """Whether the letters of *short* stand in *full* in their order, its first letter early.

    >>> is_abbreviation("中国侨联", "中华全国归国华侨联合会"), is_abbreviation("北京", "中国侨联")
    (True, False)
    """
    if len(short) >= len(full):
        return False
    letters = iter(full)
    return all(letter in letters for letter in short)


def _stated_pairs(text: str) -> Iterator[tuple[str, str, Kind]]:
    for kind, pattern in _STATED:
        for match in pattern.finditer(text):
            yield from _pair(match[1], match[2], kind)
    for match in _BRACKET.finditer(text):
        name, alias = match[1], match[2].strip()
        if alias.isascii() or is_abbreviation(alias, name) or is_abbreviation(name, alias):
            yield from _pair(name, alias, "bracket")


def _pair(name: str, alias: str, kind: Kind) -> Iterator[tuple[str, str, Kind]]:
    name = _begun(name)
    if len(name) >= _SHORTEST and len(alias) >= _SHORTEST and name != alias:
        yield name, alias, kind


def _begun(name: str) -> str:
    """*name* without what stands before it: of 近日由海外侨团联合会 the name is 海外侨团联合会."""
    lead = _LEAD.match(name)
    return name[lead.end() :] if lead and lead.end() < len(name) - 1 else name


# --- Words that a corpus uses alike: neighbours in a space of its own -----------------------------

Floats = NDArray[np.float64]

_WINDOW = 5
_MOST_NEIGHBOURS = 4_000
_DIMENSIONS = 100
# ln of the negative samples that the model of Mikolov et al. would draw (Levy and Goldberg 2014).
_SHIFT = np.log(2.0)
_SMOOTHING = 0.75
"""Power of the context counts (Levy, Goldberg and Dagan 2015): rare contexts count for less."""


class Neighbours:
    """Nearness of words by what stands around them: shifted positive PMI and its largest axes.

    Deterministic, and small: the most frequent 4,000 words, vectors of 100 numbers.

    Args:
        texts: their content words in order.
        least: words that stand there less often are left out.
    """

    def __init__(self, texts: Iterable[Sequence[str]], *, least: int = 5) -> None:
        texts = [list(words) for words in texts]
        counts = Counter(word for words in texts for word in words)
        self.words = [
            word for word, count in counts.most_common(_MOST_NEIGHBOURS) if count >= least
        ]
        self._numbers = {word: number for number, word in enumerate(self.words)}
        self._vectors = _vectors(_cooccurrences(texts, self._numbers))

    def nearest(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """The *count* words nearest to *word* with their cosines; none where it is unknown."""
        number = self._numbers.get(word)
        if number is None:
            return []
        cosines = self._vectors @ self._vectors[number]
        cosines[number] = -1.0
        order = np.argsort(-cosines, kind="stable")[:count]
        return [(self.words[other], float(cosines[other])) for other in order if cosines[other] > 0]


def _cooccurrences(texts: Sequence[Sequence[str]], numbers: dict[str, int]) -> Floats:
    """How often each word stands within five words of each other one."""
    size = len(numbers)
    counts = np.zeros((size, size))
    for words in texts:
        known = np.array([numbers[word] for word in words if word in numbers], np.int64)
        for apart in range(1, min(_WINDOW, len(known) - 1) + 1):
            np.add.at(counts, (known[:-apart], known[apart:]), 1.0)
    return counts + counts.T


def _vectors(counts: Floats) -> Floats:
    """A row of length 1 for each word (0 for a word without company)."""
    if not counts.any():
        return np.zeros((len(counts), 1))
    contexts = counts.sum(0) ** _SMOOTHING
    expected = np.outer(counts.sum(1), contexts / contexts.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.log(counts / expected) - _SHIFT
    information = np.where(counts > 0, np.maximum(information, 0.0), 0.0)
    vectors = _largest_axes(information)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit


def _largest_axes(matrix: Floats) -> Floats:
    """The rows of *matrix* on its largest axes, each scaled by the root of its length.

    A randomised range finder with a fixed seed (Halko, Martinsson and Tropp 2011): the whole
    decomposition of 4,000 words takes minutes.
    """
    dimensions = min(_DIMENSIONS, len(matrix))
    start = np.random.default_rng(0).standard_normal(
        (len(matrix), min(dimensions + 20, len(matrix)))
    )
    base = matrix @ start
    for _ in range(3):
        base, _ = np.linalg.qr(matrix @ (matrix.T @ base))
    base, _ = np.linalg.qr(base)
    left, lengths, _ = np.linalg.svd(base.T @ matrix, full_matrices=False)
    axes: Floats = (base @ left)[:, :dimensions] * np.sqrt(lengths[:dimensions])
    return axes


# --- Words beside the terms of a topic: synonyms, wider and narrower ones, neighbours,
# variants

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
        yield from _name_proposals(ontology, ontology.hyponyms(concept), "hyponym", text, _NEAR)
        yield from _name_proposals(ontology, ontology.hypernyms(concept), "hypernym", text, _FAR)


def _of_one_sense(ontology: Ontology, concept: int, term: str) -> Iterator[Proposal]:
    """The other words of *concept*: synonyms of *term* where they share every sense with it.

    A word that shares some stands for *term* in these only, so it is near: .5 to 1 by the share
    of the senses of either that both have **(ours)**.
    """
    own = set(ontology.senses(fold(term)))
    for one in _name_proposals(ontology, [concept], "synonym", term, _SYNONYM):
        senses = set(ontology.senses(fold(one.text)))
        shared = len(own & senses) / len(own | senses)
        if shared < 1:
            one = replace(one, relation="near", closeness=round(0.5 + shared / 2, 2))
        yield one


def _name_proposals(
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
