"""How much more often a term stands in a corpus than in Chinese at large."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Background:
    """How often terms stand in general text of *size* words; what it does not know stands never."""

    frequencies: Mapping[str, int]
    size: int


def log_likelihood(frequency: int, size: int, background: int, background_size: int) -> float:
    """Signed log-likelihood ratio G² of two frequencies (Dunning 1993; Rayson and Garside 2000).

    Args:
        frequency, size: of the term in the corpus, and the corpus's words.
        background, background_size: the same of the background.

    Returns:
        2 · Σ observed · ln(observed / expected); below 0 where the term is rarer than usual.
        6.63 is p < .01 for one term.

    >>> round(log_likelihood(20, 1000, 10, 10000), 1)
    67.5
    """
    share = (frequency + background) / (size + background_size)
    expected, expected_background = size * share, background_size * share
    value = 2 * (_part(frequency, expected) + _part(background, expected_background))
    return value if frequency >= expected else -value


def log_odds(frequency: float, size: float, background: int, background_size: int) -> float:
    """Weighted log-odds with an informative prior (Monroe, Colaresi and Quinn 2008), as z.

    The background is the prior alone, as heavy as the corpus itself **(ours)**: as a second corpus
    beside the prior it would give a term that it does not know a variance so large that new words,
    which a lexicon is built for, came last. Such a term counts as half a one.

    Returns:
        (ln odds with the corpus − ln odds of the prior) / standard deviation.
    """
    prior = size * max(background, 0.5) / background_size
    odds = (frequency + prior) / max(2 * size - frequency - prior, 1.0)
    prior_odds = prior / max(size - prior, 1.0)
    return (math.log(odds) - math.log(prior_odds)) * math.sqrt(frequency + prior)


def dispersion(counts: Mapping[str, int], sizes: Mapping[str, int]) -> float:
    """How unevenly a term is spread over the parts of a corpus (Gries 2008, DP normalised).

    Args:
        counts: of the term in each part that has it.
        sizes: words of every part.

    Returns:
        0 where every part has its share, 1 where the smallest part has all; 0 for one part alone.

    >>> dispersion({"a": 5, "b": 5}, {"a": 100, "b": 100})
    0.0
    """
    total, size = sum(counts.values()), sum(sizes.values())
    if len(sizes) < 2 or not total:
        return 0.0
    apart = sum(abs(counts.get(part, 0) / total - own / size) for part, own in sizes.items()) / 2
    return min(1.0, apart / (1 - min(sizes.values()) / size))


def _part(observed: float, expected: float) -> float:
    return observed * math.log(observed / expected) if observed else 0.0
