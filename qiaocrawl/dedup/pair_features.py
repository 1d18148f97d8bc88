"""Features of a pair of titles, and the trees that read them: inner loops of the pair model.

What belongs to one title is given as the smaller and the larger value of the two, so their order
hardly matters. It does where a title repeats words, and where words can be aligned in several ways:
of 10,000 labelled pairs 3 change sides of .8 when their titles are exchanged. The definitions are
ours.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from qiaocrawl.dedup.cleaning import MAX_WORDS
from qiaocrawl.kernels import floats, ints
from qiaocrawl.vsm.terms import CLASSES, NAME, NUMBER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.kernels import Floats, Ints

    Array = NDArray[Any]

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


class PairArrays:
    """What is known of words, and room for two titles *a* and *b* and what is made of them.

    Args:
        idf: float32, the weight of each term.
        kinds: uint8, the index of its class in CLASSES.
        letters_at, letters: the code points of term t are
            ``letters[letters_at[t]:letters_at[t + 1]]``.
    """

    def __init__(self, idf: Array, kinds: Array, letters_at: Array, letters: Array) -> None:
        self.idf, self.kinds = floats(idf), ints(kinds)
        self.letters_at, self.letters = ints(letters_at), ints(letters)
        self.features = floats(np.zeros(COUNT, np.float32))
        # The titles' terms, and whether the other title has them.
        self.a_size = self.b_size = 0
        self.a, self.b = (ints(np.zeros(MAX_WORDS, np.int32)) for _ in range(2))
        self.in_b, self.in_a = (ints(np.zeros(MAX_WORDS, np.uint8)) for _ in range(2))
        # Of a and b, or of a gap in each.
        self.total, self.shared = floats(np.zeros(2)), floats(np.zeros(2))
        self.top, self.lone = floats(np.zeros(2)), floats(np.zeros(2))
        self.numbers, self.names = ints(np.zeros(2, np.int64)), ints(np.zeros(2, np.int64))
        # By class: words of a alone, of b alone, of both.
        self.by_class = ints(np.zeros((3, _CLASSES), np.int64))
        # Letters, pairs of letters, and which of the second ones have a counterpart.
        self.a_letters, self.b_letters, self.a_bigrams, self.b_bigrams = (
            ints(np.zeros(MAX_CHARS, np.int64)) for _ in range(4)
        )
        self.used = ints(np.zeros(MAX_CHARS, np.uint8))
        self.row, self.run = (ints(np.zeros(MAX_CHARS + 1, np.int32)) for _ in range(2))
        self.longest_run = 0
        # Lengths of common subsequences of words, and which words belong to the longest.
        self.table = ints(np.zeros((MAX_TOKENS + 1, MAX_TOKENS + 1), np.int16))
        self.a_kept, self.b_kept = (ints(np.zeros(MAX_TOKENS, np.uint8)) for _ in range(2))


class TreeArrays:
    """Trees as :class:`qiaocrawl.dedup.pair_model.Trees` has them."""

    def __init__(
        self,
        roots: Array,
        features: Array,
        bounds: Array,
        lefts: Array,
        rights: Array,
        values: Array,
        start: Array,
    ) -> None:
        self.roots, self.features, self.bounds = ints(roots), ints(features), floats(bounds)
        self.lefts, self.rights, self.values = ints(lefts), ints(rights), floats(values)
        self.start = float(start[0])


class ScoreArrays:
    """Room for what :class:`qiaocrawl.dedup.pair_model.PairScore` has of each pair."""

    def __init__(self, scores: Array, letters: Array, other_numbers: Array) -> None:
        self.scores = floats(scores)
        self.letters, self.other_numbers = ints(letters), ints(other_numbers)


# --- pairs ----------------------------------------------------------------------------------


def pair_cosine(a: Ints, b: Ints, idf: Floats) -> float:
    """Cosine in [0, 1] of two titles' tf·idf vectors; 0 when one has no length."""
    return _cosine(a, len(a), b, len(b), idf)


def batch_features(words: Ints, starts: Ints, pair: PairArrays, out: Floats) -> None:
    """Features of the titles 0 and 1, 2 and 3 … of a batch, float32, one pair behind the other."""
    count = len(pair.features)
    for i in range(len(out) // count):
        _lay_out(
            pair, words, starts[2 * i], starts[2 * i + 1], starts[2 * i + 1], starts[2 * i + 2]
        )
        _fill(pair, _cosine(pair.a, pair.a_size, pair.b, pair.b_size, pair.idf))
        for k in range(count):
            out[i * count + k] = pair.features[k]


def score_batch(features: Floats, trees: TreeArrays, scores: Floats) -> None:
    """Scores of many pairs' features, float32, one pair behind the other."""
    count = len(features) // max(1, len(scores))
    for i in range(len(scores)):
        scores[i] = _score(features, i * count, trees)


def score_rows(
    ones: Ints,
    others: Ints,
    cosines: Floats,
    words: Ints,
    starts: Ints,
    pair: PairArrays,
    trees: TreeArrays,
    out: ScoreArrays,
) -> None:
    """Scores of pairs of rows of known cosine.

    Args:
        words, starts: row r is ``words[starts[r]:starts[r + 1]]``.
    """
    for i in range(len(ones)):
        one, other = ones[i], others[i]
        _lay_out(pair, words, starts[one], starts[one + 1], starts[other], starts[other + 1])
        out.letters[i] = min(
            _count_letters(pair, pair.a, pair.a_size), _count_letters(pair, pair.b, pair.b_size)
        )
        if one == other:
            # The same words in the same order.
            out.scores[i], out.other_numbers[i] = 1.0, 0
            continue
        _fill(pair, cosines[i])
        out.other_numbers[i] = _has_lone_number(pair, pair.a, pair.a_size, pair.in_b) and (
            _has_lone_number(pair, pair.b, pair.b_size, pair.in_a)
        )
        out.scores[i] = _score(pair.features, 0, trees)


def _lay_out(
    pair: PairArrays, words: Ints, a_start: int, a_end: int, b_start: int, b_end: int
) -> None:
    """Let the two titles be *a* and *b*."""
    pair.a_size = min(a_end - a_start, len(pair.a))
    pair.b_size = min(b_end - b_start, len(pair.b))
    for i in range(pair.a_size):
        pair.a[i] = words[a_start + i]
    for i in range(pair.b_size):
        pair.b[i] = words[b_start + i]


def _count_letters(pair: PairArrays, words: Ints, size: int) -> int:
    count = 0
    for i in range(size):
        count += pair.letters_at[words[i] + 1] - pair.letters_at[words[i]]
    return count


def _has_lone_number(pair: PairArrays, words: Ints, size: int, found: Ints) -> bool:
    """Whether one title holds a number that the other has not."""
    at = 0
    while at < size and (found[at] or pair.kinds[words[at]] != _NUMBER):
        at += 1
    return at < size


def _cosine(a: Ints, a_size: int, b: Ints, b_size: int, idf: Floats) -> float:
    product = a_square = b_square = 0.0
    # Quadratic on purpose: titles have some ten words.
    for i in range(a_size):
        weight = idf[a[i]]
        for j in range(a_size):
            a_square += weight * weight * (a[i] == a[j])
        for j in range(b_size):
            product += weight * weight * (a[i] == b[j])
    for i in range(b_size):
        weight = idf[b[i]]
        for j in range(b_size):
            b_square += weight * weight * (b[i] == b[j])
    lengths = math.sqrt(a_square) * math.sqrt(b_square)
    return min(1.0, product / lengths) if lengths > 0.0 else 0.0


# --- features -------------------------------------------------------------------------------


def _fill(pair: PairArrays, cosine: float) -> None:
    """Fill in the features of the titles laid out, of this *cosine* in [0, 1]."""
    pair.features[0] = cosine
    # Each goes on in NAMES where the one before ended.
    at = _fill_words(pair)
    at = _fill_letters(pair, at)
    _fill_order(pair, at)


def _fill_words(pair: PairArrays) -> int:
    """Features of the words that are shared and of those that are not (bags of words)."""
    out = pair.features
    a_size, b_size = pair.a_size, pair.b_size
    shared_words = _find(pair.a, a_size, pair.b, b_size, pair.in_b)
    _find(pair.b, b_size, pair.a, a_size, pair.in_a)
    _weigh(pair, 0, pair.a, a_size, pair.in_b)
    _weigh(pair, 1, pair.b, b_size, pair.in_a)
    a_part = pair.shared[0] / pair.total[0] if pair.total[0] > 0.0 else 0.0
    b_part = pair.shared[1] / pair.total[1] if pair.total[1] > 0.0 else 0.0
    out[1], out[2] = min(a_part, b_part), max(a_part, b_part)
    # sqrt(|a|·|b|): the cosine of the two as sets, without weights.
    out[3] = shared_words / math.sqrt(max(1.0, a_size * 1.0) * max(1.0, b_size * 1.0))
    out[4], out[5] = min(pair.top[0], pair.top[1]), max(pair.top[0], pair.top[1])
    out[6], out[7] = min(pair.lone[0], pair.lone[1]), max(pair.lone[0], pair.lone[1])
    best = 0.0
    for i in range(a_size):
        if pair.in_b[i]:
            weight = pair.idf[pair.a[i]]
            best = max(best, weight)
    out[8], out[9] = best, min(pair.shared[0], pair.shared[1])
    at = 10
    for k in range(_CLASSES):
        pair.by_class[0, k] = pair.by_class[1, k] = pair.by_class[2, k] = 0
    for i in range(a_size):
        pair.by_class[2 if pair.in_b[i] else 0, pair.kinds[pair.a[i]]] += 1
    for i in range(b_size):
        if not pair.in_a[i]:
            pair.by_class[1, pair.kinds[pair.b[i]]] += 1
    for k in range(_CLASSES):
        out[at] = min(pair.by_class[0, k], pair.by_class[1, k])
        out[at + 1] = max(pair.by_class[0, k], pair.by_class[1, k])
        out[at + 2] = pair.by_class[2, k]
        at += 3
    return at


def _share(part: float, whole: float) -> float:
    # Of whole numbers C would take the whole part.
    return part / max(1.0, whole)


def _find(words: Ints, size: int, others: Ints, others_size: int, found: Ints) -> int:
    """Mark in *found* which of *words* stand among *others*; how many."""
    count = 0
    for i in range(size):
        j = 0
        while j < others_size and words[i] != others[j]:
            j += 1
        found[i] = j < others_size
        count += found[i]
    return count


def _weigh(pair: PairArrays, side: int, words: Ints, size: int, found: Ints) -> None:
    """Sums of weights: of all, of the found; the largest and the sum of the others."""
    total = shared = top = lone = 0.0
    for i in range(size):
        weight = pair.idf[words[i]]
        total += weight
        if found[i]:
            shared += weight
        else:
            lone += weight
            top = max(top, weight)
    pair.total[side], pair.shared[side] = total, shared
    pair.top[side], pair.lone[side] = top, lone


def _fill_letters(pair: PairArrays, at: int) -> int:
    """Features of the letters of both titles; of longer ones than MAX_CHARS, of the beginning."""
    out = pair.features
    one, other = pair.a_letters, pair.b_letters
    a_size = _spell(pair, pair.a, pair.a_size, pair.in_b, False, one)
    b_size = _spell(pair, pair.b, pair.b_size, pair.in_a, False, other)
    less, more = min(a_size, b_size), max(a_size, b_size)
    a_pairs = _pair_up(one, a_size, pair.a_bigrams)
    b_pairs = _pair_up(other, b_size, pair.b_bigrams)
    shared = _count_shared(pair.a_bigrams, a_pairs, pair.b_bigrams, b_pairs, pair.used)
    out[at] = _share(shared, min(a_pairs, b_pairs))
    out[at + 1] = _share(shared, a_pairs + b_pairs - shared)
    ordered = _common_letters(pair, a_size, b_size)
    out[at + 2], out[at + 3] = _share(ordered, less), _share(ordered, more)
    out[at + 4], out[at + 5] = _share(pair.longest_run, less), pair.longest_run
    out[at + 6], out[at + 7], out[at + 8] = less, more, pair.a_size + pair.b_size
    first = 0
    while first < less and one[first] == other[first]:
        first += 1
    last = 0
    # `less - first`: beginning and end must not overlap in the shorter title.
    while last < less - first and one[a_size - 1 - last] == other[b_size - 1 - last]:
        last += 1
    out[at + 12], out[at + 13] = _share(first, less), _share(last, less)
    # The room is written anew: the whole titles are no longer needed.
    a_size = _spell(pair, pair.a, pair.a_size, pair.in_b, True, one)
    b_size = _spell(pair, pair.b, pair.b_size, pair.in_a, True, other)
    less, more = min(a_size, b_size), max(a_size, b_size)
    out[at + 9] = _share(_count_shared(one, a_size, other, b_size, pair.used), less)
    out[at + 10], out[at + 11] = less, more
    return at + 14


def _spell(
    pair: PairArrays, words: Ints, size: int, found: Ints, only_lone: bool, out: Ints
) -> int:
    """The letters of *words*, or of those not *found* only, as many as *out* holds."""
    count = 0
    for i in range(size):
        if only_lone and found[i]:
            continue
        for at in range(pair.letters_at[words[i]], pair.letters_at[words[i] + 1]):
            if count == len(out):
                return count
            out[count] = pair.letters[at]
            count += 1
    return count


def _pair_up(letters: Ints, size: int, out: Ints) -> int:
    """The pairs of neighbours among *letters*."""
    count = max(0, size - 1)
    for i in range(count):
        # Two code points in one number.
        out[i] = letters[i] << 32 | letters[i + 1]
    return count


def _count_shared(a: Ints, a_size: int, b: Ints, b_size: int, used: Ints) -> int:
    """How many entries of *a* and *b* can be paired with an equal one of the other."""
    for j in range(b_size):
        used[j] = 0
    count = 0
    for i in range(a_size):
        for j in range(b_size):
            if a[i] == b[j] and not used[j]:
                used[j] = 1
                count += 1
                break
    return count


def _common_letters(pair: PairArrays, a_size: int, b_size: int) -> int:
    """Length of the longest common subsequence; of the longest run in ``longest_run``."""
    # One row of the table at a time; `corner` is the entry diagonally above.
    for j in range(b_size + 1):
        pair.row[j] = pair.run[j] = 0
    longest = 0
    for i in range(a_size):
        letter = pair.a_letters[i]
        corner = run_corner = left = 0
        for j in range(b_size):
            above, run_above = pair.row[j + 1], pair.run[j + 1]
            if letter == pair.b_letters[j]:
                left = corner + 1
                run = run_corner + 1
                longest = max(longest, run)
            else:
                left = max(above, left)
                run = 0
            pair.row[j + 1], pair.run[j + 1] = left, run
            corner, run_corner = above, run_above
    pair.longest_run = longest
    return pair.row[b_size]


def _fill_order(pair: PairArrays, at: int) -> None:
    """Features of the words replaced and inserted between one title and the other."""
    out = pair.features
    a_size = min(pair.a_size, len(pair.a_kept))
    b_size = min(pair.b_size, len(pair.b_kept))
    kept = _align(pair, a_size, b_size)
    exchanges = insertions = numbers = names = 0
    exchanged_top = exchanged = inserted = 0.0
    i = j = 0
    # <=, since the gap after the last common word counts too.
    while i <= a_size and j <= b_size:
        i = _gap(pair, 0, pair.a, pair.a_kept, i, a_size)
        j = _gap(pair, 1, pair.b, pair.b_kept, j, b_size)
        # Words on both sides of a gap are an exchange, on one side an insertion.
        if pair.total[0] > 0.0 and pair.total[1] > 0.0:
            exchanges += 1
            exchanged += min(pair.total[0], pair.total[1])
            exchanged_top = max(exchanged_top, min(pair.top[0], pair.top[1]))
            numbers += min(pair.numbers[0], pair.numbers[1])
            names += min(pair.names[0], pair.names[1])
        elif pair.total[0] > 0.0 or pair.total[1] > 0.0:
            insertions += 1
            inserted += pair.total[0] + pair.total[1]
        i += 1
        j += 1
    out[at], out[at + 1] = exchanges, insertions
    out[at + 2], out[at + 3] = exchanged_top, exchanged
    out[at + 4], out[at + 5], out[at + 6] = numbers, names, inserted
    out[at + 7] = _share(kept, min(a_size, b_size))


def _align(pair: PairArrays, a_size: int, b_size: int) -> int:
    """Mark which words of *a* and of *b* belong to their longest common subsequence; how many."""
    for i in range(a_size + 1):
        pair.table[i, b_size] = 0
    for j in range(b_size + 1):
        pair.table[a_size, j] = 0
    # From the end, so that the path below can be read from the beginning.
    for i in range(a_size - 1, -1, -1):
        for j in range(b_size - 1, -1, -1):
            if pair.a[i] == pair.b[j]:
                pair.table[i, j] = pair.table[i + 1, j + 1] + 1
            else:
                pair.table[i, j] = max(pair.table[i + 1, j], pair.table[i, j + 1])
    for i in range(a_size):
        pair.a_kept[i] = 0
    for j in range(b_size):
        pair.b_kept[j] = 0
    kept = i = j = 0
    while i < a_size and j < b_size:
        if pair.a[i] == pair.b[j]:
            pair.a_kept[i] = pair.b_kept[j] = 1
            kept += 1
            i += 1
            j += 1
        elif pair.table[i + 1, j] >= pair.table[i, j + 1]:
            i += 1
        else:
            j += 1
    return kept


def _gap(pair: PairArrays, side: int, words: Ints, kept: Ints, start: int, size: int) -> int:
    """Sum up the words from *start* to the next kept one; returns its place."""
    total = top = 0.0
    numbers = names = 0
    while start < size and not kept[start]:
        term = words[start]
        weight = pair.idf[term]
        total += weight
        top = max(top, weight)
        numbers += pair.kinds[term] == _NUMBER
        names += pair.kinds[term] == _NAME
        start += 1
    pair.total[side], pair.top[side] = total, top
    pair.numbers[side], pair.names[side] = numbers, names
    return start


# --- trees ----------------------------------------------------------------------------------


def _score(features: Floats, first: int, trees: TreeArrays) -> float:
    """The score in (0, 1) of one pair's features, which begin at *first*."""
    total = trees.start
    for i in range(len(trees.roots)):
        node = trees.roots[i]
        while trees.features[node] >= 0:
            if features[first + trees.features[node]] <= trees.bounds[node]:
                node = trees.lefts[node]
            else:
                node = trees.rights[node]
        value = trees.values[node]
        total += value
    return 1.0 / (1.0 + math.exp(-total))
