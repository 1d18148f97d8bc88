"""Similarity of two words by the edges between their concepts (O1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache

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
    return _clipped(1.0 - math.log1p(distance) / math.log1p(2 * max_depth))


def linear(distance: int, max_depth: int) -> float:
    """1 - d / (2 MaxDepth), in [0, 1]: the form O1 is measured against.

    It hardly separates anything: 捐款 and banana, 15 edges apart, have .605 in WordNet 3.0.

    Args:
        distance, max_depth: as for :func:`logarithmic`.
    """
    if max_depth <= 0:
        return float(distance == 0)
    return _clipped(1.0 - distance / (2 * max_depth))


def _clipped(value: float) -> float:
    return min(1.0, max(0.0, value))


FUNCTIONS: Mapping[str, SimilarityFunction] = {
    "exponential": exponential, "logarithmic": logarithmic, "linear": linear,
}  # fmt: skip


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
