"""Log lines an operator can read: whole pages are never printed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter, LogFormatterResult

if TYPE_CHECKING:
    from scrapy.http import Response
    from twisted.python.failure import Failure


class QuietLogFormatter(LogFormatter):
    """Scraped and dropped items in one short line each."""

    def scraped(
        self, item: Any, response: Response | Failure | None, *args: Any, **kwargs: Any
    ) -> LogFormatterResult:
        """One DEBUG line an item; Scrapy's own prints the whole page."""
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
