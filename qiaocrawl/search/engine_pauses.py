"""Pauses for an engine that gives no answers: longer each time, then for the rest of the run.

An engine that asks for a captcha goes on asking for one; more requests only make it worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from qiaocrawl.fetch.backoff import backoff_seconds
from qiaocrawl.search.query import WITH_HITS, AnswerState, SearchAnswer

MOST_SECONDS = 3_600.0
"""The longest rest within one run."""

FRUITLESS_TIMES = 10
"""A metasearch engine is parked after so many times as many answers in a row in which some
of its engines fail, none brings a hit, and no other is known to answer (ours): true zeros beside a
failing one look the same, and it spares those that fail by itself."""


class EngineResponse(StrEnum):
    """How an engine responded, whatever the answer lists."""

    ANSWERS = "answers"
    REFUSES = "refuses"
    SAYS_NOTHING = "says nothing"
    OTHERS_FAIL = "others fail"
    """Engines behind it did not answer; whether others did is not said."""


@dataclass(frozen=True, slots=True)
class Pause:
    """How long an engine gets no request; ``parked``: for the rest of the run."""

    seconds: float = 0.0
    parked: bool = False


def engine_response(
    answer: SearchAnswer, *, came_back: bool, asks_others: bool = False
) -> EngineResponse:
    """What *answer* says about the engine.

    Args:
        came_back: a result page or list came, with a status of success: an error then may lie
            in the query.
        asks_others: a metasearch engine: its hits come from the engines behind it.
    """
    state = answer.state
    if state in WITH_HITS or state is AnswerState.EMPTY:
        return EngineResponse.ANSWERS
    # No page came, or one without success: the query is not to blame.
    if not came_back:
        return EngineResponse.REFUSES
    if answer.failed:
        return EngineResponse.OTHERS_FAIL
    says_nothing = state in (AnswerState.ERROR, AnswerState.UNKNOWN)
    # An engine that asks others may pass on a decoy of theirs.
    if says_nothing or (asks_others and state is AnswerState.DECOY):
        return EngineResponse.SAYS_NOTHING
    return EngineResponse.REFUSES


@dataclass
class EnginePauses:
    """Which engines pause in this run.

    Args:
        park_after: refusals in a row after which an engine is asked nothing more; 0 = never.
        first_seconds: pause after the first of them; each further one is four times as long, an
            hour at most. A longer pause that the engine asks for (Retry-After) is kept.
    """

    park_after: int
    first_seconds: float
    _refusals: dict[str, int] = field(default_factory=dict)
    _parked: set[str] = field(default_factory=set)
    _fruitless: dict[str, int] = field(default_factory=dict)
    _answering: dict[str, set[str]] = field(default_factory=dict)

    def note(
        self, engine: str, sign: EngineResponse, asked_seconds: float = 0.0,
        answer: SearchAnswer | None = None,
    ) -> Pause:  # fmt: skip
        """Count one answer of *engine* that asks to wait *asked_seconds*."""
        if sign is EngineResponse.OTHERS_FAIL and answer is not None:
            return self._upstreams_failed(engine, dict(answer.failed), asked_seconds)
        # Fruitless answers count in a row.
        if sign is not EngineResponse.REFUSES:
            self._fruitless.pop(engine, None)
        if sign is EngineResponse.ANSWERS:
            self._refusals.pop(engine, None)
            self._answering.setdefault(engine, set()).update(answer.answered_by if answer else ())
            return Pause()
        if sign is EngineResponse.SAYS_NOTHING:
            return Pause(asked_seconds)
        refusals = self._refusals[engine] = self._refusals.get(engine, 0) + 1
        if self.park_after and refusals >= self.park_after:
            self._parked.add(engine)
        # min(): 4 to the power of a large count overflows a float.
        growing = min(backoff_seconds(min(refusals, 20), self.first_seconds), MOST_SECONDS)
        return Pause(max(growing, asked_seconds), engine in self._parked)

    def _upstreams_failed(self, engine: str, failed: Iterable[str], asked_seconds: float) -> Pause:
        # An empty list may be true as long as one upstream is known to answer.
        if not self._answering.get(engine, set()).difference(failed):
            # Nobody behind it is known to answer, or all that are have failed.
            fruitless = self._fruitless[engine] = self._fruitless.get(engine, 0) + 1
            if self.park_after and fruitless >= self.park_after * FRUITLESS_TIMES:
                self._parked.add(engine)
        return Pause(asked_seconds, engine in self._parked)

    def is_parked(self, engine: str) -> bool:
        """Whether *engine* gets no more requests in this run."""
        return engine in self._parked

    @property
    def refusals(self) -> Mapping[str, int]:
        """Refusals in a row by engine, of engines that refuse now."""
        return dict(self._refusals)
