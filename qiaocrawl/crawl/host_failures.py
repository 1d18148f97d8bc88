"""What a spider does about hosts that block, keep silent, or have no proxy left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
)

from qiaocrawl.crawl.network.access import access_of
from qiaocrawl.crawl.network.pacing import turns_of
from qiaocrawl.errors import BlockedError, ProxiesRestError, ProxyError, RobotsUnreachableError
from qiaocrawl.fetch.backoff import backoff_seconds
from qiaocrawl.frontier.host_slots import FOREVER
from qiaocrawl.items import Outcome

if TYPE_CHECKING:
    from logging import LoggerAdapter
    from typing import Any

    from scrapy.crawler import Crawler

    from qiaocrawl.fetch.host_health import Strike
    from qiaocrawl.frontier.worker import FrontierWorker
    from qiaocrawl.items import Lease
    from qiaocrawl.runtime import Runtime

_OF_PROXIES = (f"{ProxyError.__name__}:", f"{ProxiesRestError.__name__}:")
_OF_A_SERVER = "IgnoreRequest: HTTP"
_NOBODY_THERE = (CannotResolveHostError, DownloadConnectionRefusedError, DownloadTimeoutError)


class HostOwner(Protocol):
    """What is asked of the spider that fetches."""

    runtime: Runtime
    worker: FrontierWorker

    @property
    def crawler(self) -> Crawler:
        """Scrapy's run."""
        ...

    @property
    def logger(self) -> LoggerAdapter[Any]:
        """Where an operator reads of it."""
        ...

    def count(self, name: str) -> None:
        """Add one to a number of the run."""
        ...

    async def finish(self, lease: Lease, outcome: Outcome, reason: str) -> bool:
        """Close *lease* without a page."""
        ...


class HostCare:
    """Parks hosts, gives them up for this run, and says what becomes of the URL in hand."""

    def __init__(self, spider: HostOwner) -> None:
        self._spider = spider
        self._desk = access_of(spider.crawler)

    async def blocked(self, lease: Lease, error: BlockedError) -> None:
        """*lease* was answered by a block: it waits again, longer each time, then is BLOCKED."""
        spider, reason = self._spider, str(error)
        if error.pause_seconds is not None:
            self._rest(lease.host, error.pause_seconds, reason, give_up=error.give_up)
        options = spider.runtime.options
        if lease.failures + 1 >= options["QIAO_FRONTIER_MAX_FAILURES"]:
            self._desk.counts["blocks/given_up"] += 1
            await spider.finish(lease, Outcome.BLOCKED, reason)
            return
        if error.give_up:
            spider.worker.give_back(lease, f"host given up for this run: {reason}")
            return
        pause = backoff_seconds(lease.failures + 1, options["QIAO_FRONTIER_RETRY_SECONDS"])
        self._desk.counts["blocks/returned"] += 1
        await spider.worker.retry(
            lease, reason=reason, pause_seconds=max(pause, error.pause_seconds or 0.0)
        )
        spider.count(f"outcome/{Outcome.RETRY}")

    def without_proxy(self, lease: Lease, error: ProxiesRestError) -> None:
        """No proxy is left: the URL waits, no failure is counted, the host rests."""
        strike = self._desk.unavailable(lease.host)
        self._desk.counts["proxies/none_left"] += 1
        # By then the list of proxies is another one, perhaps.
        refresh: float = self._spider.runtime.options["QIAO_PROXY_REFRESH_SECONDS"]
        pause = max(strike.pause_seconds, min(error.retry_seconds, refresh))
        self._rest(lease.host, pause, str(error), give_up=strike.give_up)
        self._spider.worker.give_back(lease, str(error))

    async def silent(self, lease: Lease, error: BaseException | None) -> None:
        """No answer came from the host of *lease*: after a few in a row it rests."""
        if not isinstance(error, ProxyError):
            self._apply(lease.host, self._desk.silent(lease.host), "no answer")
        if isinstance(error, _NOBODY_THERE):
            # Its other URLs would fail alike: they wait, and other hosts have the slots.
            pause = await turns_of(self._spider.crawler).park(host_name(lease), 0.0)
            self._spider.worker.park(lease.host, pause)
            self._spider.count("politeness/parked")

    def silent_robots(self, lease: Lease, error: RobotsUnreachableError) -> bool:
        """robots.txt could not be had; says whether *lease* is dealt with.

        The proxies' fault is not the URL's; a host that is not there rests as for any page.
        """
        # Such an error names what it comes from.
        if any(name in str(error) for name in _OF_PROXIES):
            self.without_proxy(lease, ProxiesRestError(str(error), error.retry_seconds))
            return True
        if _OF_A_SERVER not in str(error):
            self._apply(lease.host, self._desk.silent(lease.host), "no answer")
        return False

    def _apply(self, host: str, strike: Strike | None, reason: str) -> None:
        if strike is not None:
            self._rest(host, strike.pause_seconds, reason, give_up=strike.give_up)

    def _rest(self, host: str, seconds: float, reason: str, *, give_up: bool) -> None:
        if give_up:
            self._spider.logger.warning("%s is left until the next run: %s", host, reason)
            seconds = FOREVER
        else:
            self._spider.logger.warning("%s rests for %.0f s: %s", host, seconds, reason)
        self._spider.worker.park(host, seconds)
        self._spider.count("politeness/parked")


def host_name(lease: Lease) -> str:
    """The host of *lease* as turns know it: without a port."""
    return urlsplit(lease.url).hostname or ""
