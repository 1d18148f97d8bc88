"""Leaving an engine alone that gives no answers: longer each time, then for the whole run.

An engine that wants a human goes on wanting one; asking it again and again makes it worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from qiaocrawl.fetch.backoff import backoff_seconds
from qiaocrawl.search.query import WITH_HITS, AnswerState, SearchAnswer

MOST_SECONDS = 3_600.0
"""The longest rest within one run."""

BARREN_TIMES = 10
"""An engine that asks others is parked after so many times as many answers in a row in which some
of them fail, none brings a hit, and no other is known to answer (ours): true zeros beside a
failing one look the same, and it spares those that fail by itself."""


class Sign(StrEnum):
    """What one answer says about its engine."""

    ANSWERS = "answers"
    REFUSES = "refuses"
    SAYS_NOTHING = "says nothing"
    OTHERS_FAIL = "others fail"
    """Engines behind it did not answer; whether others did is not said."""


@dataclass(frozen=True, slots=True)
class Rest:
    """How long an engine is left alone after an answer; ``parked``: for the rest of the run."""

    seconds: float = 0.0
    parked: bool = False


def sign_of(answer: SearchAnswer, *, came_back: bool, asks_others: bool = False) -> Sign:
    """What *answer* says about the engine.

    Args:
        came_back: a result page or list came, with a status of success: an error then may lie
            in the question.
        asks_others: the engine has no hits of its own: what they are is the others' doing.
    """
    state = answer.state
    if state in WITH_HITS or state is AnswerState.EMPTY:
        return Sign.ANSWERS
    if not came_back:
        return Sign.REFUSES
    if answer.failed:
        return Sign.OTHERS_FAIL
    says_nothing = state in (AnswerState.ERROR, AnswerState.UNKNOWN)
    if says_nothing or (asks_others and state is AnswerState.DECOY):
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
    _barren: dict[str, int] = field(default_factory=dict)
    _answering: dict[str, set[str]] = field(default_factory=dict)

    def note(
        self, engine: str, sign: Sign, asked_seconds: float = 0.0,
        answer: SearchAnswer | None = None,
    ) -> Rest:  # fmt: skip
        """Count one answer of *engine* that asks to wait *asked_seconds*."""
        if sign is Sign.OTHERS_FAIL and answer is not None:
            return self._others_fail(engine, dict(answer.failed), asked_seconds)
        if sign is not Sign.REFUSES:
            self._barren.pop(engine, None)
        if sign is Sign.ANSWERS:
            self._refusals.pop(engine, None)
            self._answering.setdefault(engine, set()).update(answer.answered_by if answer else ())
            return Rest()
        if sign is Sign.SAYS_NOTHING:
            return Rest(asked_seconds)
        refusals = self._refusals[engine] = self._refusals.get(engine, 0) + 1
        if self.park_after and refusals >= self.park_after:
            self._parked.add(engine)
        growing = min(backoff_seconds(min(refusals, 20), self.first_seconds), MOST_SECONDS)
        return Rest(max(growing, asked_seconds), engine in self._parked)

    def _others_fail(self, engine: str, failed: Iterable[str], asked_seconds: float) -> Rest:
        if not self._answering.get(engine, set()).difference(failed):
            barren = self._barren[engine] = self._barren.get(engine, 0) + 1
            if self.park_after and barren >= self.park_after * BARREN_TIMES:
                self._parked.add(engine)
        return Rest(asked_seconds, engine in self._parked)

    def is_parked(self, engine: str) -> bool:
        """Whether *engine* is asked nothing more in this run."""
        return engine in self._parked

    @property
    def refusals(self) -> Mapping[str, int]:
        """Refusals in a row by engine, of engines that refuse now."""
        return dict(self._refusals)
