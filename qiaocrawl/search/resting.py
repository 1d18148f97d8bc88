"""Leaving an engine alone that gives no answers: longer each time, then for the whole run.

An engine that wants a human goes on wanting one; asking it again and again makes it worse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from qiaocrawl.backoff import backoff_seconds
from qiaocrawl.items import AnswerState

MOST_SECONDS = 3_600.0
"""The longest rest within one run."""


class Sign(StrEnum):
    """What one answer says about its engine."""

    ANSWERS = "answers"
    REFUSES = "refuses"
    SAYS_NOTHING = "says nothing"


@dataclass(frozen=True, slots=True)
class Rest:
    """How long an engine is left alone after an answer; ``parked``: for the rest of the run."""

    seconds: float = 0.0
    parked: bool = False


def sign_of(state: AnswerState, *, came_back: bool) -> Sign:
    """What an answer of *state* says about the engine.

    Args:
        came_back: a result page or list came, with a status of success: an error then may lie
            in the question (an interface that found nothing and is not sure).
    """
    if state in (AnswerState.HIT, AnswerState.EMPTY):
        return Sign.ANSWERS
    if state is AnswerState.ERROR and came_back:
        return Sign.SAYS_NOTHING
    return Sign.REFUSES


@dataclass
class EngineRests:
    """Which engines rest in this run.

    Args:
        park_after: refusals in a row after which an engine is asked nothing more; 0 = never.
        first_seconds: rest after the first of them; each further one is four times as long,
            an hour at most. What the engine itself asks for (Retry-After) is kept where it is
            longer.
    """

    park_after: int
    first_seconds: float
    _refusals: dict[str, int] = field(default_factory=dict)
    _parked: set[str] = field(default_factory=set)

    def note(self, engine: str, sign: Sign, asked_seconds: float = 0.0) -> Rest:
        """Count one answer of *engine* that asks to wait *asked_seconds*."""
        if sign is Sign.ANSWERS:
            self._refusals.pop(engine, None)
            return Rest()
        if sign is Sign.SAYS_NOTHING:
            return Rest(asked_seconds)
        refusals = self._refusals[engine] = self._refusals.get(engine, 0) + 1
        if self.park_after and refusals >= self.park_after:
            self._parked.add(engine)
        growing = min(backoff_seconds(min(refusals, 20), self.first_seconds), MOST_SECONDS)
        return Rest(max(growing, asked_seconds), engine in self._parked)

    def is_parked(self, engine: str) -> bool:
        """Whether *engine* is asked nothing more in this run."""
        return engine in self._parked

    @property
    def refusals(self) -> Mapping[str, int]:
        """Refusals in a row by engine, of engines that refuse now."""
        return dict(self._refusals)
