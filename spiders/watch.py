"""`scrapy crawl watch`: looks again at pages that bring something new, and at articles (E1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from scrapy import signals
from scrapy.exceptions import DontCloseSpider
from sqlalchemy import Connection

from qiaocrawl.crawl.items import CrawledPage, CrawlItem
from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.status import FetchDecision
from qiaocrawl.frontier.limits import Limits
from qiaocrawl.items import Candidate, FetchedPage, Lease, Outcome, PageAnalysis, Queue
from qiaocrawl.runs.watch import (
    Ending,
    WatchOrdering,
    WatchRound,
    WatchSettings,
    closed_without_page,
    is_page_lease,
    moved_payload,
    page_closes,
    with_channel,
)
from qiaocrawl.stages.follow_links import FollowPolicy
from qiaocrawl.urls import canonical_url, host_of

_NOT_MODIFIED = 304
_LOOK_SECONDS = 60.0


class WatchSpider(FrontierSpider):
    """A round: fetches what is due and what that brings, within the day's budget, and ends."""

    name = "watch"
    queue = Queue.WATCH
    allowed_arguments = {
        "site": "hosts of the topic, comma separated; default: all authoritative ones",
        "start": "further pages to watch from now on, comma separated",
    }

    def prepare(self) -> None:
        """Scope: what waits to be watched on the topic's sites."""
        sites = self.runtime.catalogue.deep_sites(self.topic, self.arguments.get("site", ""))
        self.starts = [_checked(site.start_url or f"http://{site.host}/") for site in sites]
        self.extra = [_checked(url) for url in self.arguments.get("start", "").split(",")
                      if url.strip()]  # fmt: skip
        hosts = {host_of(url) for url in (*self.starts, *self.extra)}
        self.policy = FollowPolicy(
            sites=frozenset(hosts | {site.host for site in sites}),
            max_depth=self.runtime.options["QIAO_MAX_DEPTH"],
            max_links=self.runtime.options["QIAO_MAX_LINKS_PER_PAGE"],
        )
        self.scope = self.runtime.scope(self.queue, self.topic, self.policy)
        self.settings_of_round = WatchSettings.of(self.runtime.options)
        self.settings_of_round.check()
        self.round = WatchRound(self.runtime, self.topic, self.policy, self.settings_of_round)
        self._armed_at = 0.0
        self._targets: dict[int, str] = {}

    def prepare_order(self) -> None:
        """Pages first, then what they bring; no strategy learns here."""
        super().prepare_order()
        self.ordering = WatchOrdering(self.ordering.strategy)

    def limits(self) -> Limits:
        """What is left of the day's budget, and the round's time."""
        usual, own = super().limits(), self.settings_of_round
        spent = self.round.spent(time.time())
        seconds = 60 * self.runtime.options["QIAO_WATCH_ROUND_MINUTES"]
        return Limits(
            pages=own.most(own.daily, sum(spent.values()), usual.pages),
            pages_per_host=usual.pages_per_host or own.daily_of_host,
            seconds=min(seconds, usual.seconds) if usual.seconds else seconds,
            spent=spent,
        )

    def seeds(self) -> list[Candidate]:
        """Nothing to propose: what is due waits in the frontier when this returns."""
        now = time.time()
        self.round.begin(self.starts, self.extra, now)
        self.count("watch/armed", self.runtime.write_now(self.round.arm(now)))
        self._armed_at = time.monotonic()
        self.crawler.signals.connect(self.on_idle, signal=signals.spider_idle)
        return []

    def on_idle(self) -> None:
        """Go on when something became due meanwhile."""
        if self.worker.stop_reason:
            return
        armed = self.runtime.write_now(self.round.arm(time.time()))
        self.count("watch/armed", armed)
        if armed:
            self.worker.post(lambda c: None)
            raise DontCloseSpider

    # --- requests ---------------------------------------------------------------------------

    def request_meta(self, lease: Lease) -> dict[str, Any]:
        """Ask for rendering where the site's row asks for it."""
        return {"render": self.runtime.catalogue.wants_rendering(lease.host)}

    def request_headers(self, lease: Lease) -> Mapping[str, str]:
        """If-None-Match and If-Modified-Since, from the headers of the stored page."""
        asked = {"If-None-Match": lease.payload.etag,
                 "If-Modified-Since": lease.payload.modified}  # fmt: skip
        return {name: value for name, value in asked.items() if value}

    # --- answers ----------------------------------------------------------------------------

    def judge(self, page: FetchedPage) -> FetchDecision | None:
        """304 is an answer of its own: what is stored stands."""
        self._arm_now_and_then()
        if page.status == _NOT_MODIFIED:
            self.count("watch/not_modified")
            return FetchDecision(Outcome.NOT_MODIFIED, "HTTP 304 Not Modified")
        return super().judge(page)

    async def record(self, lease: Lease, page: FetchedPage, decision: FetchDecision) -> None:
        """A 304 that nothing asked for is no answer: nothing may be stored of that page."""
        if decision.outcome is Outcome.NOT_MODIFIED and not self.request_headers(lease):
            decision = FetchDecision(Outcome.RETRY, "HTTP 304, which was not asked for")
        await super().record(lease, page, decision)

    def _arm_now_and_then(self) -> None:
        if time.monotonic() - self._armed_at > _LOOK_SECONDS:
            self._armed_at = time.monotonic()
            self.worker.post(self.round.arm(time.time()))

    def redirect_target(self, lease: Lease, target: str) -> Candidate | None:
        """Within the sites; a page that moved is asked for again at its new place."""
        found = super().redirect_target(lease, target)
        if found is None or not self.policy.covers(found.host):
            return None
        self._targets[lease.url_id] = found.url
        payload = moved_payload(lease, found.payload)
        return replace(found, payload=payload, rearm=is_page_lease(lease))

    def refine(self, lease: Lease, analysis: PageAnalysis) -> PageAnalysis:
        """An article that names no channel stands in the one it was found in."""
        return with_channel(lease, analysis)

    # --- what is written --------------------------------------------------------------------

    def page_arrives(self, c: Connection, item: CrawlItem) -> None:
        """Count the request with the page it brought: a kill after it loses neither."""
        self.round.count(c, item.lease, item.page.fetched_at.timestamp())

    def page_closes(self, c: Connection, item: CrawledPage) -> None:
        """Note the visit, in the transaction that closes the page."""
        assert item.analysis is not None
        links = item.followed.links.visit.links if item.followed is not None else ()
        page_closes(c, self.round, item.lease, item.page, item.analysis, links)

    async def finish(
        self,
        lease: Lease,
        outcome: Outcome,
        reason: str,
        *,
        status: int | None = None,
        also: Callable[[Connection], None] | None = None,
        redirect_key: bytes | None = None,
    ) -> bool:
        """Note in the same transaction that no page came."""
        target = self._targets.pop(lease.url_id, "")
        ending = Ending(outcome, reason, status, time.time(), target)

        def noted(c: Connection) -> None:
            if also is not None:
                also(c)
            closed_without_page(c, self.round, lease, ending)

        return await super().finish(
            lease, outcome, reason, status=status, also=noted, redirect_key=redirect_key
        )

    def try_fails(self, c: Connection, lease: Lease, reason: str) -> None:
        """A failed try is a request too."""
        self.round.count(c, lease, time.time())


def _checked(url: str) -> str:
    canonical = canonical_url(url.strip())
    if canonical is None:
        raise ConfigError(f"start URL {url.strip()!r} is no http or https address")
    return canonical
