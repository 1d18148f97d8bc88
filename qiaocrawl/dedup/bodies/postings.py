"""The posting lists of the body index: for each sentence, the entries that hold it.

Chained hashing without keys: ``heads[bucket]`` is the newest entry of a bucket and
``following[entry]`` the next older one, both by their place in ``entries``. The entry itself
says which sentence it is (shifted by one). Compiled, since every article walks some dozens of them.
"""

from __future__ import annotations

import numpy as np

from qiaocrawl.kernels.compiled import compiled

END = -1
"""Ends a list; also the head of an empty one."""
UNLISTED = -2
"""Stands for the next entry where this one is in no list."""


@compiled
def _bucket(sentence, buckets):  # type: ignore[no-untyped-def]
    # Sketches keep the smallest digests, so the high bits are mostly 0: Knuth's multiplicative
    # hashing spreads them. *buckets* is a power of two.
    return (np.uint64(sentence) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)) & np.uint64(
        buckets - 1
    )


@compiled
def link_entries(entries, following, heads, first, last, limit):  # type: ignore[no-untyped-def]
    """Add ``entries[first:last]`` to the lists, except where a list already has *limit* entries."""
    for at in range(first, last):
        sentence = entries[at] >> np.uint32(1)
        bucket = _bucket(sentence, len(heads))
        # The whole chain of the bucket: it holds sentences of other hashes as well.
        held, entry = 0, heads[bucket]
        while entry >= 0:
            if entries[entry] >> np.uint32(1) == sentence:
                held += 1
            entry = following[entry]
        following[at] = UNLISTED
        if held < limit:
            following[at] = heads[bucket]
            heads[bucket] = at


@compiled
def unlink_entries(entries, following, heads, first, last):  # type: ignore[no-untyped-def]
    """Take ``entries[first:last]`` out of the lists."""
    for at in range(first, last):
        if following[at] == UNLISTED:
            continue
        bucket = _bucket(entries[at] >> np.uint32(1), len(heads))
        entry, before = heads[bucket], END
        # Singly linked lists: the entry before is only found from the head.
        while entry != at:
            before = entry
            entry = following[entry]
        if before == END:
            heads[bucket] = following[at]
        else:
            following[before] = following[at]
        following[at] = UNLISTED


@compiled
def rebuild_postings(entries, following, heads, size):  # type: ignore[no-untyped-def]
    """Build the lists of the first *size* entries again, for new *heads* (all ``END``)."""
    for at in range(size):
        if following[at] != UNLISTED:
            bucket = _bucket(entries[at] >> np.uint32(1), len(heads))
            following[at] = heads[bucket]
            heads[bucket] = at


@compiled
def find(query, entries, following, heads, limit):  # type: ignore[no-untyped-def]
    """Find the entries that hold the sentences of *query*.

    Returns:
        places in ``entries``, and for each the place in *query*, which ascends.
    """
    # Room for the most there can be: no sentence is listed more than *limit* times.
    places = np.empty(len(query) * limit, np.int64)
    positions = np.empty(len(query) * limit, np.int64)
    count = 0
    for at in range(len(query)):
        sentence = query[at] >> np.uint32(1)
        entry = heads[_bucket(sentence, len(heads))]
        while entry >= 0:
            if entries[entry] >> np.uint32(1) == sentence:
                places[count] = entry
                positions[count] = at
                count += 1
            entry = following[entry]
    return places[:count], positions[:count]


@compiled
def weigh(query, entries, following, heads, usual):  # type: ignore[no-untyped-def]
    """A weight in (0, 1] for each of *query*: *usual* / the bodies that hold it, at most 1."""
    weights = np.ones(len(query), np.float64)
    for at in range(len(query)):
        sentence = query[at] >> np.uint32(1)
        entry, held = heads[_bucket(sentence, len(heads))], 0
        while entry >= 0:
            if entries[entry] >> np.uint32(1) == sentence:
                held += 1
            entry = following[entry]
        if held > usual:
            weights[at] = usual / held
    return weights
