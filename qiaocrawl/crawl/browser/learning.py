"""What a crawl knows of pages that need a browser, read from the database when first asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import astuple
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.fetch.rendering import (
    MAX_REMEMBERED,
    RenderModel,
    RenderVotes,
)
from qiaocrawl.storage.pages.sites import newest_votes, save_votes

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from sqlalchemy import Connection


_readings: WeakKeyDictionary[Crawler, asyncio.Task[RenderModel]] = WeakKeyDictionary()


async def render_learning(crawler: Crawler) -> RenderModel:
    """The one memory of *crawler*'s run."""
    if crawler not in _readings:
        _readings[crawler] = asyncio.ensure_future(_read(crawler))
    # shield: a cancelled page must not end the reading others wait for.
    return await asyncio.shield(_readings[crawler])


async def _read(crawler: Crawler) -> RenderModel:
    learning = RenderModel()
    rows = await runtime_of(crawler).read(lambda c: newest_votes(c, MAX_REMEMBERED))
    learning.restore(RenderVotes(*row) for row in rows)
    return learning


def saving(votes: RenderVotes) -> Callable[[Connection], None]:
    """An operation that stores *votes*; it may be played again."""
    return partial(save_votes, votes=astuple(votes))
