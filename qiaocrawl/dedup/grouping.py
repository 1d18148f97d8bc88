"""Groups a whole collection of titles in one pass, whatever the order of arrival."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from qiaocrawl.dedup.cleaning import TitleCleaner, TitleWords
from qiaocrawl.dedup.methods import seconds
from qiaocrawl.dedup.vocabulary import TermTable, batches
from qiaocrawl.items import TitleRecord, Verdict
from qiaocrawl.vsm import IdfSnapshot

Placed = Callable[[int], object]
"""Called with the number of titles just grouped."""

_AT_A_TIME = 500


@dataclass(frozen=True, slots=True)
class Grouping:
    """The verdicts of a collection by key, and for each key the one that names its group.

    A group is all that verdicts connect; it is named by its member of the earliest date,
    undated ones last, then of the smallest key. A caller that knows more than titles chooses the
    one that represents it.
    """

    verdicts: dict[bytes, Verdict]
    groups: dict[bytes, bytes]


def by_publish_date(records: Iterable[TitleRecord]) -> list[TitleRecord]:
    """One record for each key, by publish date, undated last, then by key."""
    by_key: dict[bytes, TitleRecord] = {}
    for record in records:
        other = by_key.get(record.key)
        # Two records of one key: the rule must not depend on which came first.
        if other is None or _choice(record) < _choice(other):
            by_key[record.key] = record
    return sorted(by_key.values(), key=_rank)


def group_titles(
    ordered: Sequence[TitleRecord],
    judge_all: Callable[[Sequence[TitleRecord]], list[Verdict]],
    placed: Placed | None = None,
) -> Grouping:
    """Judge *ordered* one after the other and join what belongs together."""
    verdicts: dict[bytes, Verdict] = {}
    groups = Groups()
    for start in range(0, len(ordered), _AT_A_TIME):
        part = ordered[start : start + _AT_A_TIME]
        for record, verdict in zip(part, judge_all(part), strict=True):
            verdicts[record.key] = verdict
            groups.add(record.key, verdict)
        if placed is not None:
            placed(len(part))
    return Grouping(verdicts, {record.key: groups.name(record.key) for record in ordered})


class Groups:
    """Keys joined by verdicts (union-find); a group is named by its first key."""

    def __init__(self) -> None:
        self._parents: dict[bytes, bytes] = {}
        self._places: dict[bytes, int] = {}

    def add(self, key: bytes, verdict: Verdict) -> None:
        """A new key, in the group of all its verdict names as the same story."""
        self._parents[key] = key
        self._places[key] = len(self._places)
        if verdict.is_same_story and verdict.of is not None:
            for other in (verdict.of, *verdict.also):
                self._join(key, other)

    def name(self, key: bytes) -> bytes:
        """The key that names the group of *key*."""
        parents = self._parents
        while parents[key] != key:
            # Path halving: chains stay short without a second pass.
            parents[key] = parents[parents[key]]
            key = parents[key]
        return key

    def _join(self, one: bytes, other: bytes) -> None:
        one, other = self.name(one), self.name(other)
        # The earlier key names the group, so names do not depend on the order of joins.
        first, second = sorted((one, other), key=self._places.__getitem__)
        self._parents[second] = first


def _rank(record: TitleRecord) -> tuple[bool, float, bytes]:
    when = record.published_at
    return (when is None, 0.0 if when is None else seconds(when), record.key)


def _choice(record: TitleRecord) -> tuple[object, ...]:
    """Orders several records of one key by all that a verdict may depend on; the first is taken."""
    return (
        *_rank(record),
        record.title,
        record.body_digest,
        record.host,
        record.source,
        record.body_simhash,
        record.body_sketch,
    )


# --- Counts how many titles of a collection hold each word, for an IDF snapshot -------------------

_TITLES_AT_A_TIME = 10_000


def count_titles(
    records: Iterable[TitleRecord],
    version: int,
    terms: Iterable[str] = (),
    counted: Callable[[int], object] | None = None,
) -> IdfSnapshot:
    """The snapshot of all *records*, of the words they are compared by.

    Names of sites and channels are cut off as far as they were learnt from the titles so far,
    so only a host's first ones count theirs.

    Args:
        version: of the new snapshot.
        terms: words that stay whole, such as those of topic packs.
        counted: called with the number of titles just counted.
    """
    # Weights do not matter for counting words, so any snapshot will do.
    words, cleaner = TitleWords(TermTable(IdfSnapshot()), terms), TitleCleaner()

    def titles() -> Iterator[list[str]]:
        for batch in batches(records, _TITLES_AT_A_TIME):
            # Learn from the whole batch first: fewer titles are counted with their site's name.
            for record in batch:
                cleaner.learn(record.title, record.host)
            yield from words.texts([cleaner.clean(record.title, record.host) for record in batch])
            if counted is not None:
                counted(len(batch))

    return IdfSnapshot.of(titles(), version=version)
