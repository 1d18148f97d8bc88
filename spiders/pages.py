"""`scrapy crawl pages`: fetches what search found, and retires the dead ones (Q4)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from qiaocrawl.crawl.items import CrawlItem
from qiaocrawl.crawl.responses import fetched_page
from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.fetch.status import FetchDecision
from qiaocrawl.items import Lease, Outcome, Queue
from qiaocrawl.runs.site import link_rules
from qiaocrawl.search import EngineDefinition
from qiaocrawl.search.wrapped import way_on
from qiaocrawl.stages.follow_links import FollowPolicy

if TYPE_CHECKING:
    from scrapy.http import Response


class PagesSpider(FrontierSpider):
    """Fetches pending pages of the topic; links into authoritative sites wait for `site`."""

    name = "pages"
    queue = Queue.PAGES
    allowed_arguments = {"site": "hosts, comma separated; default: all that wait"}

    def prepare(self) -> None:
        """Scope: everything that waits for this topic, or the hosts of ``site=``."""
        named = [host.strip().lower() for host in self.arguments.get("site", "").split(",")]
        within = FollowPolicy(sites=frozenset(filter(None, named)))
        self.scope = self.runtime.scope(self.queue, self.topic, within if within.sites else None)
        deep = frozenset(site.host for site in self.runtime.catalogue.deep_sites(self.topic))
        self.policy = FollowPolicy(
            sites=deep,
            max_depth=self.runtime.options["QIAO_MAX_DEPTH"],
            max_links=self.runtime.options["QIAO_MAX_LINKS_PER_PAGE"],
            rules=link_rules(self.runtime.options, learns=False),
        )
        catalogue = self.runtime.catalogue
        self.engines = [catalogue.engine(name) for name in self.runtime.options["QIAO_ENGINES"]]

    def request_meta(self, lease: Lease) -> dict[str, Any]:
        """Ask for rendering where the site's row asks for it.

        A link of a chosen engine is part of its answer: the choice covers it too.
        """
        if self._engine_of(lease) is not None:
            return {"dont_obey_robotstxt": True}
        return {"render": self.runtime.catalogue.wants_rendering(lease.host)}

    async def parse(self, response: Response) -> AsyncIterator[CrawlItem]:
        """A response arrived: a page, or an engine's link that leads on to one."""
        lease: Lease = response.meta["lease"]
        engine = self._engine_of(lease)
        if engine is not None:
            await self._follow_link(engine, lease, response)
            return
        async for item in super().parse(response):
            yield item

    async def _follow_link(
        self, engine: EngineDefinition, lease: Lease, response: Response
    ) -> None:
        self.worker.left_downloader(lease, answered=True)
        self.count("pages")
        page = fetched_page(response)
        decision = self.judge(page)
        location = decision.target if decision is not None else ""
        if decision is not None and decision.outcome not in (Outcome.REDIRECT, Outcome.NOT_ARTICLE):
            await self.record(lease, page, decision)
            return
        way = way_on(engine, page, location, lease.payload.asked_site)
        if way.target:
            self.count("search/links_resolved")
            decision = FetchDecision(Outcome.REDIRECT, "link of the engine", target=way.target)
            await self.record(lease, page, decision)
        elif way.is_blocked:
            self.count("search/links_blocked")
            await self.fail(lease, await self.host_failures.busy(lease, way.why, 0.0))
        else:
            self.count("search/links_lost")
            await self.finish(lease, Outcome.NOT_ARTICLE, way.why, status=page.status)

    def _engine_of(self, lease: Lease) -> EngineDefinition | None:
        """The chosen engine that alone knows where the URL of *lease* leads."""
        return next((engine for engine in self.engines if engine.wraps(lease.url)), None)
