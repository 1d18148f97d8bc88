"""Scrapy's responses as our records."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from qiaocrawl.items import FetchedPage

if TYPE_CHECKING:
    from scrapy.http import Response

MAY_BE_BLOCK = "qiaocrawl_may_be_block"
"""Key of a request's meta: its answer has the sign of a block, and is taken as it is."""
PICTURE = "qiaocrawl_picture"
"""In a request's meta: the picture of its page, None where the browser took none."""

CONNECTION_LOST = "dataloss"
"""Scrapy's flag of a response whose body broke off before its end."""

# Session cookies would let a reader in as the account that fetched the page.
# Set-Cookie2: RFC 2965, long gone, but sent by old servers.
_NOT_KEPT = frozenset({"set-cookie", "set-cookie2"})


# Weak keys: a record goes with its response.
_records: WeakKeyDictionary[Response, FetchedPage] = WeakKeyDictionary()


def fetched_page(response: Response) -> FetchedPage:
    """*response* as a record, the same at each call; no other place reads Scrapy's responses."""
    page = _records.get(response)
    if page is None:
        page = _records[response] = _record(response)
    return page


def _record(response: Response) -> FetchedPage:
    headers = tuple(
        (lower, value.decode("latin-1"))
        for name, values in response.headers.items()
        if (lower := name.decode("latin-1").lower()) not in _NOT_KEPT
        for value in values
    )
    return FetchedPage(
        url=response.url,
        final_url=response.url,
        # A hostile status line may hold any number.
        status=response.status if 0 <= response.status <= 999 else 0,
        headers=headers,
        body=response.body,
        fetched_at=datetime.fromtimestamp(time.time(), UTC),
        truncated=CONNECTION_LOST in response.flags,
        connection_lost=CONNECTION_LOST in response.flags,
    )
