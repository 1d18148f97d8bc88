"""How common terms are: for weeks, and in these days. Counts fade, so nothing grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.news.stories.story import Item, Voice
from qiaocrawl.news.stories.terms import (
    DIMENSIONS,
    SCALE,
    Counts,
    Ids,
    TermReader,
    Terms,
    Vector,
    term_ids,
    usual_shares,
)

WEEKS_HALF_LIFE_DAYS = 28.0
DAYS_HALF_LIFE_DAYS = 3.0

# General usage counts for as many articles beside those that were counted.
_USUAL_ARTICLES = 2_000.0
# What earlier weeks say counts for so many articles of these days.
_EARLIER_ARTICLES = 50.0
_DAY_SECONDS = 86_400.0
# Counts are kept in growing units; before these overflow they are scaled down.
_LARGEST_UNIT = 8.0
_FADED = 0.02
# A word that stands in so many times as many articles (natural logarithm) weighs most, and so much
# more than it would; it must stand in two of these days.
_MOST_RISE = 5.0
_BURST_WEIGHT = 0.6
_BURST_ARTICLES = 1.5
_NAMES = ("weeks", "days")


@dataclass
class _Fading:
    """Counts that halve in *half_life_days*."""

    half_life_days: float
    counts: NDArray[np.float32]
    articles: float = 0.0
    unit: float = 1.0
    time: float = 0.0

    def move_to(self, time: float) -> None:
        """Let time pass up to *time* (epoch seconds); earlier times change nothing."""
        if self.time and time > self.time:
            self.unit *= 2 ** min((time - self.time) / _DAY_SECONDS / self.half_life_days, 60)
            if self.unit > _LARGEST_UNIT:
                self.counts /= self.unit
                # What has faded to nothing is forgotten, so that nothing grows.
                self.counts[self.counts < _FADED] = 0
                self.articles /= self.unit
                self.unit = 1.0
        self.time = max(self.time, time)


@dataclass(frozen=True, slots=True)
class MinuteCounts:
    """What one minute brought.

    Args:
        time: of the minute, in epoch seconds.
        articles: how many it has.
        ids: their terms, ascending.
        times: in how many of them each stands.
    """

    time: float
    articles: int
    ids: Ids
    times: Ids

    def as_bytes(self) -> bytes:
        """For storing, with time and articles beside it: numbers, then times."""
        return self.ids.astype("<i4").tobytes() + self.times.astype("<i4").tobytes()

    @classmethod
    def of_bytes(cls, time: float, articles: int, data: bytes) -> MinuteCounts:
        """What :meth:`as_bytes` gave."""
        numbers = np.frombuffer(data, "<i4")
        half = len(numbers) // 2
        return cls(time, articles, numbers[:half].astype(np.int32), numbers[half:])


def counts_of(batch: list[Ids], time: float) -> MinuteCounts:
    """The counts of the articles of one minute, which have these terms."""
    if not batch:
        return MinuteCounts(time, 0, np.zeros(0, np.int32), np.zeros(0, np.int32))
    ids, times = np.unique(np.concatenate(batch), return_counts=True)
    return MinuteCounts(time, len(batch), ids, times.astype(np.int32))


class Background:
    """Weights of terms, by general usage, by the weeks before and by these days.

    A word that is common in general says little; one that is common in these days only says
    what is talked about: it tells stories from the rest, though not one from another. So a
    weight is the geometric mean of both inverse frequencies.
    """

    def __init__(self) -> None:
        self._weeks = _Fading(WEEKS_HALF_LIFE_DAYS, np.zeros(DIMENSIONS, np.float32))
        self._days = _Fading(DAYS_HALF_LIFE_DAYS, np.zeros(DIMENSIONS, np.float32))
        self.minute: MinuteCounts | None = None
        """What was counted last; None where that was taken back."""
        self._before: list[tuple[NDArray[np.float32], float]] = []

    def count(self, minute: MinuteCounts) -> None:
        """Count the articles of one minute."""
        self.minute = minute
        for fading in self._both:
            fading.move_to(minute.time)
        self._before = [(fading.counts[minute.ids], fading.articles) for fading in self._both]
        for fading in self._both:
            fading.counts[minute.ids] += (minute.times * fading.unit).astype(np.float32)
            fading.articles += minute.articles * fading.unit

    def forget_minute(self) -> None:
        """Take back what :meth:`count` counted last."""
        if self.minute is not None:
            for fading, (counts, articles) in zip(self._both, self._before, strict=True):
                fading.counts[self.minute.ids] = counts
                fading.articles = articles
            self.minute = None

    @property
    def _both(self) -> tuple[_Fading, _Fading]:
        return self._weeks, self._days

    def weights(self, ids: Ids, counts: Counts) -> NDArray[np.float32]:
        """The weight of each term of an article, at least 0."""
        weeks, days = self._weeks, self._days
        usual = usual_shares()[ids]
        share = (weeks.counts[ids] / weeks.unit + _USUAL_ARTICLES * usual) / (
            weeks.articles / weeks.unit + _USUAL_ARTICLES
        )
        lately = (days.counts[ids] / days.unit + _EARLIER_ARTICLES * share) / (
            days.articles / days.unit + _EARLIER_ARTICLES
        )
        rarity = np.sqrt(np.log(np.minimum(share, 1.0)) * np.log(np.minimum(lately, 1.0)))
        # A word of these days that others have too, and more often than in the weeks before.
        earlier = np.maximum(weeks.counts[ids] / weeks.unit - days.counts[ids] / days.unit, 0)
        usually = (earlier + _USUAL_ARTICLES * usual) / (
            weeks.articles / weeks.unit + _USUAL_ARTICLES
        )
        seen = days.counts[ids] / days.unit
        now = seen / max(days.articles / days.unit, 1.0)
        rise = np.clip(np.log(np.maximum(now / usually, 1e-9)), 0, _MOST_RISE) / _MOST_RISE
        burst = 1.0 + _BURST_WEIGHT * rise * (seen >= _BURST_ARTICLES)
        weights: NDArray[np.float32] = ((1.0 + np.log(counts)) * rarity * burst).astype(np.float32)
        return weights

    def to_state(self) -> dict[str, NDArray[np.float64] | NDArray[np.float32] | Ids]:
        """All it knows, as small arrays by name."""
        arrays: dict[str, NDArray[np.float64] | NDArray[np.float32] | Ids] = {}
        for name, fading in zip(_NAMES, self._both, strict=True):
            ids = np.flatnonzero(fading.counts).astype(np.int32)
            arrays[f"{name}_ids"] = ids
            arrays[f"{name}_counts"] = fading.counts[ids]
            arrays[f"{name}_scale"] = np.array([fading.articles, fading.unit, fading.time])
        return arrays

    @classmethod
    def from_state(cls, arrays: dict[str, NDArray[np.float64]]) -> Background:
        """What :meth:`to_state` gave."""
        background = cls()
        for name, fading in zip(_NAMES, background._both, strict=True):
            fading.counts[arrays[f"{name}_ids"]] = arrays[f"{name}_counts"]
            fading.articles, fading.unit, fading.time = map(float, arrays[f"{name}_scale"])
        return background


# --- Articles as voices: their weighted terms, as long as what they say is telling ----------------

KEPT_TERMS = 400
_KEPT_WORDS = 12
# The length of the weights of a headline that tells clearly what happened.
_USUAL_LENGTH = 32.0
# A text that says little is less alike to any other, one that says much more so.
_LENGTH_EXPONENT = 0.75
_MOST_LENGTH = 4.0
# Nearly all articles of a store have terms of its topics: these tell no story from another.
_TOPICAL_WEIGHT = 0.25


class VoiceReader:
    """Makes voices of articles.

    Args:
        background: how common terms are.
        words: the terms of topics, which are kept whole and weigh little.
    """

    def __init__(self, background: Background, words: Sequence[str] = ()) -> None:
        self.background = background
        self._reader = TermReader(words)
        self._topical = np.array(
            sorted({id_ for word in words for id_ in term_ids(word)}), np.int32
        )

    def read(self, items: Sequence[Item], time: float) -> list[Voice]:
        """The voices of the articles of one minute, which are counted first.

        Args:
            time: of the minute, in epoch seconds.
        """
        read = [self._reader.terms(item.title, item.body, item.names) for item in items]
        self.background.count(counts_of([terms.ids for terms in read], time))
        return [self._voice(item, terms) for item, terms in zip(items, read, strict=True)]

    def _voice(self, item: Item, terms: Terms) -> Voice:
        weights = self.background.weights(terms.ids, terms.counts)
        weights[np.isin(terms.ids, self._topical, assume_unique=True)] *= _TOPICAL_WEIGHT
        length = float(np.linalg.norm(weights)) / _USUAL_LENGTH
        if not length:
            return Voice(item.key, item.published, Vector(terms.ids[:0], np.zeros(0, np.int64)))
        stretch = min(length, _MOST_LENGTH) ** _LENGTH_EXPONENT / (length * _USUAL_LENGTH)
        values = np.rint(weights.astype(np.float64) * stretch * SCALE).astype(np.int64)
        vector = Vector(terms.ids, values).top(KEPT_TERMS)
        heaviest = vector.ids[np.argsort(-vector.values, kind="stable")].tolist()
        words = [terms.words[number] for number in heaviest if number in terms.words]
        return Voice(item.key, item.published, vector, tuple(words[:_KEPT_WORDS]))
