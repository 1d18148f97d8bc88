"""Bare Scrapy: fetches a list of pages and looks at none of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import scrapy
from scrapy.http import Response


class BareSpider(scrapy.Spider):
    """Fetches the addresses in the file *urls*."""

    name = "bare"
    custom_settings = {"CONCURRENT_ITEMS": 4, "ROBOTSTXT_OBEY": False}
    urls: str

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """One request an address."""
        for url in Path(self.urls).read_text().split():
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response: Response) -> None:
        """Count it."""
        self.crawler.stats.inc_value("fetched")
