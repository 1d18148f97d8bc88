"""The evidence of a topic's terms on a page: two numbers that make a probability."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.sample_vectors import FOLDS, assign_folds
from qiaocrawl.relevance.term_scorer import term_rarities, term_weights
from qiaocrawl.relevance.vsm_breadth import breadth, similarity, topical_parts
from qiaocrawl.topic.pack import DEFAULT_THRESHOLD, TopicPack
from qiaocrawl.topic.profile import PageWords, background_frequencies, build_profile, characteristic

LEAST = 0.003
"""Added to the similarity, so that a page without any term has a logarithm."""
LEAST_THRESHOLD = 0.01
"""A pack whose threshold is lower is taken for one that has this."""
# With so many relevant samples, the words they share count for half: two pages that an operator
# judged share much that is not the topic's.
_HALF_HEARD = 3.0
# A page that plainly names a word of the list is as like the topic as one with e ** 0.5 times the
# usual threshold: on topic, though not by much.
_NAMED_LIKENESS = 0.5
# Twice in the text is as good as once in the title.
_TEXT_SHARE = 0.5
# In a list of more words an everyday one (学校, 市场) says less by itself.
_LONG_LIST = 100
# Chinese words are written together: 养老院 names 养老. In other scripts "art" is not in "article".
_CHINESE = re.compile("[\u4e00-\u9fff]{2,}")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the terms say of one page.

    Attributes:
        likeness: ln((similarity + 0.003) / threshold of the pack), 0 at the threshold.
        title: 1 − exp(−W), W the breadth of the terms in the title; in [0, 1).
        parts: frequency times weight of the topic's words on the page.
        lift: what is missing of the likeness that one plainly named word of the list gives.
        named: which words of the page name those of the list, and how plainly.
    """

    likeness: float
    title: float
    parts: dict[str, float]
    lift: float = 0.0
    named: Mapping[str, float] = field(default_factory=dict)


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
        self._listed = ListedWords(pack)
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
        likeness = self._likeness(score)
        named = self._listed.on(places)
        lift = 0.0
        if plainness := min(1.0, math.fsum(named.values())):
            enough = DEFAULT_THRESHOLD * math.exp(_NAMED_LIKENESS) * plainness
            lift = max(0.0, self._likeness(enough) - likeness)
        return Evidence(likeness, 1.0 - math.exp(-title), parts, lift, named)

    def _likeness(self, score: float) -> float:
        return math.log((score + LEAST) / self._threshold)


class ListedWords:
    """How plainly a page names words of the list: a list means "these words". **(ours)**

    A word counts once for the title and half for each time in the text, up to once: 1 is plain. It
    also counts where it begins or ends a longer Chinese word (养老 in 养老院), but not inside one
    (华人 in 中华人民). A word that weighs less than the middle one of the list counts that much
    less, so that a list without weights, or with equal ones, has no lesser words; in a list of more
    than a hundred an everyday word counts by its rarity. Words of one character do not count: they
    are parts of too many others.
    """

    def __init__(self, pack: TopicPack) -> None:
        weights = {word: weight for word, weight in term_weights(pack).items() if len(word) > 1}
        middle = statistics.median_low(weights.values()) if weights else 1.0
        self._counts = {word: min(1.0, weight / middle) for word, weight in weights.items()}
        if len(weights) > _LONG_LIST:
            rarities = term_rarities(weights)
            self._counts = {word: n * rarities[word] for word, n in self._counts.items()}
        self._longest = max(map(len, weights), default=0)

    def on(self, places: PagePlaces) -> dict[str, float]:
        """The words of a page that name one of the list, and how plainly each does."""
        found: dict[str, float] = {}
        seen: dict[str, list[float]] = {}
        for counts, is_title in ((places.title, True), (places.text, False)):
            for word, times in counts.items():
                if listed := self._listed(word):
                    given = 1.0 if is_title else _TEXT_SHARE * times
                    so_far = seen.setdefault(listed, [0.0, 0.0])
                    added = min(1.0, so_far[not is_title] + given) - so_far[not is_title]
                    so_far[not is_title] += added
                    found[word] = found.get(word, 0.0) + added * self._counts[listed]
        return {word: given for word, given in found.items() if given}

    def _listed(self, word: str) -> str:
        """The word of the list that *word* is, begins with or ends with; "" for none."""
        if word in self._counts:
            return word
        if len(word) < 3 or not _CHINESE.fullmatch(word):
            return ""
        for size in range(min(len(word) - 1, self._longest), 1, -1):
            for part in (word[:size], word[-size:]):
                if part in self._counts:
                    return part
        return ""
