"""The failure policy as a table: what failed, how often, what becomes of the URL."""

import pytest

from qiaocrawl.fetch.failure_policy import (
    Close,
    FailureKind,
    FailurePolicy,
    FetchFailure,
    Release,
    Retry,
)
from qiaocrawl.items import Outcome

POLICY = FailurePolicy(max_failures=3, first_pause_seconds=2.0)


@pytest.mark.parametrize(("kind", "outcome"), [
    (FailureKind.ADDRESS_REFUSED, Outcome.REFUSED),
    (FailureKind.TRAP, Outcome.TRAP),
    (FailureKind.LOGIN, Outcome.LOGIN),
    (FailureKind.ROBOTS, Outcome.ROBOTS),
    (FailureKind.TOO_LARGE, Outcome.TOO_LARGE),
])  # fmt: skip
def test_what_no_try_can_change_is_closed_at_once(kind: FailureKind, outcome: Outcome) -> None:
    assert POLICY.decide(FetchFailure(kind, "why"), failures=0) == Close(outcome, "why")


@pytest.mark.parametrize(("kind", "failures", "waits", "decision"), [
    (FailureKind.NO_PAGE, 0, 0, Retry("why", 2.0)),
    (FailureKind.NO_PAGE, 1, 0, Retry("why", 8.0)),
    (FailureKind.NO_PAGE, 2, 0, Close(Outcome.UNREACHABLE, "why")),
    (FailureKind.NO_PAGE, 7, 0, Close(Outcome.UNREACHABLE, "why")),
    (FailureKind.INTERNAL, 1, 0, Retry("why", 8.0)),
    (FailureKind.INTERNAL, 2, 0, Close(Outcome.POISON, "why")),
    (FailureKind.BLOCKED, 1, 0, Retry("why", 8.0)),
    (FailureKind.BLOCKED, 2, 0, Close(Outcome.BLOCKED, "why")),
    (FailureKind.BUSY, 0, 0, Release("why")),
    (FailureKind.BUSY, 2, 2, Release("why")),
    (FailureKind.BUSY, 0, 3, Retry("why", 2.0)),
    (FailureKind.BUSY, 2, 3, Close(Outcome.UNREACHABLE, "why")),
    (FailureKind.CANNOT_ASK, 0, 0, Release("why")),
    (FailureKind.CANNOT_ASK, 9, 9, Release("why")),
])  # fmt: skip
def test_tries_and_waits_are_counted(
    kind: FailureKind, failures: int, waits: int, decision: Retry | Release | Close
) -> None:
    failure = FetchFailure(kind, "why")
    assert POLICY.decide(failure, failures=failures, waits=waits) == decision


@pytest.mark.parametrize(("failures", "decision"), [
    (0, Release("until the next run")),
    (2, Close(Outcome.BLOCKED, "captcha")),
])  # fmt: skip
def test_urls_of_a_host_given_up_wait_for_the_next_run(
    failures: int, decision: Release | Close
) -> None:
    failure = FetchFailure(
        FailureKind.BLOCKED, "captcha", host_given_up=True, wait_reason="until the next run"
    )
    assert POLICY.decide(failure, failures=failures) == decision


@pytest.mark.parametrize(("asked", "pause"), [(5.0, 8.0), (60.0, 60.0)])
def test_no_url_is_due_before_its_host(asked: float, pause: float) -> None:
    failure = FetchFailure(FailureKind.BLOCKED, "captcha", pause_seconds=asked)
    assert POLICY.decide(failure, failures=1) == Retry("captcha", pause)


def test_a_busy_host_says_what_its_urls_wait_for() -> None:
    failure = FetchFailure(FailureKind.BUSY, "HTTP 503", wait_reason="until noon: HTTP 503")
    assert POLICY.decide(failure, failures=0) == Release("until noon: HTTP 503")
    assert POLICY.decide(failure, failures=0, waits=3) == Retry("HTTP 503", 2.0)


@pytest.mark.parametrize("kind", FailureKind)
def test_no_failure_is_tried_for_ever(kind: FailureKind) -> None:
    decision = POLICY.decide(FetchFailure(kind, "why"), failures=99, waits=99)
    assert isinstance(decision, Release if kind is FailureKind.CANNOT_ASK else Close)


def test_pauses_and_deaths_have_an_end() -> None:
    assert POLICY.longest_pause_seconds == 32.0
    assert FailurePolicy(5, 2.0).longest_pause_seconds == 512.0
    assert [POLICY.is_poison(deaths) for deaths in (0, 2, 3)] == [False, False, True]
