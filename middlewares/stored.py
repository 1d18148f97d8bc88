"""A page that was stored before a crash is taken from storage, not from its host again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.storage.pages.raw_pages import load_page_if_readable

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from qiaocrawl.items import FetchedPage, Lease


class StoredPageMiddleware:
    """Answers requests whose lease says ``stored`` from the page_source table."""

    def __init__(self, crawler: Crawler) -> None:
        self._runtime = runtime_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    async def process_request(self, request: Request) -> Response | None:
        """The stored page as a response; None lets the request go on to the host."""
        lease: Lease | None = request.meta.get("lease")
        if lease is None or not lease.stored:
            return None
        page = await self._runtime.read(lambda c: load_page_if_readable(c, lease.url_id))
        if page is None:
            # Its file is damaged: the host is asked again, and what comes is stored first.
            request.meta["lease"] = replace(lease, stored=False)
            return None
        return response_of(page, request)


def response_of(page: FetchedPage, request: Request) -> Response:
    """A stored page as if it had just come."""
    headers = Headers()
    for name, value in page.headers:
        # The stored body is decoded already.
        if name != "content-encoding":
            headers.appendlist(name, value)
    kind = responsetypes.from_args(headers=headers, url=page.url, body=page.body)
    return kind(url=page.url, status=page.status, headers=headers, body=page.body, request=request)
