"""The line of progress counts what is stored: articles, and which of these are on topic."""

from __future__ import annotations

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest

from qiaocrawl.crawl.context import AnalysedPage
from qiaocrawl.items import Outcome, PageAnalysis, Relevance
from qiaocrawl.pipelines.store import StorePipeline


class _Worker:
    """Closes leases, or has lost them."""

    def __init__(self, *, mine: bool) -> None:
        self._mine = mine
        self.aliases = SimpleNamespace(observe=lambda lease, analysis: None)

    async def complete(self, *_: object, **__: object) -> bool:
        return self._mine


@pytest.mark.parametrize("mine", [True, False])
def test_articles_on_topic_are_articles_that_are_stored(mine: bool) -> None:
    """Minutes without a database counted 178 articles on topic of none."""
    stats: Counter[str] = Counter()
    counter = SimpleNamespace(inc_value=lambda name, by=1: stats.update({name: by}))
    runtime = SimpleNamespace(
        articles=SimpleNamespace(save=None),
        analysis=SimpleNamespace(learning=None),
    )
    crawl = SimpleNamespace(worker=_Worker(mine=mine), runtime=runtime)
    store = StorePipeline(cast(Any, crawl), cast(Any, counter))
    analysis = PageAnalysis(
        Outcome.ARTICLE, None, (), "utf-8", relevance=(Relevance("侨情", 0.9, True, "vsm"),)
    )
    lease = SimpleNamespace(topic="侨情", key=b"")
    page = SimpleNamespace(status=200, url="http://a.test/")

    asyncio.run(store.process_item(AnalysedPage(cast(Any, lease), cast(Any, page), analysis)))

    assert stats["qiaocrawl/outcome/article"] == mine
    assert stats["qiaocrawl/relevance/relevant"] == mine
    assert stats["qiaocrawl/lease_lost"] == (not mine)
