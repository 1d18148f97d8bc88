"""When nothing else waits, tries what a guess of discovery put off, until the guess has held."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

from qiaocrawl.discovery.static_traps import TRAP
from qiaocrawl.frontier.crawl_order import CrawlOrder
from qiaocrawl.frontier.host_slots import HostUse
from qiaocrawl.runtime.crawl_rows import elsewhere
from qiaocrawl.runtime.follow_links import FollowPolicy
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.frontier.postponed import (
    count_postponed,
    led_to_stories,
    newest_article,
    take_up,
)
from qiaocrawl.storage.frontier.scope import Scope

logger = logging.getLogger(__name__)

FIRST_SHARE = 4
"""URLs of one reason that are tried first; twice as many every time **(ours)**."""
FRUITLESS_URLS = 28
"""URLs in a row without a new article after which a guess has held: 4, 8 and 16 **(ours)**."""
FRUITLESS_SHARE = 0.1
"""Of a run's pages: what all guesses together may cost in vain before any has held **(ours)**."""
# A round of all reasons together stays small beside a crawl.
_MAX_ROUND = 500


@dataclass(slots=True)
class _Trial:
    """How one reason has fared.

    Attributes:
        keys: of the URLs taken up last.
        fruitless_urls: tried since one led to a new article.
        share: URLs of the next round.
    """

    keys: set[bytes] = field(default_factory=set)
    fruitless_urls: int = 0
    share: int = FIRST_SHARE

    def add_judgement(self, good: Collection[bytes]) -> None:
        """The keys *good* led to a new article."""
        if not self.keys:
            return
        # One article among them proves the guess wrong: the others may be articles too.
        is_wrong_guess = not self.keys.isdisjoint(good)
        # URLs, not rounds: a pager offers two at a time, and holds its lists in between.
        self.fruitless_urls = 0 if is_wrong_guess else self.fruitless_urls + len(self.keys)
        # Fruitless rounds of 4, 8 and 16; after one that was not, twice its share.
        self.share = (
            2 * self.share
            if is_wrong_guess
            else min(FIRST_SHARE + self.fruitless_urls, FRUITLESS_URLS)
        )
        # Judged once: a further look must not count the same round again.
        self.keys.clear()


class TakingUp:
    """Takes up what was postponed, round by round.

    A reason whose URLs lead to a new article was a wrong guess: its rounds go on until none is
    left. One that brings none 28 times in a row has held, unless what was tried in vain is still
    less than a tenth of the run: the last lists of a long pager may name the oldest articles. The
    rest stays postponed, or a site that makes pages without end would never be finished. A new run
    tries again.

    Args:
        order: is told of what waits again.
        within: its rules judge the URLs closed as traps, since a trap makes up articles too.
    """

    def __init__(
        self, runtime: Runtime, order: CrawlOrder, within: FollowPolicy | None = None
    ) -> None:
        self._runtime = runtime
        self._order = order
        rules = within.rules if within is not None else None
        self._traps = rules.watch if rules is not None else None
        self._trials: dict[str, _Trial] = {}
        self._newest_article = 0
        self._fruitless_urls = 0
        self.taken_up = 0
        self.left = 0

    async def next_round(self, rows: Scope, hosts: HostUse) -> bool:
        """Let some of what was put off in *rows* wait again, but on hosts that are spent.

        Returns:
            False when there is nothing to try.
        """
        # Rows of spent hosts stay postponed: they could wait again, but nobody would fetch them.
        rows = await self._runtime.read(partial(elsewhere, rows=rows, hosts=hosts.spent))
        waiting = await self._runtime.read(partial(count_postponed, scope=rows))
        self.left = sum(waiting.values())
        await self._judge()
        shares = self._shares(
            waiting, may_go_on=self._fruitless_urls < FRUITLESS_SHARE * hosts.pages
        )
        if not shares:
            return False
        # Before the round: what is stored from here on may be its doing.
        self._newest_article = await self._runtime.read(newest_article)
        taken = await self._runtime.write(
            partial(take_up, scope=rows, shares=shares, limit=_MAX_ROUND)
        )
        for row in taken:
            self._trials[row.reason].keys.add(row.candidate.key)
        self._order.note_enqueued([row.candidate for row in taken])
        self.taken_up += len(taken)
        self.left -= len(taken)
        if taken:
            logger.info(
                "nothing else waits: %d URLs that were put off are taken up, %d are left",
                len(taken),
                self.left,
            )
        return True

    def _shares(self, waiting: Mapping[str, int], *, may_go_on: bool) -> dict[str, int]:
        """How many rows of each reason are taken up now; none of a guess that has held.

        Args:
            may_go_on: what was tried in vain is still little beside the run.
        """
        # Traps have a judge of their own (TrapWatch), which sets their shares.
        shares = self._traps.shares(waiting) if self._traps is not None else {}
        for reason in waiting:
            trial = self._trials.setdefault(reason, _Trial())
            has_held = trial.fruitless_urls >= FRUITLESS_URLS and not may_go_on
            if not reason.startswith(TRAP) and not has_held:
                shares[reason] = trial.share
        return shares

    async def _judge(self) -> None:
        """Look at what the last round brought."""
        tried = {key for trial in self._trials.values() for key in trial.keys}
        if not tried:
            return
        # By article number, not by time: clocks may be set, numbers only grow.
        good = await self._runtime.read(
            partial(led_to_stories, keys=tried, after=self._newest_article)
        )
        for reason, trial in self._trials.items():
            if self._traps is not None and trial.keys and reason.startswith(TRAP):
                self._traps.note_round(reason, len(trial.keys & good), len(trial.keys))
            else:
                self._fruitless_urls += len(trial.keys - good)
            trial.add_judgement(good)

    def numbers(self) -> dict[str, int]:
        """Figures for the run's statistics."""
        return {
            "qiaocrawl/postponed/taken_up": self.taken_up,
            "qiaocrawl/postponed/left": self.left,
        }
