"""Fourth stage: is this title a reprint? Decided and remembered in one step (Q6)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qiaocrawl.crawl.items import CrawledPage, CrawlItem
from qiaocrawl.crawl.wiring import runtime_of
from qiaocrawl.items import TitleRecord

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class DedupPipeline:
    """Attaches the verdict; a reprint is stored too, reprints are news themselves.

    There is no ``await`` between "have I seen this title?" and "remember it": Scrapy
    processes items concurrently, and both copies would pass.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._runtime = runtime_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    def process_item(self, item: CrawlItem) -> CrawlItem:
        """Judge articles; everything else passes, also later parts of paged ones."""
        if not isinstance(item, CrawledPage) or item.analysis is None:
            return item
        article, part = item.analysis.article, item.analysis.part
        if article is None or (part is not None and part.number > 1):
            return item
        verdict = self._runtime.titles.judge(
            TitleRecord(
                key=item.lease.key,
                title=article.title,
                host=item.lease.host,
                published_at=article.published_at,
                source=article.source,
                tokens=item.analysis.title_tokens,
                body_digest=item.analysis.body_digest,
            )
        )
        self._stats.inc_value(f"qiaocrawl/dedup/{verdict.kind}")
        return replace(item, verdict=verdict)
