"""The posting lists of the body index: for each sentence, the entries that hold it.

Chained hashing without keys: ``heads[bucket]`` is the newest entry of a bucket and
``following[entry]`` the next older one, both by their place in ``entries``. The entry itself says
which sentence it is (shifted by one). Compiled by ``body_postings.pxd``, since every article walks
some dozens of lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qiaocrawl.kernels import ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.kernels import Floats, Ints

END = -1
"""Ends a list; also the head of an empty one."""
UNLISTED = -2
"""Stands for the next entry where this one is in no list."""

_END = END
_UNLISTED = UNLISTED
_BITS = (1 << 64) - 1
_SPREAD = 0x9E3779B97F4A7C15


class SentenceLists:
    """The lists of all sentences; made anew where an array was replaced by a longer one.

    Args:
        entries: uint32, of all bodies.
        following: int32, of each entry.
        heads: int32, of each bucket; a power of two long.
    """

    def __init__(self, entries: NDArray[Any], following: NDArray[Any], heads: NDArray[Any]) -> None:
        self.entries, self.following, self.heads = ints(entries), ints(following), ints(heads)


def _bucket(lists: SentenceLists, sentence: int) -> int:
    # Sketches keep the smallest digests, so the high bits are mostly 0: Knuth's multiplicative
    # hashing spreads them.
    return ((sentence * _SPREAD & _BITS) >> 32) & (len(lists.heads) - 1)


def _count(lists: SentenceLists, sentence: int) -> int:
    """How many entries hold *sentence*."""
    # The whole chain of the bucket: it holds sentences of other hashes as well.
    held, entry = 0, lists.heads[_bucket(lists, sentence)]
    while entry >= 0:
        held += lists.entries[entry] >> 1 == sentence
        entry = lists.following[entry]
    return held


def link_entries(lists: SentenceLists, first: int, last: int, limit: int) -> None:
    """Add ``entries[first:last]`` to the lists, except where a list already has *limit* entries."""
    for at in range(first, last):
        sentence = lists.entries[at] >> 1
        lists.following[at] = _UNLISTED
        if _count(lists, sentence) < limit:
            bucket = _bucket(lists, sentence)
            lists.following[at] = lists.heads[bucket]
            lists.heads[bucket] = at


def unlink_entries(lists: SentenceLists, first: int, last: int) -> None:
    """Take ``entries[first:last]`` out of the lists."""
    for at in range(first, last):
        if lists.following[at] == _UNLISTED:
            continue
        bucket = _bucket(lists, lists.entries[at] >> 1)
        entry, before = lists.heads[bucket], _END
        # Singly linked lists: the entry before is only found from the head.
        while entry != at:
            before = entry
            entry = lists.following[entry]
        if before == _END:
            lists.heads[bucket] = lists.following[at]
        else:
            lists.following[before] = lists.following[at]
        lists.following[at] = _UNLISTED


def rebuild_postings(lists: SentenceLists, size: int) -> None:
    """Build the lists of the first *size* entries again, for new heads (all ``END``)."""
    for at in range(size):
        if lists.following[at] != _UNLISTED:
            bucket = _bucket(lists, lists.entries[at] >> 1)
            lists.following[at] = lists.heads[bucket]
            lists.heads[bucket] = at


def find(lists: SentenceLists, query: Ints, places: Ints, positions: Ints) -> int:
    """Find the entries that hold the sentences of *query*; how many.

    Args:
        places, positions: where each stands in ``entries``, and its sentence in *query*, which
            ascends; no more are found than they have room for.
    """
    count = 0
    for at in range(len(query)):
        sentence = query[at] >> 1
        entry = lists.heads[_bucket(lists, sentence)]
        while entry >= 0:
            if lists.entries[entry] >> 1 == sentence and count < len(places):
                places[count], positions[count] = entry, at
                count += 1
            entry = lists.following[entry]
    return count


def weigh(lists: SentenceLists, query: Ints, usual: int, weights: Floats) -> None:
    """A weight in (0, 1] for each of *query*: *usual* / the bodies that hold it, at most 1."""
    for at in range(len(query)):
        held = _count(lists, query[at] >> 1)
        share = 1.0 * usual
        weights[at] = share / held if held > usual else 1.0
