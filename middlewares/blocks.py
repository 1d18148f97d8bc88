"""Checks every answer for blocks, which :mod:`qiaocrawl.fetch.block_detection` recognises."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.crawl.network.access import access_of, host_of_request
from qiaocrawl.crawl.retry import retry_request
from qiaocrawl.crawl.spider import MAY_BE_BLOCK, fetched_page
from qiaocrawl.errors import BlockedError
from qiaocrawl.fetch.block_detection import BlockKind, BlockSign, find_block
from qiaocrawl.items import Lease, Queue

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

# Statuses with which a server, or the proxy before it, says that it did not do its work.
_NOT_SERVED = frozenset({502, 503, 504})
_SERVER_ERRORS, _OK = 500, 200


class BlockMiddleware:
    """Retries a blocked request under another identity where allowed, else reports the block.

    Result pages of search engines are judged by the engine's own definition; here they are
    only requested again.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._access = access_of(crawler)
        if not runtime_of(crawler).options["QIAO_BLOCK_DETECTION"] or self._access.off:
            raise NotConfigured

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response | Request:
        """The response, or the request for another try.

        Raises:
            BlockedError: it is a block, and the URL goes back to the frontier.
        """
        lease: Lease | None = request.meta.get("lease")
        # A stored page was judged when it came.
        if lease is not None and lease.stored:
            return response
        host = host_of_request(request)
        self._access.health.alive(host)
        sign = find_block(fetched_page(response), self._access.sizes)
        if sign is None:
            self._went_well(request, response, host, lease)
            return response
        self._access.counts[f"blocks/{sign.kind}"] += 1
        if (again := self._as_somebody_else(request, host, sign)) is not None:
            return again
        if lease is not None and lease.queue is not Queue.SEARCH:
            self._report(request, response, lease, sign)
        return response

    def _went_well(
        self, request: Request, response: Response, host: str, lease: Lease | None
    ) -> None:
        proxy = request.meta.get("access_proxy")
        if proxy is not None and response.status in _NOT_SERVED:
            self._access.pool.note_no_answer(proxy, host, time.monotonic())
        elif proxy is not None:
            latency: float = request.meta.get("download_latency", 0.0)
            self._access.pool.note_answer(proxy, host, latency)
        if lease is None or lease.queue is Queue.SEARCH or response.status >= _SERVER_ERRORS:
            return
        self._access.note_answer(host)
        if response.status == _OK:
            self._access.sizes.add(response.url, len(response.body))

    def _as_somebody_else(self, request: Request, host: str, sign: BlockSign) -> Request | None:
        proxy = request.meta.get("access_proxy")
        if proxy is not None:
            self._access.pool.note_block(proxy, host, time.monotonic())
            request.meta["access_tried"] = (*request.meta.get("access_tried", ()), proxy)
        if not self._access.can_switch(host):
            return None
        self._access.switch(host)
        return retry_request(self._crawler, request, sign.kind)

    def _report(self, request: Request, response: Response, lease: Lease, sign: BlockSign) -> None:
        # A host that asks to wait says for how long; the spider keeps to that.
        if sign.kind is BlockKind.BUSY:
            return
        # A second try of a URL tells nothing new of the host, unless the sign is sure.
        strike = None
        if lease.failures == 0 or sign.kind.is_sure:
            strike = self._access.struck(lease.host, sign)
        wants_login = sign.kind is BlockKind.LOGIN
        if strike is not None:
            raise BlockedError(
                str(sign), strike.pause_seconds, give_up=strike.give_up, wants_login=wants_login
            )
        if not wants_login and lease.failures == 0:
            raise BlockedError(str(sign))
        # Twice the same: it is taken as it is. That is no sign that the host serves us.
        request.meta[MAY_BE_BLOCK] = True
        self._access.counts["blocks/let_through"] += 1
        self._access.sizes.add(response.url, len(response.body))
