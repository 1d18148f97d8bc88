"""Which stories are one: likeness of their texts and times, joined from the most alike down."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.news.stories.evidence import weigh
from qiaocrawl.news.stories.lookup import StoryLookup
from qiaocrawl.news.stories.story import BY_ORDER, Story, Voice, story_of
from qiaocrawl.news.stories.terms import SCALE, Multiplier, sum_of

DAY_SECONDS = 86_400.0
# The product of the vectors of two texts that tell the same at usual length.
_CLEARLY_ALIKE = float(SCALE * SCALE)


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """How alike stories must be to be one.

    Args:
        threshold: from this score on they are.
        spread: 0 takes the mean likeness of all pairs of texts; 1/2 measures it by how alike the
            texts of either story are among themselves.
        ease: by this power of how many times larger one story is the score rises.
        gap_days: two texts published so far apart are half as alike.
        terms: by how many of its heaviest terms a story is found.
        asked: with how many of its heaviest terms others are looked for.
        compared: how many stories one is compared with.
    """

    threshold: float = 0.23
    spread: float = 0.45
    ease: float = 0.5
    gap_days: float = 2.0
    terms: int = 96
    asked: int = 256
    compared: int = 32


# By which rounding may raise what is at most.
_SLACK = 1e-9
# A large story is compared anew with all others whenever it has grown by one text in so many.
_LITTLE = 16

_Entry = tuple[float, int, int, int, int, Story, Story]
"""Two stories that may be joined: the score negated, their numbers, when it was pushed, the product
of their texts, and they. Stories themselves are never compared: of two entries with the same
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

    def __init__(self, settings: LinkSettings, pairs: Pairs | None = None) -> None:
        self.settings = settings
        self.stories: dict[int, Story] = {}
        self.doubtful: list[tuple[int, int]] = []
        """Numbers of two stories that were nearly joined by the last :meth:`settle`."""
        self._lookup = StoryLookup()
        self._pairs = pairs or Pairs()
        self._pushed = 0
        # By which the product with another becomes a score: but for ease, and for ease at most.
        self._shares: dict[int, tuple[float, float]] = {}

    def put(self, number: int, story: Story | None) -> None:
        """Have *story* under its *number*; None takes it out."""
        if number in self.stories:
            self._lookup.remove(number)
            del self.stories[number], self._shares[number]
        if story is not None:
            self.stories[number] = story
            # By which the product with another story becomes a score, but for what that one adds.
            count = len(story.voices)
            share = 1 / (count * _own_likeness(story) ** self.settings.spread)
            ease = min(count, _MOST_TIMES_LARGER) ** self.settings.ease
            self._shares[number] = share, ease
            self._lookup.put(number, story.vector.top(self.settings.terms), share * ease)

    def alike(self, number: int, least: float) -> list[tuple[float, int, int]]:
        """Score, number and product of the stories whose score with one reaches *least*."""
        story = self.stories[number]
        if story.is_round_up:
            return []
        asked = story.vector.top(self.settings.asked)
        numbers = self._lookup.near(number, asked, self.settings.compared)
        others = [self.stories[near] for near in numbers]
        products = self._pairs.multiplier.products(story.vector, [other.vector for other in others])
        found = []
        share, ease = self._shares[number]
        needed = least * SCALE * SCALE / share * (1 - _SLACK)
        for near, other, product in zip(numbers, others, products, strict=True):
            # No time between them, and all of what the larger one is about: seldom enough.
            its_share, its_ease = self._shares[near]
            if product * its_share * max(ease, its_ease) < needed:
                continue
            if other.is_round_up or near in story.apart or number in other.apart:
                continue
            # Evidence only lessens what the words say.
            if score_of(story, other, product, self.settings) >= least:
                weighed = _weigh(story, other, product, self._pairs)
                score = score_of(story, other, weighed, self.settings)
                if score >= least:
                    found.append((score, near, weighed))
        return found

    def score(self, one: Story, other: Story) -> float:
        """How alike two stories are, wherever they are."""
        if one.is_round_up or other.is_round_up:
            return 0.0
        return score_of(one, other, product_of(one, other, self._pairs), self.settings)

    def settle(self, numbers: Iterable[int], threshold: float) -> list[Join]:
        """Join stories, the most alike first, as long as a score reaches *threshold*.

        Args:
            numbers: the stories that are new or have changed; the others are settled.
        """
        heap: list[_Entry] = []
        joins: list[Join] = []
        self.doubtful.clear()
        for number in sorted(numbers):
            self._push(heap, number, threshold)
        while heap:
            score, kept, gone, _, product, one, other = heapq.heappop(heap)
            if self.stories.get(kept) is not one or self.stories.get(gone) is not other:
                self._push_again(heap, kept, gone, threshold)
                continue
            self.put(gone, None)
            self.put(kept, one.joined_with(other, product))
            joins.append(Join(kept, gone, -score, one, other))
            if _is_much_grown(one, other):
                self._push(heap, kept, threshold)
        return joins

    def _push_again(self, heap: list[_Entry], kept: int, gone: int, threshold: float) -> None:
        """Two stories of which one has grown since they were compared."""
        one, other = self.stories.get(kept), self.stories.get(gone)
        if one is None or other is None or kept in other.apart or gone in one.apart:
            return
        product = product_of(one, other, self._pairs)
        score = score_of(one, other, product, self.settings)
        if score >= threshold:
            self._pushed += 1
            heapq.heappush(heap, (-score, kept, gone, self._pushed, product, one, other))

    def _push(self, heap: list[_Entry], number: int, threshold: float) -> None:
        for score, near, product in self.alike(number, threshold * HOLD):
            # The older story keeps its number.
            kept, gone = min(number, near), max(number, near)
            if score < threshold:
                self.doubtful.append((kept, gone))
                continue
            pair = self.stories[kept], self.stories[gone]
            self._pushed += 1
            heapq.heappush(heap, (-score, kept, gone, self._pushed, product, *pair))


def _is_much_grown(one: Story, other: Story) -> bool:
    """Whether both together may be like others than before."""
    fewer, more = sorted((len(one.voices), len(other.voices)))
    step = max((fewer + more) // _LITTLE, 1)
    return more // step != (fewer + more) // step


def score_of(one: Story, other: Story, product: int, settings: LinkSettings) -> float:
    """How alike two stories are; *product*: of their texts, by :func:`product_of`."""
    pairs = len(one.voices) * len(other.voices)
    likeness = _own_likeness(one) * _own_likeness(other)
    score: float = product / (SCALE * SCALE * pairs) / likeness**settings.spread
    score *= _ease(one, other, settings)
    gap = _gap_days(one, other)
    return score / (1 + (gap / pause_days(pairs, _span(one) + _span(other), settings)) ** 2)


# What a story of so many texts is about no further text makes clearer.
_MOST_TIMES_LARGER = 64


def _ease(one: Story, other: Story, settings: LinkSettings) -> float:
    """How much more the likeness of two stories counts for one being larger than the other.

    Many texts tell all sides of their story, so that one more, which tells one of them, is like few
    texts of it, though it says what nearly all say. Two large stories that are not alike are two. A
    headline alone says too little to be taken on such terms.
    """
    small, large = sorted((one, other), key=lambda story: len(story.voices))
    times = min(len(large.voices) / len(small.voices) ** 2, _MOST_TIMES_LARGER)
    if times <= 1:
        return 1.0
    long = sum(voice.marks.is_long for voice in small.voices) / len(small.voices)
    core = large.core
    places = np.searchsorted(small.vector.ids, core.ids)
    said = np.append(small.vector.ids, -1)[places] == core.ids
    share = float(core.values[said].sum() / max(core.values.sum(), 1))
    ease: float = times ** (settings.ease * long * share)
    return ease


def pause_days(pairs: float, span_days: float, settings: LinkSettings) -> float:
    """After how many days without a text what comes is half as alike.

    A single report is soon over, and the next one like it (another year's festival) is of something
    else. What many write about is taken up again a little later; and what went on for weeks may
    rest as long as it went on, not longer.

    Args:
        pairs: number of the pairs of texts of two stories.
        span_days: how long both went on so far.
    """
    return settings.gap_days * (1 + math.log2(pairs)) + span_days


# So many texts of a story speak for all, beside one text and beside another story.
_MOST_SPEAKERS, _MOST_OF_BOTH = 12, 6
# Remembered are so many pairs of texts, some 100 bytes each beside their texts.
_MOST_PAIRS = 200_000


def product_of(one: Story, other: Story, pairs: Pairs) -> int:
    """The sum of the products of all pairs of texts, each lessened by what speaks against it."""
    product = pairs.multiplier.products(one.vector, [other.vector])[0]
    return _weigh(one, other, product, pairs)


def _weigh(one: Story, other: Story, product: int, pairs: Pairs) -> int:
    """*product* of the vectors of two stories, lessened as those of their texts are."""
    most = _MOST_SPEAKERS if 1 in (len(one.voices), len(other.voices)) else _MOST_OF_BOTH
    own, others = _speakers(one, most), _speakers(other, most)
    if len(own) == len(others) == 1:
        return int(weigh(product, own[0], others[0], _CLEARLY_ALIKE))
    total = left = 0.0
    for voice in own:
        for plain, weighed in pairs.of(voice, others):
            total += plain
            left += weighed
    return int(product * left / total) if total else 0


class Pairs:
    """Products of texts, plain and lessened by what speaks against them, remembered.

    Stories that grow are compared again and again, by the same texts.
    """

    def __init__(self) -> None:
        self.multiplier = Multiplier()
        self._known: dict[tuple[Voice, Voice], tuple[int, float]] = {}

    def of(self, voice: Voice, others: Sequence[Voice]) -> list[tuple[int, float]]:
        """Both products of *voice* with each of *others*."""
        known = self._known
        unknown = [its for its in others if (voice, its) not in known]
        vectors = [its.vector for its in unknown]
        if len(known) + len(unknown) > _MOST_PAIRS:
            known.clear()
            return self.of(voice, others)
        for its, plain in zip(
            unknown, self.multiplier.products(voice.vector, vectors), strict=True
        ):
            weighed = float(weigh(plain, voice, its, _CLEARLY_ALIKE))
            known[voice, its] = known[its, voice] = plain, weighed
        return [known[voice, its] for its in others]


def _speakers(story: Story, most: int) -> Sequence[Voice]:
    voices = story.voices
    if len(voices) <= most:
        return voices
    return [voices[at * len(voices) // most] for at in range(most)]


def _own_likeness(story: Story) -> float:
    """The mean likeness of all pairs of its texts, one with itself as 1."""
    return story.likeness / (SCALE * len(story.voices)) ** 2


def _span(story: Story) -> float:
    if story.first is None or story.last is None:
        return 0.0
    return (story.last - story.first) / DAY_SECONDS


def _gap_days(one: Story, other: Story) -> float:
    """Days between the end of one and the beginning of the other; 0 where they overlap."""
    if one.first is None or one.last is None or other.first is None or other.last is None:
        return 0.0
    return max(one.first - other.last, other.first - one.last, 0.0) / DAY_SECONDS


# --- Texts put together anew: where one story may be two, or two overlap -------------------------

# A story is looked at when it has this many texts, and again whenever it has grown by half.
_LEAST_VOICES, _GROWTH = 4, 1.5
HOLD = 0.7
"""From this part of the threshold on it is doubtful whether two stories are one."""
_MOST_VOICES, _MOST_DOUBTFUL = 200, 40


def is_grown(story: Story) -> bool:
    """Whether so much came to *story* that it is to be looked at as a whole."""
    count = len(story.voices)
    return count >= max(_LEAST_VOICES, story.checked * _GROWTH)


def put_together(
    stories: Sequence[Story], settings: LinkSettings, threshold: float, pairs: Pairs
) -> list[Story] | None:
    """The texts of *stories* as they join when all come at once, in any order of coming.

    Returns:
        Stories under the numbers of those whose texts they have most of, 0 for a new one; None
        where nothing changes, or where they are too many.
    """
    voices = [voice for story in stories for voice in story.voices]
    if len(voices) > (_MOST_DOUBTFUL if len(stories) > 1 else _MOST_VOICES):
        return None
    parts = parts_of(voices, settings, threshold, pairs)
    numbers = {voice.key: story.id for story in stories for voice in story.voices}
    if {frozenset(voice.key for voice in part) for part in parts} == {
        frozenset(voice.key for voice in story.voices) for story in stories
    }:
        return None
    # The largest share of a story keeps its number; each number goes to one.
    shares = sorted(
        (-sum(numbers[voice.key] == story.id for voice in part), story.id, at)
        for at, part in enumerate(parts)
        for story in stories
    )
    number_of: dict[int, int] = {}
    for share, number, at in shares:
        if share and at not in number_of and number not in number_of.values():
            number_of[at] = number
    by_number = {story.id: story for story in stories}
    made = []
    for at, part in enumerate(parts):
        origin = by_number[numbers[part[0].key]]
        story = _made_of(by_number.get(number_of.get(at, 0), origin), part, pairs)
        touched = max(voice.minute for voice in part)
        made.append(replace(story, id=number_of.get(at, 0), touched=max(touched, story.touched)))
    return made


def parts_of(
    voices: Sequence[Voice], settings: LinkSettings, threshold: float, pairs: Pairs
) -> list[tuple[Voice, ...]]:
    """The stories that *voices* make by themselves; all pairs of them are compared."""
    few = _settle_few(voices, settings, threshold, pairs)
    return _with_lone_texts(few, settings, threshold, pairs)


def _with_lone_texts(
    parts: list[tuple[Voice, ...]],
    settings: LinkSettings,
    threshold: float,
    pairs: Pairs,
) -> list[tuple[Voice, ...]]:
    """*parts* with those texts that are like no other text in the part they are like as a whole."""
    large = [part for part in parts if len(part) > 1]
    if not large or len(large) == len(parts):
        return parts
    wholes = [_made_of(story_of(0, part[0], 0), part, pairs) for part in large]
    grown, alone = [list(part) for part in large], []
    for (voice,) in (part for part in parts if len(part) == 1):
        text = story_of(0, voice, 0)
        scores = [
            score_of(text, whole, product_of(text, whole, pairs), settings) for whole in wholes
        ]
        best = int(np.argmax(scores))
        if scores[best] >= threshold:
            grown[best].append(voice)
        else:
            alone.append((voice,))
    return [*map(tuple, grown), *alone]


def _settle_few(
    voices: Sequence[Voice], settings: LinkSettings, threshold: float, pairs: Pairs
) -> list[tuple[Voice, ...]]:
    """*voices* as they join by themselves, the most alike first: of so few all pairs are compared.

    Products of sums are sums of products, so no vector is made on the way.
    """
    ordered = sorted(voices, key=lambda voice: voice.key)
    members = [[voice] for voice in ordered]
    products = np.zeros((len(ordered), len(ordered)))
    for at, one in enumerate(ordered):
        weighed = [weighed for _, weighed in pairs.of(one, ordered[:at])]
        products[at, :at] = products[:at, at] = weighed
    np.fill_diagonal(products, SCALE * SCALE)
    sizes = np.ones(len(ordered))
    times = [np.nan if voice.published is None else voice.published for voice in ordered]
    firsts, lasts = np.array(times), np.array(times)
    scores = _scores_of_pairs(products, firsts, settings)
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


def _scores_of_pairs(
    products: NDArray[np.float64], times: NDArray[np.float64], settings: LinkSettings
) -> NDArray[np.float64]:
    """How alike single texts are, one with itself not at all: :func:`_score_row` of all."""
    scores = products / (SCALE * SCALE)
    gaps = np.abs(np.subtract.outer(times, times))
    scores /= 1 + (np.nan_to_num(gaps) / DAY_SECONDS / settings.gap_days) ** 2
    np.fill_diagonal(scores, -np.inf)
    return scores


def _score_row(
    at: int,
    scores: NDArray[np.float64],
    columns: tuple[NDArray[np.float64], ...],
    settings: LinkSettings,
) -> None:
    """How alike the stories at one place and at all others are: :func:`score_of` without ease."""
    products, sizes, firsts, lasts = columns
    others = np.flatnonzero(sizes)
    others = others[others != at]
    own = products.diagonal() / (SCALE * np.maximum(sizes, 1)) ** 2
    count = sizes[at] * sizes[others]
    row = products[at, others] / (SCALE * SCALE * count)
    row /= (own[at] * own[others]) ** settings.spread
    gaps = np.fmax(firsts[others] - lasts[at], firsts[at] - lasts[others])
    spans = np.nan_to_num(lasts - firsts) / DAY_SECONDS
    pauses = settings.gap_days * (1 + np.log2(count)) + spans[at] + spans[others]
    row /= 1 + (np.nan_to_num(np.maximum(gaps, 0.0)) / DAY_SECONDS / pauses) ** 2
    scores[at, others] = scores[others, at] = row


def taken_out(story: Story, keys: frozenset[str], pairs: Pairs) -> tuple[Story, Story | None]:
    """The texts of *story* that are of *keys*, and what is left; None if nothing is."""
    own = [voice for voice in story.voices if keys.intersection(voice.articles)]
    left = [voice for voice in story.voices if voice not in own]
    part = _made_of(story, own or story.voices, pairs)
    return part, _made_of(story, left, pairs) if left and own else None


def _made_of(story: Story, voices: Sequence[Voice], pairs: Pairs) -> Story:
    """A story of some of the voices of *story*."""
    ordered = sorted(voices, key=BY_ORDER)
    between = sum(
        weighed for at, voice in enumerate(ordered) for _, weighed in pairs.of(voice, ordered[:at])
    )
    times = [voice.published for voice in ordered if voice.published is not None]
    return Story(
        story.id,
        tuple(ordered),
        sum_of([voice.vector for voice in ordered]),
        SCALE * SCALE * len(ordered) + 2 * int(between),
        story.opened,
        story.touched,
        min(times, default=None),
        max(times, default=None),
        apart=story.apart,
        checked=len(ordered),
    )
