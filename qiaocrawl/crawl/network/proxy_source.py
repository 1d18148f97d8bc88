"""Where the proxies of a run come from: a file, a provider's list, or the database."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)

from qiaocrawl.errors import AddressRefusedError, ConfigError
from qiaocrawl.fetch.proxies import (
    LONGEST_PAUSE_SECONDS,
    Proxy,
    ProxyList,
    list_text,
    parse_list,
    refusal_in,
)
from qiaocrawl.language import _
from qiaocrawl.storage.sites import accounts

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from qiaocrawl.fetch.proxies import ProxyPool, ProxyState
    from qiaocrawl.runtime.runtime import Runtime

DATABASE = "database"
_SHOWN_FAULTS = 3
# After a list could not be had; the old one serves meanwhile.
_AGAIN_SECONDS = 30.0
# Shorter parts of the list's address are words, no keys.
_SECRET_CHARS = 6

DOWNLOAD_ERRORS = (
    AddressRefusedError,
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    TunnelError,
    OSError,
)
"""What a download ends with when no response comes."""

logger = logging.getLogger(__name__)


class ProxySource:
    """Fills a pool and keeps it up to date.

    Args:
        place: QIAO_PROXY_POOL: a file, an http(s) URL, or ``database``.

    Raises:
        ConfigError: there is no such file, or nothing in it can be used. A provider is asked
            when the first request is due.
    """

    def __init__(self, crawler: Crawler, runtime: Runtime, pool: ProxyPool) -> None:
        self._crawler = crawler
        self._runtime = runtime
        self._pool = pool
        self._place: str = runtime.options["QIAO_PROXY_POOL"]
        self._refresh_seconds: float = runtime.options["QIAO_PROXY_REFRESH_SECONDS"]
        self._is_url = self._place.startswith(("http://", "https://"))
        self._due = 0.0
        self._lock = asyncio.Lock()
        self.numbers = {"listed": 0, "unusable_lines": 0, "list_failures": 0}
        if not self._place:
            raise ConfigError(
                _(
                    "QIAO_PROXIES names sites, but QIAO_PROXY_POOL no pool: it must be a "
                    "file, a URL or `database`"
                )
            )
        if not self._is_url:
            self._load_here(first=True)

    async def keep_fresh(self) -> None:
        """Read the list again when it is due."""
        if time.monotonic() < self._due:
            return
        async with self._lock:
            # Another request may have read it while this one waited.
            if time.monotonic() < self._due:
                return
            if self._is_url:
                await self._fetch()
            else:
                await self.save()
                # In a thread: a file may lie on a slow disk, and the reader is waited for.
                await asyncio.to_thread(self._load_here, first=False)

    async def save(self) -> None:
        """Write what is known about the proxies of a database pool."""
        if self._place != DATABASE:
            return
        # The pool has monotonic time, which means nothing to another process.
        ahead = time.time() - time.monotonic()
        states = [
            (proxy, replace(state, resting_until=_shift_rest(state, ahead)))
            for proxy, state in self._pool.states.items()
        ]
        await self._runtime.write(lambda c: accounts.save_states(c, states))

    # --- reading ------------------------------------------------------------------------

    def _load_here(self, *, first: bool) -> None:
        try:
            self._use(
                *(
                    self._stored_proxies()
                    if self._place == DATABASE
                    else (self._read_list_file(), {})
                )
            )
        except ConfigError as error:
            if first:
                raise
            self._keep_old(str(error))

    def _read_list_file(self) -> ProxyList:
        try:
            body = Path(self._place).read_bytes()
        except OSError as error:
            raise ConfigError(
                _("QIAO_PROXY_POOL: the file cannot be read: {reason}", reason=error.strerror)
            ) from None
        return parse_list(list_text(body), os.environ)

    def _stored_proxies(self) -> tuple[ProxyList, dict[Proxy, ProxyState]]:
        known, faults = {}, []
        ahead = time.time() - time.monotonic()
        for row in self._runtime.reader.run(accounts.list_proxies):
            try:
                proxy = row.with_password(os.environ)
            except ValueError as error:
                faults.append(f"{row.proxy}: {error}")
                continue
            # A clock that ran ahead may have stored a longer rest than any there is.
            until = min(_shift_rest(row.state, -ahead), time.monotonic() + LONGEST_PAUSE_SECONDS)
            known[proxy] = replace(row.state, resting_until=until)
        return ProxyList(tuple(known), tuple(faults)), known

    async def _fetch(self) -> None:
        """Ask the provider, straight from the handler: a log line would show its address."""
        parts = urlsplit(self._place)
        # A download slot of its own: the provider must not share a host's delays.
        request = Request(self._place, meta={"download_slot": "proxy provider"})
        engine = self._crawler.engine
        assert engine is not None
        try:
            response = await engine.downloader.handlers.download_request_async(request)
        except DOWNLOAD_ERRORS as error:
            self._keep_old(f"{parts.hostname} gave no list: {type(error).__name__}")
            return
        if response.status != 200:
            said = self._without_key(refusal_in(list_text(response.body)))
            why = f"; {said}" if said else ""
            self._keep_old(f"{parts.hostname} gave no list: HTTP {response.status}{why}")
            return
        found = parse_list(list_text(response.body), {})
        shown = tuple(map(self._without_key, found.faults))
        try:
            self._use(ProxyList(found.proxies, shown), {})
        except ConfigError as error:
            self._keep_old(str(error))

    def _without_key(self, words: str) -> str:
        """*words* of the vendor without what our own address of it holds, which is its key."""
        parts = urlsplit(self._place)
        secrets = (value for _name, value in parse_qsl(parts.query))
        for secret in (*secrets, *parts.path.split("/"), parts.password or ""):
            if len(secret) >= _SECRET_CHARS:
                words = words.replace(secret, "…")
        return words

    def _use(self, found: ProxyList, known: dict[Proxy, ProxyState]) -> None:
        for fault in found.faults[:_SHOWN_FAULTS]:
            # An answer without any proxy is no list: the old one stays in use.
            logger.warning("proxy list: %s", fault)
        if not found.proxies:
            why = f" ({found.faults[0]})" if found.faults else ""
            raise ConfigError(
                _("QIAO_PROXY_POOL: there is no proxy in it that can be used{why}", why=why)
            )
        self._pool.replace(found.proxies, known)
        self._due = time.monotonic() + self._refresh_seconds
        self.numbers.update(listed=len(found.proxies), unusable_lines=len(found.faults))

    def _keep_old(self, reason: str) -> None:
        self._due = time.monotonic() + min(_AGAIN_SECONDS, self._refresh_seconds)
        logger.warning("the list of proxies stays as it was: %s", reason)
        self.numbers["list_failures"] += 1


def _shift_rest(state: ProxyState, seconds: float) -> float:
    """The end of a proxy's rest on another clock; 0 stays 0."""
    return state.resting_until + seconds if state.resting_until else 0.0
