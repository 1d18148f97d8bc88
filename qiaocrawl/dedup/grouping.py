"""One batch pass over a whole title collection: groups that no order of arrival changes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from qiaocrawl.dedup.deduper import Placed
from qiaocrawl.dedup.index import TitleIndex
from qiaocrawl.dedup.tokens import TitleTokens
from qiaocrawl.items import TitleRecord, Verdict, VerdictKind
from qiaocrawl.vsm import Counts, Vocabulary

_TOLD_EVERY = 100

Rank = tuple[bool, float, bytes]


def rank(record: TitleRecord) -> Rank:
    """What decides who represents a group: earliest date, undated last, then smallest key."""
    when = record.published_at
    return (when is None, when.timestamp() if when is not None else 0.0, record.key)


def grouped(
    records: Iterable[TitleRecord], tokens: TitleTokens, threshold: float,
    placed: Placed | None = None,
) -> dict[bytes, Verdict]:
    """A verdict by key for all *records*; see ``TitleDeduper.regroup``."""
    vocabulary = Vocabulary()
    titles: list[tuple[TitleRecord, Counts]] = []
    for record in _in_order(records):
        title = vocabulary.count(tokens.of(record))
        vocabulary.add(title)
        titles.append((record, title))
    groups = _Groups(TitleIndex(vocabulary, threshold))
    verdicts = {}
    for position, (record, title) in enumerate(titles, start=1):
        verdicts[record.key] = groups.place(record, title)
        if placed is not None and (position % _TOLD_EVERY == 0 or position == len(titles)):
            placed((position - 1) % _TOLD_EVERY + 1)
    return verdicts


def _in_order(records: Iterable[TitleRecord]) -> list[TitleRecord]:
    """One record for each key, by rank."""
    by_key: dict[bytes, TitleRecord] = {}
    for record in records:
        other = by_key.get(record.key)
        if other is None or _choice(record) < _choice(other):
            by_key[record.key] = record
    return sorted(by_key.values(), key=rank)


def _choice(record: TitleRecord) -> tuple[Rank, str, tuple[str, ...], bytes]:
    return rank(record), record.title, record.tokens, record.body_digest


class _Groups:
    """Representatives so far, in the order of their ranks: the row of an index is one of them.

    Titles without words cannot be near anything, so only those of the same body digest join.
    """

    def __init__(self, index: TitleIndex) -> None:
        self._index = index
        self._representatives: list[TitleRecord] = []
        self._wordless: dict[bytes, TitleRecord] = {}

    def place(self, record: TitleRecord, title: Counts) -> Verdict:
        """The verdict for the next record by rank."""
        if not title.pairs:
            return self._place_wordless(record)
        own = self._index.row(title)
        if own is not None:
            return _same_words(record, self._representatives[own])
        rows, similar = self._index.near(title)
        if len(rows):
            # Of equally near ones the smallest row: the best rank.
            best = int(np.lexsort((rows, -similar))[0])
            head, cosine = self._representatives[int(rows[best])], float(similar[best])
            return Verdict(VerdictKind.REPRINT, head.key, cosine, f"title cosine {cosine:.3f}")
        self._index.add(title)
        self._representatives.append(record)
        return Verdict(VerdictKind.DISTINCT, why="represents its group")

    def _place_wordless(self, record: TitleRecord) -> Verdict:
        head = self._wordless.setdefault(record.body_digest, record)
        if head is record or not record.body_digest:
            return Verdict(VerdictKind.DISTINCT, why="a title without words")
        return _same_words(record, head)


def _same_words(record: TitleRecord, head: TitleRecord) -> Verdict:
    if record.body_digest and record.body_digest == head.body_digest:
        return Verdict(VerdictKind.SAME_PAGE, head.key, 1.0, "same title and body")
    return Verdict(VerdictKind.REPRINT, head.key, 1.0, "same title words")
