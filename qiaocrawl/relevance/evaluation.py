"""How right judgements of labelled titles are: rates with error bars, groups, thresholds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from qiaocrawl.items import Relevance
from qiaocrawl.topic.tree import GoldenTitle, is_held_out

_NORMAL_95 = 1.959963984540054
_DRAWS = 10_000
_SEED = 20_260_101
NEIGHBOURS = (0.6, 0.8, 1.0, 1.2, 1.4)
"""The thresholds of :func:`at_thresholds`, as multiples of the one in use."""


@dataclass(frozen=True, slots=True)
class JudgedTitle:
    """A golden title and what a scorer says of it."""

    golden: GoldenTitle
    judgement: Relevance

    @property
    def right(self) -> bool:
        """Whether the scorer says what is true."""
        return self.judgement.relevant == self.golden.relevant


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate in [0, 1] with its 95 % interval; 0 in [0, 1] where nothing counts."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Counts:
    """Titles judged on topic rightly and wrongly, missed, and left out rightly."""

    hits: int
    false_hits: int
    misses: int
    rejections: int

    @property
    def total(self) -> int:
        """All titles."""
        return self.hits + self.false_hits + self.misses + self.rejections

    @property
    def precision(self) -> Rate:
        """The share of what is judged on topic that is; Wilson's interval."""
        return wilson(self.hits, self.hits + self.false_hits)

    @property
    def recall(self) -> Rate:
        """The share of what is on topic that is judged so; Wilson's interval."""
        return wilson(self.hits, self.hits + self.misses)

    @property
    def f1(self) -> Rate:
        """Harmonic mean of both; percentile bootstrap over titles, the same at every call."""
        if not self.total:
            return Rate(0.0, 0.0, 1.0)
        shares = np.array([self.hits, self.false_hits, self.misses, self.rejections]) / self.total
        # Titles drawn with replacement: how many of each of the four kinds is multinomial.
        draws = np.random.default_rng(_SEED).multinomial(self.total, shares, size=_DRAWS)
        hits, false_hits, misses = draws[:, 0], draws[:, 1], draws[:, 2]
        drawn = 2 * hits / np.maximum(2 * hits + false_hits + misses, 1)
        low, high = np.percentile(drawn, (2.5, 97.5))
        whole = 2 * self.hits + self.false_hits + self.misses
        return Rate(2 * self.hits / whole if whole else 0.0, float(low), float(high))


def wilson(count: int, total: int) -> Rate:
    """The share *count* of *total* with Wilson's score interval of 95 %."""
    if not total:
        return Rate(0.0, 0.0, 1.0)
    share, square = count / total, _NORMAL_95**2
    centre = share + square / (2 * total)
    spread = _NORMAL_95 * math.sqrt(share * (1 - share) / total + square / (4 * total**2))
    scale = 1 + square / total
    # Rounding may put an end a hair outside the share itself.
    low, high = max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
    return Rate(share, min(low, share), max(high, share))


def counts(
    titles: Iterable[JudgedTitle], says_yes: Callable[[JudgedTitle], bool] | None = None
) -> Counts:
    """How often each of the four cases comes up among *titles*.

    Args:
        says_yes: who decides instead of the judgements themselves.
    """
    cells = {(answer, truth): 0 for answer in (True, False) for truth in (True, False)}
    for title in titles:
        answer = says_yes(title) if says_yes else title.judgement.relevant
        cells[answer, title.golden.relevant] += 1
    return Counts(cells[True, True], cells[True, False], cells[False, True], cells[False, False])


def halves(titles: Sequence[JudgedTitle]) -> tuple[list[JudgedTitle], list[JudgedTitle]]:
    """The titles by which a pack may be tuned, and those held out."""
    by_half: tuple[list[JudgedTitle], list[JudgedTitle]] = ([], [])
    for title in titles:
        by_half[is_held_out(title.golden.title)].append(title)
    return by_half


def by_group(titles: Iterable[JudgedTitle]) -> dict[str, list[JudgedTitle]]:
    """The titles of each group, in the order of the golden set."""
    groups: dict[str, list[JudgedTitle]] = {}
    for title in titles:
        groups.setdefault(title.golden.group, []).append(title)
    return groups


def at_thresholds(titles: Sequence[JudgedTitle], threshold: float) -> list[tuple[float, Counts]]:
    """What thresholds around *threshold*, up to 1, would give; a score of 0 is never on topic."""

    def at(limit: float) -> Counts:
        return counts(titles, lambda title: 0 < title.judgement.score >= limit)

    limits = sorted({min(1.0, threshold * factor) for factor in NEIGHBOURS})
    return [(limit, at(limit)) for limit in limits]
