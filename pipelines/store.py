"""Last stage: the outcome, all it brings and the end of the lease, in one transaction."""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

from pipelines.extract import AnalysisStopped
from qiaocrawl.crawl.items import CrawledPage, CrawlItem, SearchedPage
from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.crawl.wiring import runtime_of
from qiaocrawl.errors import OutdatedError
from qiaocrawl.frontier.completion import Around
from qiaocrawl.items import Lease, Outcome, PageAnalysis, Verdict
from qiaocrawl.runs.search import ask_on, asked_to_rest, record_answer
from qiaocrawl.search.candidates import hit_candidates
from qiaocrawl.stages.paged_articles import Whole, enter_part, join_parts, save_whole
from qiaocrawl.storage.frontier import visit_log
from qiaocrawl.storage.pages.article_parts import is_current

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy.crawler import Crawler
    from sqlalchemy import Connection


class StorePipeline:
    """Stores articles with links, and search answers with their ledger row and hits."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._runtime = runtime_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    async def process_item(self, item: CrawlItem) -> CrawlItem:
        """Store *item*; its frontier row is done when this returns."""
        if isinstance(item, CrawledPage):
            await self._store_page(item)
        else:
            await self._store_answer(item)
        return item

    @property
    def _spider(self) -> FrontierSpider:
        spider = self._crawler.spider
        assert isinstance(spider, FrontierSpider)
        return spider

    async def _store_page(self, item: CrawledPage) -> None:
        analysis = item.analysis
        assert analysis is not None
        if analysis.part is not None:
            await self._store_part(item, analysis)
            return
        verdict: Verdict | None = None

        def also(c: Connection) -> None:
            nonlocal verdict
            self._close(c, item)
            verdict = self._runtime.save_analysis(c, item.lease, analysis, item.candidates)
            _note_visit(c, item)

        mine = await self._spider.worker.complete(
            item.lease, analysis.outcome, reason=analysis.reason, http_status=item.page.status,
            also=also, around=Around(
                self._runtime.titles.lock if analysis.article else None,
                then=lambda: self._learn(item),
            ),
        )
        self._count(f"outcome/{analysis.outcome}" if mine else "lease_lost")
        if mine:
            self._count_verdict(verdict)
            self._count_judgement(item.lease, analysis.outcome, analysis)

    def _count_judgement(
        self, lease: Lease, outcome: Outcome, analysis: PageAnalysis | None
    ) -> None:
        """Count a stored article as on or off the topic its page was fetched for."""
        if outcome is not Outcome.ARTICLE or analysis is None:
            return
        for judgement in analysis.relevance:
            if judgement.topic == lease.topic:
                self._count(f"relevance/{'relevant' if judgement.relevant else 'off_topic'}")

    def _count_verdict(self, verdict: Verdict | None) -> None:
        if verdict is not None:
            self._count(f"dedup/{verdict.kind}")

    def _close(self, c: Connection, item: CrawledPage) -> None:
        """Write what other stages and the spider want written with the end of the page."""
        self._spider.page_closes(c, item)
        for write in item.writes:
            write(c)

    def _learn(self, item: CrawledPage) -> None:
        """Let the memories have what the page brought and tells of its site: it is committed."""
        spider, lease, analysis, page = self._spider, item.lease, item.analysis, item.followed
        assert analysis is not None
        for then in item.then:
            then()
        if page is not None:
            new = set(spider.ordering.stored(page))
            links = page.links.visit.links
            if spider.policy.rules is not None:
                spider.policy.rules.stored(links)
            if spider.discovery is not None:
                self._post(spider.discovery.learn(lease, analysis, page.links, new))
        spider.worker.aliases.observe(lease, analysis)
        if self._runtime.learning is not None:
            self._runtime.learning.observe(analysis)
            self._post(self._runtime.learning.due())

    def _post(self, operation: Callable[[Connection], None] | None) -> None:
        if operation is not None:
            self._spider.worker.post(operation)

    async def _store_part(self, item: CrawledPage, analysis: PageAnalysis) -> None:
        """Store one page of a paged article, and the article anew with it."""
        while True:
            group = await self._runtime.write(lambda c: enter_part(c, item.lease, analysis))
            if group is None:
                self._spider.worker.forget(item.lease)
                self._count("lease_lost")
                return
            try:
                whole = await join_parts(group, analysis, self._runtime.join)
                await self._close_part(item, analysis, whole)
                return
            except (CancelledError, asyncio.CancelledError):
                raise AnalysisStopped(item.page.url) from None
            except OutdatedError:
                # Another part came meanwhile. Each time it is one more, so this ends.
                self._count("parts/joined_again")

    async def _close_part(self, item: CrawledPage, analysis: PageAnalysis, whole: Whole) -> None:
        verdict: Verdict | None = None

        def also(c: Connection) -> None:
            nonlocal verdict
            self._close(c, item)
            verdict = save_whole(c, whole, self._runtime.save_article, own_url_id=item.lease.url_id)
            if item.candidates:
                self._runtime.offer(c, item.candidates)
            _note_visit(c, item)

        assert analysis.part is not None
        outcome = whole.group.outcome(analysis.part.number)
        mine = await self._spider.worker.complete(
            item.lease, outcome, reason=analysis.reason, http_status=item.page.status,
            also=also, around=Around(
                self._runtime.titles.lock, lambda c: is_current(c, whole.group),
                lambda: self._learn(item),
            ),
        )
        self._count(f"outcome/{outcome}" if mine else "lease_lost")
        if mine:
            if analysis.part.number == 1:  # else the article counts with its first page
                self._count_verdict(verdict)
            self._count_judgement(item.lease, outcome, whole.analysis)

    async def _store_answer(self, item: SearchedPage) -> None:
        query, answer = item.query, item.answer
        found = hit_candidates(item.hits, item.lease, topic=query.topic)
        new = following = 0

        def also(c: Connection) -> None:
            nonlocal new, following
            new = self._runtime.offer(c, found)
            record_answer(
                c, self._runtime, item.lease, query, answer, new_urls=new,
                rest_seconds=asked_to_rest(item.page, self._runtime.options),
            )
            following = ask_on(c, self._runtime, item.lease, query, answer, new_urls=new)

        mine = await self._spider.worker.complete(
            item.lease, Outcome.SERP, reason=answer.state, http_status=item.page.status, also=also
        )
        if not mine:
            self._count("lease_lost")
            return
        self._count(f"search/{answer.state}")
        self._count("search/new_urls", new)
        self._count("search/known_urls", len(found) - new)
        self._count("search/asked_on", following)

    def _count(self, name: str, by: int = 1) -> None:
        self._crawler.stats.inc_value(f"qiaocrawl/{name}", by)


def _note_visit(c: Connection, item: CrawledPage) -> None:
    """Let the log of visits have the page, in the transaction that closes it."""
    page = item.followed
    if page is not None:
        visit_log.append(c, item.lease, page.links.visit, page.packed)
