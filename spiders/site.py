"""`scrapy crawl site`: the topic's authoritative sites, crawled deep (Q1, vertical)."""

from __future__ import annotations

from typing import Any

from qiaocrawl.crawl.context import CrawlContext, usual_limits
from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier.choice import chosen_ordering
from qiaocrawl.items import Candidate, Lease, Queue
from qiaocrawl.runs.site import link_rules, site_discovery
from qiaocrawl.stages.follow_links import FollowPolicy, seed_candidate
from qiaocrawl.urls import canonical_url, host_of


class SiteSpider(FrontierSpider):
    """Follows links within the sites; a finished crawl starts again at their start pages."""

    name = "site"
    queue = Queue.SITE
    allowed_arguments = {
        "site": "hosts of the topic, comma separated; default: all authoritative ones",
        "start": "start URLs instead of the topic's sites, comma separated",
        "strategy": "crawl order, such as bfs or best_first; default: QIAO_STRATEGY",
        "strategy_options": "numbers for the crawl order, as NAME=NUMBER,…",
    }

    def plan(self) -> CrawlContext:
        """Scope: the hosts of ``start=``, else of ``site=``, else every authoritative site."""
        runtime, options = self.runtime, self.runtime.options
        self.starts = self._start_urls()
        policy = FollowPolicy(
            sites=frozenset(host_of(url) for url in self.starts),
            max_depth=options["QIAO_MAX_DEPTH"],
            max_links=options["QIAO_MAX_LINKS_PER_PAGE"],
            rules=link_rules(options),
        )
        scope = runtime.scope(self.queue, self.topic, policy)
        discovery = site_discovery(runtime, self.topic, policy, self.starts)
        strategy = self.arguments.get("strategy") or options["QIAO_STRATEGY"]
        strategy_options = self.arguments.get("strategy_options", "")
        return CrawlContext(
            runtime,
            scope,
            policy,
            ordering=chosen_ordering(runtime, scope, strategy, strategy_options),
            asked={**self.arguments, "strategy": strategy, "strategy_options": strategy_options},
            limits=usual_limits(options),
            discovery=discovery,
        )

    def seeds(self) -> list[Candidate]:
        """The start pages; fetched again when the last crawl of this scope was finished."""
        again = self.runtime.reschedule_lists(self.crawl.scope)
        return [seed_candidate(url, self.queue, self.topic, refetch=again) for url in self.starts]

    def request_options(self, lease: Lease) -> dict[str, Any]:
        """Ask for rendering where the site's row asks for it."""
        return {"meta": {"render": self.runtime.catalogue.wants_rendering(lease.host)}}

    def _start_urls(self) -> list[str]:
        given = self.arguments.get("start", "")
        if given:
            return [_checked_url(url) for url in given.split(",") if url.strip()]
        sites = self.runtime.catalogue.deep_sites(self.topic, self.arguments.get("site", ""))
        return [_checked_url(site.start_url or f"http://{site.host}/") for site in sites]


def _checked_url(url: str) -> str:
    canonical = canonical_url(url.strip())
    if canonical is None:
        raise ConfigError(f"start URL {url.strip()!r} is no http or https address")
    return canonical
