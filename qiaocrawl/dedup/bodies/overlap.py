"""Merges two sketches: the number and weight of the sentences in each and in both."""

from __future__ import annotations

import numpy as np

from qiaocrawl.kernels.compiled import compiled

# Above every sentence: the body that has ended is never the smaller one.
_END = np.int64(1) << 62


@compiled
def overlap(a, b, a_weights, b_weights, reach):  # type: ignore[no-untyped-def]
    """What the entries *a* and *b* (uint32, ascending) share, as far as *reach*.

    Returns:
        how many sentences stand in *a*, in *b* and in both, int64; the weights of those, and
        of those with digits, 2 x 3, float64; and whether a first sentence of both is the same
        one, and weighs at least half as much as the first sentences of that body where those
        weigh less.
    """
    counts = np.zeros(3, np.int64)
    weights = np.zeros((2, 3), np.float64)
    tops = np.zeros(3)
    i = j = 0
    while i < len(a) or j < len(b):
        # Bit 0 marks a first sentence; without it entries of one sentence are equal
        # in both bodies.
        sentence_a = np.int64(a[i] >> np.uint32(1)) if i < len(a) else _END
        sentence_b = np.int64(b[j] >> np.uint32(1)) if j < len(b) else _END
        sentence = min(sentence_a, sentence_b)
        in_a, in_b = sentence_a == sentence, sentence_b == sentence
        weight = a_weights[i] if in_a else b_weights[j]
        # The lead counts beyond the reach too: a sketch always holds a body's first sentences.
        leads = (in_a and a[i] & np.uint32(1) == 1, in_b and b[j] & np.uint32(1) == 1)
        _lead(tops, leads[0], leads[1], weight)
        if sentence <= reach:
            # Bit 0 of a shifted entry: the sentence holds a digit.
            _count(counts, weights, in_a, in_b, weight if sentence & 1 else 0.0, weight)
        # Both advance where the sentence stands in both.
        i += in_a
        j += in_b
    return counts, weights, tops[2] > 0.0 and tops[2] >= min(tops[0], tops[1]) / 2


@compiled
def _lead(tops, in_a, in_b, weight):  # type: ignore[no-untyped-def]
    if in_a:
        tops[0] = max(tops[0], weight)
    if in_b:
        tops[1] = max(tops[1], weight)
    if in_a and in_b:
        tops[2] = max(tops[2], weight)


@compiled
def _count(counts, weights, in_a, in_b, figure, weight):  # type: ignore[no-untyped-def]
    places = (in_a, in_b, in_a and in_b)
    for at in range(3):
        if places[at]:
            counts[at] += 1
            weights[0, at] += weight
            weights[1, at] += figure
