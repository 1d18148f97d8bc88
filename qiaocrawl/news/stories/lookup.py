"""Stories found by their heaviest terms: posting lists of all that are awake."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.news.stories.story import Story
from qiaocrawl.news.stories.terms import DIMENSIONS, Ids, Vector
from qiaocrawl.vsm.growing_array import Column

# As many entries are read to find what one story may be like.
_LOOKED_AT = 20_000
# So many stories that came last stand in no order yet, and so many entries in a short array.
_MOST_LATEST, _MOST_RECENT_ENTRIES = 64, 100_000
# All lists are made anew when so many stories, and this share of all, came or went.
_LEAST_CHANGED, _MOST_CHANGED = 1_024, 0.25
_NOBODY = -1


class _Entries(NamedTuple):
    """Terms of stories, ascending; the slot of the story, and the value the term has there."""

    terms: Ids
    slots: Ids
    values: Ids

    def of(self, ids: Ids, own: NDArray[np.int64]) -> tuple[Ids, NDArray[np.float64]]:
        """Who has terms of *ids*, which ascend, and the product of both values."""
        starts = np.searchsorted(self.terms, ids, "left")
        counts = np.searchsorted(self.terms, ids, "right") - starts
        # The places of all entries, one term's after the other's.
        places = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return self.slots[places], np.repeat(own, counts) * self.values[places].astype(np.float64)


_NO_ENTRIES = _Entries(*(np.zeros(0, np.int32) for _ in range(3)))


class _LatestEntries:
    """The entries of stories that came last, in no order: added at little cost."""

    def __init__(self) -> None:
        self._terms, self._slots, self._values = (Column(np.int32) for _ in range(3))
        self._used = 0
        self.stories = 0

    def add(self, slot: int, top: Vector) -> None:
        """The entries of one story more."""
        start, self._used = self._used, self._used + len(top.ids)
        self.stories += 1
        self._terms.reserve(self._used)[start : self._used] = top.ids
        self._slots.reserve(self._used)[start : self._used] = slot
        self._values.reserve(self._used)[start : self._used] = top.values

    @property
    def entries(self) -> _Entries:
        """All of them, valid until something is added."""
        used = self._used
        return _Entries(self._terms.data[:used], self._slots.data[:used], self._values.data[:used])

    def clear(self) -> None:
        """Forget all."""
        self._used = self.stories = 0


class StoryLookup:
    """Which stories share most with one.

    Entries stand in one array, ordered by term; those of recent stories in a shorter one, the
    latest in no order. What went is passed over until arrays are made anew. So it costs little
    more where a hundred thousand stories are awake than where a hundred are. What is found depends
    on the stories alone, not on when they came, as long as sums of products are below 2**53: two
    stories of 8,000 texts each.
    """

    def __init__(self) -> None:
        self._tops: dict[int, Vector] = {}
        self._slots: dict[int, int] = {}
        self._numbers = Column(np.int64, fill=_NOBODY)
        self._shares = Column(np.float64)
        self._used = 0
        # How many stories have each term; and the values of the terms looked for, else all 0.
        self._live = np.zeros(DIMENSIONS, np.int32)
        self._asked = np.zeros(DIMENSIONS, np.int64)
        self._all = self._recent = _NO_ENTRIES
        self._latest = _LatestEntries()
        self._changed = 0

    def put(self, number: int, top: Vector, share: float) -> None:
        """Have a story under its *number*, which is not there yet.

        Args:
            top: its heaviest terms.
            share: by which a product with another becomes comparable with those of other stories.
        """
        slot = self._used
        self._used += 1
        self._numbers.reserve(self._used)[slot] = number
        self._shares.reserve(self._used)[slot] = share
        self._slots[number] = slot
        self._tops[number] = top
        self._live[top.ids] += 1
        self._latest.add(slot, top)
        self._count_change()

    def remove(self, number: int) -> None:
        """Take a story out."""
        slot = self._slots.pop(number)
        self._numbers.data[slot] = _NOBODY
        self._shares.data[slot] = 0.0
        self._live[self._tops.pop(number).ids] -= 1
        self._count_change()

    def near(self, number: int, asked: Vector, count: int) -> list[int]:
        """The *count* stories whose heaviest terms have most of what one asks for, ascending.

        Args:
            asked: terms of the story *number*, which may be more than its heaviest: what weighs
                most in one text is what only it says, and no large story is known by that.
        """
        slots, products = self._sharing_stories(asked)
        sums = np.bincount(slots, products, self._used)
        rough = sums * self._shares.data[: self._used]
        rough[self._slots[number]] = 0.0
        found = np.flatnonzero(rough)
        if len(found) > count:
            least = np.partition(rough[found], -count)[-count]
            found = found[rough[found] >= least]
        best = sorted(
            zip((-rough[found]).tolist(), self._numbers.data[found].tolist(), strict=True)
        )
        return sorted(near for _, near in best[:count])

    def _sharing_stories(self, top: Vector) -> tuple[Ids, NDArray[np.float64]]:
        """Who has terms of *top*, and what each adds to the product; the rarest terms only."""
        lengths = self._live[top.ids]
        order = np.lexsort((top.ids, lengths))
        read = max(int(np.searchsorted(np.cumsum(lengths[order]), _LOOKED_AT, "right")), 1)
        kept = np.sort(order[:read])
        ids, own = top.ids[kept], top.values[kept]
        latest = self._latest.entries
        self._asked[ids] = own
        asked = self._asked[latest.terms]
        self._asked[ids] = 0
        has = np.flatnonzero(asked)
        found = (
            self._all.of(ids, own),
            self._recent.of(ids, own),
            (latest.slots[has], asked[has] * latest.values[has].astype(np.float64)),
        )
        return (
            np.concatenate([slots for slots, _ in found]),
            np.concatenate([products for _, products in found]),
        )

    def _count_change(self) -> None:
        self._changed += 1
        if self._changed > _LEAST_CHANGED + _MOST_CHANGED * len(self._tops):
            self._make_anew()
        elif self._latest.stories >= _MOST_LATEST:
            self._recent = _order_entries(self._recent, self._latest.entries)
            self._latest.clear()
            if self._recent.terms.size > _MOST_RECENT_ENTRIES:
                self._all, self._recent = _order_entries(self._all, self._recent), _NO_ENTRIES

    def _make_anew(self) -> None:
        """All entries into one array, without those of stories that went."""
        shares = [float(self._shares.data[self._slots[number]]) for number in self._tops]
        self._changed, self._used = 0, len(self._tops)
        self._slots = {number: slot for slot, number in enumerate(self._tops)}
        self._numbers, self._shares = Column(np.int64, fill=_NOBODY), Column(np.float64)
        self._numbers.reserve(self._used)[: self._used] = list(self._tops)
        self._shares.reserve(self._used)[: self._used] = shares
        self._all = _order_entries(_entries_of(list(enumerate(self._tops.values()))))
        self._recent = _NO_ENTRIES
        self._latest.clear()


def _entries_of(tops: Sequence[tuple[int, Vector]]) -> _Entries:
    """The entries of stories by their slots, in no order."""
    if not tops:
        return _NO_ENTRIES
    return _Entries(
        np.concatenate([top.ids for _, top in tops]),
        np.repeat(np.array([slot for slot, _ in tops], np.int32), [len(t.ids) for _, t in tops]),
        np.concatenate([top.values for _, top in tops]).astype(np.int32),
    )


def _order_entries(*parts: _Entries) -> _Entries:
    """The entries of all *parts*, by term."""
    terms, slots, values = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.argsort(terms, kind="stable")
    return _Entries(terms[order], slots[order], values[order])


# --- Stories of which nothing new came: kept by a few words until something like them comes -------

DAY_MINUTES = 1_440
AWAKE_DAYS = 7
SLEEP_DAYS = 90

_TERMS = 12
_SHARED_TERMS = 4
_SLEEPERS_LOOKED_AT = 4


class Sleeper(NamedTuple):
    """A story asleep: the terms it is known by, and the minute of its last article."""

    terms: tuple[int, ...]
    touched: int


def signature_of(story: Story) -> tuple[int, ...]:
    """The terms *story* is known by while it sleeps."""
    return tuple(story.vector.top(_TERMS).ids[:_TERMS].tolist())


class Sleepers:
    """The stories asleep.

    Args:
        recall: gives a story back by its number; None: they are kept here.
    """

    def __init__(self, recall: Callable[[int], Story] | None = None) -> None:
        self.recall = recall
        self._kept: dict[int, Story] = {}
        self._sleepers: dict[int, Sleeper] = {}
        self._by_term: defaultdict[int, set[int]] = defaultdict(set)
        self._before: dict[int, Sleeper | None] = {}

    def begin(self) -> None:
        """What changes from here on may be taken back."""
        for number in self._before:
            if number not in self._sleepers:
                self._kept.pop(number, None)
        self._before.clear()

    def take_back(self) -> None:
        """Undo all since :meth:`begin`."""
        for number, sleeper in list(self._before.items()):
            self.set(number, sleeper)
        self._before.clear()

    @staticmethod
    def is_due(story: Story, minute: int) -> bool:
        """Whether nothing came for so long that a story sleeps."""
        return story.touched < minute - AWAKE_DAYS * DAY_MINUTES

    def put(self, story: Story) -> None:
        """Let a story sleep."""
        self.set(story.id, Sleeper(signature_of(story), story.touched))
        if self.recall is None:
            self._kept[story.id] = story

    def take(self, number: int) -> None:
        """A story is awake."""
        self.set(number, None)

    def set(self, number: int, sleeper: Sleeper | None) -> None:
        """Have *sleeper* under its story's number; None: it sleeps no more."""
        old = self._sleepers.pop(number, None)
        self._before.setdefault(number, old)
        for term in old.terms if old else ():
            self._by_term[term].discard(number)
            if not self._by_term[term]:
                del self._by_term[term]
        if sleeper is not None:
            self._sleepers[number] = sleeper
            for term in sleeper.terms:
                self._by_term[term].add(number)

    def like(self, story: Story) -> list[int]:
        """The stories asleep that share most of their terms with *story*, at most a few."""
        shared: defaultdict[int, int] = defaultdict(int)
        for term in story.vector.top(2 * _TERMS).ids.tolist():
            for number in self._by_term.get(term, ()):
                shared[number] += 1
        near = sorted(
            (-count, number) for number, count in shared.items() if count >= _SHARED_TERMS
        )
        return [number for _, number in near[:_SLEEPERS_LOOKED_AT]]

    def recall_story(self, number: int) -> Story:
        """The story of that number."""
        return self.recall(number) if self.recall else self._kept[number]

    def end(self, minute: int) -> list[int]:
        """Forget the stories that have slept too long; returns their numbers."""
        ended = sorted(
            number
            for number, sleeper in self._sleepers.items()
            if sleeper.touched < minute - SLEEP_DAYS * DAY_MINUTES
        )
        for number in ended:
            self.set(number, None)
        return ended
