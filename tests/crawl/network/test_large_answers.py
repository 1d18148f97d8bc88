"""A few large answers are read at once; small ones never wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import wraps

import pytest

from qiaocrawl.crawl.network.http_limits import FREE_BYTES, PLACES, LargeAnswers


class Connection:
    """What is asked of a connection's reading."""

    def __init__(self) -> None:
        self.is_read = True

    def pauseProducing(self) -> None:
        self.is_read = False

    def resumeProducing(self) -> None:
        self.is_read = True


def in_loop(test: Callable[[], None]) -> Callable[[], None]:
    """Runs *test* where timers can be set."""

    @wraps(test)
    def run() -> None:
        async def body() -> None:
            test()

        asyncio.run(body())

    return run


def grown(answers: LargeAnswers, count: int) -> list[Connection]:
    """*count* connections, each a byte beyond what is free."""
    connections = [Connection() for _ in range(count)]
    for connection in connections:
        answers.note_received(connection, 1, FREE_BYTES + 1)
    return connections


@in_loop
def test_small_answers_are_read_while_large_ones_wait() -> None:
    answers = LargeAnswers()
    large = grown(answers, PLACES + 3)
    small = Connection()
    answers.note_received(small, FREE_BYTES, FREE_BYTES)
    assert small.is_read
    assert [one.is_read for one in large] == [True] * PLACES + [False] * 3


@in_loop
def test_who_waits_comes_next_in_order_whatever_ends() -> None:
    answers = LargeAnswers()
    first, second, *others = grown(answers, PLACES + 3)
    waiting = others[PLACES - 2 :]
    answers.note_end(first)
    assert [one.is_read for one in waiting] == [True, False, False]
    answers.note_end(waiting[1])
    answers.note_end(second)
    assert [one.is_read for one in waiting] == [True, False, True]


@in_loop
def test_the_end_of_a_small_answer_gives_no_place_away() -> None:
    answers = LargeAnswers()
    *_, last = grown(answers, PLACES + 1)
    small = Connection()
    answers.note_received(small, 10, 10)
    answers.note_end(small)
    assert not last.is_read


def test_a_flood_is_paused_and_read_on() -> None:
    async def flooded() -> tuple[bool, bool]:
        answers = LargeAnswers()
        (connection,) = grown(answers, 1)
        answers.note_received(connection, 1_000_000, FREE_BYTES + 1_000_000)
        was_read = connection.is_read
        while not connection.is_read:
            await asyncio.sleep(0.01)
        return was_read, connection.is_read

    assert asyncio.run(asyncio.wait_for(flooded(), 30)) == (False, True)


def test_slow_answers_keep_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that trickle after their first part hold all places, and give way."""
    monkeypatch.setattr("qiaocrawl.crawl.network.http_limits.SLOW_AFTER_SECONDS", 0.2)

    async def waited() -> list[bool]:
        answers = LargeAnswers()
        *_, last = grown(answers, PLACES + 1)
        was_read = last.is_read
        while not last.is_read:
            await asyncio.sleep(0.01)
        return [was_read, last.is_read]

    assert asyncio.run(asyncio.wait_for(waited(), 30)) == [False, True]


def test_a_pause_that_outlives_its_answer_resumes_nothing() -> None:
    async def ended() -> bool:
        answers = LargeAnswers()
        (connection,) = grown(answers, 1)
        answers.note_received(connection, 200_000, FREE_BYTES + 200_000)
        answers.note_end(connection)
        await asyncio.sleep(0.2)
        return connection.is_read

    assert not asyncio.run(ended())
