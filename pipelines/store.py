"""Last stage of a page: its outcome, all it brings and the end of its lease in one transaction."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from qiaocrawl.crawl.browser.learning import saving
from qiaocrawl.crawl.context import AnalysedPage, CrawlItem, crawl_of
from qiaocrawl.errors import ConfigError, OutdatedError
from qiaocrawl.frontier.completion import CompleteLease, LeaseEnd
from qiaocrawl.items import Lease, Outcome, PageAnalysis, Verdict
from qiaocrawl.runtime.articles import AssembledArticle, add_part, assemble_article
from qiaocrawl.storage.frontier import visit_log
from qiaocrawl.storage.pages.article_parts import is_current
from qiaocrawl.storage.pages.sites import forget_mark, save_missing_page

from .extract import AnalysisStopped

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector
    from sqlalchemy import Connection

    from qiaocrawl.crawl.context import CrawlContext


class StorePipeline:
    """Stores pages: articles, links and what the crawl learnt of them; answers pass through."""

    def __init__(self, crawl: CrawlContext, stats: StatsCollector) -> None:
        self._crawl = crawl
        self._runtime = crawl.runtime
        self._stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawl_of(crawler), crawler.stats)

    async def process_item(self, item: CrawlItem) -> CrawlItem:
        """Store *item*; its frontier row is done when this returns."""
        if not isinstance(item, AnalysedPage):
            return item
        is_part = item.analysis.part is not None
        url_id = await (self._store_part(item) if is_part else self._store_page(item))
        return item if url_id is None else replace(item, article_url_id=url_id)

    def _write_page(
        self, c: Connection, item: AnalysedPage, article: AssembledArticle | None
    ) -> Verdict | None:
        """Write all that is kept of a page, in the transaction that has closed its lease.

        In this order, behind the page's own ``url`` row: what the kind of crawl keeps (its
        journal), ``missing_page``, the host's mark for the browser, the article with all that
        belongs to it (:meth:`RunArticles.save`), the ``url`` rows of its links, and its ``visit``.

        Args:
            article: what the page is a part of.

        Returns:
            How its article relates to others; None if there is none.
        """
        lease, analysis, followed, verdict = item.lease, item.analysis, item.followed, None
        links = followed.visit.links if followed is not None else ()
        self._crawl.journal.page_closes(c, lease, item.page, analysis, links)
        if item.missing_page is not None:
            save_missing_page(c, item.missing_page, now=time.time())
        if item.rendering is not None and lease.payload.render:
            forget_mark(c, lease)
        articles = self._runtime.articles
        if article is not None:
            verdict = articles.save_assembled(c, article, own_url_id=lease.url_id)
        elif analysis.article is not None:
            verdict = articles.save(
                c, lease.url_id, analysis, anchor=lease.anchor, title_words=analysis.title_tokens
            )
        if followed is not None:
            candidates = followed.selection.candidates
            if candidates:
                self._runtime.enqueue(c, self._crawl.worker.share.admit(c, candidates))
            visit_log.append_visit(c, lease, followed.visit, followed.packed_links)
        return verdict

    async def _store_page(self, item: AnalysedPage) -> int | None:
        """Store the page; returns the URL its article stands at, if it brought one."""
        analysis = item.analysis
        completion = CompleteLease(
            item.lease,
            LeaseEnd(analysis.outcome, analysis.reason, item.page.status),
            write=lambda c: self._write_page(c, item, None),
        )
        is_mine = await self._crawl.worker.complete(
            completion,
            before=None if analysis.article is None else self._runtime.articles.titles.lock,
            then=lambda: self._remember(item),
        )
        self._count(f"outcome/{analysis.outcome}" if is_mine else "lease_lost")
        if is_mine:
            self._count_verdict(completion.written)
            self._count_judgement(item.lease, analysis.outcome, analysis)
        return item.lease.url_id if is_mine and analysis.article is not None else None

    async def _store_part(self, item: AnalysedPage) -> int | None:
        """Store one page of a paged article, and the article rebuilt with it.

        Returns:
            The URL the article stands at, if it was stored.
        """
        analysis = item.analysis
        while True:
            group = await self._runtime.write(lambda c: add_part(c, item.lease, analysis))
            if group is None:
                self._crawl.worker.forget(item.lease)
                self._count("lease_lost")
                return None
            try:
                article = await assemble_article(group, analysis, self._runtime.analysis.join)
                return await self._close_part(item, article)
            except ConfigError as error:
                self._crawl.worker.stop("config_error", error)
                raise AnalysisStopped(item.page.url) from None
            except (CancelledError, asyncio.CancelledError):
                raise AnalysisStopped(item.page.url) from None
            except OutdatedError:
                # Another part came meanwhile. Each time it is one more, so this ends.
                self._count("parts/joined_again")

    async def _close_part(self, item: AnalysedPage, article: AssembledArticle) -> int | None:
        analysis = item.analysis
        assert analysis.part is not None
        outcome = article.group.outcome(analysis.part.number)
        completion = CompleteLease(
            item.lease,
            LeaseEnd(outcome, analysis.reason, item.page.status),
            write=lambda c: self._write_page(c, item, article),
            guard=partial(is_current, group=article.group),
        )
        is_mine = await self._crawl.worker.complete(
            completion, before=self._runtime.articles.titles.lock, then=lambda: self._remember(item)
        )
        self._count(f"outcome/{outcome}" if is_mine else "lease_lost")
        if is_mine:
            if analysis.part.number == 1:  # Else the article counts with its first page.
                self._count_verdict(completion.written)
            self._count_judgement(item.lease, outcome, article.analysis)
        return article.group.head.url_id if is_mine and article.analysis is not None else None

    def _remember(self, item: AnalysedPage) -> None:
        """Update the memories with what the page brought, now that it is committed."""
        crawl, lease, analysis, followed = self._crawl, item.lease, item.analysis, item.followed
        if (lesson := item.rendering) is not None:
            votes = lesson.learning.learn(lease, item.page, lesson.extracted)
            self._post(None if votes is None else saving(votes))
        if followed is not None:
            new_keys = set(crawl.order.note_stored(followed))
            if crawl.policy.rules is not None:
                crawl.policy.rules.note_stored(followed.visit.links)
            if crawl.discovery is not None:
                self._post(crawl.discovery.learn(lease, analysis, followed.selection, new_keys))
        crawl.worker.aliases.observe(lease, analysis)
        if self._runtime.analysis.learning is not None:
            self._runtime.analysis.learning.observe(analysis)
            self._post(self._runtime.analysis.learning.due())
        if (nodes := self._runtime.analysis.nodes) is not None:
            nodes.observe(analysis)
            self._post(nodes.due())

    def _post(self, operation: Callable[[Connection], None] | None) -> None:
        if operation is not None:
            self._crawl.worker.post(operation)

    # --- numbers ----------------------------------------------------------------------------

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

    def _count(self, name: str) -> None:
        self._stats.inc_value(f"qiaocrawl/{name}")
