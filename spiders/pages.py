"""`scrapy crawl pages`: fetches what search found, and retires the dead ones (Q4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qiaocrawl.crawl.context import CrawlContext, CrawlItem, usual_limits
from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.fetch.failure_policy import FetchDecision
from qiaocrawl.frontier.explain import USUAL_STRATEGY, chosen_order
from qiaocrawl.items import FetchedPage, Lease, Outcome, Queue
from qiaocrawl.runs.site import link_rules
from qiaocrawl.runtime.follow_links import FollowPolicy
from qiaocrawl.search.hits import resolve_link

if TYPE_CHECKING:
    from qiaocrawl.search.definition import EngineDefinition


class PagesSpider(FrontierSpider):
    """Fetches pending pages of the topic; links into authoritative sites wait for `site`."""

    name = "pages"
    queue = Queue.PAGES
    allowed_arguments = {"site": "hosts, comma separated; default: all that wait"}

    def plan(self) -> CrawlContext:
        """Scope: everything that waits for this topic, or the hosts of ``site=``."""
        runtime, options, catalogue = self.runtime, self.runtime.options, self.runtime.catalogue
        named = [host.strip().lower() for host in self.arguments.get("site", "").split(",")]
        within = FollowPolicy(sites=frozenset(filter(None, named)))
        scope = runtime.scope(self.queue, self.topic, within if within.sites else None)
        policy = FollowPolicy(
            sites=frozenset(site.host for site in catalogue.authoritative_sites(self.topic)),
            max_depth=options["QIAO_MAX_DEPTH"],
            max_links=options["QIAO_MAX_LINKS_PER_PAGE"],
            rules=link_rules(options, learns=False),
        )
        self.engines = [catalogue.engine(name) for name in options["QIAO_ENGINES"]]
        return CrawlContext(
            runtime,
            scope,
            policy,
            order=chosen_order(runtime, scope),
            asked={**self.arguments, "strategy": USUAL_STRATEGY, "strategy_options": ""},
            limits=usual_limits(options),
        )

    def request_options(self, lease: Lease) -> dict[str, Any]:
        """Ask for rendering where the site's row asks for it.

        A link of a chosen engine is part of its answer: the choice covers it too.
        """
        if self._engine_of(lease) is not None:
            return {"meta": {"dont_obey_robotstxt": True}}
        return {"meta": {"render": self.runtime.catalogue.wants_rendering(lease.host)}}

    def read(self, lease: Lease, page: FetchedPage) -> CrawlItem | FetchDecision:
        """A page, or an engine's link that leads on to one."""
        result, engine = super().read(lease, page), self._engine_of(lease)
        if engine is None:
            return result
        location = ""
        if isinstance(result, FetchDecision):
            if result.outcome not in (Outcome.REDIRECT, Outcome.NOT_ARTICLE):
                return result
            location = result.target
        return self._way_on(engine, lease, page, location)

    def _way_on(
        self, engine: EngineDefinition, lease: Lease, page: FetchedPage, location: str
    ) -> FetchDecision:
        way = resolve_link(engine, page, location, lease.payload.asked_site)
        if way.target:
            self.count("search/links_resolved")
            return FetchDecision(Outcome.REDIRECT, "link of the engine", target=way.target)
        if way.is_blocked:
            self.count("search/links_blocked")
            return FetchDecision(Outcome.RETRY, way.why, is_busy=True)
        self.count("search/links_lost")
        return FetchDecision(Outcome.NOT_ARTICLE, way.why)

    def _engine_of(self, lease: Lease) -> EngineDefinition | None:
        """The chosen engine that alone knows where the URL of *lease* leads."""
        return next((engine for engine in self.engines if engine.wraps(lease.url)), None)
