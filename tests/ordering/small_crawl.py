"""A crawl of a small web without a network: the real worker, order and database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from learning_samples import SITE, AnchorYield, link
from sqlalchemy import Connection

from qiaocrawl.crawl.closing import Around
from qiaocrawl.crawl.limits import Fetches, Limits
from qiaocrawl.crawl.worker import FrontierWorker
from qiaocrawl.follow import FollowPolicy, seed_candidate
from qiaocrawl.frontier import LearningStrategy
from qiaocrawl.items import Lease, Link, Outcome, PageAnalysis, Queue, Relevance
from qiaocrawl.options import Options
from qiaocrawl.ordering import LearnedOrdering
from qiaocrawl.runtime import Runtime
from qiaocrawl.storage import visits

TOPIC = "qiaoqing"
POLICY = FollowPolicy(frozenset({SITE}))

Web = Mapping[str, tuple[float, Sequence[tuple[str, str]]]]
"""By path: relevance, and links as (path, anchor); an anchor ending with "later" is put off."""


class SmallCrawl:
    """One worker's crawl; ``fetched`` are paths in the order they were fetched in."""

    def __init__(
        self, url: str, web: Web, strategy: LearningStrategy | None = None, **options: object
    ) -> None:
        self.runtime = Runtime(Options.from_environment({
            "QIAO_DATABASE_URL": url, "QIAO_URL_ALIASES": "off", **options,
        }))  # fmt: skip
        self.web = web
        self.strategy = strategy or AnchorYield()
        self.fetched: list[str] = []
        scope = self.runtime.scope(Queue.SITE, TOPIC, POLICY)
        self.ordering = LearnedOrdering(self.strategy, self.runtime, scope)
        self.worker = FrontierWorker(
            self.runtime, scope, ordering=self.ordering, limits=Limits(),
            fetches=Fetches(1, 1), run_id=None, wake=lambda: None,
        )  # fmt: skip

    async def run(
        self, *, most: int = 1000, on_page: Callable[[Lease], None] | None = None
    ) -> None:
        """Crawl until nothing waits, or *most* pages are fetched; may be called again then."""
        if self.worker._pump_task is None:
            await self.worker.open()
        while not self.ordering.is_ready:
            await asyncio.sleep(0.01)
        self.worker.offer([seed_candidate(link("0").url, Queue.SITE, TOPIC, rearm=False)])
        while not self.worker.drained and len(self.fetched) < most and not self.worker.stop_reason:
            lease = self.worker.next_lease()
            if lease is None:
                await asyncio.sleep(0.005)
                continue
            if on_page is not None:
                on_page(lease)
            await self.fetch(lease)

    async def fetch(self, lease: Lease) -> None:
        """Fetch and store the page of *lease*."""
        path = lease.url.rsplit("/", 1)[1]
        self.fetched.append(path)
        relevance, links = self.web[path]
        analysis = PageAnalysis(
            Outcome.LIST, None, tuple(_link(to, anchor) for to, anchor in links), "utf-8",
            page_relevance=(Relevance(TOPIC, relevance, relevance > 0.5, "test"),),
        )  # fmt: skip
        page = await self.ordering.follow(lease, analysis, POLICY)
        self.worker.left_downloader(lease)

        def also(c: Connection) -> None:
            self.runtime.save_analysis(c, lease, analysis, page.links.candidates)
            visits.append(c, lease, page.links.visit, page.packed)

        around = Around(then=lambda: self.ordering.stored(page))
        await self.worker.complete(lease, Outcome.LIST, also=also, around=around)

    async def close(self) -> None:
        """End as a run ends."""
        await self.worker.close()
        self.numbers = self.worker.numbers()
        self.runtime.close()

    async def die(self) -> None:
        """End as kill -9 does: nothing is given back, nothing is kept."""
        self.worker._closing = True
        self.worker._event.set()
        assert self.worker._pump_task is not None
        await asyncio.wait([self.worker._pump_task])
        assert self.ordering._task is not None
        self.ordering._task.cancel()
        self.runtime.close()


def _link(to: str, anchor: str) -> Link:
    return replace(link(to, anchor), postponed=anchor if anchor.endswith("later") else "")


def crawl_all(url: str, web: Web, strategy: LearningStrategy | None = None,
              **options: object) -> SmallCrawl:  # fmt: skip
    """A whole crawl, to its end."""
    return asyncio.run(_crawl(partial(SmallCrawl, url, web, strategy, **options)))


async def _crawl(make: Callable[[], SmallCrawl]) -> SmallCrawl:
    crawl = make()
    await crawl.run()
    await crawl.close()
    return crawl
