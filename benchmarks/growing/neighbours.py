"""How near made titles lie to each other, beside real ones: what a look-up in the index finds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qiaocrawl.dedup import TitleIndex
from qiaocrawl.items import TitleRecord

_ASKED = 2_000


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Of titles of one kind, so many of them in an index.

    Attributes:
        near: titles of the least cosine or more that one finds, a mean.
        with_any: share of titles that find one.
        search_us: processor time of a look-up.
    """

    kind: str
    titles: int
    near: float
    with_any: float
    search_us: float


def neighbours(kind: str, titles: Sequence[str], sizes: Sequence[int]) -> Iterator[Neighbours]:
    """Enter *titles*; at each of *sizes* the next ones are looked up before they are entered."""
    index, known = TitleIndex(), 0
    for size in sizes:
        index.add(
            TitleRecord(number.to_bytes(16, "big"), titles[number]) for number in range(known, size)
        )
        known, asked = size, titles[size : size + _ASKED]
        begun = time.process_time()
        found = [len(index.near(title)) for title in asked]
        spent = time.process_time() - begun
        share = sum(map(bool, found)) / len(found)
        yield Neighbours(kind, size, sum(found) / len(found), share, 1e6 * spent / len(found))
