"""Log lines an operator can read: whole pages are never printed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter, LogFormatterResult

from qiaocrawl.crawl.login.step_mark import LOGIN_STEP
from qiaocrawl.errors import StorageError
from qiaocrawl.text.visible import use_visible_records

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

# A page's words are in log lines too: its URL, its title, the error it caused.
use_visible_records()
# numba's compiler prints some ten thousand lines at DEBUG.
logging.getLogger("numba").setLevel(logging.INFO)


class QuietLogFormatter(LogFormatter):
    """Scraped and dropped items in one short line each; steps of a login without their tickets.

    Args:
        shows_debug: whether lines at DEBUG are shown at all; others are not even made.
    """

    def __init__(self, *, shows_debug: bool = True) -> None:
        self._shows_debug = shows_debug

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        level = crawler.settings["LOG_LEVEL"]
        number = logging.getLevelName(level) if isinstance(level, str) else level
        # Scrapy's loggers take every line and its handlers leave out what is below LOG_LEVEL.
        return cls(shows_debug=not isinstance(number, int) or number <= logging.DEBUG)

    def crawled(  # type: ignore[override]
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> LogFormatterResult | None:
        """Scrapy's line; for a login step only the host, since its address may hold a ticket."""
        if not self._shows_debug:
            return None
        if not request.meta.get(LOGIN_STEP):
            return super().crawled(request, response, *args, **kwargs)
        return {
            "level": logging.DEBUG,
            "msg": "Login step (%(status)s) %(method)s %(address)s",
            "args": {"status": response.status, "method": request.method,
                     # The query of a login step may be the ticket that logs in.
                     "address": request.url.partition("?")[0]},
        }  # fmt: skip

    def scraped(  # type: ignore[override]
        self, item: Any, response: Response | Failure | None, *args: Any, **kwargs: Any
    ) -> LogFormatterResult | None:
        """One DEBUG line an item; Scrapy's own prints the whole page."""
        if not self._shows_debug:
            return None
        return {"level": logging.DEBUG, "msg": "Stored %(item)r", "args": {"item": item}}

    def dropped(
        self, item: Any, exception: BaseException, response: Any, *args: Any, **kwargs: Any
    ) -> LogFormatterResult:
        """One INFO line: what was dropped and why."""
        return {
            "level": logging.INFO,
            "msg": "Dropped %(item)r: %(exception)s",
            "args": {"item": item, "exception": exception},
        }

    def item_error(
        self, item: Any, exception: BaseException, *args: Any, **kwargs: Any
    ) -> LogFormatterResult:
        """Scrapy's line; a lost database is reported once, not for each page in hand."""
        line = super().item_error(item, exception, *args, **kwargs)
        return _quiet(line, exception)

    def spider_error(self, failure: Failure, *args: Any, **kwargs: Any) -> LogFormatterResult:
        """As :meth:`item_error`."""
        return _quiet(super().spider_error(failure, *args, **kwargs), failure.value)

    def download_error(self, failure: Failure, *args: Any, **kwargs: Any) -> LogFormatterResult:
        """As :meth:`item_error`."""
        return _quiet(super().download_error(failure, *args, **kwargs), failure.value)


def _quiet(said: LogFormatterResult, error: object) -> LogFormatterResult:
    if isinstance(error, StorageError):
        # The crawl stops at the first one and says so (runtime/run_end.py).
        said["level"] = logging.DEBUG
    return said
