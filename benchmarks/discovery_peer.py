"""Plain Scrapy over the demo's authoritative sites: every link, random user agents, retries.

``python -m benchmarks.discovery_peer HOST:PORT [throttled]``. A rotation package that is installed
(scrapy-user-agents, scrapy-fake-useragent) chooses the user agents, else a short list does.
"""

from __future__ import annotations

import random
import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.httpobj import urlparse_cached

from qiaocrawl.demo.web import demo_sites

if TYPE_CHECKING:
    from scrapy.http import Response

_AGENTS = tuple(
    f"Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{version}.0.0.0 "
    "Safari/537.36"
    for system in ("Windows NT 10.0; Win64; x64", "X11; Linux x86_64", "Macintosh; Intel Mac OS X")
    for version in (120, 124, 126, 131)
)
_PACKAGES = {
    "scrapy_user_agents": "scrapy_user_agents.middlewares.RandomUserAgentMiddleware",
    "scrapy_fake_useragent": "scrapy_fake_useragent.middleware.RandomUserAgentMiddleware",
}


class RandomAgents:
    """Another browser's name for every request."""

    def process_request(self, request: Request) -> None:
        """Set the header."""
        request.headers["User-Agent"] = random.choice(_AGENTS)


class DemoHandler(HTTP11DownloadHandler):
    """Finds every ``.test`` host on the demo server."""

    async def download_request(self, request: Request) -> Response:
        """The same request to the demo server, with its host named."""
        parts = urlparse_cached(request)
        demo: str = self._crawler.settings["DEMO"]
        headers = request.headers.copy()
        headers["Host"] = parts.netloc
        url = parts._replace(scheme="http", netloc=demo).geturl()
        response = await super().download_request(request.replace(url=url, headers=headers))
        return response.replace(url=request.url)

    def __init__(self, crawler: Any) -> None:
        super().__init__(crawler)
        self._crawler = crawler


class EveryLink(CrawlSpider):
    """Scrapy's own deep crawl of whole sites."""

    name = "every_link"
    rules = (Rule(LinkExtractor(), follow=True),)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sites = [site for site in demo_sites() if site.role == "authoritative"]
        self.start_urls = [site.start_url for site in sites]
        self.allowed_domains = [site.host for site in sites]

    async def start(self) -> AsyncIterator[Request]:
        """The start pages."""
        for url in self.start_urls:
            yield Request(url)


def main() -> None:
    """Crawl to the end."""
    rotation = next((path for name, path in _PACKAGES.items() if find_spec(name)), RandomAgents)
    settings = {
        "DEMO": sys.argv[1], "ROBOTSTXT_OBEY": True, "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False, "LOG_LEVEL": "WARNING", "RETRY_TIMES": 2,
        "DOWNLOAD_HANDLERS": {"http": DemoHandler}, "DOWNLOAD_TIMEOUT": 30,
        "DOWNLOADER_MIDDLEWARES": {
            "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": None, rotation: 400,
        },
        "AUTOTHROTTLE_ENABLED": "throttled" in sys.argv[2:], "AUTOTHROTTLE_START_DELAY": 0.3,
        # The demo's calendars have no end. Delays are shortened like our pauses.
        "DEPTH_LIMIT": 20, "CLOSESPIDER_PAGECOUNT": 20_000,
    }  # fmt: skip
    process = CrawlerProcess(settings)
    process.crawl(EveryLink)
    process.start()


if __name__ == "__main__":
    main()
