"""How rare terms are, and articles as voices: their weighted terms. Counts fade: nothing grows."""

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

# So much of a share is what the store's own articles say, where there are many; and half of it
# where there are so many.
_OWN_PART, _FEW_ARTICLES = 0.05, 200.0
_DAY_SECONDS = 86_400.0
# Counts are kept in growing units; before these overflow they are scaled down.
_LARGEST_UNIT = 8.0
_FADED = 0.02


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
    """How rare terms are: by general usage, and a little by the store's own articles.

    General usage is the same for every store and every day, so that an archive read within an hour
    and a month of daily crawls give the same weights. What a store is full of (a country of which
    all speak this week) tells no story from another: a small part of a share is its share of the
    articles of the weeks before, the more of them there are.
    """

    def __init__(self) -> None:
        self._weeks = _Fading(WEEKS_HALF_LIFE_DAYS, np.zeros(DIMENSIONS, np.float32))
        self.minute: MinuteCounts | None = None
        """What was counted last; None where that was taken back."""
        self._before: tuple[NDArray[np.float32], float] | None = None

    def count(self, minute: MinuteCounts) -> None:
        """Count the articles of one minute."""
        self.minute = minute
        weeks = self._weeks
        weeks.move_to(minute.time)
        self._before = (weeks.counts[minute.ids], weeks.articles)
        weeks.counts[minute.ids] += (minute.times * weeks.unit).astype(np.float32)
        weeks.articles += minute.articles * weeks.unit

    def forget_minute(self) -> None:
        """Take back what :meth:`count` counted last."""
        if self.minute is not None and self._before is not None:
            self._weeks.counts[self.minute.ids], self._weeks.articles = self._before
            self.minute = None

    def weights(self, ids: Ids, counts: Counts) -> NDArray[np.float32]:
        """The weight of each term of an article, at least 0."""
        weeks = self._weeks
        articles = weeks.articles / weeks.unit
        own = _OWN_PART * articles / (articles + _FEW_ARTICLES)
        share = (1 - own) * usual_shares()[ids]
        if articles:
            share += own * (weeks.counts[ids] / weeks.unit) / articles
        rarity = -np.log(np.minimum(share, 1.0))
        weights: NDArray[np.float32] = ((1.0 + np.log(counts)) * rarity).astype(np.float32)
        return weights

    def to_state(self) -> dict[str, NDArray[np.float64] | NDArray[np.float32] | Ids]:
        """All it knows, as small arrays by name."""
        weeks = self._weeks
        ids = np.flatnonzero(weeks.counts).astype(np.int32)
        return {
            "weeks_ids": ids,
            "weeks_counts": weeks.counts[ids],
            "weeks_scale": np.array([weeks.articles, weeks.unit, weeks.time]),
        }

    @classmethod
    def from_state(cls, arrays: dict[str, NDArray[np.float64]]) -> Background:
        """What :meth:`to_state` gave."""
        background = cls()
        weeks = background._weeks
        weeks.counts[arrays["weeks_ids"]] = arrays["weeks_counts"]
        weeks.articles, weeks.unit, weeks.time = map(float, arrays["weeks_scale"])
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
# Where something happened does not tell what: much else happens there.
_PLACE_WEIGHT = 0.6


class VoiceReader:
    """Makes voices of articles.

    Args:
        background: how common terms are.
        words: the terms of topics, which are kept whole and weigh little.
    """

    def __init__(self, background: Background, words: Sequence[str] = ()) -> None:
        self.background = background
        self._reader = TermReader(words)
        # By number: how much each term counts.
        self._shares = np.ones(DIMENSIONS, np.float32)
        topical = [id_ for word in words for id_ in term_ids(word)]
        self._shares[np.array(topical, np.int32)] = _TOPICAL_WEIGHT

    def read(self, items: Sequence[Item], time: float) -> list[Voice]:
        """The voices of the articles of one minute, which are counted first.

        Args:
            time: of the minute, in epoch seconds.
        """
        read = [item.terms or self.terms(item) for item in items]
        self.background.count(counts_of([terms.ids for terms in read], time))
        return [self.voice(item, terms) for item, terms in zip(items, read, strict=True)]

    def terms(self, item: Item) -> Terms:
        """What an article says, without counting it."""
        return self._reader.terms(item.title, item.body)

    def voice(self, item: Item, terms: Terms) -> Voice:
        """The voice of an article that says *terms*, by what is common now."""
        weights = self.background.weights(terms.ids, terms.counts)
        weights *= self._shares[terms.ids]
        if len(terms.places):
            at = np.searchsorted(terms.ids, terms.places)
            at[at == len(terms.ids)] = 0
            weights[at[terms.ids[at] == terms.places]] *= _PLACE_WEIGHT
        length = float(np.linalg.norm(weights)) / _USUAL_LENGTH
        if not length:
            empty = Vector(terms.ids[:0], np.zeros(0, np.int64))
            return Voice(item.key, item.published, empty, marks=terms.marks)
        stretch = min(length, _MOST_LENGTH) ** _LENGTH_EXPONENT / (length * _USUAL_LENGTH)
        values = np.rint(weights.astype(np.float64) * stretch * SCALE).astype(np.int64)
        vector = Vector(terms.ids, values).top(KEPT_TERMS)
        heaviest = vector.ids[np.argsort(-vector.values, kind="stable")].tolist()
        words = [terms.words[number] for number in heaviest if number in terms.words]
        return Voice(
            item.key,
            item.published,
            vector,
            tuple(words[:_KEPT_WORDS]),
            marks=terms.marks,
            is_round_up=terms.is_round_up,
        )
