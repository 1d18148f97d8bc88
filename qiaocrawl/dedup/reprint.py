"""The default: titles by a trained model, bodies where they are known, dates and sources.

The rules are ours. In order of weight: the same text is the same text; bodies that
share their sentences are one story whatever the titles say, bodies that share none are not,
however like the titles are; where bodies say nothing, the pair model judges the titles. It is
not believed where titles are too short to say anything, or lie a month apart. Other numbers and
names weigh in the model; what it refuses for them is a series.
"""

from __future__ import annotations

from typing import ClassVar

from qiaocrawl.dedup.bodies.comparison import other_body, same_body
from qiaocrawl.dedup.methods import LEAST_COSINE, checked, methods
from qiaocrawl.dedup.title_pair import Relation, TitlePair
from qiaocrawl.items import VerdictKind

# Of pairs the model calls the same at the default threshold, 2 % (events) and 8 % (revisions) have
# a lower cosine; searching from .5 on would cost several times as much.
_SEARCH_COSINE = 0.7
_DEFAULT = 0.8
_LEAST_LETTERS = 6
_MOST_DAYS = 30.0
_SOURCE_DAYS = 2.0
# How much less the titles need to say when both name one source within two days.
_SOURCE_GAIN = 0.2
# SimHashes of 64 bits of one text differ in so many at most (Manku, Jain, Das Sarma 2007).
_SAME_BITS = 3
_AGREE_COSINE = 0.5
# A version for print lacks a caption or a note of the editor, and may show the day alone.
_COPY_CONTAINMENT = 0.9
_COPY_DAYS = 1.0


@methods.register("reprint")
class Reprint:
    """Judges by titles, bodies, dates and sources.

    Args:
        threshold: score in (0, 1] of the pair model from which titles are the same story;
            None = .8, where some 98 of 100 pairs so called are.

    Raises:
        ConfigError: another threshold.
    """

    uses_scores: ClassVar[bool] = True
    uses_bodies: ClassVar[bool] = True
    uses_general_usage: ClassVar[bool] = True

    def __init__(self, threshold: float | None = None) -> None:
        self.threshold = checked(threshold, _DEFAULT, least=0.0)

    @property
    def least_cosine(self) -> float:
        """.7, and less for thresholds below the default."""
        # A lower threshold accepts lower scores, which go with lower cosines: the search follows.
        return max(LEAST_COSINE, min(_SEARCH_COSINE, self.threshold - _DEFAULT + _SEARCH_COSINE))

    def relation(self, pair: TitlePair) -> Relation:
        """How the two relate to each other."""
        relation = self._by_body(pair) or self._by_title(pair)
        if not relation.is_same_story:
            return relation
        # An unknown site counts as the same: an equal text without any host is the page itself.
        if (pair.same_text and pair.same_site is not False) or _is_copy(pair):
            return relation._replace(kind=VerdictKind.SAME_PAGE)
        if pair.same_site:
            return relation._replace(kind=VerdictKind.REVISION)
        return relation

    def _by_body(self, pair: TitlePair) -> Relation | None:
        """The relation by the bodies; None if they say nothing."""
        if pair.same_text:
            return Relation(VerdictKind.REPRINT, 3.0, "the same text word for word")
        body = pair.body
        if body is None:
            distance = pair.simhash_distance
            if distance is not None and distance <= _SAME_BITS:
                return Relation(VerdictKind.REPRINT, 2.0, f"bodies differ in {distance} of 64 bits")
            return None
        shared = f"{body.containment:.0%} of the shorter body is shared"
        if same_body(body, titles_agree=pair.cosine >= _AGREE_COSINE):
            return Relation(VerdictKind.REPRINT, 1.0 + body.containment, shared)
        if other_body(body):
            return self._like(pair, f"another text: {shared}")
        return None

    def _by_title(self, pair: TitlePair) -> Relation:
        evidence = f"title score {pair.score:.3f}, cosine {pair.cosine:.3f}"
        if pair.letters < _LEAST_LETTERS:
            return Relation(VerdictKind.DISTINCT, 0.0, f"too short a title to tell: {evidence}")
        days = pair.days_apart
        if days is not None and days > _MOST_DAYS:
            return self._like(pair, f"{days:.0f} days apart: {evidence}")
        least = self.threshold
        if pair.same_source and days is not None and days <= _SOURCE_DAYS:
            least -= _SOURCE_GAIN
            evidence += ", same source"
        if pair.score >= least:
            return Relation(VerdictKind.REPRINT, pair.score, evidence)
        return self._like(pair, evidence)

    def _like(self, pair: TitlePair, why: str) -> Relation:
        """Not the same story: an instalment of a series when the titles are of one mould."""
        # One mould: other numbers (第3期, 第4期), or titles the model would call the same.
        moulded = pair.other_numbers or pair.score >= self.threshold
        if moulded and pair.cosine >= LEAST_COSINE:
            return Relation(VerdictKind.SERIES, pair.cosine, why)
        return Relation(VerdictKind.DISTINCT, 0.0, why)


def _is_copy(pair: TitlePair) -> bool:
    """Whether a site shows one article under two addresses: title, day and text agree."""
    body, days = pair.body, pair.days_apart
    return bool(
        pair.same_site and pair.same_words
        and body is not None and body.containment >= _COPY_CONTAINMENT
        and (days is None or days <= _COPY_DAYS)
    )  # fmt: skip
