"""Merges two sketches: what two bodies share; compiled by ``body_overlap.pxd``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qiaocrawl.kernels import Floats, Ints

# Above every sentence: the body that has ended is never the smaller one.
_END = 1 << 62


def overlap(
    a: Ints, b: Ints, a_weights: Floats, b_weights: Floats, reach: int, counts: Ints, sums: Floats
) -> bool:
    """What the entries *a* and *b* (uint32, ascending) share, as far as *reach*.

    Args:
        counts: added to: how many sentences stand in *a*, in *b* and in both.
        sums: 2 x 3, added to: the weights of those, and of those with digits.

    Returns:
        Whether a first sentence of both is the same one, and weighs at least half as much as the
        first sentences of that body where those weigh less.
    """
    a_top = b_top = shared_top = 0.0
    i = j = 0
    while i < len(a) or j < len(b):
        # Bit 0 marks a first sentence; without it entries of one sentence are equal in both bodies.
        a_sentence = a[i] >> 1 if i < len(a) else _END
        b_sentence = b[j] >> 1 if j < len(b) else _END
        sentence = min(a_sentence, b_sentence)
        in_a, in_b = a_sentence == sentence, b_sentence == sentence
        weight = a_weights[i] if in_a else b_weights[j]
        # The lead counts beyond the reach too: a sketch always holds a body's first sentences.
        a_leads, b_leads = in_a and a[i] & 1 == 1, in_b and b[j] & 1 == 1
        if a_leads:
            a_top = max(a_top, weight)
        if b_leads:
            b_top = max(b_top, weight)
        if a_leads and b_leads:
            shared_top = max(shared_top, weight)
        if sentence <= reach:
            # Bit 0 of a shifted entry: the sentence holds a digit.
            figure = weight if sentence & 1 == 1 else 0.0
            if in_a:
                _count(counts, sums, 0, weight, figure)
            if in_b:
                _count(counts, sums, 1, weight, figure)
            if in_a and in_b:
                _count(counts, sums, 2, weight, figure)
        # Both advance where the sentence stands in both.
        i += in_a
        j += in_b
    return shared_top > 0.0 and shared_top >= min(a_top, b_top) / 2.0


def _count(counts: Ints, sums: Floats, at: int, weight: float, figure: float) -> None:
    counts[at] += 1
    sums[0, at] += weight
    sums[1, at] += figure
