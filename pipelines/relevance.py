"""Third stage: the topics' judgements are counted and, for this run's topic, decide the rank.

The scoring itself runs in the analysis worker, where the text already is: sending it
through another process again would cost more than the scoring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl.crawl.items import CrawledPage, CrawlItem
from qiaocrawl.items import Outcome

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class RelevancePipeline:
    """Counts on-topic and off-topic articles; off-topic ones are kept with their score."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    def process_item(self, item: CrawlItem) -> CrawlItem:
        """Count the judgement for the topic this URL was fetched for."""
        if not isinstance(item, CrawledPage) or item.analysis is None:
            return item
        # Later pages of a paged article are judged with its first one.
        if item.analysis.outcome is Outcome.ARTICLE:
            for judgement in item.analysis.relevance:
                if judgement.topic == item.lease.topic:
                    word = "relevant" if judgement.relevant else "off_topic"
                    self._stats.inc_value(f"qiaocrawl/relevance/{word}")
        return item
