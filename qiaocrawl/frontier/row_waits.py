"""The rows that wait: taken back from the dead, due in time, and what an idle run waits for."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime

from qiaocrawl.fetch.failure_policy import longest_wait_seconds
from qiaocrawl.frontier.host_slots import HostUse
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import frontier
from qiaocrawl.storage.engine import latest_due
from qiaocrawl.storage.frontier import Scope
from qiaocrawl.text.zones import china_time

logger = logging.getLogger(__name__)

# Rows name the wall-clock time from which they may be fetched. If that clock is set back, they
# would wait for as long as it was ahead: a row that is due later than any option can have asked is
# due at once.

_WAITS_LOOK_SECONDS = 600.0
# An older count says nothing about now.
_FRESH_SECONDS = 5.0


async def recover_rows(runtime: Runtime, rows: Scope, *, all_dead: bool) -> None:
    """Take back what dead workers held of *rows*; *all_dead*: all but this one are."""
    options = runtime.options
    # By the database's clock: this machine's may be wrong about which leases have run out.
    recovery = await runtime.write(
        lambda c: frontier.recover(
            c,
            rows,
            now=frontier.clock(c),
            all_dead=all_dead,
            max_failures=options["QIAO_FRONTIER_MAX_FAILURES"],
            lease_seconds=options["QIAO_FRONTIER_LEASE_SECONDS"],
        )
    )
    if recovery.requeued or recovery.resumed or recovery.set_aside:
        logger.info(
            "taken over from an interrupted crawl: %d URLs waiting again, %d stored pages "
            "to analyse, %d set aside",
            recovery.requeued,
            recovery.resumed,
            recovery.set_aside,
        )


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
        if time.monotonic() - self._looked_at > _WAITS_LOOK_SECONDS:
            await self.right(rows)

    async def right(self, rows: frontier.Scope) -> None:
        """Make rows due that wait longer than any option asks for."""
        self._looked_at = time.monotonic()
        changed = await self._runtime.write(
            lambda c: frontier.bound_waits(
                c, rows, now=frontier.clock(c), longest_seconds=self._longest_seconds
            )
        )
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
                f"{len(self._hosts.parked_hosts)} hosts that rest, {host} until {_at(seconds)}"
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
