"""One page, fetched as a crawl fetches: ``python -m qiaocrawl.crawl.single_page URL FOLDER``.

robots.txt, user agent, guard against private addresses, time and size limits are those of
``settings.py``; what needs a frontier is left out. FOLDER gets ``page.json`` and ``body``, or
``error`` with the reason in words.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import IgnoreRequest
from scrapy.settings import Settings

from qiaocrawl.crawl.spider import fetched_page
from qiaocrawl.errors import AddressRefusedError

if TYPE_CHECKING:
    from scrapy.http import Response
    from twisted.python.failure import Failure

PAGE_FILE, BODY_FILE, ERROR_FILE = "page.json", "body", "error"
_REDIRECTS = 5
# What follows leases and rows of the frontier, or reports on a long crawl.
_WITHOUT_FRONTIER = {
    "SPIDER_MODULES": [],
    # Scrapy's own scheduler: there is no frontier, and no row to lease.
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
    "ITEM_PIPELINES": {},
    "LOG_ENABLED": False,
    "REDIRECT_MAX_TIMES": _REDIRECTS,
}


class SinglePageSpider(Spider):
    """Fetches one URL, following redirects, and files what came."""

    name = "single"
    url: str
    folder: Path

    async def start(self) -> AsyncIterator[Request]:
        """The one request; QIAO_RENDER opens it in the browser."""
        yield Request(self.url, errback=self.on_failure, meta={"render": True})

    def parse(self, response: Response) -> None:
        """File the page, whatever its status."""
        page = fetched_page(response)
        record = {**asdict(page), "body": None, "fetched_at": page.fetched_at.isoformat()}
        (self.folder / BODY_FILE).write_bytes(page.body)
        (self.folder / PAGE_FILE).write_text(json.dumps(record), encoding="utf-8")

    def on_failure(self, failure: Failure) -> None:
        """File the reason."""
        error = failure.value
        words = str(error) or type(error).__name__
        if isinstance(error, IgnoreRequest) and "robots.txt" in words:
            words = "robots.txt of the site does not allow this page"
        elif isinstance(error, AddressRefusedError):
            words = f"{words}, and so can --allow"
        (self.folder / ERROR_FILE).write_text(words, encoding="utf-8")


def fetch_single(url: str, folder: Path) -> None:
    """Fetch *url* into *folder*; QIAO_DATABASE_URL must name a database of this version."""
    settings = Settings()
    settings.setmodule("qiaocrawl.settings")
    settings.setdict(_WITHOUT_FRONTIER, priority="cmdline")
    # Both need the frontier's rows.
    settings["DOWNLOADER_MIDDLEWARES"]["qiaocrawl.middlewares.stored.StoredPageMiddleware"] = None
    settings["EXTENSIONS"]["qiaocrawl.crawl.progress.ProgressLog"] = None
    process = CrawlerProcess(settings)
    process.crawl(SinglePageSpider, url=url, folder=folder)
    process.start()


if __name__ == "__main__":
    fetch_single(sys.argv[1], Path(sys.argv[2]))
