"""The collector of cycles rests until a crawl has started.

What a start makes is modules, tables and dictionaries, which stay. Looking through them again and
again, some four hundred times as they come, took a tenth of it.

From then on it looks less often than it would by itself: a page leaves some five objects in cycles,
and a thousand that stay, such as the keys of its links.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from scrapy import signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

# Objects between two looks at the young ones, and of these between two at the older ones. With
# Python's 700 collecting took .7 ms of a page, with this half of it.
_YOUNG_OBJECTS = 10_000
_LOOKS = 10


def rest_until_opened() -> None:
    """Stop collecting; :func:`collect_once_opened` begins again."""
    gc.disable()


def collect_once_opened(crawler: Crawler) -> None:
    """Collect from the opening of the spider of *crawler* on, but for what is there by then."""
    crawler.signals.connect(_collect, signal=signals.spider_opened)


def _collect() -> None:
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, _LOOKS, _LOOKS)
    gc.enable()
