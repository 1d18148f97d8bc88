"""The compiled inner loops of URL similarity (U2): edit distances of short texts, many times.

Edit distances are Myers' (1999), with one machine word for a column of the table, so texts
count by their first 64 characters. A text that is compared often is kept as *masks*: for each
of 128 characters the places where it stands; other characters share the place of their lowest
seven bits.
"""

from __future__ import annotations

import numpy as np

from qiaocrawl.kernels.compiled import compiled

MAX_TEXT = 64
CHARACTERS = 128

# A row: ids of texts, and what is compared by equality. -1 is no directory.
SUBDOMAIN, DOMAIN, HOST, DEPTH = 0, 1, 2, 3
FIRST_DIRECTORY, DIRECTORIES = 4, 8
STEM, SUFFIX, NAME, FLAGS = 12, 13, 14, 15
ROW = 16

# Flags of a file.
HAS_DOT, HAS_PARAMETERS, ENDING = 1, 2, 4

# Weights: of the host, of each directory, of the file, of the same depth.
W_HOST, W_FIRST, W_FILE, W_DEPTH = 0, 1, 9, 10
WEIGHTS = 11

# Sums of weights differ in the last bits: what is as near as this is a perfect match.
_SLACK = 1e-9

PARTS = 3
"""Of a similarity: host, directories, layout; each weighted."""


@compiled
def fill_masks(codes, length, masks):  # type: ignore[no-untyped-def]
    """Where each character stands in the first *length* of *codes*."""
    masks[:] = 0
    for i in range(length):
        masks[codes[i]] |= np.uint64(1) << np.uint64(i)


@compiled
def edit_distance(masks, length, codes, other_length):  # type: ignore[no-untyped-def]
    """How many characters must be put in, left out or replaced to make one text the other."""
    if length == 0 or other_length == 0:
        return max(length, other_length)
    bit = np.uint64(1)
    top = bit << np.uint64(length - 1)
    positive, negative = ~np.uint64(0), np.uint64(0)
    distance = length
    # positive and negative hold, a bit a row, where the column rises and falls by one.
    for i in range(other_length):
        equal = masks[codes[i]]
        vertical = equal | negative
        horizontal = (((equal & positive) + positive) ^ positive) | equal
        rise = negative | ~(horizontal | positive)
        fall = positive & horizontal
        if rise & top:
            distance += 1
        elif fall & top:
            distance -= 1
        # | bit: the table's top row rises with each column, since whole texts are compared.
        rise = (rise << bit) | bit
        fall = fall << bit
        positive = fall | ~(vertical | rise)
        negative = rise & vertical
    return distance


@compiled
def _texts(row, example, masks, column, texts):  # type: ignore[no-untyped-def]
    """Similarity of the texts in one column: 1 - distance / length of the longer one."""
    ours, theirs = row[column], example[column]
    if ours == theirs:
        return 1.0
    codes, lengths, _ = texts
    start, longer = ours * MAX_TEXT, max(lengths[ours], lengths[theirs])
    distance = edit_distance(
        masks[column], lengths[theirs], codes[start : start + MAX_TEXT], lengths[ours]
    )
    return 1.0 - distance / longer if longer else 1.0


@compiled
def host_table(rows, examples, texts, table):  # type: ignore[no-untyped-def]
    """Similarity of the hosts of each of *rows* and each example: few, and compared once."""
    _, rows_known, masks = examples
    for i in range(len(rows)):
        for j in range(len(rows_known)):
            likeness = 0.0
            for column in range(SUBDOMAIN, HOST + 1):
                likeness += _texts(rows[i], rows_known[j], masks[j], column, texts)
            table[i, j] = likeness / 3.0


@compiled
def _paths(row, example, masks, texts, weights):  # type: ignore[no-untyped-def]
    """Similarity of the directories over the places where one of the two has any."""
    kinds = texts[2]
    likeness, whole = 0.0, 0.0
    for place in range(DIRECTORIES):
        column = FIRST_DIRECTORY + place
        ours, theirs = row[column], example[column]
        # Directories have no gaps: all further ones are missing too.
        if ours < 0 and theirs < 0:
            break
        weight = weights[W_FIRST + place]
        whole += weight
        if ours >= 0 and theirs >= 0:
            # Half for the text, half for its type: "17" and "4302" have only the type in common.
            same_type = 1.0 if kinds[ours] == kinds[theirs] else 0.0
            likeness += weight * (_texts(row, example, masks, column, texts) + same_type) / 2.0
    return likeness / whole if whole > 0.0 else 1.0


@compiled
# Six features of equal weight: dot, query, type, stem, suffix, name.
def _files(row, example, masks, texts):  # type: ignore[no-untyped-def]
    ours, theirs = row[FLAGS], example[FLAGS]
    likeness = 1.0 if (ours & HAS_DOT) == (theirs & HAS_DOT) else 0.0
    likeness += 1.0 if (ours & HAS_PARAMETERS) == (theirs & HAS_PARAMETERS) else 0.0
    # The type stands above the two flags.
    likeness += 1.0 if ours // ENDING == theirs // ENDING else 0.0
    stem = _texts(row, example, masks, STEM, texts)
    likeness += stem + _texts(row, example, masks, SUFFIX, texts)
    lengths = texts[1]
    longer = max(lengths[row[NAME]], lengths[example[NAME]])
    if row[SUFFIX] == example[SUFFIX] and (ours & theirs & HAS_DOT) and longer < MAX_TEXT:
        # With the same suffix the names differ only in their stems: no second edit distance.
        stems = max(lengths[row[STEM]], lengths[example[STEM]])
        # (1 - stem) * stems is that distance.
        return (likeness + 1.0 - (1.0 - stem) * stems / longer) / 6.0
    return (likeness + _texts(row, example, masks, NAME, texts)) / 6.0


@compiled
def _pair(row, example, masks, texts, weights, least, parts):  # type: ignore[no-untyped-def]
    """The total similarity in [0, 1], the host's part given; -1 when it cannot exceed *least*."""
    each, directories = weights
    beside = each[W_DEPTH] if row[DEPTH] == example[DEPTH] else 0.0
    # Bounds first: most pairs end at one of the two, without an edit distance of the files.
    reachable = directories + beside + each[W_FILE]
    if parts[0] + reachable <= least:
        return -1.0
    parts[1] = 0.0
    if directories > 0.0:
        parts[1] = directories * _paths(row, example, masks, texts, each)
    if parts[0] + parts[1] + beside + each[W_FILE] <= least:
        return -1.0
    parts[2] = beside
    if each[W_FILE] > 0.0:
        parts[2] += each[W_FILE] * _files(row, example, masks, texts)
    return parts[0] + parts[1] + parts[2]


@compiled
def nearest(rows, hosts, examples, texts, weights, best, parts):  # type: ignore[no-untyped-def]
    """Raise *best* of each of *rows* to its similarity to the nearest example it has not met.

    Args:
        rows: (count, ROW); how many examples there had been when each was last compared.
        hosts: the host of each row, (count,); likeness of hosts and examples.
        examples: how many there have been; their rows, (most, ROW), of which number k is at
            k modulo most; the masks of their texts, (most, ROW, CHARACTERS).
        texts: characters, MAX_TEXT each; lengths; types.
        weights: (WEIGHTS,).
        best: (count,), written to where an example is nearer.
        parts: (count, PARTS), written to with it.
    """
    ever, example_rows, masks = examples
    compared, since = rows
    host, host_likeness = hosts
    both = weights, weights[W_FIRST:W_FILE].sum()
    whole = weights.sum() - _SLACK
    tried = np.zeros(PARTS)
    last = 0
    for i in range(len(compared)):
        # Older examples have been overwritten in the ring.
        first = max(since[i], ever - len(example_rows))
        # Neighbouring rows resemble each other: trying the last row's nearest example first
        # raises the bar for all others.
        for step in range(first, ever + 1):
            number = last if step == first else step - 1
            if number < first or number >= ever or best[i] >= whole:
                continue
            j = number % len(example_rows)
            tried[0] = weights[W_HOST] * host_likeness[host[i], j]
            likeness = _pair(compared[i], example_rows[j], masks[j], texts, both, best[i], tried)
            if likeness > best[i]:
                best[i] = likeness
                parts[i] = tried
                last = number
