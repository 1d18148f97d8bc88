"""What an idle run waits for; and no row waits longer than an option allows.

Rows name the wall-clock time from which they may be fetched. If that clock is set back, they
would wait for as long as it was ahead: a row that is due later than any option can have asked is
due at once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from qiaocrawl.fetch.failure_policy import FailurePolicy
from qiaocrawl.frontier.host_slots import HostUse
from qiaocrawl.frontier.lease_supply import recover_rows
from qiaocrawl.runtime import Runtime
from qiaocrawl.storage import frontier
from qiaocrawl.storage.engine import latest_due
from qiaocrawl.text.zones import china_time

logger = logging.getLogger(__name__)

# Whatever the options, a host that does not answer or blocks rests for up to an hour.
_LEAST_SECONDS = 3_600.0
# For clocks of several machines, and for transactions that had to wait.
_SLACK_SECONDS = 60.0
_LOOK_SECONDS = 600.0
# An older count says nothing about now.
_FRESH_SECONDS = 5.0


def longest_wait_seconds(options: Mapping[str, Any]) -> float:
    """The longest pause these options can give a row or a host."""
    asked: float = options["QIAO_MAX_RETRY_AFTER_SECONDS"]
    growing = FailurePolicy.of(options).longest_pause_seconds
    return max(_LEAST_SECONDS, asked, growing) + _SLACK_SECONDS


class RowWaits:
    """Looks after the rows of a crawl that wait for their time.

    Args:
        hosts: what the crawl asks now.
    """

    def __init__(self, runtime: Runtime, hosts: HostUse) -> None:
        self._runtime = runtime
        self._hosts = hosts
        self._longest_seconds = longest_wait_seconds(runtime.options)
        self._looked_at = float("-inf")
        self._left: frontier.Remaining | None = None
        self._left_at = 0.0

    async def take_back(self, rows: frontier.Scope, *, all_dead: bool) -> None:
        """Take over what dead workers held; every ten minutes, look at what waits too long."""
        await recover_rows(self._runtime, rows, all_dead=all_dead)
        # Reads all waiting rows, so not with every take-over.
        if time.monotonic() - self._looked_at > _LOOK_SECONDS:
            await self.right(rows)

    async def right(self, rows: frontier.Scope) -> None:
        """Make rows due that wait longer than any option asks for."""
        self._looked_at = time.monotonic()
        changed = await self._runtime.write(lambda c: frontier.bound_waits(
            c, rows, now=frontier.clock(c), longest_seconds=self._longest_seconds
        ))  # fmt: skip
        if changed:
            logger.warning(
                "%d URLs were to wait longer than any option asks for: the clock was ahead, they "
                "are due now",
                changed,
            )

    async def note(self, rows: frontier.Scope, left: frontier.Remaining) -> None:
        """Nothing can be asked now, and this is *left*."""
        self._left, self._left_at = left, time.monotonic()
        latest = latest_due(time.time(), self._longest_seconds)
        far = left.next_due is not None and left.next_due > latest
        if far and time.monotonic() - self._looked_at > _FRESH_SECONDS:
            await self.right(rows)

    def words(self) -> str:
        """What the crawl waits for while it asks nobody, and until when; "" when it asks."""
        if self._hosts.is_asking:
            return ""
        reasons = []
        if self._runtime.writer.is_away:
            reasons.append("the database, which does not answer")
        if rest := self._hosts.next_rest:
            host, seconds = rest
            reasons.append(
                f"{len(self._hosts.parked)} hosts that rest, {host} until {_at(seconds)}"
            )
        left = self._left
        if left is not None and time.monotonic() - self._left_at < _FRESH_SECONDS:
            ahead = (left.next_due or 0.0) - time.time()
            if ahead > 0:
                reasons.append(f"{left.pending} URLs, the first until {_at(ahead)}")
            if left.leased:
                reasons.append(f"{left.leased} pages that other workers have in hand")
        return " and ".join(reasons)


def _at(seconds: float) -> str:
    """The time of day in so many seconds, and how long that is."""
    then = datetime.fromtimestamp(time.time() + seconds, UTC)
    # The day is shown only where it may be another one: twelve hours or more ahead.
    day = "%Y-%m-%d " if seconds >= 43_200 else ""
    return f"{china_time(then, f'{day}%H:%M:%S')} (in {seconds:.0f} s)"
