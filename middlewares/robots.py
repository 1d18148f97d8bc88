"""robots.txt as RFC 9309 reads it, with Crawl-delay kept and a day's memory."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.robotstxt import ProtegoRobotParser
from scrapy.utils.httpobj import urlparse_cached

from qiaocrawl.crawl.context import find_crawl, runtime_of
from qiaocrawl.crawl.fetch_outcomes import words_of
from qiaocrawl.crawl.network.pacing import rate_limiter_of
from qiaocrawl.crawl.spider import fetched_page
from qiaocrawl.discovery.url_sources import robots_text
from qiaocrawl.errors import AddressRefusedError, HostParkedError, RobotsUnreachableError
from qiaocrawl.fetch.failure_policy import judge_fetch

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser

logger = logging.getLogger(__name__)
# Scrapy prints a traceback for every host that does not answer; ours says it in a line.
logging.getLogger("scrapy.downloadermiddlewares.robotstxt").setLevel(logging.CRITICAL)

# RFC 9309: a parser must read at least 500 KiB and may stop there; a copy may serve a day.
_MAX_BYTES = 512 * 1024
_FRESH_SECONDS = 24 * 3600.0
# An unreachable robots.txt is asked for again sooner: as often as a page of the host is tried,
# so that every try of a page is a real one.
_RETRY_GROWTH = 4.0
_RETRY_STEPS = 2
# A robots.txt whose connection was lost may lack the rules that matter: it is asked for so often
# again. A server whose Content-Length is wrong sends no other one, and is believed then.
_MOST_CUT = 2


class RobotsMiddleware(RobotsTxtMiddleware):
    """Scrapy's middleware with the cases it leaves open decided (faults F-K2, F-K3, F-K5).

    A 4xx allows everything (429 does not), a 5xx or no answer allows nothing for now.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        options = runtime_of(crawler).options
        self._longest_delay_seconds: float = options["QIAO_MAX_CRAWL_DELAY_SECONDS"]
        self._first_retry_seconds: float = options["QIAO_FRONTIER_RETRY_SECONDS"]
        self._turns = rate_limiter_of(crawler)
        self._expires: dict[str, float] = {}
        self._failures: dict[str, int] = {}
        self._unreachable: dict[str, Exception] = {}
        self._refusing: set[str] = set()

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """The rules for the request's host, fetched again when they are a day old."""
        netloc = urlparse_cached(request).netloc
        if self._expires.get(netloc, float("inf")) <= time.monotonic():
            self._parsers.pop(netloc, None)
            self._expires.pop(netloc, None)
            self._unreachable.pop(netloc, None)
        return await super().robot_parser(request)

    def process_request_2(self, rp: RobotParser | None, request: Request) -> None:
        """Judge by the fixed product token; an unreachable robots.txt forbids for now."""
        parts = urlparse_cached(request)
        netloc = parts.netloc
        error = self._unreachable.get(netloc)
        if isinstance(error, HostParkedError):
            raise error
        # One that redirects inside, as gateways that want a login do, says nothing of the pages.
        if isinstance(error, AddressRefusedError) and error.host in ("", parts.hostname):
            raise error
        if error is not None:
            left = max(self._expires.get(netloc, 0.0) - time.monotonic(), 0.0)
            raise RobotsUnreachableError(
                f"robots.txt unreachable: {words_of(error)}",
                left,
                cause=error,
                is_refusal=netloc in self._refusing,
            )
        super().process_request_2(rp, request)

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        page = fetched_page(response)
        if response.status == 429 or response.status >= 500:
            self._stats.inc_value(f"robotstxt/response_status_count/{response.status}")
            decision = judge_fetch(page, longest_park_seconds=0.0)
            # A firewall before the site is no server that is away.
            if decision is not None and decision.is_refusal:
                self._refusing.add(netloc)
            self._robots_error(IgnoreRequest(f"HTTP {response.status}"), netloc)
            return
        if page.connection_lost and self._failures.get(netloc, 0) < _MOST_CUT:
            what = f"HTTP {response.status}, but its connection was lost before the end"
            self._robots_error(IgnoreRequest(what), netloc)
            return
        # A 4xx, or a redirect that leads nowhere, allows everything, as an empty robots.txt does.
        usable = response.body[:_MAX_BYTES] if response.status < 300 else b""
        # Decoded once, for the rules, the delay and the sitemaps.
        usable = robots_text(usable).encode()
        self._expires[netloc] = time.monotonic() + _FRESH_SECONDS
        self._failures.pop(netloc, None)
        self._refusing.discard(netloc)
        # Before the pages that wait for these rules are let go.
        await self._keep_crawl_delay(usable, request)
        await super()._parse_robots(response.replace(body=usable), netloc, request)
        crawl = find_crawl(self.crawler)
        if crawl is not None:
            crawl.robots_read(response.url, usable)

    def _robots_error(self, exc: Exception, netloc: str) -> None:
        self._unreachable[netloc] = exc
        if isinstance(exc, HostParkedError):
            # It was not asked; it is when the host may be.
            self._expires[netloc] = time.monotonic() + exc.seconds
            super()._robots_error(exc, netloc)
            return
        logger.warning("robots.txt of %s cannot be had: %s", netloc, words_of(exc))
        failures = self._failures.get(netloc, 0)
        self._failures[netloc] = failures + 1
        pause = self._first_retry_seconds * _RETRY_GROWTH ** min(failures, _RETRY_STEPS)
        self._expires[netloc] = time.monotonic() + pause
        super()._robots_error(exc, netloc)

    async def _keep_crawl_delay(self, body: bytes, request: Request) -> None:
        parser = ProtegoRobotParser(body, self.crawler.spider)
        asked = parser.crawl_delay(self._robotstxt_useragent or self._default_useragent)
        asked = max(asked or 0.0, 0.0)
        name = urlparse_cached(request).hostname or ""
        await self._turns.set_crawl_delay(name, min(asked, self._longest_delay_seconds))
        if not asked:
            return
        engine = self.crawler.engine
        assert engine is not None
        downloader = engine.downloader
        host = downloader.get_slot_key(request)
        delay = min(asked, self._longest_delay_seconds)
        usual = self.crawler.settings.getfloat("DOWNLOAD_DELAY")
        delay = max(delay, usual)
        # For slots still to come (idle ones are collected) and for the one that is there.
        downloader.per_slot_settings[host] = {"delay": delay, "concurrency": 1, "jitter": 0}
        if (slot := downloader.slots.get(host)) is not None:
            slot.delay, slot.concurrency, slot.jitter = delay, 1, 0.0
        self._stats.inc_value("qiaocrawl/politeness/crawl_delay_kept")
        if asked > self._longest_delay_seconds:
            logger.warning("%s asks for a Crawl-delay of %g s; %g s are kept", host, asked, delay)
