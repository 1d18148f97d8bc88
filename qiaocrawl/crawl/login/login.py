"""Fetches the steps of a login through the crawl's own guard, delays and cookie jars.

The flow handles redirects (:mod:`qiaocrawl.fetch.sessions.flow`): Scrapy follows none of them.
robots.txt is not asked: a login is the operator's own act with an account of theirs, no crawling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from qiaocrawl.crawl.context import LOGIN_STEP
from qiaocrawl.crawl.cookie_jar import new_jar
from qiaocrawl.crawl.network.proxy_source import DOWNLOAD_ERRORS
from qiaocrawl.errors import AddressRefusedError, LoginError, QiaoError
from qiaocrawl.fetch.sessions.accounts import Credentials
from qiaocrawl.fetch.sessions.cookies import StoredCookie, from_jar, usable_for
from qiaocrawl.fetch.sessions.flow import (
    Flow,
    LoginAnswer,
    LoginStep,
    check_flow,
    login_flow,
    why_session_ended,
)
from qiaocrawl.fetch.sessions.recipe import Recipe
from qiaocrawl.language import _

if TYPE_CHECKING:
    from collections.abc import Iterable, MutableMapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.http.cookies import CookieJar

NETWORK_ERRORS = (*DOWNLOAD_ERRORS, IgnoreRequest, QiaoError)
"""How a request ends when no answer came."""


class LoginRunner:
    """Runs logins of one crawler.

    Args:
        jars: the cookie middleware's jars by key.
    """

    def __init__(self, crawler: Crawler, jars: MutableMapping[Any, CookieJar]) -> None:
        self._crawler = crawler
        self._jars = jars

    async def log_in(self, recipe: Recipe, secret: Credentials, jar_key: Any) -> None:
        """Log in; afterwards the jar under *jar_key*, begun empty, holds the session.

        Raises:
            LoginError: it did not succeed.
        """
        # Empty: a cookie of an earlier session could make a failed login look like a success.
        self._jars[jar_key] = new_jar()
        try:
            await self._run(login_flow(recipe, secret), jar_key)
        except LoginError:
            del self._jars[jar_key]
            raise

    async def why_out(self, recipe: Recipe, jar_key: Any) -> str | None:
        """Why the session in *jar_key* no longer holds; "" when it does, None when unknown."""
        if not recipe.target:
            return None
        try:
            answer = await self._run(check_flow(recipe), jar_key)
        except LoginError:
            return None
        # A site in trouble says nothing of the session.
        if answer.status >= 500 or answer.status == 429:
            return None
        return why_session_ended(recipe, answer)

    def load(
        self, recipe: Recipe, cookies: Iterable[StoredCookie], jar_key: Any, now: float
    ) -> int:
        """Fill the jar *jar_key* with the usable ones of *cookies*; returns how many."""
        jar = self._jars[jar_key] = new_jar()
        usable = usable_for(recipe, cookies, now=now).cookies
        for cookie in usable:
            jar.set_cookie(cookie.for_jar())
        return len(usable)

    def cookies(self, recipe: Recipe, jar_key: Any, now: float) -> tuple[StoredCookie, ...]:
        """The cookies of the jar *jar_key* that are worth keeping."""
        return usable_for(recipe, from_jar(self._jars[jar_key]), now=now).cookies

    async def _run(self, flow: Flow, jar_key: Any) -> LoginAnswer:
        try:
            step = next(flow)
            while True:
                step = flow.send(await self._fetch(step, jar_key))
        except StopIteration as end:
            answer: LoginAnswer = end.value
            return answer

    async def _fetch(self, step: LoginStep, jar_key: Any) -> LoginAnswer:
        request = Request(
            step.url,
            method=step.method,
            headers=dict(step.headers),
            body=step.body,
            # Through the crawl's own downloader: guard, delays and proxies hold for
            # logins as well.
            dont_filter=True,
            callback=NO_CALLBACK,
            meta={
                LOGIN_STEP: True,
                "cookiejar": jar_key,
                "dont_redirect": True,
                "handle_httpstatus_all": True,
                "dont_obey_robotstxt": True,
                "dont_retry": True,
            },
        )
        engine = self._crawler.engine
        assert engine is not None
        try:
            response = await engine.download_async(request)
        except AddressRefusedError as error:
            # Final: asking again would lead inside again.
            raise LoginError(str(error), is_final=True) from error
        except NETWORK_ERRORS as error:
            raise LoginError(_("no answer: {kind}", kind=type(error).__name__)) from error
        return _answer(response, self._jars[jar_key])


def _answer(response: Response, jar: CookieJar) -> LoginAnswer:
    headers = tuple(
        (name.decode("latin-1").lower(), value.decode("latin-1"))
        for name, values in response.headers.items()
        for value in values
    )
    cookies = {cookie.name: cookie.value or "" for cookie in jar}
    return LoginAnswer(response.url, response.status, headers, response.body, cookies)
