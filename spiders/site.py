"""`scrapy crawl site`: the topic's authoritative sites, crawled deep (Q1, vertical)."""

from __future__ import annotations

from typing import Any

from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Candidate, Lease, Queue
from qiaocrawl.runs.site import link_rules, site_discovery
from qiaocrawl.stages.follow_links import FollowPolicy, seed_candidate
from qiaocrawl.urls import canonical_url, host_of


class SiteSpider(FrontierSpider):
    """Follows links within the sites; a finished crawl begins anew at their start pages."""

    name = "site"
    queue = Queue.SITE
    allowed_arguments = {
        "site": "hosts of the topic, comma separated; default: all authoritative ones",
        "start": "start URLs instead of the topic's sites, comma separated",
        "strategy": "crawl order, such as bfs or best_first; default: QIAO_STRATEGY",
        "strategy_options": "numbers for the crawl order, as NAME=NUMBER,…",
    }

    def prepare(self) -> None:
        """Scope: the hosts of ``start=``, else of ``site=``, else every authoritative site."""
        self.starts = self._start_urls()
        sites = frozenset(host_of(url) for url in self.starts)
        self.policy = FollowPolicy(
            sites=sites,
            max_depth=self.runtime.options["QIAO_MAX_DEPTH"],
            max_links=self.runtime.options["QIAO_MAX_LINKS_PER_PAGE"],
            rules=link_rules(self.runtime.options),
        )
        self.scope = self.runtime.scope(self.queue, self.topic, self.policy)
        self.discovery = site_discovery(self.runtime, self.topic, self.policy, self.starts)

    def choose_strategy(self) -> tuple[str, str]:
        """``strategy=``, else QIAO_STRATEGY; ``strategy_options=``."""
        name = self.arguments.get("strategy") or self.runtime.options["QIAO_STRATEGY"]
        return name, self.arguments.get("strategy_options", "")

    def seeds(self) -> list[Candidate]:
        """The start pages; fetched again when the last crawl of this scope was finished."""
        again = self.runtime.rearm_lists(self.scope)
        return [
            seed_candidate(url, self.queue, self.topic, rearm=again) for url in self.starts
        ]

    def request_meta(self, lease: Lease) -> dict[str, Any]:
        """Ask for rendering where the site's row asks for it."""
        return {"render": self.runtime.catalogue.wants_rendering(lease.host)}

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
