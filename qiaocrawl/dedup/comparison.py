"""Compares two bodies by their sketches: what they share, and whether they are one text.

The measures and the rule are ours. A reprint repeats the original's sentences word for word, except
for what was cut and what was added before or after. Three things only look like a reprint:

- Reports from a template (weather, markets, results): they share the sentences that say
  nothing. Those with figures differ, so most of those must be shared.
- A round-up, and what quotes a long passage: the beginnings differ, so a sentence near the
  beginning of both must be shared.
- Pages of a site that puts the same sentences on all of them: what stands in many bodies
  weighs less (see :class:`qiaocrawl.dedup.body_index.BodyIndex`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.dedup.body_overlap import overlap
from qiaocrawl.dedup.fingerprints import KEPT_SENTENCES, SKETCH_VERSION
from qiaocrawl.kernels import floats, ints

Weights = NDArray[np.float64]

_HEAD_BYTES = 3
_ENTRY_BYTES = 4
# Above every sentence: entries are shifted by one, so they end below 2**31.
_ALL = 1 << 31

_MIN_SHARED = 2
_MIN_CONTAINMENT = 0.5
_MIN_CONTAINMENT_OF_AGREEING = 0.35
_MIN_FIGURES = 0.5
_LOST_FIGURES = 0.2
_MIN_COVERAGE = 0.9
_MIN_PART = 0.1

_ROUNDING = 1e-9
_ENOUGH = 4
_SEVERAL = 2.0
_MAX_OTHER_CONTAINMENT = 0.2
_MIN_WITHOUT_FIGURES = 0.7


@dataclass(frozen=True, slots=True)
class BodyEvidence:
    """What two bodies share. Shares are by weight, which is the number without weights.

    Attributes:
        shared: sentences that stand in both, of those compared.
        smaller, larger: sentences compared of the body with fewer and with more.
        containment: share in [0, 1] of the body of less weight that stands in the other;
            0 where nothing could be compared.
        coverage: share in [0, 1] of the other body, at most the containment.
        figures: weight of the sentences with digits, of the body that has less of them.
        figures_shared: share in [0, 1] of those that stands in both; 1 without any.
        lead: whether a sentence near the beginning of both is shared, and weighs at least
            half as much as others there.
    """

    shared: int
    smaller: int
    larger: int
    containment: float
    coverage: float
    figures: float
    figures_shared: float
    lead: bool


@dataclass(frozen=True, slots=True)
class Sketch:
    """A sketch read.

    Attributes:
        total: distinct sentences of the body, 65,535 for more.
        entries: as written, uint32, see :func:`qiaocrawl.dedup.fingerprints.body_sketch`.
            Shifted right by one bit they are the sentences compared here.
    """

    total: int
    entries: NDArray[np.uint32]

    @property
    def reach(self) -> int:
        """The sentence up to which all are held."""
        if self.total <= KEPT_SENTENCES:
            return _ALL
        # Entries beyond the kept ones are first sentences; they lie above the reach.
        return int(self.entries[KEPT_SENTENCES - 1] >> 1)


def read_sketch(data: bytes) -> Sketch | None:
    """The sketch in *data*; None for an empty one, or one that this version does not read."""
    size = len(data) - _HEAD_BYTES
    if size < _ENTRY_BYTES or size % _ENTRY_BYTES or data[0] != SKETCH_VERSION:
        return None
    total = int.from_bytes(data[1:_HEAD_BYTES], "little")
    # A copy, since frombuffer() gives an array that cannot be written to and may lie unaligned.
    entries = np.frombuffer(data, "<u4", offset=_HEAD_BYTES).astype(np.uint32)
    # Fewer entries than announced: it was cut on its way into the database.
    return Sketch(total, entries) if len(entries) >= min(total, KEPT_SENTENCES) else None


def compare(
    a: Sketch, b: Sketch, a_weights: Weights | None = None, b_weights: Weights | None = None
) -> BodyEvidence:
    """What *a* and *b* share; the same the other way round.

    Up to 64 sentences each it is exact. Of longer bodies those with digests as small as both
    sketches hold are compared, a random choice that is the same in both (bottom-k sketches;
    Cohen and Kaplan, 2007).

    Args:
        a_weights, b_weights: of each entry, above 0, the same where the sentence is the same;
            all 1 unless both are given.
    """
    # Both sides or neither: weights of one side alone would say nothing about what they share.
    if a_weights is None or b_weights is None:
        a_weights, b_weights = np.ones(len(a.entries)), np.ones(len(b.entries))
    # Each sketch holds its smallest digests: the two are comparable up to the smaller reach.
    counts, sums = np.zeros(3, np.int64), np.zeros((2, 3))
    lead = overlap(
        ints(a.entries),
        ints(b.entries),
        floats(a_weights),
        floats(b_weights),
        min(a.reach, b.reach),
        ints(counts),
        floats(sums),
    )
    count_a, count_b, shared = counts.tolist()
    (total, other_total, common), (figured, other_figured, both) = sums.tolist()
    return BodyEvidence(
        shared=shared,
        smaller=min(count_a, count_b),
        larger=max(count_a, count_b),
        containment=_share(common, min(total, other_total), 0.0),
        coverage=_share(common, max(total, other_total), 0.0),
        figures=min(figured, other_figured),
        figures_shared=_share(both, min(figured, other_figured), 1.0),
        lead=lead,
    )


def containment(a: bytes, b: bytes) -> float:
    """Share in [0, 1] of the smaller body's sentences that stands in the other, from sketches.

    0 where one is unknown.
    """
    one, other = read_sketch(a), read_sketch(b)
    return compare(one, other).containment if one and other else 0.0


def same_body(evidence: BodyEvidence, *, titles_agree: bool = False) -> bool:
    """Whether it is one text: at least two sentences and half of the smaller body are shared,
    its sentences with digits but for one or a fifth, and the beginning, or nine tenths of both.

    On the demo web's 656 articles any containment from .1 to .7 does about as well (pair F1
    .998 or more); without the condition on digits F1 is .43, without that on the beginning
    .98. But nobody there cuts the beginning off.

    Args:
        titles_agree: the titles are like each other, be it from a distance (cosine .5). A
            third of the smaller body is enough then, since what was taken for a body may hold
            more of its site than of its story. And so is less than a tenth of the larger
            one, which else is a round-up that begins with this.
    """
    least, part = _MIN_CONTAINMENT, _MIN_PART
    if titles_agree:
        least, part = _MIN_CONTAINMENT_OF_AGREEING, 0.0
    return (
        evidence.shared >= _MIN_SHARED
        and evidence.containment >= least
        and evidence.coverage >= part
        and _figures_agree(evidence)
        # Without its beginning a text is believed only where nearly all of both is shared.
        and (evidence.lead or evidence.coverage >= _MIN_COVERAGE)
    )


def _figures_agree(evidence: BodyEvidence) -> bool:
    # One sentence may be a date line that was rewritten; half of two prove nothing.
    lost = max(_LOST_FIGURES, 1.0 / max(evidence.figures, 1.0)) + _ROUNDING
    return evidence.figures_shared > _MIN_FIGURES and evidence.figures_shared >= 1.0 - lost


def other_body(evidence: BodyEvidence) -> bool:
    """Whether it is certainly another text, however similar the titles are.

    None of the sentences with digits is shared, though there are several, or more than three
    tenths of the rest is not shared either (one may be a date line that was written anew). Or
    a fifth at most is shared of four sentences or more. What is neither this nor
    :func:`same_body` the bodies leave open.
    """
    # A shared figure speaks for one text: only very little in common is evidence against it then.
    if evidence.figures_shared > 0.0:
        return evidence.smaller >= _ENOUGH and evidence.containment <= _MAX_OTHER_CONTAINMENT
    return evidence.figures >= _SEVERAL or (
        evidence.smaller > 1 and evidence.containment < _MIN_WITHOUT_FIGURES
    )


def _share(part: float, whole: float, of_nothing: float) -> float:
    # Sums of the same weights in another order may round to more than the whole.
    return min(1.0, part / whole) if whole else of_nothing
