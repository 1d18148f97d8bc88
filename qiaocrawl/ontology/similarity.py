"""Similarity of two words by the edges between their concepts (O1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from typing import Protocol

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.ontology.concepts import Ontology
from qiaocrawl.text.normalise import fold

DECAY = 0.4
"""Of the exponential similarity: one edge .67, two .45, five .14."""
DEFAULT_FUNCTION = "exponential"
_MEMORY = 200_000

SimilarityFunction = Callable[[int, int], float]


def exponential(distance: int, max_depth: int) -> float:
    """exp(-0.4 d), in (0, 1] **(ours)**: non-linear as O1 has it, the formula itself is lost.

    Args:
        distance: edges between the concepts, from 0.
        max_depth: makes no difference here.
    """
    return math.exp(-DECAY * distance)


def logarithmic(distance: int, max_depth: int) -> float:
    """1 - ln(1 + d) / ln(1 + 2 MaxDepth), in [0, 1] **(ours)**.

    Args:
        distance: edges between the concepts, from 0.
        max_depth: edges of the longest way up, so that no distance exceeds twice as many;
            without any (0) only equal concepts are alike.
    """
    if max_depth <= 0:
        return float(distance == 0)
    return _clip(1.0 - math.log1p(distance) / math.log1p(2 * max_depth))


def linear(distance: int, max_depth: int) -> float:
    """1 - d / (2 MaxDepth), in [0, 1]: the form O1 is measured against.

    It hardly separates anything: 捐款 and banana, 15 edges apart, have .605 in WordNet 3.0.

    Args:
        distance, max_depth: as for :func:`logarithmic`.
    """
    if max_depth <= 0:
        return float(distance == 0)
    return _clip(1.0 - distance / (2 * max_depth))


def _clip(value: float) -> float:
    return min(1.0, max(0.0, value))


FUNCTIONS: Mapping[str, SimilarityFunction] = {
    "exponential": exponential,
    "logarithmic": logarithmic,
    "linear": linear,
}


def similarity_function(name: str) -> SimilarityFunction:
    """The function called *name*.

    Raises:
        ConfigError: there is none.
    """
    if name not in FUNCTIONS:
        raise ConfigError(
            _(
                "unknown word similarity {name!r} (there are: {functions})",
                name=name,
                functions=", ".join(FUNCTIONS),
            )
        )
    return FUNCTIONS[name]


def distance_between(one: Mapping[int, int], other: Mapping[int, int]) -> int | None:
    """Fewest edges over a common concept above; None without one.

    Args:
        one, other: edges up to each concept above a word, as ``Ontology.above`` gives them.
    """
    # Walk the smaller mapping and look its concepts up in the larger one.
    if len(one) > len(other):
        one, other = other, one
    ways = [edges + other[concept] for concept, edges in one.items() if concept in other]
    return min(ways, default=None)


class WordSimilarity:
    """Similarity of words of any language of one ontology.

    Args:
        ontology: the concept space.
        function: name of the function from edges to similarity.

    Raises:
        ConfigError: no such function.
    """

    def __init__(self, ontology: Ontology, function: str = DEFAULT_FUNCTION) -> None:
        self.ontology = ontology
        self._function = similarity_function(function)
        self._of_folded = lru_cache(_MEMORY)(self._similarity)

    def __call__(self, one: str, other: str) -> float:
        """Similarity of two words in [0, 1]: that of their nearest senses.

        Equal words have 1, known or not; otherwise a word no wordnet knows has 0 with every
        other, as have words without a common concept above, such as a noun and a verb.
        """
        one, other = fold(one), fold(other)
        # Symmetric, so both orders share one entry of the cache.
        return self._of_folded(*((one, other) if one <= other else (other, one)))

    def distance(self, one: str, other: str) -> int | None:
        """Fewest edges between senses of two words; None where nothing joins them."""
        return distance_between(self.ontology.above(fold(one)), self.ontology.above(fold(other)))

    def _similarity(self, one: str, other: str) -> float:
        if one == other:
            return 1.0
        edges = distance_between(self.ontology.above(one), self.ontology.above(other))
        return 0.0 if edges is None else self._function(edges, self.ontology.max_depth)


# --- Similarity of a word to a whole topic: to the nearest of the topic's words -------------------

NAMED_KINDS = frozenset({"person", "place", "media"})
"""Kinds of topic terms that name one thing: the next town is not of the topic (ours)."""
LEAST = 0.5
"""What whole texts are judged by counts words at least this much alike **(ours)**: with all of
WordNet a page on anything has fifteen words within two edges of one of four hundred terms. By
the exponential function, terms reach one edge far."""
_MAX_NEAR_WORDS = 20_000


class TopicTerm(Protocol):
    """What is asked of a term of a topic."""

    @property
    def text(self) -> str:
        """As the topic has it."""
        ...

    @property
    def kind(self) -> str:
        """What it is of: concept, place, person …"""
        ...


def named_words(terms: Iterable[TopicTerm]) -> set[str]:
    """The folded texts of those *terms* that name one thing."""
    return {fold(term.text) for term in terms if term.kind in NAMED_KINDS}


class TopicWords:
    """Similarity of words to the nearest word of a topic, times that word's weight.

    Args:
        ontology: the concept space.
        weights: of the topic's words, folded, above 0; the heaviest counts whole, the others
            their share of it **(ours)**.
        spread: those of them that reach to other words over concepts; the others meet
            themselves only.
        named: those that stand for one thing by name, a place or a person: they meet other
            names of it, nothing beside it, since the next town is not of the topic.
        function: name of the word similarity.
        least: a smaller similarity counts as none, in [0, 1].

    Raises:
        ConfigError: no such function.
    """

    def __init__(
        self,
        ontology: Ontology,
        weights: Mapping[str, float],
        spread: Collection[str],
        named: Collection[str] = (),
        *,
        function: str = DEFAULT_FUNCTION,
        least: float = 0.0,
    ) -> None:
        self._ontology = ontology
        self._function = similarity_function(function)
        self._least = least
        heaviest = max(weights.values(), default=1.0)
        self._own = {word: weight / heaviest for word, weight in weights.items()}
        self._names: dict[int, float] = {}
        self._spread: dict[int, float] = {}
        for word, share in self._own.items():
            # Names reach other names of the same thing only, see NAMED_KINDS.
            if word in spread:
                into = self._names if word in named else self._spread
                for concept in ontology.senses(word):
                    into[concept] = max(share, into.get(concept, 0.0))
        # Upwards once for the topic: per word only its own way up is left to walk.
        self._reach = _reach(ontology, self._spread)
        self.similarity = lru_cache(_MEMORY)(self._similarity)

    def _similarity(self, word: str) -> float:
        """Nearness of *word* (folded) to the topic, in [0, 1]."""
        best = self._own.get(word, 0.0)
        senses = self._ontology.senses(word)
        best = max([best, *(self._names.get(concept, 0.0) for concept in senses)])
        depth = self._ontology.max_depth
        for concept, up in self._ontology.above(word).items():
            for down, share in self._reach.get(concept, ()):
                alike = self._function(up + down, depth)
                if alike >= self._least and alike * share > best:
                    best = alike * share
        return best

    def near_words(self) -> set[str]:
        """Words of the topic's concepts and those beside them, which texts are to be cut for."""
        near = set(self._spread)
        for concept in self._spread:
            near.update(self._ontology.hypernyms(concept))
            near.update(self._ontology.hyponyms(concept))
        words = self._ontology.words_of(near | set(self._names))
        # Sorted, so that every process keeps the same ones.
        return set(sorted(word for word in words if len(word) > 1)[:_MAX_NEAR_WORDS])


def _reach(ontology: Ontology, concepts: Mapping[int, float]) -> dict[int, list[tuple[int, float]]]:
    """For each concept above the topic's (edges down to it, share): nearer or heavier ones only."""
    rows: dict[int, dict[int, float]] = {}
    for concept, share in concepts.items():
        for above, edges in _above(ontology, concept).items():
            row = rows.setdefault(above, {})
            row[edges] = max(share, row.get(edges, 0.0))
    return {above: _useful(row.items()) for above, row in rows.items()}


def _above(ontology: Ontology, concept: int) -> dict[int, int]:
    """Edges from *concept* up to each concept above it."""
    distances, level, distance = {concept: 0}, [concept], 0
    while level:
        distance += 1
        level = [up for below in level for up in ontology.hypernyms(below) if up not in distances]
        distances.update(dict.fromkeys(level, distance))
    return distances


def _useful(row: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """*entries* without those that are further away and no heavier than another."""
    useful: list[tuple[int, float]] = []
    for edges, share in sorted(row):
        if not useful or share > useful[-1][1]:
            useful.append((edges, share))
    return useful
