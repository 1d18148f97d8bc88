"""Features of a pair of titles, by which :mod:`qiaocrawl.dedup.pair_model` judges it.

Compiled, since it runs for every candidate of every title. What belongs to one title is given as
the smaller and the larger value of the two, so their order hardly matters. It does where a title
repeats words, and where words can be aligned in several ways: of 10,000 labelled pairs 3 change
sides of .8 when their titles are exchanged. The definitions are ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.kernels.compiled import compiled
from qiaocrawl.vsm.terms import CLASSES, NAME, NUMBER

MAX_TOKENS = 96
"""Words of a title that are compared in order; what lies behind is left out of that."""
MAX_CHARS = 128
"""Characters of a title that are compared in order."""

_CLASSES = len(CLASSES)
_NUMBER = CLASSES.index(NUMBER)
_NAME = CLASSES.index(NAME)

NAMES = (
    "cosine", "contained", "contains", "unweighted",
    "lone_idf_less", "lone_idf_more", "lone_sum_less", "lone_sum_more",
    "shared_idf", "shared_sum",
    *(f"{kind}_{of}" for kind in CLASSES for of in ("less", "more", "shared")),
    "bigrams_contained", "bigrams_shared", "ordered_contained", "ordered_shared",
    "run_contained", "run", "letters_less", "letters_more", "words",
    "lone_letters_shared", "lone_letters_less", "lone_letters_more", "beginning", "end",
    "exchanges", "insertions", "exchanged_idf", "exchanged_sum", "exchanged_numbers",
    "exchanged_names", "inserted_sum", "words_in_order",
)  # fmt: skip
"""What each feature is, in order."""

COUNT = len(NAMES)

Array = NDArray[Any]


@compiled
def pair_features(  # type: ignore[no-untyped-def]
    a, b, looks, cosine, out
) -> None:
    """Fill *out* (float32, COUNT) with the features of the titles *a* and *b*.

    Args:
        a, b: term ids in order, int32.
        looks: idf, kinds, letters_at, letters: of each term its weight (float32) and the
            index of its class in CLASSES; the code points of term t are
            letters[letters_at[t]:letters_at[t+1]].
        cosine: of the two, in [0, 1].
    """
    idf, kinds, letters_at, letters = looks
    out[0] = cosine
    at = _words(a, b, idf, kinds, out)
    at = _letters(a, b, letters_at, letters, out, at)
    _order(a, b, idf, kinds, out, at)


@compiled
def pair_cosine(a, b, idf):  # type: ignore[no-untyped-def]
    """Cosine in [0, 1] of two titles' tf·idf vectors; 0 when one has no length."""
    product = square_a = square_b = 0.0
    # Quadratic on purpose: titles have some ten words.
    for word in a:
        squared = np.float64(idf[word]) ** 2
        for other in a:
            square_a += squared * (word == other)
        for other in b:
            product += squared * (word == other)
    for word in b:
        squared = np.float64(idf[word]) ** 2
        for other in b:
            square_b += squared * (word == other)
    # float64: the squares of many small weights lose too much in float32.
    lengths = np.sqrt(square_a) * np.sqrt(square_b)
    return min(1.0, product / lengths) if lengths > 0.0 else 0.0


@compiled
def _words(a, b, idf, kinds, out):  # type: ignore[no-untyped-def]
    """Features of the words that are shared and of those that are not (bags of words)."""
    in_b, in_a = _found_in(a, b), _found_in(b, a)
    total_a, shared_a, top_a, lone_a = _mass(a, in_b, idf)
    total_b, shared_b, top_b, lone_b = _mass(b, in_a, idf)
    ratio_a = shared_a / total_a if total_a > 0 else 0.0
    ratio_b = shared_b / total_b if total_b > 0 else 0.0
    out[1], out[2] = min(ratio_a, ratio_b), max(ratio_a, ratio_b)
    count_shared = np.sum(in_b)
    # sqrt(|a|·|b|): the cosine of the two as sets, without weights.
    out[3] = count_shared / np.sqrt(max(1.0, len(a) * 1.0) * max(1.0, len(b) * 1.0))
    out[4], out[5] = min(top_a, top_b), max(top_a, top_b)
    out[6], out[7] = min(lone_a, lone_b), max(lone_a, lone_b)
    best = 0.0
    for i in range(len(a)):
        if in_b[i]:
            best = max(best, idf[a[i]])
    out[8], out[9] = best, min(shared_a, shared_b)
    # `at` runs through NAMES in order; each helper returns where the next one goes on.
    at = 10
    lone = np.zeros((2, _CLASSES), np.int32)
    both = np.zeros(_CLASSES, np.int32)
    for i in range(len(a)):
        if in_b[i]:
            both[kinds[a[i]]] += 1
        else:
            lone[0, kinds[a[i]]] += 1
    for i in range(len(b)):
        if not in_a[i]:
            lone[1, kinds[b[i]]] += 1
    for k in range(_CLASSES):
        out[at] = min(lone[0, k], lone[1, k])
        out[at + 1] = max(lone[0, k], lone[1, k])
        out[at + 2] = both[k]
        at += 3
    return at


@compiled
def _found_in(a, b):  # type: ignore[no-untyped-def]
    """For each word of *a* whether it stands in *b*."""
    shared = np.zeros(len(a), np.bool_)
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                shared[i] = True
                break
    return shared


@compiled
def _mass(a, found, idf):  # type: ignore[no-untyped-def]
    """Sums of weights: of all, of the found; the largest and the sum of the others."""
    total = shared = top = lone = 0.0
    for i in range(len(a)):
        weight = idf[a[i]]
        total += weight
        if found[i]:
            shared += weight
        else:
            lone += weight
            top = max(top, weight)
    return total, shared, top, lone


@compiled
def _text(a, letters_at, letters, mask, out):  # type: ignore[no-untyped-def]
    """The letters of the words of *a* (those of *mask* only), at most as *out* holds."""
    size = 0
    for i in range(len(a)):
        if mask[i]:
            for at in range(letters_at[a[i]], letters_at[a[i] + 1]):
                if size == len(out):
                    return size
                out[size] = letters[at]
                size += 1
    return size


@compiled
def _shared_once(a, b):  # type: ignore[no-untyped-def]
    """How many entries of *a* and *b* can be paired with an equal one of the other."""
    used = np.zeros(len(b), np.bool_)
    count = 0
    for i in range(len(a)):
        for j in range(len(b)):
            if not used[j] and a[i] == b[j]:
                used[j] = True
                count += 1
                break
    return count


@compiled
def _bigrams(text):  # type: ignore[no-untyped-def]
    size = max(0, len(text) - 1)
    bigrams = np.empty(size, np.int64)
    for i in range(size):
        # Two code points in one number.
        bigrams[i] = np.int64(text[i]) << 32 | np.int64(text[i + 1])
    return bigrams


@compiled
def _common(a, b):  # type: ignore[no-untyped-def]
    """Lengths of the longest common subsequence and of the longest common run of letters."""
    # One row of the table at a time; `corner` is the entry diagonally above.
    row = np.zeros(len(b) + 1, np.int32)
    run = np.zeros(len(b) + 1, np.int32)
    longest = 0
    for i in range(len(a)):
        corner = run_corner = 0
        for j in range(len(b)):
            above, run_above = row[j + 1], run[j + 1]
            if a[i] == b[j]:
                row[j + 1] = corner + 1
                run[j + 1] = run_corner + 1
                longest = max(longest, run[j + 1])
            else:
                row[j + 1] = max(row[j + 1], row[j])
                run[j + 1] = 0
            corner, run_corner = above, run_above
    return row[len(b)], longest


@compiled
def _letters(a, b, letters_at, letters, out, at):  # type: ignore[no-untyped-def]
    # Titles longer than MAX_CHARS are compared by their beginning.
    """Features of the letters of both titles."""
    space_a, space_b = np.empty(MAX_CHARS, np.uint32), np.empty(MAX_CHARS, np.uint32)
    every_a, every_b = np.ones(len(a), np.bool_), np.ones(len(b), np.bool_)
    one = space_a[: _text(a, letters_at, letters, every_a, space_a)]
    other = space_b[: _text(b, letters_at, letters, every_b, space_b)]
    less, more = min(len(one), len(other)), max(len(one), len(other))
    pairs_one, pairs_other = _bigrams(one), _bigrams(other)
    shared = _shared_once(pairs_one, pairs_other)
    out[at] = shared / max(1, min(len(pairs_one), len(pairs_other)))
    out[at + 1] = shared / max(1, len(pairs_one) + len(pairs_other) - shared)
    ordered, run = _common(one, other)
    out[at + 2], out[at + 3] = ordered / max(1, less), ordered / max(1, more)
    out[at + 4], out[at + 5] = run / max(1, less), run
    out[at + 6], out[at + 7], out[at + 8] = less, more, len(a) + len(b)
    first = 0
    while first < less and one[first] == other[first]:
        first += 1
    last = 0
    # `less - first`: beginning and end must not overlap in the shorter title.
    while last < less - first and one[len(one) - 1 - last] == other[len(other) - 1 - last]:
        last += 1
    out[at + 12], out[at + 13] = first / max(1, less), last / max(1, less)
    # The space is written anew: the whole titles are no longer needed.
    lone_one = space_a[: _text(a, letters_at, letters, ~_found_in(a, b), space_a)]
    lone_other = space_b[: _text(b, letters_at, letters, ~_found_in(b, a), space_b)]
    less, more = min(len(lone_one), len(lone_other)), max(len(lone_one), len(lone_other))
    out[at + 9] = _shared_once(lone_one, lone_other) / max(1, less)
    out[at + 10], out[at + 11] = less, more
    return at + 14


@compiled
def _common_words(a, b):  # type: ignore[no-untyped-def]
    """Which words of *a* and of *b* belong to their longest common subsequence."""
    rows, columns = len(a), len(b)
    table = np.zeros((rows + 1, columns + 1), np.int16)
    # From the end, so that the path below can be read from the beginning.
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            if a[i] == b[j]:
                table[i, j] = table[i + 1, j + 1] + 1
            else:
                table[i, j] = max(table[i + 1, j], table[i, j + 1])
    kept_a, kept_b = np.zeros(rows, np.bool_), np.zeros(columns, np.bool_)
    i = j = 0
    while i < rows and j < columns:
        if a[i] == b[j]:
            kept_a[i] = kept_b[j] = True
            i += 1
            j += 1
        elif table[i + 1, j] >= table[i, j + 1]:
            i += 1
        else:
            j += 1
    return kept_a, kept_b


@compiled
def _gap(a, aligned, start, idf, kinds):  # type: ignore[no-untyped-def]
    """The words from *start* to the next kept one: end, weight, largest, numbers, names."""
    weight = top = 0.0
    numbers = names = 0
    while start < len(a) and not aligned[start]:
        term = a[start]
        weight += idf[term]
        top = max(top, idf[term])
        numbers += kinds[term] == _NUMBER
        names += kinds[term] == _NAME
        start += 1
    return start, weight, top, numbers, names


@compiled
def _order(a, b, idf, kinds, out, at):  # type: ignore[no-untyped-def]
    """Features of the words replaced and inserted between one title and the other."""
    a, b = a[:MAX_TOKENS], b[:MAX_TOKENS]
    kept_a, kept_b = _common_words(a, b)
    exchanges = insertions = numbers = names = 0
    exchanged_top = exchanged = inserted = 0.0
    i = j = 0
    # <=, since the gap after the last common word counts too.
    while i <= len(a) and j <= len(b):
        i, weight_a, top_a, numbers_a, names_a = _gap(a, kept_a, i, idf, kinds)
        j, weight_b, top_b, numbers_b, names_b = _gap(b, kept_b, j, idf, kinds)
        # Words on both sides of a gap are an exchange, on one side an insertion.
        if weight_a > 0 and weight_b > 0:
            exchanges += 1
            exchanged += min(weight_a, weight_b)
            exchanged_top = max(exchanged_top, min(top_a, top_b))
            numbers += min(numbers_a, numbers_b)
            names += min(names_a, names_b)
        elif weight_a > 0 or weight_b > 0:
            insertions += 1
            inserted += weight_a + weight_b
        i += 1
        j += 1
    out[at], out[at + 1] = exchanges, insertions
    out[at + 2], out[at + 3] = exchanged_top, exchanged
    out[at + 4], out[at + 5], out[at + 6] = numbers, names, inserted
    out[at + 7] = np.sum(kept_a) / max(1, min(len(a), len(b)))
