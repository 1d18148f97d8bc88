"""The evidence of a topic's terms on a page: two numbers that make a probability."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.sample_vectors import FOLDS, assign_folds
from qiaocrawl.relevance.vsm_breadth import breadth, similarity, topical_parts
from qiaocrawl.topic.background import background_frequencies
from qiaocrawl.topic.pack import DEFAULT_THRESHOLD, TopicPack
from qiaocrawl.topic.profile import build_profile, characteristic
from qiaocrawl.topic.words import PageWords

LEAST = 0.003
"""Added to the similarity, so that a page without any term has a logarithm."""
LEAST_THRESHOLD = 0.01
"""A pack whose threshold is lower is taken for one that has this."""
# With so many relevant samples, the words they share count for half: two pages that an operator
# judged share much that is not the topic's.
_HALF_HEARD = 3.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the terms say of one page.

    Attributes:
        likeness: ln((similarity + 0.003) / threshold of the pack), 0 at the threshold.
        title: 1 − exp(−W), W the breadth of the terms in the title; in [0, 1).
        parts: frequency times weight of the topic's words on the page.
    """

    likeness: float
    title: float
    parts: dict[str, float]


class TermEvidence:
    """Looks for the terms of *pack*, and for words its relevant samples use more than others.

    Similarity is that of :class:`~qiaocrawl.relevance.vsm_breadth.VsmBreadthScorer`, with the
    same weights of terms; words of n relevant samples count n / (n + 3) of theirs.

    Args:
        pack: the topic.
        words: cuts texts.
        samples: those to learn from.
        relevant: which of them are.
    """

    def __init__(
        self,
        pack: TopicPack,
        words: PageWords,
        samples: Sequence[PagePlaces],
        relevant: NDArray[np.bool_],
    ) -> None:
        self._terms = build_profile(replace(pack, samples=()), words).weights
        self._threshold = max(pack.threshold, LEAST_THRESHOLD)
        self._samples = samples
        self._relevant = relevant
        found = {word for places, yes in zip(samples, relevant, strict=True) if yes
                 for word in places.both}  # fmt: skip
        self._known = background_frequencies(found) if found else ({}, 1)
        self._weights = self._learnt(np.ones(len(samples), dtype=np.bool_))
        self.nothing = self._likeness(0.0)
        """The likeness of a page without any term."""

    def of(self, places: PagePlaces) -> Evidence:
        """What they say of one page."""
        return self._evidence(places, self._weights)

    def of_samples(self) -> list[Evidence]:
        """What they say of each sample, by words learnt from samples of other folds.

        At the usual threshold: what is learnt from samples would else undo the topic's own.
        """
        folds = assign_folds(self._relevant)
        by_fold = [self._learnt(folds != fold) for fold in range(FOLDS)]
        at_usual = math.log(self._threshold / DEFAULT_THRESHOLD)
        judged = [
            self._evidence(places, by_fold[fold])
            for places, fold in zip(self._samples, folds, strict=True)
        ]
        return [replace(one, likeness=one.likeness + at_usual) for one in judged]

    def _learnt(self, chosen: NDArray[np.bool_]) -> dict[str, float]:
        """The weights of the terms, and of words of the *chosen* samples."""
        counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        for places, yes in zip(
            [places_ for places_, keep in zip(self._samples, chosen, strict=True) if keep],
            self._relevant[chosen].tolist(), strict=True,
        ):  # fmt: skip
            counts[yes].update(places.both.keys())
            counts[yes][""] += 1
        learnt = characteristic(counts[True], counts[False], *self._known)
        heard = counts[True][""] / (counts[True][""] + _HALF_HEARD)
        return {**{word: heard * weight for word, weight in learnt.items()}, **self._terms}

    def _evidence(self, places: PagePlaces, weights: Mapping[str, float]) -> Evidence:
        parts = topical_parts(places.both, weights)
        title = breadth(weights, topical_parts(places.title, weights))
        score = similarity(places.both, parts, weights)
        return Evidence(self._likeness(score), 1.0 - math.exp(-title), parts)

    def _likeness(self, score: float) -> float:
        return math.log((score + LEAST) / self._threshold)
