"""URLs that are other addresses of pages: learnt while pages are stored, not fetched twice.

When a leased URL has a preferred version, that one is proposed and the URL closed, as if it
redirected there, but without a request. So it does not matter whether the URL came
from a link, a search hit or a former run, or whether the rule was learnt before or after. When
the preferred version brings no page, the URL waits again under its own address, and the rule
loses a vote.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.items import Candidate, Lease, Outcome, PageAnalysis, Payload
from qiaocrawl.runtime.follow_links import FollowPolicy, link_to
from qiaocrawl.storage import Reader, Writer
from qiaocrawl.storage.frontier.url_aliases import (
    AS_WRITTEN,
    READABLE,
    Swap,
    alias,
    release_failed,
    save_host_votes,
    stored_host_votes,
)
from qiaocrawl.storage.pages.sites import close_traps
from qiaocrawl.storage.writer import in_loop
from qiaocrawl.urls.aliases import MAX_HOSTS, AliasRules

# Votes change with nearly every article; saving each time would double the writes for little.
# After a kill only the last votes have to be learnt again.
_PAGES_BETWEEN_SAVES = 50

# These outcomes are no evidence about the rule: the page moved, or was never an article.
_NO_EVIDENCE = READABLE | {
    Outcome.REDIRECT,
    Outcome.ALIAS,
    Outcome.NOT_ARTICLE,
    Outcome.NEEDS_RENDERING,
    Outcome.NOT_HTML,
    Outcome.SCANNED,
    Outcome.TOO_LARGE,
    Outcome.POISON,
}


class AliasLearning:
    """What one run knows of other addresses of pages; not thread-safe: the event loop's.

    With QIAO_URL_ALIASES off in *options* it maps nothing and learns nothing.

    Attributes:
        rules: what is known.
        aliased: URLs that were not fetched since their preferred version was.
    """

    def __init__(
        self, reader: Reader, writer: Writer, run_id: int | None, options: Mapping[str, Any]
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._run_id = run_id
        self._is_on: bool = options["QIAO_URL_ALIASES"]
        self._unsaved = 0
        self.rules = AliasRules()
        self.aliased = 0
        self._in_vain = 0

    async def load(self) -> None:
        """Read what former runs learnt, and settle what they left open."""
        if self._is_on:
            read = partial(stored_host_votes, limit=MAX_HOSTS)
            for stored in await in_loop(self._reader.submit(read)):
                self.rules.restore(stored)
        # Even with the option switched off: aliases of earlier runs still have to be released.
        await self.release_failed()

    async def release_failed(self) -> None:
        """Let URLs wait again whose preferred version is closed without a page."""
        await in_loop(self._writer.submit(release_failed))

    # --- using --------------------------------------------------------------------------------

    async def to_fetch(
        self, leases: Sequence[Lease], within: FollowPolicy | None
    ) -> tuple[Sequence[Lease], list[Candidate]]:
        """Close those of *leases* that have a preferred version on the hosts of *within*.

        None stands for any host. URLs that its rules take for traps are closed as well.

        Returns:
            The leases that are to be fetched; the preferred versions of the others, which are
            proposed now.
        """
        # Traps first: a URL refused as one needs no preferred version.
        leases = await self._without_traps(leases, within)
        swaps = [swap for lease in leases if (swap := self._swap(lease, within)) is not None]
        if not swaps:
            return leases, []
        operation = partial(alias, swaps=swaps, run_id=self._run_id, now=time.time())
        settled = await in_loop(self._writer.submit(operation))
        self.aliased += len(settled)
        # Not all swaps are settled: where two rules point at each other, the URL is fetched
        # as it is.
        gone = {lease.url_id for lease in settled}
        kept = [lease for lease in leases if lease.url_id not in gone]
        return kept, [swap.preferred for swap in swaps if swap.lease.url_id in gone]

    async def _without_traps(
        self, leases: Sequence[Lease], within: FollowPolicy | None
    ) -> Sequence[Lease]:
        rules = within.rules if within is not None else None
        if rules is None:
            return leases
        refused = [(lease, why) for lease in leases if (why := rules.refusal(lease))]
        if refused:
            operation = partial(close_traps, refused=refused, now=time.time())
            await in_loop(self._writer.submit(operation))
            rules.watch.counts["closed"] += len(refused)
        gone = {lease.url_id for lease, _ in refused}
        return [lease for lease in leases if lease.url_id not in gone]

    def _swap(self, lease: Lease, within: FollowPolicy | None) -> Swap | None:
        # A payload means that the row was proposed for exactly this address: a query, a redirect's
        # target, a part of an article, a preferred version, a start page, one tried in vain.
        if not self._is_on or lease.stored or lease.payload:
            return None
        preferred = link_to(self.rules.apply(lease.url))
        if preferred.url == lease.url or not (within is None or within.covers(preferred.host)):
            return None
        return Swap(
            lease,
            Candidate(
                # It takes over the score and place of the URL it replaces: the link to it was
                # worth as much.
                url=preferred.url,
                key=preferred.key,
                host=preferred.host,
                queue=lease.queue,
                topic=lease.topic,
                score=lease.score,
                depth=lease.depth,
                parent=lease.key,
                anchor=lease.anchor,
                payload=Payload(alias_of=lease.url),
            ),
        )

    # --- learning -----------------------------------------------------------------------------

    def observe(self, lease: Lease, analysis: PageAnalysis) -> None:
        """Learn from a page that was stored; articles alone teach."""
        # A URL fetched under its own address on purpose (``as_is``) is no evidence for a rule.
        if self._is_on and analysis.outcome is Outcome.ARTICLE and not lease.payload.as_is:
            self.rules.observe(lease.url, analysis.canonical_url)
            self._unsaved += 1

    def note_redirect(self, url: str, target: str) -> None:
        """Learn from a redirect."""
        if self._is_on:
            self.rules.note_redirect(url, target)
            self._unsaved += 1

    def learn_end(self, lease: Lease, outcome: Outcome) -> Callable[[Connection], None] | None:
        """Learn from how a preferred version ended, or a URL that was tried after one.

        Returns:
            An operation that stores what is new, when there is enough of it.
        """
        if self._is_on:
            self._weigh(lease, outcome)
        return self.saving() if self._unsaved >= _PAGES_BETWEEN_SAVES else None

    def _weigh(self, lease: Lease, outcome: Outcome) -> None:
        # ``alias_of`` stands on the preferred version, ``as_is`` on the URL that is
        # tried after it.
        original, tried_for = lease.payload.alias_of, lease.payload.as_is
        if original and outcome not in _NO_EVIDENCE:
            self.rules.doubt(original)
            self._in_vain += 1
        # "" is an ordinary row, AS_WRITTEN a start page: no rule led to either.
        elif tried_for not in ("", AS_WRITTEN):
            # If its own address brings no page either, the page is gone: not the rule's fault.
            learn = self.rules.doubt if outcome in READABLE else self.rules.forgive
            learn(lease.url)

    # --- keeping ------------------------------------------------------------------------------

    def saving(self) -> Callable[[Connection], None]:
        """An operation that stores what is new; it may be played again."""
        self._unsaved = 0
        return partial(save_host_votes, found=self.rules.take_changes(), now=time.time())

    def numbers(self) -> dict[str, int]:
        """Figures for the run's statistics."""
        active = sum(rule.active for rule in self.rules.rules())
        return {
            # Rules with too few votes are known, but not applied yet.
            "qiaocrawl/urls/aliased": self.aliased,
            "qiaocrawl/urls/aliases_in_vain": self._in_vain,
            "qiaocrawl/urls/alias_rules": active,
        }
