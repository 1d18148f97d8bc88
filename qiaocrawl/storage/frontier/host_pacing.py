"""Whose turn it is to ask a host: the clock all workers of one database share (F-K5, F-K6).

For MariaDB and MySQL; SQLite runs one crawl, which keeps its own clock. Every statement takes
the server's time, so that workers on several machines agree, and is committed by itself, so
that no row is held while anybody waits.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from qiaocrawl.fetch.failure_policy import GROWTH
from qiaocrawl.storage.raw_sql import Statement

FORGOTTEN_SECONDS = 600.0
"""After so long without a new request to wait, a host's pauses start short again."""

NO_MARK = -1.0
# Seconds a turn is good for, a twentieth of the gap at first: the gap begins when they are over.
#
# So no two requests are closer than their gap, however long a worker takes to send **(ours)**.
_HOLD = "LEAST(0.8, :tries * 0.05 * LEAST(1, GREATEST(delay, :gap)))"
# SYSDATE: NOW() is when the statement began, and it may have waited for the row since.
_NOW = "UNIX_TIMESTAMP(SYSDATE(6))"
# A mark is still ours as long as nobody took the next turn. A turn further in the future was
# taken before the server's clock was set back: it does not count.
_IS_DUE = f"(last_at + GREATEST(delay, :gap) <= {_NOW} OR last_at = :mark OR last_at > {_NOW} + 1)"

# A longer pause than any host can ask for was set before the clock was set back.
_IS_PARKED = f"(parked_until > {_NOW} AND parked_until <= {_NOW} + :longest)"

_ENTER = Statement("INSERT IGNORE INTO host_turn VALUES (:host, 0, 0, 0, 0)")
# The row is tested and written in one UPDATE: no two workers can take the same turn.
_TAKE = Statement(
    f"UPDATE host_turn SET last_at = {_NOW} + {_HOLD}"
    f" WHERE host = :host AND NOT {_IS_PARKED} AND {_IS_DUE}"
)
# The time written is the server's, so it is read back from there.
_TAKEN = Statement(f"SELECT last_at, {_HOLD} FROM host_turn WHERE host = :host")
_WAIT = Statement(
    f"SELECT last_at + GREATEST(delay, :gap) - {_NOW}, {_IS_PARKED} * (parked_until - {_NOW})"
    " FROM host_turn WHERE host = :host"
)
_DELAY = Statement("UPDATE host_turn SET delay = :delay WHERE host = :host")
# Assigned from left to right: the pause uses the new count, both use the old end. Answers to
# requests that were under way at the same time count as one refusal.
_PARK = Statement(
    f"UPDATE host_turn SET busy = CASE WHEN {_IS_PARKED} THEN busy"
    f" WHEN parked_until + :forgotten < {_NOW} THEN 1 ELSE busy + 1 END,"
    f" parked_until = CASE WHEN {_IS_PARKED}"
    f" THEN GREATEST(parked_until, {_NOW} + :asked) ELSE {_NOW}"
    " + GREATEST(:asked, :first * POW(:growth, LEAST(busy, :steps) - 1)) END"
    " WHERE host = :host"
)
_ANSWERED = Statement("UPDATE host_turn SET busy = 0 WHERE host = :host AND busy > 0")


def enter_host(c: Connection, host: str) -> None:
    """Make the row of *host*, once a process, before the other functions."""
    _ENTER.run(c, {"host": host})


@dataclass(frozen=True, slots=True)
class TurnAnswer:
    """The answer to asking for a turn; times in seconds.

    Attributes:
        wait, parked: how long until it may be taken, and how long the host still rests; both
            0 when it was taken.
        hold: how long it is good for; 0 where nobody waits for anybody.
        mark: names it, where it is taken again.
    """

    wait: float = 0.0
    parked: float = 0.0
    hold: float = 0.0
    mark: float = NO_MARK

    @property
    def is_taken(self) -> bool:
        """Whether the turn is ours."""
        return not self.wait and not self.parked


def take_turn(
    c: Connection, host: str, gap_seconds: float, longest_seconds: float, *,
    tries: int = 1, mark: float = NO_MARK,
) -> TurnAnswer:  # fmt: skip
    """Take the next turn of *host*, if it is due.

    Args:
        gap_seconds: least time since the last turn; a longer Crawl-delay of the row counts.
        longest_seconds: a host that is parked for longer was so before the clock was set back.
        tries: it is to be good for so many times as long as usual.
        mark: of a turn that was not used in time; it is taken again at once if nobody else has
            had one since.
    """
    asked = {
        "host": host, "gap": gap_seconds, "longest": longest_seconds, "tries": tries, "mark": mark,
    }  # fmt: skip
    if _TAKE.run(c, asked).rowcount:
        mark, hold = _TAKEN.run(c, asked).fetchone()
        # Not taken: ask how long there is still to wait.
        return TurnAnswer(hold=float(hold), mark=float(mark))
    row = _WAIT.run(c, asked).fetchone()
    # At least a millisecond: 0 would mean that the turn was taken.
    return TurnAnswer(max(float(row[0]), 0.001), max(float(row[1]), 0.0))


def set_crawl_delay(c: Connection, host: str, seconds: float) -> None:
    """What the robots.txt of *host* asks for now; 0 = nothing."""
    _DELAY.run(c, {"host": host, "delay": seconds})


def park_host(
    c: Connection, host: str, asked_seconds: float, first_seconds: float, steps: int,
    longest_seconds: float,
) -> float:  # fmt: skip
    """*host* asks to wait: no worker asks it for the longer of its wish and a growing pause.

    Args:
        first_seconds: pause after the first refusal; four times as long after each further one
            in a row, *steps* pauses at most.
        longest_seconds: as for :func:`take_turn`.

    Returns:
        Seconds it is parked for now.
    """
    _PARK.run(c, {
        "host": host, "asked": asked_seconds, "first": first_seconds, "steps": steps,
        "growth": GROWTH, "forgotten": FORGOTTEN_SECONDS, "longest": longest_seconds,
    })  # fmt: skip
    row = _WAIT.run(c, {"host": host, "gap": 0.0, "longest": longest_seconds}).fetchone()
    return max(float(row[1]), 0.0)


def host_answered(c: Connection, host: str) -> None:
    """*host* serves again: its next refusal is a first one."""
    _ANSWERED.run(c, {"host": host})
