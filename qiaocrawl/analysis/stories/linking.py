"""Which stories are one: likeness of their texts and times, joined from the most alike down."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from qiaocrawl.analysis.stories.story import Story
from qiaocrawl.analysis.stories.vector import SCALE, Multiplier, Vector

_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """How alike stories must be to be one.

    Args:
        threshold: from this score on they are.
        spread: 0 takes the mean likeness of all pairs of texts; 1/2 measures it by how alike the
            texts of either story are among themselves.
        gap_days: two texts published so far apart are half as alike.
        gap_growth: the more texts two stories have, the longer a pause may be: by the number of
            their pairs to this power.
        terms: by how many of its heaviest terms a story is looked up.
        compared: how many stories one is compared with.
    """

    threshold: float = 0.2
    spread: float = 0.4
    gap_days: float = 4.0
    gap_growth: float = 0.6
    terms: int = 96
    compared: int = 32


class Join(NamedTuple):
    """Two stories that became one, under the number of the first."""

    kept: int
    gone: int
    score: float
    before: Story
    taken: Story


class StoryLinks:
    """The stories there are, found by their terms.

    Nothing here depends on the order in which stories were put in, only on their numbers.
    """

    # As many entries of the index are read to find what one story may be like.
    _LOOKED_AT = 20_000

    def __init__(self, settings: LinkSettings, multiplier: Multiplier | None = None) -> None:
        self.settings = settings
        self.stories: dict[int, Story] = {}
        self._top: dict[int, Vector] = {}
        # By which the product with another story becomes a score, but for what that one adds.
        self._shares: dict[int, float] = {}
        self._by_term: defaultdict[int, dict[int, int]] = defaultdict(dict)
        self._multiplier = multiplier or Multiplier()

    def put(self, number: int, story: Story | None) -> None:
        """Have *story* under its *number*; None takes it out."""
        if number in self.stories:
            for term in self._top.pop(number).ids.tolist():
                own = self._by_term[term]
                del own[number]
                if not own:
                    del self._by_term[term]
            del self.stories[number], self._shares[number]
        if story is not None:
            self.stories[number] = story
            self._shares[number] = 1 / (
                len(story.voices) * _own_likeness(story) ** self.settings.spread
            )
            top = self._top[number] = story.vector.top(self.settings.terms)
            for term, value in zip(top.ids.tolist(), top.values.tolist(), strict=True):
                self._by_term[term][number] = value

    def alike(self, number: int) -> list[tuple[float, int, int]]:
        """Score, number and product of the stories most like one, in no order."""
        story = self.stories[number]
        numbers = self._near(number)
        others = [self.stories[near] for near in numbers]
        products = self._multiplier.products(story.vector, [other.vector for other in others])
        return [
            (score_of(story, other, product, self.settings), near, product)
            for near, other, product in zip(numbers, others, products, strict=True)
            if near not in story.apart and number not in other.apart
        ]

    def score(self, one: Story, other: Story) -> float:
        """How alike two stories are, wherever they are."""
        product = self._multiplier.products(one.vector, [other.vector])[0]
        return score_of(one, other, product, self.settings)

    def settle(self, numbers: Iterable[int], threshold: float) -> list[Join]:
        """Join stories, the most alike first, as long as a score reaches *threshold*.

        Args:
            numbers: the stories that are new or have changed; the others are settled.
        """
        heap: list[tuple[float, int, int, int, Story, Story]] = []
        joins: list[Join] = []
        for number in sorted(numbers):
            self._push(heap, number, threshold)
        while heap:
            score, kept, gone, product, one, other = heapq.heappop(heap)
            if self.stories.get(kept) is not one or self.stories.get(gone) is not other:
                continue
            self.put(gone, None)
            self.put(kept, one.joined_with(other, product))
            joins.append(Join(kept, gone, -score, one, other))
            self._push(heap, kept, threshold)
        return joins

    def _push(
        self, heap: list[tuple[float, int, int, int, Story, Story]], number: int, threshold: float
    ) -> None:
        for score, near, product in self.alike(number):
            if score >= threshold:
                # The older story keeps its number. Stories themselves are never compared: two
                # entries with the same numbers hold the same scores only if they are the same.
                kept, gone = min(number, near), max(number, near)
                entry = (-score, kept, gone, product, self.stories[kept], self.stories[gone])
                heapq.heappush(heap, _Entry(entry))

    def _near(self, number: int) -> list[int]:
        """The stories that share most with one by the heaviest terms of both."""
        top = self._top[number]
        lists = sorted(
            (len(self._by_term[term]), term, value)
            for term, value in zip(top.ids.tolist(), top.values.tolist(), strict=True)
        )
        shared: dict[int, int] = {}
        looked_at = 0
        for length, term, value in lists:
            looked_at += length
            if looked_at > self._LOOKED_AT and shared:
                break
            for near, other_value in self._by_term[term].items():
                shared[near] = shared.get(near, 0) + value * other_value
        shared.pop(number, None)
        rough = {near: self._shares[near] * product for near, product in shared.items()}
        best = heapq.nsmallest(self.settings.compared, rough, key=lambda near: (-rough[near], near))
        return sorted(best)


class _Entry(tuple):  # type: ignore[type-arg]
    """An entry of the heap: ordered by score and numbers, not by stories."""

    __slots__ = ()

    def __lt__(self, other: tuple[object, ...]) -> bool:
        return bool(self[:3] < other[:3])


def score_of(one: Story, other: Story, product: int, settings: LinkSettings) -> float:
    """How alike two stories are; *product*: of their vectors."""
    pairs = len(one.voices) * len(other.voices)
    mean = product / (SCALE * SCALE * pairs)
    score: float = mean / (_own_likeness(one) * _own_likeness(other)) ** settings.spread
    # What many write about is taken up again after weeks; a single report is soon over, and the
    # next one like it (another year's festival) is of something else.
    pause_days = settings.gap_days * float(pairs**settings.gap_growth)
    return score / (1 + (_gap_days(one, other) / pause_days) ** 2)


def _own_likeness(story: Story) -> float:
    """The mean likeness of all pairs of its texts, one with itself as 1."""
    return story.likeness / (SCALE * len(story.voices)) ** 2


def _gap_days(one: Story, other: Story) -> float:
    """Days between the end of one and the beginning of the other; 0 where they overlap."""
    if one.first is None or one.last is None or other.first is None or other.last is None:
        return 0.0
    return max(one.first - other.last, other.first - one.last, 0.0) / _DAY_SECONDS
