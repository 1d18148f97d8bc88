"""A spider for tests: asks for what its file says, and follows redirects as Scrapy does.

Everything else is the project's own: settings, middlewares, guard.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response


class ProbeSpider(Spider):
    """``-a file=``: JSON list of request arguments."""

    name = "probe"
    custom_settings = {
        "SCHEDULER": "scrapy.core.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
        "ITEM_PIPELINES": {}, "EXTENSIONS": {}, "ROBOTSTXT_OBEY": False,
    }  # fmt: skip

    def __init__(self, file: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cases = json.loads(Path(file).read_text())

    async def start(self) -> AsyncIterator[Request]:
        for number, case in enumerate(self.cases):
            # A jar each: what one case learns must not help another.
            meta = {"cookiejar": number, "handle_httpstatus_list": [404]}
            yield Request(**{"meta": meta, "dont_filter": True, **case})

    async def parse(self, response: Response) -> AsyncIterator[Request]:
        for link in response.css("a.follow::attr(href)").getall():
            yield response.follow(link, meta={"cookiejar": response.meta["cookiejar"]})
