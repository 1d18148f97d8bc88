"""Pages of sites that QIAO_SESSIONS names are asked for with the cookies of an account.

Stands between redirects (600) and cookies (700): what it says about the jar comes before the
cookies are put in, and it sees every answer before a redirect could be followed.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import DownloadCancelledError, NotConfigured
from scrapy.utils.httpobj import urlparse_cached

from qiaocrawl.crawl.context import LOGIN_STEP, crawl_of, frontier_closing, runtime_of
from qiaocrawl.crawl.login.sessions import CrawlSessions, chosen_recipes
from qiaocrawl.errors import LoginPageError, SecretKeyError, SessionRestError
from qiaocrawl.fetch.sessions.flow import SeenPage, endangers_session

from .cookies import OfflineCookiesMiddleware

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from qiaocrawl.fetch.sessions.accounts import AccountUse
    from qiaocrawl.fetch.sessions.recipe import Recipe

# Request meta: recipe and account whose cookies the request carries.
_ACCOUNT_USE = "qiaocrawl_session"
_TRIES = "qiaocrawl_session_tries"
_MOST_TRIES = 2


class SessionMiddleware:
    """Gives frontier requests an account's jar, and answers ended sessions with a new login.

    Only requests that carry a lease: robots.txt is fetched without an account, and the steps
    of a login have their own jar.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._runtime = runtime_of(crawler)
        self._recipes = chosen_recipes(self._runtime.options)
        if not self._recipes:
            # Switched off on purpose: no warning is due.
            raise NotConfigured
        self._sessions: CrawlSessions | None = None
        self._waiting: set[asyncio.Task[None]] = set()
        self._runtime.downloaders.append(self._cancel_all)
        crawler.signals.connect(self.engine_started, signal=signals.engine_started)
        crawler.signals.connect(self.frontier_closing, signal=frontier_closing)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    def engine_started(self) -> None:
        """All middlewares are there now, so the cookie jars are too."""
        cookies = self._crawler.get_downloader_middleware(OfflineCookiesMiddleware)
        if cookies is None:
            sys.exit("qiaocrawl: QIAO_SESSIONS needs cookies: COOKIES_ENABLED must be on")
        self._sessions = CrawlSessions(self._crawler, self._runtime, self._recipes, cookies.jars)

    async def frontier_closing(self) -> None:
        """Save the cookies that came during the run."""
        if self._sessions is not None:
            await self._sessions.save()

    async def process_request(self, request: Request) -> None:
        """Give the request the cookie jar of the account to use next.

        Raises:
            LoginPageError: the address must not be requested with an account.
            SessionRestError: no account may be used now; the URL waits.
        """
        meta = request.meta
        if "lease" not in meta or meta.get(LOGIN_STEP) or self._sessions is None:
            return
        recipe = self._sessions.recipe_for(request.url)
        if recipe is None:
            return
        if why := endangers_session(recipe, request.url):
            raise LoginPageError(f"not asked for with an account: {why}")
        use = await self._account(recipe, urlparse_cached(request).netloc)
        if use.wait_seconds > 0:
            await self._wait(use.wait_seconds)
        meta[_ACCOUNT_USE] = recipe, use
        if recipe.way == "http":
            await self._authenticate(request, recipe, use)
        else:
            # The generation of this use: another login may have begun since.
            jar = meta["cookiejar"] = (*use.account.jar[:2], use.generation)
            if meta.get("playwright"):
                # A browser keeps cookies by context: one for each session, or accounts would mix.
                meta["playwright_context"] = "-".join(map(str, jar))
                state = self._sessions.browser_state(recipe, use)
                meta["playwright_context_kwargs"] = {"storage_state": state}

    async def process_response(self, request: Request, response: Response) -> Response:
        """Let pages pass; request those that ask for a login again with a new session.

        Raises:
            LoginPageError: the page asks for a login whoever is logged in.
            SessionRestError: there is no session for it now; the URL waits.
        """
        if _ACCOUNT_USE not in request.meta or self._sessions is None:
            return response
        recipe, use = request.meta[_ACCOUNT_USE]
        if not await self._sessions.judge(recipe, use, _seen_page(response)):
            return response
        tries = request.meta.get(_TRIES, 0) + 1
        if tries > _MOST_TRIES:
            raise LoginPageError("asks for a login again and again, with new sessions")
        # Without the old account and jar process_request() chooses new ones.
        meta = {k: v for k, v in request.meta.items() if k not in (_ACCOUNT_USE, "cookiejar")}
        again = request.replace(meta={**meta, _TRIES: tries})
        again.headers.pop("Cookie", None)
        engine = self._crawler.engine
        assert engine is not None
        # Not by way of the scheduler: the lease is in hand already.
        return await engine.download_async(again)

    async def _account(self, recipe: Recipe, host: str) -> AccountUse:
        assert self._sessions is not None
        try:
            return await self._sessions.acquire(recipe, host)
        except SecretKeyError as error:
            # Every page of every account would fail in the same way.
            crawl_of(self._crawler).worker.stop("secret_key", error)
            raise SessionRestError(str(error), 1.0) from error

    async def _authenticate(self, request: Request, recipe: Recipe, use: AccountUse) -> None:
        assert self._sessions is not None
        secret = await self._sessions.credentials(recipe, use)
        if secret is not None:
            request.headers["Authorization"] = b"Basic " + secret.as_basic()

    async def _wait(self, seconds: float) -> None:
        task = asyncio.ensure_future(asyncio.sleep(seconds))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)
        try:
            await task
        except asyncio.CancelledError:
            raise DownloadCancelledError("the crawl is stopping") from None

    def _cancel_all(self) -> int:
        waiting = list(self._waiting)
        for task in waiting:
            task.cancel()
        return len(waiting)


def _seen_page(response: Response) -> SeenPage:
    headers = [
        (name.decode("latin-1").lower(), value.decode("latin-1"))
        for name, values in response.headers.items()
        for value in values
    ]
    return SeenPage.of(response.url, response.status, headers, response.body)
