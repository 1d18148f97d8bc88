"""Lines of the log that nobody sees are not made."""

from __future__ import annotations

import logging

import pytest
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from qiaocrawl.crawl.progress import QuietLogFormatter

_LEVELS = [("DEBUG", True), ("INFO", False), (logging.DEBUG, True), (logging.ERROR, False)]


@pytest.mark.parametrize(("level", "shows"), _LEVELS)
def test_a_page_has_its_lines_at_debug_only(level: str | int, *, shows: bool) -> None:
    crawler = get_crawler(Spider, {"LOG_LEVEL": level})
    formatter = QuietLogFormatter.from_crawler(crawler)
    request = Request("http://www.qiao.test/")
    lines = [
        formatter.crawled(request, Response(request.url), None),
        formatter.scraped("a page", Response(request.url), None),
    ]
    assert [line is not None for line in lines] == [shows, shows]
    assert formatter.dropped("a page", ValueError("gone"), None)["level"] == logging.INFO
