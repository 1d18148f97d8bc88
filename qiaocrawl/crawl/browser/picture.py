"""A picture of an open page, for people who want to see what was published.

It shows what the browser was allowed to load: text and style sheets, no images of the page.
"""

from __future__ import annotations

import asyncio
import logging
from base64 import b64decode
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from qiaocrawl.items import PagePicture

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page

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
            return await _taken(await page.context.new_cdp_session(page))
    except (Error, TimeoutError) as error:
        logger.warning("no picture of %s: %s", page.url, str(error).split("\n")[0] or "timed out")
        return None


async def _taken(session: CDPSession) -> PagePicture | None:
    content = (await session.send("Page.getLayoutMetrics"))["cssContentSize"]
    width = min(max(int(content["width"]), 1), _MOST_WIDTH)
    height = min(max(int(content["height"]), 1), _MOST_HEIGHT)
    for scale, quality in _TRIES:
        area = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
        answer = await session.send("Page.captureScreenshot", {
            "format": "webp", "quality": quality, "captureBeyondViewport": True, "clip": area,
        })  # fmt: skip
        data = b64decode(answer["data"])
        if len(data) <= MOST_BYTES:
            return PagePicture(
                "image/webp", round(width * scale), round(height * scale),
                content["height"] > height, datetime.now(UTC), data,
            )  # fmt: skip
    return None
