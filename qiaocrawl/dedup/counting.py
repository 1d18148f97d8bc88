"""Counts how many titles of a collection hold each word, for an IDF snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from qiaocrawl.dedup.batches import batches
from qiaocrawl.dedup.cleaning.cleaning import TitleCleaner
from qiaocrawl.dedup.index.title_words import TitleWords
from qiaocrawl.dedup.index.vocabulary import TermTable
from qiaocrawl.items import TitleRecord
from qiaocrawl.vsm import IdfSnapshot

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
