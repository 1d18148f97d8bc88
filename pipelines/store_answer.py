"""Last stage of a search: the ledger row, the hits and the end of the lease, in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from qiaocrawl.crawl.context import CrawlItem, SearchedPage, crawl_of
from qiaocrawl.frontier.completion import CompleteLease, LeaseEnd
from qiaocrawl.items import Outcome, Queue

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from qiaocrawl.crawl.context import CrawlContext


class StoreAnswerPipeline:
    """Stores what engines answer; pages pass through."""

    def __init__(self, crawl: CrawlContext, stats: StatsCollector) -> None:
        if crawl.scope.queue is not Queue.SEARCH:
            # Only searches bring answers.
            raise NotConfigured
        self._crawl = crawl
        self._stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawl_of(crawler), crawler.stats)

    async def process_item(self, item: CrawlItem) -> CrawlItem:
        """Store *item* if it is an answer; its frontier row is done when this returns."""
        if isinstance(item, SearchedPage):
            await self._store(item)
        return item

    async def _store(self, item: SearchedPage) -> None:
        # Engines and plans of searches: not for crawls that ask no engine.
        from qiaocrawl.runs.search import AskingOrder, store_answer

        order = self._crawl.order
        assert isinstance(order, AskingOrder), "answers are of searches"
        completion = CompleteLease(
            item.lease,
            LeaseEnd(Outcome.SERP, item.answer.state, item.page.status),
            write=lambda c: store_answer(
                c, order, item.lease, item.page, item.query, item.answer, item.hits
            ),
        )
        if not await self._crawl.worker.complete(completion):
            self._count("lease_lost")
            return
        self._count(f"search/{item.answer.state}")
        if (stored := completion.written) is not None:
            self._count("search/new_urls", stored.new_urls)
            self._count("search/known_urls", stored.known_urls)
            self._count("search/asked_on", stored.follow_ups)

    def _count(self, name: str, by: int = 1) -> None:
        self._stats.inc_value(f"qiaocrawl/{name}", by)
