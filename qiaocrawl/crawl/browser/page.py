"""One page open in the browser: what it is given, what it may load, what is taken from it.

The page's own document was fetched as every other page is (robots.txt, redirects, cookies, size
limits, proxies) and is handed to the browser, so nobody is asked for it twice and the browser
goes nowhere by itself. Only what the document needs is loaded through it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from base64 import b64decode
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from qiaocrawl.crawl.browser.guard import stamp_layout
from qiaocrawl.items import PagePicture
from qiaocrawl.text.charset import decode_page
from qiaocrawl.urls import host_of, in_site, registrable_domain

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Dialog, Page, Route, WebSocketRoute
    from playwright.async_api import Request as BrowserRequest
    from playwright.async_api import Response as BrowserResponse
    from scrapy import Request
    from scrapy.http import Response

# --- A picture of an open page, for people who want to see what was published ---------------------
# It shows what the browser was allowed to load: text and style sheets, no images of the page.

MOST_BYTES = 512 * 1024
"""Of a picture; a page that takes more is shown smaller, or not at all."""
_MOST_WIDTH, _MOST_HEIGHT = 1_600, 8_000
# Share of the page's size, and quality of WebP: text stays readable in both.
_TRIES = ((1.0, 50), (0.5, 40))
_SECONDS = 5.0

logger = logging.getLogger(__name__)


async def picture_of(page: Page) -> PagePicture | None:
    """What *page* shows, from its top down; None where it cannot be taken in time and size."""
    from playwright.async_api import Error

    try:
        async with asyncio.timeout(_SECONDS):
            # Playwright's own function knows no WebP, and waits for fonts that we never load.
            # The session ends with its page: to detach it could wait for one that hangs.
            return await _take_picture(await page.context.new_cdp_session(page))
    except (Error, TimeoutError) as error:
        logger.warning("no picture of %s: %s", page.url, str(error).split("\n")[0] or "timed out")
        return None


async def _take_picture(session: CDPSession) -> PagePicture | None:
    content = (await session.send("Page.getLayoutMetrics"))["cssContentSize"]
    width = min(max(int(content["width"]), 1), _MOST_WIDTH)
    height = min(max(int(content["height"]), 1), _MOST_HEIGHT)
    for scale, quality in _TRIES:
        area = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
        answer = await session.send(
            "Page.captureScreenshot",
            {"format": "webp", "quality": quality, "captureBeyondViewport": True, "clip": area},
        )
        data = b64decode(answer["data"])
        if len(data) <= MOST_BYTES:
            return PagePicture(
                "image/webp",
                round(width * scale),
                round(height * scale),
                content["height"] > height,
                datetime.now(UTC),
                data,
            )
    return None


XHR_ATTRIBUTE = "data-qiaocrawl-xhr"
"""On a script element at the end of a rendered page's source: where its JSON came from."""

# JSON kept of one page **(ours)**: a page may fetch without end.
_MOST_ANSWERS = 20
_ANSWER_BYTES = 512 * 1024
_ALL_ANSWERS_BYTES = 2 * 1024 * 1024
_LAST_ANSWERS_SECONDS = 2.0
_ALIVE_SECONDS = 8.0
# A page that shows less text and navigates elsewhere is a redirect made by a script (ours).
_REDIRECT_CHARS = 200
# These describe the body as it was transferred; the browser gets it decoded.
_OF_THE_BODY = frozenset(
    {
        "content-encoding",
        "content-length",
        "transfer-encoding",
        "content-type",
        "connection",
        "content-disposition",
        "refresh",
        "link",
        "alt-svc",
        "strict-transport-security",
    }
)


class BrowserPage:
    """Prepares a page, watches it, and reads it when it has settled.

    Args:
        document: the page's own document as it was fetched; None where the browser has to
            fetch it (a session that lives in the browser).
        budget_seconds: how long the page may take to settle; what is there then is taken.
        layout, with_picture: whether the layout is written into the source, a picture taken.
        data_hosts: sites whose JSON is kept beside that of the page's own site.
        count: called with the name of what happened.
    """

    def __init__(
        self,
        document: Response | None,
        *,
        budget_seconds: float,
        layout: bool,
        with_picture: bool,
        data_hosts: tuple[str, ...],
        count: Callable[[str], None],
    ) -> None:
        self._document = document
        self._budget_seconds = budget_seconds
        self._layout = layout
        self._with_picture = with_picture
        self._data_hosts = data_hosts
        self._count = count
        self._url = ""
        self._opened = False
        self._answers: list[tuple[str, str]] = []
        self._answer_bytes = 0
        self._reading: set[asyncio.Task[None]] = set()
        self.page: Page | None = None
        self.crashed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.picture: PagePicture | None = None
        self.shown_chars = 0
        self.led_to = ""
        """Where the page's scripts wanted to lead; "" if nowhere."""

    # --- before the page is opened ------------------------------------------------------

    async def prepare(self, page: Page, request: Request) -> None:
        """Scrapy-playwright's hook for a new page."""
        self.page, self._url = page, request.url
        page.on("crash", self._on_crash)
        page.on("dialog", _dismiss)
        page.on("popup", _close)
        page.on("response", self._on_response)
        await page.route_web_socket("**", _refuse_socket)
        cookies = _cookies(request)
        if cookies:
            await page.context.add_cookies(cookies)  # type: ignore[arg-type]
        # Last: from here on the page may load, and every hook is in place.
        await page.route("**", self._route)

    @property
    def is_prepared(self) -> bool:
        """Whether the page was opened the way it must be."""
        return self._opened

    async def _route(self, route: Route, request: BrowserRequest) -> None:
        if not request.is_navigation_request():
            # Styles, scripts and data: judged by the context's own route.
            await route.fallback()
        elif self.page is None or request.frame != self.page.main_frame:
            # The content of a frame is not part of the page's source.
            await route.abort("aborted")
        elif self._opened:
            # A change of the part behind # is a jump within the page.
            if urldefrag(request.url)[0] != urldefrag(self._url)[0]:
                self.led_to = self.led_to or request.url
            await route.abort("aborted")
        else:
            self._opened = True
            if self._document is None:
                await route.fallback()
            # Decoded like all pages: the browser would guess the charset in its own way.
            else:
                text = decode_page(self._document.body, _content_type(self._document)).text
                await route.fulfill(
                    status=200,
                    headers=_headers(self._document),
                    body=text.encode("utf-8", "replace"),
                )

    def _on_crash(self, page: Page) -> None:
        if not self.crashed.done():
            self.crashed.set_result(None)

    # --- JSON it fetches ------------------------------------------------------------------

    def _on_response(self, response: BrowserResponse) -> None:
        if response.request.resource_type not in ("xhr", "fetch") or response.status != 200:
            return
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if not (kind.endswith("+json") or kind in ("application/json", "text/json")):
            return
        if not self._is_data_of_page(host_of(response.url)):
            self._count("xhr_of_others")
            return
        # Those still being read count too: a page may fetch a hundred answers at once.
        if len(self._reading) + len(self._answers) >= _MOST_ANSWERS:
            self._count("xhr_left")
            return
        task = asyncio.ensure_future(self._keep(response))
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    def _is_data_of_page(self, host: str) -> bool:
        own = registrable_domain(host_of(self._url))
        return registrable_domain(host) == own or any(
            in_site(host, site) for site in self._data_hosts
        )

    async def _keep(self, response: BrowserResponse) -> None:
        from playwright.async_api import Error

        try:
            body = await response.body()
        except Error:
            return  # the page was closed, or the answer was cut
        if len(body) > _ANSWER_BYTES or self._answer_bytes + len(body) > _ALL_ANSWERS_BYTES:
            self._count("xhr_left")
            return
        try:
            # utf-8-sig: some services send a byte order mark, which json.loads refuses.
            text = body.decode("utf-8-sig")
            json.loads(text)
        except (ValueError, RecursionError):
            self._count("xhr_left")
            return
        self._answer_bytes += len(body)
        self._answers.append((response.url, text))
        self._count("xhr_kept")

    # --- when it is open --------------------------------------------------------------------

    async def settle(self, page: Page) -> None:
        """Wait until the page is still, or its time is up; then read what else is to be read."""
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as NotInTime

        end = time.monotonic() + self._budget_seconds
        try:
            for state in ("domcontentloaded", "networkidle"):
                # At least 0.1 s: 0 would switch the timeout off.
                left_ms = max(end - time.monotonic(), 0.1) * 1000
                await page.wait_for_load_state(state, timeout=left_ms)
        except NotInTime:
            self._count("unsettled")
        # A page whose script never ends does not answer any more; it counts as crashed.
        asked = page.evaluate("document.body ? document.body.innerText.length : 0")
        try:
            self.shown_chars = int(await asyncio.wait_for(asked, _ALIVE_SECONDS))
        except TimeoutError:
            self._on_crash(page)
            raise
        except (Error, TypeError, ValueError):
            self.shown_chars = 0
        if self._reading:
            # A moment for the answers that are still being read.
            await asyncio.wait(set(self._reading), timeout=_LAST_ANSWERS_SECONDS)
        if self._with_picture and not self.is_led_away:
            self.picture = await picture_of(page)
            self._count("pictures" if self.picture else "no_picture")
        if self._layout:
            await stamp_layout(page)

    @property
    def is_led_away(self) -> bool:
        """Whether the page is nothing but a script that leads elsewhere."""
        return bool(self.led_to) and self.shown_chars < _REDIRECT_CHARS

    def with_answers(self, source: str) -> str:
        """*source* with the JSON its scripts fetched, as scripts no browser runs."""
        if not self._answers:
            return source
        elements = "".join(
            f'\n<script type="application/json" {XHR_ATTRIBUTE}="{escape(url)}">'
            # "</script" would end the element; in JSON "<" occurs in strings only, where it may
            # be escaped.
            + text.replace("<", "\\u003c")
            + "</script>"
            for url, text in self._answers
        )
        # Before </body>, so that the source stays one document.
        at = source.rfind("</body>")
        return source + elements if at < 0 else f"{source[:at]}{elements}\n{source[at:]}"

    async def close(self, seconds: float) -> bool:
        """Close the page, whatever state it is in; False when it cannot be closed."""
        for task in list(self._reading):
            task.cancel()
        if self.page is None or self.page.is_closed():
            return True
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(seconds):
                await self.page.close()
        except TimeoutError:
            return False
        except Error:
            return self.page.is_closed()
        return True


def _content_type(response: Response) -> str:
    return (response.headers.get("Content-Type") or b"").decode("latin-1")


def _headers(document: Response) -> dict[str, str]:
    """The document's own headers, such as its content security policy."""
    headers = {"content-type": "text/html; charset=utf-8"}
    for name, values in document.headers.items():
        key = name.decode("latin-1").lower()
        if key not in _OF_THE_BODY:
            # Playwright takes several cookies on lines of one header.
            joint = "\n" if key == "set-cookie" else ", "
            headers[key] = joint.join(value.decode("latin-1") for value in values)
    return headers


def _cookies(request: Request) -> list[dict[str, str]]:
    """The cookies the crawl's jar sends with the page, for the page's requests to its host."""
    header = b"; ".join(request.headers.getlist("Cookie")).decode("latin-1")
    pairs = (pair.partition("=") for pair in header.split(";") if "=" in pair)
    return [
        {"name": name.strip(), "value": value.strip(), "url": request.url}
        for name, _, value in pairs
        if name.strip()
    ]


async def _dismiss(dialog: Dialog) -> None:
    from playwright.async_api import Error

    with suppress(Error):
        await dialog.dismiss()


async def _close(page: Page) -> None:
    from playwright.async_api import Error

    with suppress(Error):
        await page.close()


async def _refuse_socket(socket: WebSocketRoute) -> None:
    await socket.close()
