"""The default: titles by a trained model, bodies where they are known, dates and sources.

The rules are ours. In order of what they weigh: the same text is the same text; bodies that
share their sentences are one story whatever the titles say, bodies that share none are not,
however like the titles are; where bodies say nothing, the pair model judges the titles. It is
not believed where titles are too short to say anything, or lie a month apart. Other numbers and
names weigh in the model; what it refuses for them is a series.
"""

from __future__ import annotations

from typing import ClassVar

from qiaocrawl.dedup.bodies.comparison import other_body, same_body
from qiaocrawl.dedup.methods import LEAST_COSINE, checked, methods
from qiaocrawl.dedup.title_pair import Meeting, Relation
from qiaocrawl.items import VerdictKind

_SEARCH_COSINE = 0.7
"""Of pairs the model calls the same at the default threshold, 2 % (events) and 8 % (revisions)
have a lower cosine; searching from .5 on would cost several times as much."""
_DEFAULT = 0.8
_LEAST_LETTERS = 6
_MOST_DAYS = 30.0
_SOURCE_DAYS = 2.0
_SOURCE_GAIN = 0.2
"""How much less the titles need to say when both name one source within two days."""
_SAME_BITS = 3
"""SimHashes of 64 bits of one text differ in so many at most (Manku, Jain, Das Sarma 2007)."""
_AGREE_COSINE = 0.5


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

    def __init__(self, threshold: float | None = None) -> None:
        self.threshold = checked(threshold, _DEFAULT, least=0.0)

    @property
    def least_cosine(self) -> float:
        """.7, and less for thresholds below the default."""
        return max(LEAST_COSINE, min(_SEARCH_COSINE, self.threshold - _DEFAULT + _SEARCH_COSINE))

    def relation(self, meeting: Meeting) -> Relation:
        """How the two stand to each other."""
        said = self._by_body(meeting) or self._by_title(meeting)
        if not said.is_same_story:
            return said
        if meeting.same_text and meeting.same_site is not False:
            return said._replace(kind=VerdictKind.SAME_PAGE)
        if meeting.same_site:
            return said._replace(kind=VerdictKind.REVISION)
        return said

    def _by_body(self, meeting: Meeting) -> Relation | None:
        """What the bodies say; None if nothing."""
        if meeting.same_text:
            return Relation(VerdictKind.REPRINT, 3.0, "the same text word for word")
        body = meeting.body
        if body is None:
            distance = meeting.simhash_distance
            if distance is not None and distance <= _SAME_BITS:
                return Relation(VerdictKind.REPRINT, 2.0, f"bodies differ in {distance} of 64 bits")
            return None
        shared = f"{body.containment:.0%} of the shorter body is shared"
        if same_body(body, titles_agree=meeting.cosine >= _AGREE_COSINE):
            return Relation(VerdictKind.REPRINT, 1.0 + body.containment, shared)
        if other_body(body):
            return self._like(meeting, f"another text: {shared}")
        return None

    def _by_title(self, meeting: Meeting) -> Relation:
        says = f"title score {meeting.score:.3f}, cosine {meeting.cosine:.3f}"
        if meeting.letters < _LEAST_LETTERS:
            return Relation(VerdictKind.DISTINCT, 0.0, f"too short a title to tell: {says}")
        days = meeting.days_apart
        if days is not None and days > _MOST_DAYS:
            return self._like(meeting, f"{days:.0f} days apart: {says}")
        least = self.threshold
        if meeting.same_source and days is not None and days <= _SOURCE_DAYS:
            least -= _SOURCE_GAIN
            says += ", same source"
        if meeting.score >= least:
            return Relation(VerdictKind.REPRINT, meeting.score, says)
        return self._like(meeting, says)

    def _like(self, meeting: Meeting, why: str) -> Relation:
        """Not the same story: an instalment of a series when the titles are of one mould."""
        moulded = meeting.other_numbers or meeting.score >= self.threshold
        if moulded and meeting.cosine >= LEAST_COSINE:
            return Relation(VerdictKind.SERIES, meeting.cosine, why)
        return Relation(VerdictKind.DISTINCT, 0.0, why)
