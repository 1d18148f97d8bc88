"""What becomes of a URL that brought no page: another try, a wait without blame, or its end.

Pure: the caller says what failed, :meth:`FailurePolicy.decide` says what to do, and the caller
does it. How a host fares is decided in :mod:`qiaocrawl.fetch.host_health`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from qiaocrawl.fetch.backoff import backoff_seconds
from qiaocrawl.items import Outcome

# Times a URL waits for a busy host before it fails. With the default pauses (2, 8, 32 s, then three
# counted tries) a host that stays away is given up after two minutes.
_PATIENCE = 3
# The third pause of a host is its longest.
_HOST_PAUSES = 3


class FailureKind(StrEnum):
    """What failed."""

    NO_PAGE = "no page"  # no answer, an error of the server, a redirect to itself
    INTERNAL = "internal"  # our own work on the page
    BLOCKED = "blocked"
    BUSY = "busy"  # the host asks to wait
    CANNOT_ASK = "cannot ask"  # the host rests, or there is no proxy or account for it
    ADDRESS_REFUSED = "address refused"
    TRAP = "trap"
    LOGIN = "login"
    ROBOTS = "robots"
    TOO_LARGE = "too large"


# Another try would end the same way.
_CLOSED_AT_ONCE: Mapping[FailureKind, Outcome] = {
    FailureKind.ADDRESS_REFUSED: Outcome.REFUSED,
    FailureKind.TRAP: Outcome.TRAP,
    FailureKind.LOGIN: Outcome.LOGIN,
    FailureKind.ROBOTS: Outcome.ROBOTS,
    FailureKind.TOO_LARGE: Outcome.TOO_LARGE,
}
_GIVEN_UP_AS: Mapping[FailureKind, Outcome] = {
    FailureKind.NO_PAGE: Outcome.UNREACHABLE,
    FailureKind.BUSY: Outcome.UNREACHABLE,
    FailureKind.BLOCKED: Outcome.BLOCKED,
    FailureKind.INTERNAL: Outcome.POISON,
}


@dataclass(frozen=True, slots=True)
class FetchFailure:
    """Why a fetch brought no page.

    Attributes:
        pause_seconds: the host is left alone so long, so the URL waits as long at least.
        host_given_up: the host is asked nothing more in this run.
        wait_reason: what a URL that is only put back waits for; "" for ``reason``.
        is_refusal: an answer refused us: given up, the URL is blocked, whatever failed.
    """

    kind: FailureKind
    reason: str
    pause_seconds: float = 0.0
    host_given_up: bool = False
    wait_reason: str = ""
    is_refusal: bool = False


@dataclass(frozen=True, slots=True)
class Retry:
    """The failure counts; the URL is due again after the pause."""

    reason: str
    pause_seconds: float


@dataclass(frozen=True, slots=True)
class Release:
    """The URL waits again, and no failure is counted."""

    reason: str


@dataclass(frozen=True, slots=True)
class Close:
    """The URL is done with; POISON sets it aside."""

    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class FailurePolicy:
    """How often and how soon a URL is tried again.

    Attributes:
        max_failures: with so many it is given up.
        first_pause_seconds: after the first failure; each further pause is four times as long.
    """

    max_failures: int
    first_pause_seconds: float

    @classmethod
    def of(cls, options: Mapping[str, float]) -> FailurePolicy:
        """The policy these options ask for."""
        return cls(
            int(options["QIAO_FRONTIER_MAX_FAILURES"]), options["QIAO_FRONTIER_RETRY_SECONDS"]
        )

    def decide(
        self, failure: FetchFailure, *, failures: int, waits: int = 0
    ) -> Retry | Release | Close:
        """What becomes of the URL.

        Args:
            failures: counted against it before this one.
            waits: how often it was put back before because its host was busy.
        """
        kind, reason = failure.kind, failure.reason
        if kind in _CLOSED_AT_ONCE:
            return Close(_CLOSED_AT_ONCE[kind], reason)
        is_patient = kind is FailureKind.BUSY and waits < _PATIENCE
        # CANNOT_ASK has no limit: the wait is for the host, not the URL, and ends by itself.
        if kind is FailureKind.CANNOT_ASK or is_patient:
            return Release(failure.wait_reason or reason)
        # Before host_given_up: a URL that has used up its tries is not kept for another run.
        if failures + 1 >= self.max_failures:
            outcome = Outcome.BLOCKED if failure.is_refusal else _GIVEN_UP_AS[kind]
            return Close(outcome, reason)
        if failure.host_given_up:
            return Release(failure.wait_reason or reason)
        pause = backoff_seconds(failures + 1, self.first_pause_seconds)
        return Retry(reason, max(pause, failure.pause_seconds))

    def is_poison(self, deaths: int) -> bool:
        """Whether a page is set aside after a worker has died alone with it so often."""
        return deaths >= self.max_failures

    @property
    def longest_pause_seconds(self) -> float:
        """The longest pause of a URL or of its host."""
        # Of the URL or of the host, whichever lasts longer.
        return backoff_seconds(max(self.max_failures, _HOST_PAUSES), self.first_pause_seconds)
