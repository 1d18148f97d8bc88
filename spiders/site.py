"""`scrapy crawl site`: the topic's authoritative sites, crawled deep (Q1, vertical)."""

from __future__ import annotations

from typing import Any

from qiaocrawl.crawl.context import CrawlContext, usual_limits
from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier.explain import chosen_order
from qiaocrawl.items import Candidate, Lease, Queue
from qiaocrawl.language import _
from qiaocrawl.options.kinds import flag
from qiaocrawl.runs.run_summary import read_seeds
from qiaocrawl.runs.site import link_rules, site_discovery
from qiaocrawl.runtime.follow_links import FollowPolicy, seed_candidate
from qiaocrawl.urls import canonical_url, host_of


class SiteSpider(FrontierSpider):
    """Follows links within the sites; a finished crawl starts again at their start pages."""

    name = "site"
    queue = Queue.SITE
    allowed_arguments = {
        "site": "hosts of the topic, comma separated; default: all authoritative ones",
        "start": "start URLs instead of the topic's sites, comma separated",
        "seeds": "file of start URLs, one a line (qiaocrawl topic seeds)",
        "across": "on = follow links to other hosts too; default: off",
        "strategy": "crawl order, such as bfs or best_first; default: QIAO_STRATEGY",
        "strategy_options": "numbers for the crawl order, as NAME=NUMBER,…",
    }

    def plan(self) -> CrawlContext:
        """Scope: the hosts of ``start=`` or ``seeds=``, else of ``site=``, else every one.

        With ``across=on`` every host that links lead to belongs to it.
        """
        runtime, options = self.runtime, self.runtime.options
        self.starts = self._start_urls()
        self.start_pages = tuple(self.starts)
        if self.arguments.keys() & {"start", "site"}:
            self.named_urls = tuple(self.starts)
        policy = FollowPolicy(
            sites=frozenset(host_of(url) for url in self.starts),
            max_depth=options["QIAO_MAX_DEPTH"],
            max_links=options["QIAO_MAX_LINKS_PER_PAGE"],
            rules=link_rules(options),
            across=self._is_across(),
        )
        scope = runtime.scope(self.queue, self.topic, policy)
        discovery = site_discovery(runtime, self.topic, policy, self.starts)
        strategy = self.arguments.get("strategy") or options["QIAO_STRATEGY"]
        strategy_options = self.arguments.get("strategy_options", "")
        # The option is of QIAO_STRATEGY; another strategy has other options.
        if not strategy_options and strategy == options["QIAO_STRATEGY"]:
            strategy_options = options["QIAO_STRATEGY_OPTIONS"]
        return CrawlContext(
            runtime,
            scope,
            policy,
            order=chosen_order(runtime, scope, strategy, strategy_options),
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
        given, file = self.arguments.get("start", ""), self.arguments.get("seeds", "")
        if given or file:
            urls = [*filter(str.strip, given.split(",")), *(read_seeds(file) if file else ())]
            return list(dict.fromkeys(map(_checked_url, urls)))
        sites = self.runtime.catalogue.deep_sites(self.topic, self.arguments.get("site", ""))
        return [_checked_url(site.start_url or f"http://{site.host}/") for site in sites]

    def _is_across(self) -> bool:
        try:
            return flag(self.arguments.get("across", "off"))
        except ValueError as error:
            raise ConfigError(_("argument across {reason}", reason=error)) from None


def _checked_url(url: str) -> str:
    canonical = canonical_url(url.strip())
    if canonical is None:
        raise ConfigError(_("start URL {url!r} is no http or https address", url=url.strip()))
    return canonical
