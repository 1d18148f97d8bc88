"""Title records as the tests of deduplication need them, and brute force beside the index."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from qiaocrawl.dedup.fingerprints import body_fingerprints
from qiaocrawl.items import TitleRecord
from qiaocrawl.vsm import IdfSnapshot, SparseVector, cosine

DAY = datetime(2026, 3, 1, tzinfo=UTC)


def key(number: int) -> bytes:
    """The key of this number."""
    return number.to_bytes(16, "big")


def record(
    number: int,
    title: str,
    *,
    day: float | None = None,
    host: str = "",
    source: str = "",
    digest: bytes = b"",
    text: str = "",
) -> TitleRecord:
    """A record with the prints of *text*, or of a body of which only *digest* is known."""
    when = None if day is None else DAY + timedelta(days=day)
    prints = body_fingerprints(text)
    return TitleRecord(
        key(number), title, host, when, source, digest or prints.digest, prints.simhash,
        prints.sketch,
    )  # fmt: skip


def brute_cosine(one: Sequence[str], other: Sequence[str], snapshot: IdfSnapshot) -> float:
    """The cosine of two titles by the plain vectors of :mod:`qiaocrawl.vsm`."""
    numbers: dict[str, int] = {}
    first, second = (title_vector(title, numbers, snapshot) for title in (one, other))
    return cosine(first, second)


def title_vector(
    title: Sequence[str], numbers: dict[str, int], snapshot: IdfSnapshot
) -> SparseVector:
    """The plain vector of *title*; *numbers* are those of all words so far, new ones join them."""
    counts = {numbers.setdefault(word, len(numbers)): (word, count)
              for word, count in Counter(title).items()}  # fmt: skip
    return SparseVector.of(
        {number: count * snapshot.idf(word) for number, (word, count) in counts.items()}
    )


def near_enough(one: float, other: float, room: float = 1e-6) -> bool:
    """Whether two cosines are the same; the index keeps weights in 32 bits."""
    return math.isclose(one, other, rel_tol=0.0, abs_tol=room)
