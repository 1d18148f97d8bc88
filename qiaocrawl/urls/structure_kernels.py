"""The inner loops of URL similarity (U2): edit distances of short texts, many times.

Edit distances are Myers' (1999), with one machine word for a column of the table, so texts
count by their first 64 characters. A text that is compared often is kept as *masks*: for each
of 128 characters the places where it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl.kernels import floats, ints
from qiaocrawl.urls.structure_layout import (
    CHARACTERS,
    DEPTH,
    DIRECTORIES,
    ENDING,
    FIRST_DIRECTORY,
    FLAGS,
    HAS_DOT,
    HAS_PARAMETERS,
    HOST,
    MAX_TEXT,
    NAME,
    PARTS,
    ROW,
    STEM,
    SUBDOMAIN,
    SUFFIX,
    W_DEPTH,
    W_FILE,
    W_FIRST,
    W_HOST,
    WEIGHTS,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qiaocrawl.kernels import Floats, Ints

_BITS = 0xFFFFFFFFFFFFFFFF

# Sums of weights differ in the last bits: what is as near as this is a perfect match.
_SLACK = 1e-9


class TextViews:
    """Texts by number.

    Args:
        codes: their characters, MAX_TEXT each.
        lengths, kinds: how long each is, and its type.
    """

    def __init__(
        self, codes: NDArray[np.uint8], lengths: NDArray[np.int64], kinds: NDArray[np.int8]
    ) -> None:
        self.codes, self.lengths, self.kinds = ints(codes), ints(lengths), ints(kinds)


class ExampleViews:
    """The structures others are compared with.

    Args:
        ever: how many there have been; number k is at k modulo the most there may be.
        rows: (most, ROW).
        masks: of their texts, (most, ROW, CHARACTERS).
        host_likeness: of each of so many hosts and each of them, (hosts, most); to be filled.
    """

    def __init__(
        self,
        ever: int,
        rows: NDArray[np.int32],
        masks: NDArray[np.uint64],
        host_likeness: NDArray[np.float64],
    ) -> None:
        self.ever = ever
        self.rows, self.masks = ints(rows), ints(masks.reshape(-1))
        self.host_likeness = floats(host_likeness)


def fill_masks(codes: Ints, start: int, length: int, masks: Ints, place: int) -> None:
    """Write to *masks*, from *place* on, where each character stands in a text of *codes*."""
    bit = 1
    for character in range(CHARACTERS):
        masks[place + character] = 0
    for i in range(length):
        masks[place + codes[start + i]] |= bit
        bit = (bit << 1) & _BITS


def edit_distance(
    masks: Ints, place: int, length: int, codes: Ints, start: int, other_length: int
) -> int:
    """How many characters must be put in, left out or replaced to make one text the other."""
    if length == 0 or other_length == 0:
        return max(length, other_length)
    bit = 1
    top = bit << (length - 1)
    positive, negative = _BITS, 0
    distance = length
    # positive and negative hold, a bit a row, where the column rises and falls by one.
    for i in range(other_length):
        equal = masks[place + codes[start + i]]
        vertical = equal | negative
        horizontal = ((((equal & positive) + positive) & _BITS) ^ positive) | equal
        rise = negative | (_BITS ^ (horizontal | positive))
        fall = positive & horizontal
        if rise & top:
            distance += 1
        elif fall & top:
            distance -= 1
        # | bit: the table's top row rises with each column, since whole texts are compared.
        rise = ((rise << 1) & _BITS) | bit
        fall = (fall << 1) & _BITS
        positive = fall | (_BITS ^ (vertical | rise))
        negative = rise & vertical
    return distance


def _likeness(
    rows: Ints, i: int, examples: ExampleViews, j: int, column: int, texts: TextViews
) -> float:
    """Similarity of the texts in one column: 1 - distance / length of the longer one."""
    ours, theirs = rows[i, column], examples.rows[j, column]
    if ours == theirs:
        return 1.0
    length, other_length = texts.lengths[theirs], texts.lengths[ours]
    longer = max(length, other_length)
    if longer == 0:
        return 1.0
    place = (j * ROW + column) * CHARACTERS
    distance = edit_distance(
        examples.masks, place, length, texts.codes, ours * MAX_TEXT, other_length
    )
    return 1.0 - distance / longer


def compare_hosts(rows: Ints, examples: ExampleViews, texts: TextViews) -> None:
    """Fill the likeness of the hosts of *rows* and of the examples: few, and compared once."""
    for i in range(len(rows)):
        for j in range(len(examples.rows)):
            likeness = 0.0
            for column in range(SUBDOMAIN, HOST + 1):
                likeness += _likeness(rows, i, examples, j, column, texts)
            examples.host_likeness[i, j] = likeness / 3.0


def _paths(
    rows: Ints, i: int, examples: ExampleViews, j: int, texts: TextViews, weights: Floats
) -> float:
    """Similarity of the directories over the places where one of the two has any."""
    likeness, whole = 0.0, 0.0
    for place in range(DIRECTORIES):
        column = FIRST_DIRECTORY + place
        ours, theirs = rows[i, column], examples.rows[j, column]
        # Directories have no gaps: all further ones are missing too.
        if ours < 0 and theirs < 0:
            break
        weight = weights[W_FIRST + place]
        whole += weight
        if ours >= 0 and theirs >= 0:
            # Half for the text, half for its type: "17" and "4302" have only the type in common.
            same_type = 1.0 if texts.kinds[ours] == texts.kinds[theirs] else 0.0
            likeness += weight * (_likeness(rows, i, examples, j, column, texts) + same_type) / 2.0
    return likeness / whole if whole > 0.0 else 1.0


def _files(rows: Ints, i: int, examples: ExampleViews, j: int, texts: TextViews) -> float:
    """Six features of equal weight: dot, query, type, stem, suffix, name."""
    ours, theirs = rows[i, FLAGS], examples.rows[j, FLAGS]
    likeness = 1.0 if (ours & HAS_DOT) == (theirs & HAS_DOT) else 0.0
    likeness += 1.0 if (ours & HAS_PARAMETERS) == (theirs & HAS_PARAMETERS) else 0.0
    likeness += 1.0 if ours // ENDING == theirs // ENDING else 0.0
    stem = _likeness(rows, i, examples, j, STEM, texts)
    likeness += stem + _likeness(rows, i, examples, j, SUFFIX, texts)
    longer = max(texts.lengths[rows[i, NAME]], texts.lengths[examples.rows[j, NAME]])
    same_suffix = rows[i, SUFFIX] == examples.rows[j, SUFFIX]
    if same_suffix and (ours & theirs & HAS_DOT) and longer < MAX_TEXT:
        # With the same suffix the names differ only in their stems: no second edit distance.
        stems = max(texts.lengths[rows[i, STEM]], texts.lengths[examples.rows[j, STEM]])
        # (1 - stem) * stems is that distance.
        return (likeness + 1.0 - (1.0 - stem) * stems / longer) / 6.0
    return (likeness + _likeness(rows, i, examples, j, NAME, texts)) / 6.0


def _total(
    rows: Ints,
    i: int,
    examples: ExampleViews,
    j: int,
    texts: TextViews,
    weights: Floats,
    directories: float,
    least: float,
    parts: Floats,
) -> float:
    """The total similarity in [0, 1], the host's part given; -1 when it cannot exceed *least*.

    *directories*: their weights together.
    """
    beside = weights[W_DEPTH] if rows[i, DEPTH] == examples.rows[j, DEPTH] else 0.0
    # Bounds first: most pairs end at one of the two, without an edit distance of the files.
    reachable = directories + beside + weights[W_FILE]
    if parts[0] + reachable <= least:
        return -1.0
    parts[1] = 0.0
    if directories > 0.0:
        parts[1] = directories * _paths(rows, i, examples, j, texts, weights)
    if parts[0] + parts[1] + beside + weights[W_FILE] <= least:
        return -1.0
    parts[2] = beside
    if weights[W_FILE] > 0.0:
        parts[2] += weights[W_FILE] * _files(rows, i, examples, j, texts)
    return parts[0] + parts[1] + parts[2]


def raise_to_nearest(
    rows: Ints,
    since: Ints,
    host: Ints,
    examples: ExampleViews,
    texts: TextViews,
    weights: Floats,
    best: Floats,
    parts: Floats,
    tried: Floats,
) -> None:
    """Raise *best* of each of *rows* to its similarity to the nearest example it has not met.

    Args:
        rows: (count, ROW).
        since: how many examples there had been when each was last compared.
        host: of each row, its place in the likeness of hosts.
        weights: (WEIGHTS,).
        best: (count,), written to where an example is nearer.
        parts: (count, PARTS), written to with it.
        tried: (PARTS,), room.
    """
    most = len(examples.rows)
    directories = whole = 0.0
    for at in range(W_FIRST, W_FILE):
        directories += weights[at]
    for at in range(WEIGHTS):
        whole += weights[at]
    whole -= _SLACK
    last = 0
    for i in range(len(rows)):
        # Older examples have been overwritten in the ring.
        first = max(since[i], examples.ever - most)
        # Neighbouring rows resemble each other: trying the last row's nearest example first
        # raises the bar for all others.
        for step in range(first, examples.ever + 1):
            number = last if step == first else step - 1
            if number < first or number >= examples.ever or best[i] >= whole:
                continue
            j = number % most
            tried[0] = weights[W_HOST] * examples.host_likeness[host[i], j]
            likeness = _total(rows, i, examples, j, texts, weights, directories, best[i], tried)
            if likeness > best[i]:
                best[i] = likeness
                for part in range(PARTS):
                    parts[i, part] = tried[part]
                last = number
