"""The articles a desk takes next: read from the database, and by other processes, ahead of it.

A desk places one article behind another. What an article says needs nothing but its text, so where
there are other processes (or a cluster), these read it before the desk comes to it; what the desk
then does with it is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from qiaocrawl.news.stories import stored
from qiaocrawl.news.stories.story import Item
from qiaocrawl.news.stories.terms import Terms, terms_of_texts
from qiaocrawl.runtime.bulk import Bulk, Pending, in_order
from qiaocrawl.storage import Reader

_AT_A_TIME = 50


class _Part(NamedTuple):
    """So many of the articles asked for, and those of them that are there."""

    asked: int
    items: dict[int, Item]


class ItemsAhead:
    """Articles in the order in which they are taken.

    Args:
        article_ids: row ids, in that order.
        words: the terms of topics, as of a desk.
        bulk: who reads what they say; the desk itself, where nothing is done ahead.
    """

    def __init__(
        self, reader: Reader, article_ids: Sequence[int], words: tuple[str, ...], bulk: Bulk
    ) -> None:
        self._reader = reader
        self._parts = in_order(self._begin(article_ids, words, bulk), bulk.calls_ahead)
        self._items: dict[int, Item] = {}
        self._due = 0

    def take(self, article_ids: Sequence[int]) -> list[Item]:
        """The next articles; those that are gone are left out."""
        self._due += len(article_ids)
        while self._due > 0:
            part = next(self._parts)
            self._due -= part.asked
            self._items |= part.items
        return [self._items.pop(number) for number in article_ids if number in self._items]

    def _begin(
        self, article_ids: Sequence[int], words: tuple[str, ...], bulk: Bulk
    ) -> Iterator[Pending[_Part]]:
        met: set[int] = set()
        for start in range(0, len(article_ids), _AT_A_TIME):
            own = article_ids[start : start + _AT_A_TIME]
            items = self._reader.run(partial(stored.read_items, article_ids=own))
            part = _Part(len(own), items)
            # A reprint of what came before says the same; the desk may not ask.
            asked = [
                number
                for number, item in items.items()
                if bulk.calls_ahead and met.isdisjoint(map(stored.url_id_of, item.reprints))
            ]
            met |= {stored.url_id_of(item.key) for item in items.values()}
            texts = [(items[number].title, items[number].body) for number in asked]
            name = f"texts-{own[0]}-{own[-1]}"
            terms = bulk.call(terms_of_texts, texts, words, name=name) if asked else None
            yield _PartBegun(part, asked, terms)


@dataclass(frozen=True, slots=True)
class _PartBegun:
    """A part of which *terms* are read: those of the articles *asked*."""

    part: _Part
    asked: Sequence[int]
    terms: Pending[list[Terms]] | None

    def result(self) -> _Part:
        """With what was read of them."""
        if self.terms is not None:
            for number, terms in zip(self.asked, self.terms.result(), strict=True):
                item = self.part.items[number]
                self.part.items[number] = replace(item, body="", terms=terms)
        return self.part
