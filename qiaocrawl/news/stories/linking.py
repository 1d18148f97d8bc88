"""Which stories are one: likeness of their texts and times, joined from the most alike down."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.news.stories.lookup import StoryLookup
from qiaocrawl.news.stories.story import Story, Voice, story_of
from qiaocrawl.news.stories.terms import SCALE, Multiplier

DAY_SECONDS = 86_400.0


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


_N = TypeVar("_N", float, NDArray[np.float64])

_Entry = tuple[float, int, int, int, int, Story, Story]
"""Two stories that may be joined: the score negated, their numbers, when it was pushed, the product
of their vectors, and they. Stories themselves are never compared: of two entries with the same
numbers and score the older one goes first, and only those of the present stories count."""


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

    def __init__(self, settings: LinkSettings, multiplier: Multiplier | None = None) -> None:
        self.settings = settings
        self.stories: dict[int, Story] = {}
        self._lookup = StoryLookup()
        self._multiplier = multiplier or Multiplier()
        self._pushed = 0

    def put(self, number: int, story: Story | None) -> None:
        """Have *story* under its *number*; None takes it out."""
        if number in self.stories:
            self._lookup.remove(number)
            del self.stories[number]
        if story is not None:
            self.stories[number] = story
            # By which the product with another story becomes a score, but for what that one adds.
            share = 1 / (len(story.voices) * _own_likeness(story) ** self.settings.spread)
            self._lookup.put(number, story.vector.top(self.settings.terms), share)

    def alike(self, number: int) -> list[tuple[float, int, int]]:
        """Score, number and product of the stories most like one, in no order."""
        story = self.stories[number]
        numbers = self._lookup.near(number, self.settings.compared)
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
        heap: list[_Entry] = []
        joins: list[Join] = []
        for number in sorted(numbers):
            self._push(heap, number, threshold)
        while heap:
            score, kept, gone, _, product, one, other = heapq.heappop(heap)
            if self.stories.get(kept) is not one or self.stories.get(gone) is not other:
                continue
            self.put(gone, None)
            self.put(kept, one.joined_with(other, product))
            joins.append(Join(kept, gone, -score, one, other))
            self._push(heap, kept, threshold)
        return joins

    def _push(self, heap: list[_Entry], number: int, threshold: float) -> None:
        for score, near, product in self.alike(number):
            if score >= threshold:
                # The older story keeps its number.
                kept, gone = min(number, near), max(number, near)
                pair = self.stories[kept], self.stories[gone]
                self._pushed += 1
                heapq.heappush(heap, (-score, kept, gone, self._pushed, product, *pair))


def score_of(one: Story, other: Story, product: int, settings: LinkSettings) -> float:
    """How alike two stories are; *product*: of their vectors."""
    pairs = len(one.voices) * len(other.voices)
    likeness = _own_likeness(one) * _own_likeness(other)
    score: float = score_pairs(product, pairs, likeness, _gap_days(one, other), settings)
    return score


def score_pairs(product: _N, pairs: _N, likeness: _N, gap_days: _N, settings: LinkSettings) -> _N:
    """How alike two stories are, or several pairs of them.

    Args:
        product: of their vectors.
        pairs: number of the pairs of their texts.
        likeness: the product of the mean likenesses within either.
        gap_days: between the end of one and the beginning of the other.
    """
    score: _N = product / (SCALE * SCALE * pairs) / likeness**settings.spread
    # What many write about is taken up again after weeks; a single report is soon over, and the
    # next one like it (another year's festival) is of something else.
    pause_days = settings.gap_days * pairs**settings.gap_growth
    score /= 1 + (gap_days / pause_days) ** 2
    return score


def _own_likeness(story: Story) -> float:
    """The mean likeness of all pairs of its texts, one with itself as 1."""
    return story.likeness / (SCALE * len(story.voices)) ** 2


def _gap_days(one: Story, other: Story) -> float:
    """Days between the end of one and the beginning of the other; 0 where they overlap."""
    if one.first is None or one.last is None or other.first is None or other.last is None:
        return 0.0
    return max(one.first - other.last, other.first - one.last, 0.0) / DAY_SECONDS


# --- One story into several, where its texts are no longer of one happening -----------------------

# A story is looked at when it has this many texts, and again whenever it has grown by half.
_LEAST_VOICES, _GROWTH = 8, 1.5
# What was joined stays joined as long as it reaches so much of the threshold.
_HOLD = 0.7
# A part is a story of its own from so many texts on.
_LEAST_PART = 3
_MOST_VOICES = 400


def parts_of(
    story: Story, settings: LinkSettings, threshold: float, multiplier: Multiplier
) -> list[Story]:
    """The parts *story* falls into, the largest first: [] if it was not to be looked at now.

    One part: it holds together. Articles stay with the text they reprint.
    """
    count = len(story.voices)
    if story.by_hand or count < _LEAST_VOICES or count > _MOST_VOICES:
        return []
    if count < story.checked * _GROWTH:
        return []
    settled = _settle_few(story.voices, settings, threshold * _HOLD, multiplier)
    parts = [part for part in settled if len(part) >= _LEAST_PART]
    if len(parts) < 2:
        return [story]
    parts.sort(key=lambda voices: (-len(voices), min(voice.key for voice in voices)))
    # What belongs to no part stays with the largest.
    placed = {voice.key for part in parts[1:] for voice in part}
    parts[0] = tuple(voice for voice in story.voices if voice.key not in placed)
    return [_made_of(story, voices, multiplier) for voices in parts]


def _settle_few(
    voices: Sequence[Voice], settings: LinkSettings, threshold: float, multiplier: Multiplier
) -> list[tuple[Voice, ...]]:
    """*voices* as they join by themselves, the most alike first: of so few all pairs are compared.

    Products of sums are sums of products, so no vector is made on the way.
    """
    ordered = sorted(voices, key=lambda voice: voice.key)
    members = [[voice] for voice in ordered]
    vectors = [voice.vector for voice in ordered]
    products = np.array([multiplier.products(one, vectors) for one in vectors], np.float64)
    np.fill_diagonal(products, SCALE * SCALE)
    sizes = np.ones(len(ordered))
    times = [np.nan if voice.published is None else voice.published for voice in ordered]
    firsts, lasts = np.array(times), np.array(times)
    scores = np.full(products.shape, -np.inf)
    for at in range(len(ordered)):
        _score_row(at, scores, (products, sizes, firsts, lasts), settings)
    while True:
        kept, gone = sorted(map(int, np.unravel_index(np.argmax(scores), scores.shape)))
        if scores[kept, gone] < threshold:
            return [tuple(own) for own in members if own]
        members[kept] += members[gone]
        members[gone] = []
        likeness = products[kept, kept] + products[gone, gone] + 2 * products[kept, gone]
        products[kept] += products[gone]
        products[:, kept] = products[kept]
        products[kept, kept] = likeness
        sizes[kept] += sizes[gone]
        sizes[gone] = 0
        firsts[kept] = np.fmin(firsts[kept], firsts[gone])
        lasts[kept] = np.fmax(lasts[kept], lasts[gone])
        scores[gone] = scores[:, gone] = -np.inf
        _score_row(kept, scores, (products, sizes, firsts, lasts), settings)


def _score_row(
    at: int,
    scores: NDArray[np.float64],
    columns: tuple[NDArray[np.float64], ...],
    settings: LinkSettings,
) -> None:
    """How alike the stories at one place and at all others are, as :mod:`linking` scores them."""
    products, sizes, firsts, lasts = columns
    others = np.flatnonzero(sizes)
    others = others[others != at]
    own = products.diagonal() / (SCALE * np.maximum(sizes, 1)) ** 2
    gaps = np.fmax(firsts[others] - lasts[at], firsts[at] - lasts[others])
    days = np.nan_to_num(np.maximum(gaps, 0.0)) / DAY_SECONDS
    row = score_pairs(
        products[at, others], sizes[at] * sizes[others], own[at] * own[others], days, settings
    )
    scores[at, others] = scores[others, at] = row


def taken_out(
    story: Story, keys: frozenset[str], multiplier: Multiplier
) -> tuple[Story, Story | None]:
    """The texts of *story* that are of *keys*, and what is left; None if nothing is."""
    own = [voice for voice in story.voices if keys.intersection(voice.articles)]
    left = [voice for voice in story.voices if voice not in own]
    part = _made_of(story, own or story.voices, multiplier)
    return part, _made_of(story, left, multiplier) if left and own else None


def _made_of(story: Story, voices: Sequence[Voice], multiplier: Multiplier) -> Story:
    """A story of some of the voices of *story*."""
    made: Story | None = None
    for voice in voices:
        one = story_of(story.id, voice, story.opened)
        if made is None:
            made = one
        else:
            product = multiplier.products(made.vector, [voice.vector])[0]
            made = made.joined_with(one, product)
    assert made is not None
    return replace(made, touched=story.touched, apart=story.apart, checked=len(voices))
