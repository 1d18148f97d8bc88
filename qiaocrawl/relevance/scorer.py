"""The contract of a page scorer, and the registry of all scorers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText, Relevance
from qiaocrawl.registry import Registry
from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.topic.pack import TopicPack

MAX_EXPLAINED = 8
"""Words that explain one judgement, at most."""


class PageScorer(Protocol):
    """Judges pages for one topic. Holds no state between pages.

    Ours have an attribute ``threshold``, the score from which a page is on topic, which
    ``qiaocrawl topic evaluate`` shows. A plug-in may have one.
    """

    def judge(self, page: PageText) -> Relevance:
        """The topic's judgement of a page; the empty one scores 0."""
        ...


class ScorerFactory(Protocol):
    """What is registered: a class called once per process and topic."""

    def __call__(self, pack: TopicPack, threshold: float = 0.0) -> PageScorer:
        """A scorer for *pack*; *threshold* 0 takes the method's own (of ``vsm``: the pack's)."""
        ...


page_scorers: Registry[ScorerFactory] = Registry(
    "page scorer", "qiaocrawl.relevance", "qiaocrawl.page_scorers"
)


def chosen_threshold(given: float, own: float) -> float:
    """The threshold to judge by: *given*, or the method's *own* where that is 0.

    Raises:
        ConfigError: *given* does not lie in [0, 1].
    """
    if not 0 <= given <= 1:
        raise ConfigError(f"relevance threshold must lie in [0, 1], got {given!r}")
    return given or own


def explained(parts: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """The words that contributed most, with their share of all above 0, largest first."""
    given = {word: part for word, part in parts.items() if part > 0}
    whole = math.fsum(given.values())
    best = sorted(given.items(), key=lambda part: (-part[1], part[0]))[:MAX_EXPLAINED]
    return tuple((word, round(float(part / whole), 4)) for word, part in best)


def judgement(
    topic: str, method: str, score: float, threshold: float,
    parts: Mapping[str, float], places: PagePlaces,
) -> Relevance:  # fmt: skip
    """What a scorer says of a page: on topic from *threshold* on, with the words that gave most.

    Args:
        topic, method: names.
        score: in [0, 1]; 0 is never on topic.
        threshold: in [0, 1].
        parts: what each word of the page gave.
        places: where the page's words stand.
    """
    terms = explained(parts)
    return Relevance(
        topic=topic,
        score=score,
        relevant=score > 0 and score >= threshold,
        method=method,
        terms=terms,
        places=places.where(word for word, _ in terms),
    )
