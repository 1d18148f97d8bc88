"""Another try under another identity: built by Scrapy's retry, held back for a pause."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.retry import get_retry_request

from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.fetch.failure_policy import backoff_seconds

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


def retry_request(crawler: Crawler, request: Request, reason: str) -> Request | None:
    """*request* for another try; None when it was tried QIAO_BLOCK_RETRIES times already.

    Args:
        reason: a few words that may stand in statistics; never an address or a password.
    """
    assert crawler.spider is not None
    return get_retry_request(
        request,
        spider=crawler.spider,
        reason=reason,
        max_retry_times=runtime_of(crawler).options["QIAO_BLOCK_RETRIES"],
        # Not ahead of others: its turn comes like that of any request.
        priority_adjust=0,
        logger=logger,
        give_up_log_level=logging.DEBUG,
        stats_base_key="qiaocrawl/access/retries",
    )


class DelayedRequests:
    """Requests whose lease is still out, each until its pause is over.

    Args:
        first_seconds: pause before the first try; each further one is four times as long.
        wake: called when one is due.
    """

    def __init__(self, first_seconds: float, wake: Callable[[], None]) -> None:
        self._first_seconds = first_seconds
        self._wake = wake
        self._due: deque[Request] = deque()

    def delay(self, request: Request) -> None:
        """Keep *request* until its pause is over."""
        # Scrapy counts tries from 1.
        tries: int = request.meta.get("retry_times", 1)
        pause = backoff_seconds(tries, self._first_seconds)
        asyncio.get_running_loop().call_later(pause, self._is_due, request)

    def next(self) -> Request | None:
        """A request that is due; None when there is none."""
        return self._due.popleft() if self._due else None

    def _is_due(self, request: Request) -> None:
        self._due.append(request)
        self._wake()
