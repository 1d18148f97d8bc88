"""`qiaocrawl session login` and `session check` run this: one login, nothing crawled.

It is a crawl so that a login uses the same guard, delays and proxies as everything else. The
result is in the account's row afterwards.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider

from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.errors import QiaoError

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from qiaocrawl.crawl.login.by_hand import Asked
    from qiaocrawl.runtime.runtime import Runtime


class LoginSpider(Spider):
    """Logs one account in, or checks whether it is."""

    name = "login"
    # No frontier, no pages.
    custom_settings = {
        "SCHEDULER": "scrapy.core.scheduler.Scheduler",
        "ITEM_PIPELINES": {},
        "EXTENSIONS": {"scrapy.extensions.logstats.LogStats": None},
        "COOKIES_ENABLED": True,
    }
    asked: Asked
    runtime: Runtime

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Check the arguments.

        Raises:
            SystemExit: a wrong argument or option, with one clear line (exit code 1).
        """
        # Every crawl loads all spiders.
        from qiaocrawl.crawl.login.by_hand import checked_arguments

        spider = super().from_crawler(crawler, *args)
        try:
            spider.asked = checked_arguments(kwargs)
            spider.runtime = runtime_of(crawler)
        except QiaoError as error:
            sys.exit(f"qiaocrawl: {error}")
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Do the one thing asked for."""
        from qiaocrawl.crawl.login.by_hand import OneLogin

        await OneLogin(self.crawler, self.runtime, self.asked).run()
        # An empty generator: Scrapy wants one, and there is nothing to request.
        no_requests: tuple[Request, ...] = ()
        for request in no_requests:
            yield request
