"""Stories a second and memory with many articles behind: the desk beside comparing with all.

The articles are generated, words drawn by how usual they are in general and by happening; those
of COUNT are spread over a year. Of the days before the last week only what they leave behind is
made: counts of terms, and a sleeping story for each happening of two articles or more that a desk
still knows. The last week is taken minute by minute; its last articles are timed. The peer compares
each of some articles with all stories awake, by the same vectors and the same score.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from rich.console import Console

from benchmarks.analysis_data import Measured
from qiaocrawl.news.stories.desk import StoryDesk
from qiaocrawl.news.stories.linking import score_of
from qiaocrawl.news.stories.lookup import AWAKE_DAYS, DAY_MINUTES, SLEEP_DAYS, Sleeper
from qiaocrawl.news.stories.story import Item, Story, story_of
from qiaocrawl.news.stories.terms import Multiplier, TermReader, term_id
from qiaocrawl.news.stories.voices import Background, MinuteCounts, VoiceReader, counts_of
from qiaocrawl.vsm.terms import title_shares

_DAYS = 365
_START_DAY = 20_000
_TIMED, _COMPARED = 2_000, 40
_SAMPLED = 200
_MOST_ARTICLES, _TAIL = 300, 1.9
_OWN_WORDS, _OWN_SHARE = 15, 0.3
_TITLE_WORDS, _BODY_WORDS = 9, 220
_RARE = (1e-6, 1e-4)
_MIB = 1024.0


class Happenings:
    """Articles of made-up happenings."""

    def __init__(self, seed: int = 7) -> None:
        self._random = np.random.default_rng(seed)
        shares = title_shares()
        self._words = [word for word, share in shares.items() if share > 0]
        weights = np.array([shares[word] for word in self._words])
        self._bounds = np.cumsum(weights / weights.sum())
        self._rare = np.flatnonzero((weights > _RARE[0]) & (weights < _RARE[1]))

    def sizes(self, articles: int) -> list[int]:
        """Of how many articles each happening is, that make so many in all."""
        drawn = np.minimum(self._random.zipf(_TAIL, articles), _MOST_ARTICLES)
        needed = int(np.searchsorted(np.cumsum(drawn), articles)) + 1
        return [int(size) for size in drawn[:needed]]

    def own_words(self) -> list[str]:
        """What a happening is about."""
        return [self._words[at] for at in self._random.choice(self._rare, _OWN_WORDS)]

    def text(self, own: list[str], count: int) -> str:
        """Words of one article, *own* ones among them."""
        at = np.searchsorted(self._bounds, self._random.random(count))
        words = [self._words[one] for one in np.minimum(at, len(self._words) - 1)]
        for place in np.flatnonzero(self._random.random(count) < _OWN_SHARE):
            words[place] = own[self._random.integers(len(own))]
        return "".join(words)

    def articles(self, number: int, days: int) -> list[tuple[int, Item]]:
        """So many articles with the minutes they came in, within *days* from 0 on."""
        told = []
        for happening, size in enumerate(self.sizes(number)):
            own, start = self.own_words(), self._random.random() * days
            for at in range(size):
                day = (start + self._random.exponential()) % days
                item = Item(f"{happening}-{at}", self.text(own, _TITLE_WORDS),
                            self.text(own, _BODY_WORDS), day * 86_400)  # fmt: skip
                told.append((int(day * DAY_MINUTES), item))
        return sorted(told, key=lambda one: (one[0], one[1].key))[:number]


def measure_behind(count: int, console: Console) -> Iterator[Measured]:
    """Articles a second and memory with *count* articles behind."""
    world = Happenings()
    a_day = max(count // _DAYS, _TIMED // AWAKE_DAYS)
    console.print(f"{count:,} articles over {_DAYS} days; {a_day * AWAKE_DAYS:,} in the last week")
    desk = StoryDesk(background=_months_before(world, a_day), recall=_unknown)
    for number, sleeper in enumerate(_asleep(world, a_day * (SLEEP_DAYS - AWAKE_DAYS)), start=1):
        desk.sleepers.set(-number, sleeper)
    begin = (_START_DAY + _DAYS - AWAKE_DAYS) * DAY_MINUTES
    told = [(begin + minute, replace(item, published=(item.published or 0) + begin * 60.0))
            for minute, item in world.articles(a_day * AWAKE_DAYS, AWAKE_DAYS)]  # fmt: skip
    _take(desk, told[:-_TIMED])
    started = time.process_time()
    _take(desk, told[-_TIMED:])
    seconds = time.process_time() - started
    most_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MIB
    peer = _seconds_of_comparing(desk, [item for _, item in told[-_COMPARED:]])
    for method, metric, value in (
        ("ours", "per_second", _TIMED / seconds), ("all_awake", "per_second", 1 / peer),
        ("ours", "memory_mib", most_mib), ("ours", "stories_awake", float(len(desk.stories))),
    ):  # fmt: skip
        yield Measured("stories", f"behind_{count}", method, metric, value)


def _months_before(world: Happenings, a_day: int) -> Background:
    """How common terms are after the days before; a sample of each day stands for all of it."""
    reader, background = TermReader(), Background()
    sample = [reader.terms(item.title, item.body).ids
              for _, item in world.articles(_SAMPLED, 1)]  # fmt: skip
    one = counts_of(sample, 0.0)
    for day in range(_START_DAY, _START_DAY + _DAYS - AWAKE_DAYS):
        times = (one.times * (a_day / len(sample))).astype(np.int32)
        background.count(MinuteCounts(day * 86_400.0, a_day, one.ids, times))
    return background


def _asleep(world: Happenings, articles: int) -> Iterator[Sleeper]:
    """A sleeping story of each happening of several articles."""
    touched = (_START_DAY + _DAYS - AWAKE_DAYS - 1) * DAY_MINUTES
    for size in world.sizes(articles):
        if size > 1:
            yield Sleeper(tuple({term_id(word) for word in world.own_words()}), touched)


def _unknown(number: int) -> Story:
    """A sleeping story as a database would give it back; these are like nothing that comes."""
    reader = VoiceReader(Background())
    (voice,) = reader.read([Item(str(number), f"故事{number}")], _START_DAY * 86_400.0)
    return story_of(number, voice, _START_DAY * DAY_MINUTES)


def _take(desk: StoryDesk, told: list[tuple[int, Item]]) -> None:
    minutes: dict[int, list[Item]] = {}
    for minute, item in told:
        minutes.setdefault(minute, []).append(item)
    for minute, items in minutes.items():
        desk.take(minute, items)


def _seconds_of_comparing(desk: StoryDesk, items: list[Item]) -> float:
    """CPU seconds an article, where it is compared with every story awake."""
    multiplier, stories = Multiplier(), list(desk.stories.values())
    vectors = [story.vector for story in stories]
    background = Background.from_state(desk.background.to_state())  # type: ignore[arg-type]
    reader = VoiceReader(background)
    started = time.process_time()
    for item in items:
        (voice,) = reader.read([item], item.published or 0.0)
        own = story_of(0, voice, 0)
        products = multiplier.products(voice.vector, vectors)
        max(score_of(own, other, product, desk.settings)
            for other, product in zip(stories, products, strict=True))  # fmt: skip
    return (time.process_time() - started) / len(items)
