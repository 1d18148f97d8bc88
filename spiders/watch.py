"""`scrapy crawl watch`: looks again at pages that bring something new, and at articles (E1)."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from scrapy import signals
from scrapy.exceptions import DontCloseSpider

from qiaocrawl.crawl.context import CrawlContext, CrawlItem, usual_limits
from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.failure_policy import FetchDecision
from qiaocrawl.frontier.explain import USUAL_STRATEGY, chosen_strategy
from qiaocrawl.frontier.host_slots import Limits
from qiaocrawl.items import Candidate, FetchedPage, Lease, Outcome, Queue
from qiaocrawl.language import _
from qiaocrawl.runs.watch import (
    WatchJournal,
    WatchOrder,
    WatchRound,
    WatchSettings,
    as_listed,
    follow_moved,
)
from qiaocrawl.runtime.follow_links import FollowPolicy
from qiaocrawl.storage.sites.sources import has_sources
from qiaocrawl.urls import canonical_url, host_of

_NOT_MODIFIED = 304
_SECONDS_BETWEEN_SCHEDULES = 60.0


class WatchSpider(FrontierSpider):
    """A round: fetches what is due and what that brings, within the day's budget, and ends."""

    name = "watch"
    queue = Queue.WATCH
    allowed_arguments = {
        "site": "hosts of the topic, comma separated; default: all authoritative ones",
        "start": "further pages to watch from now on, comma separated",
    }

    def plan(self) -> CrawlContext:
        """Scope: what waits to be watched on the topic's sites, and on any host for its feeds."""
        runtime, options = self.runtime, self.runtime.options
        named = self.arguments.get("site", "")
        # Whoever names sites wants these only.
        has_feeds = not named and runtime.reader.run(lambda c: has_sources(c, self.topic))
        catalogue = runtime.catalogue
        sites = (
            catalogue.authoritative_sites(self.topic)
            if has_feeds
            else catalogue.deep_sites(self.topic, named)
        )
        self.starts = [_canonical_start(site.start_url or f"http://{site.host}/") for site in sites]
        self.extra = [
            _canonical_start(url)
            for url in self.arguments.get("start", "").split(",")
            if url.strip()
        ]
        hosts = {host_of(url) for url in (*self.starts, *self.extra)}
        policy = FollowPolicy(
            sites=frozenset(hosts | {site.host for site in sites}),
            max_depth=options["QIAO_MAX_DEPTH"],
            max_links=options["QIAO_MAX_LINKS_PER_PAGE"],
        )
        scope = runtime.scope(self.queue, self.topic, replace(policy, across=has_feeds))
        settings = WatchSettings.of(options)
        settings.check()
        self.round = WatchRound(runtime, self.topic, policy, settings, sources=has_feeds)
        self._scheduled_at = 0.0
        return CrawlContext(
            runtime,
            scope,
            policy,
            # Pages first, then what they bring; no strategy learns here.
            order=WatchOrder(chosen_strategy(runtime, scope)),
            asked={**self.arguments, "strategy": USUAL_STRATEGY, "strategy_options": ""},
            limits=self.round.limits(self._usual_limits(), time.time()),
            journal=WatchJournal(self.round),
            follow_redirect=follow_moved,
            refine=as_listed,
        )

    def _usual_limits(self) -> Limits:
        usual = usual_limits(self.runtime.options)
        seconds: float = 60 * self.runtime.options["QIAO_WATCH_ROUND_MINUTES"]
        return replace(usual, seconds=min(seconds, usual.seconds) if usual.seconds else seconds)

    # --- what is due ------------------------------------------------------------------------

    def seeds(self) -> list[Candidate]:
        """Nothing to propose: what is due waits in the frontier when this returns."""
        now = time.time()
        self.round.begin(self.starts, self.extra, now)
        self.count("watch/armed", self.runtime.write_now(self.round.schedule_due(now)))
        self._scheduled_at = time.monotonic()
        self.crawler.signals.connect(self.on_idle, signal=signals.spider_idle)
        return []

    def on_idle(self) -> None:
        """Go on when something became due meanwhile."""
        if self.crawl.worker.stop_reason:
            return
        scheduled = self.runtime.write_now(self.round.schedule_due(time.time()))
        self.count("watch/armed", scheduled)
        if scheduled:
            # post() ends the drained state, so that leases are asked for again.
            self.crawl.worker.post(lambda c: None)
            raise DontCloseSpider

    def _schedule_now_and_then(self) -> None:
        if time.monotonic() - self._scheduled_at > _SECONDS_BETWEEN_SCHEDULES:
            self._scheduled_at = time.monotonic()
            self.crawl.worker.post(self.round.schedule_due(time.time()))

    # --- requests and answers ---------------------------------------------------------------

    def request_options(self, lease: Lease) -> dict[str, Any]:
        """Ask whether the stored page is still valid; render where the site's row asks for it."""
        return {
            "headers": _validators(lease),
            "meta": {"render": self.runtime.catalogue.wants_rendering(lease.host)},
        }

    def read(self, lease: Lease, page: FetchedPage) -> CrawlItem | FetchDecision:
        """304 is an answer of its own: the stored page is still valid."""
        self._schedule_now_and_then()
        if page.status != _NOT_MODIFIED:
            return super().read(lease, page)
        self.count("watch/not_modified")
        if not _validators(lease):
            # Nothing may be stored of that page.
            return FetchDecision(Outcome.RETRY, "HTTP 304, which was not asked for")
        return FetchDecision(Outcome.NOT_MODIFIED, "HTTP 304 Not Modified")


def _validators(lease: Lease) -> dict[str, str]:
    """If-None-Match and If-Modified-Since, from the headers of the stored page."""
    asked = {"If-None-Match": lease.payload.etag, "If-Modified-Since": lease.payload.modified}
    return {name: value for name, value in asked.items() if value}


def _canonical_start(url: str) -> str:
    canonical = canonical_url(url.strip())
    if canonical is None:
        raise ConfigError(_("start URL {url!r} is no http or https address", url=url.strip()))
    return canonical
