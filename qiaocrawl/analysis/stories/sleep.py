"""Stories of which nothing new came: kept by a few words until something like them comes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from qiaocrawl.analysis.stories.story import Story

DAY_MINUTES = 1_440
AWAKE_DAYS = 7
SLEEP_DAYS = 90

_TERMS = 12
_SHARED_TERMS = 4
_LOOKED_AT = 4


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
        return [number for _, number in near[:_LOOKED_AT]]

    def recalled(self, number: int) -> Story:
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
