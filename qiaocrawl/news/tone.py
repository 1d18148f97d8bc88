"""The tone of a text: a record, and shares of many with their uncertainty."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import sqrt
from typing import Literal

Label = Literal["negative", "positive", "neutral", "unsure"]

LABELS: tuple[Label, ...] = ("negative", "positive", "neutral")
"""What a model tells apart; ``unsure`` is for what it is not certain enough of."""

_DEVIATIONS = 1.96
"""Of a normal distribution, for a range that holds the truth nineteen times of twenty."""


@dataclass(frozen=True, slots=True)
class Tone:
    """How a text judges.

    Args:
        label: the likeliest tone, or ``unsure``.
        probabilities: of ``LABELS``, in their order; 0 for a label the model does not know.
        words: those that told most for or against, with how much they tell for the likeliest tone.
    """

    label: Label
    probabilities: tuple[float, float, float]
    words: tuple[tuple[str, float], ...] = ()

    @property
    def certainty(self) -> float:
        """The probability of the likeliest tone."""
        return max(self.probabilities)


@dataclass(frozen=True, slots=True)
class Share:
    """How many of several texts have a tone, and between which shares the truth may lie."""

    label: Label
    count: int
    share: float
    low: float
    high: float


def tone_shares(tones: Iterable[Tone]) -> tuple[Share, ...]:
    """The share of every label, ``unsure`` last, with Wilson's 95 % range.

    >>> tone_shares([Tone("positive", (0.1, 0.9, 0.0))])[1].share
    1.0
    """
    counts = Counter(tone.label for tone in tones)
    total = counts.total()
    labels: tuple[Label, ...] = (*LABELS, "unsure")
    return tuple(_share(label, counts[label], total) for label in labels)


def _share(label: Label, count: int, total: int) -> Share:
    if not total:
        return Share(label, 0, 0.0, 0.0, 1.0)
    share, spread = count / total, _DEVIATIONS**2 / total
    middle = (share + spread / 2) / (1 + spread)
    half = _DEVIATIONS * sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    return Share(label, count, share, max(0.0, middle - half), min(1.0, middle + half))


# --- Words that judge, counted with what turns them round -----------------------------------------

# So many words before a judging one a negation reaches it.
_REACH = 3
_ENDS = frozenset("，。！？；、,.!?;\n")


@dataclass(frozen=True, slots=True)
class PolarityWords:
    """Words that judge, and those that change their sense."""

    positive: frozenset[str]
    negative: frozenset[str]
    negations: frozenset[str]
    stronger: frozenset[str]
    weaker: frozenset[str]
    turns: frozenset[str]


@cache
def polarity_words() -> PolarityWords:
    """Those that come along."""
    file = resources.files(__package__).joinpath("data", "polarity.toml")
    lists = tomllib.loads(file.read_text(encoding="utf-8"))
    return PolarityWords(**{name: frozenset(words.split()) for name, words in lists.items()})


def judgements(words: Sequence[str]) -> list[float]:
    """Of every word how it judges: above 0 well, below 0 badly, 0 not at all.

    >>> judgements(["服务", "不", "好"])
    [0.0, 0.0, -1.0]
    """
    known = polarity_words()
    values = []
    for at, word in enumerate(words):
        value = float(word in known.positive) - float(word in known.negative)
        if value:
            for before in reversed(words[max(0, at - _REACH) : at]):
                if before in _ENDS:
                    break
                if before in known.negations:
                    value = -value
                elif before in known.stronger:
                    value *= 1.5
                elif before in known.weaker:
                    value *= 0.5
        values.append(value)
    return values
