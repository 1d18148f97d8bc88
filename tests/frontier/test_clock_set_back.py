"""The clock of the wall is set back by forty days under a crawl, and between two."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest
from sqlalchemy import text

from crawling import import_pack, pack
from learning_samples import SITE, link
from qiaocrawl.items import Queue
from qiaocrawl.runtime.follow_links import seed_candidate
from qiaocrawl.storage import Database
from small_crawl import TOPIC, SmallCrawl, Web, crawl_all

FORTY_DAYS = 40 * 86_400.0
WEB: Web = {str(n): (1.0, [(str(m), "good") for m in range(2 * n + 1, min(2 * n + 3, 12))])
            for n in range(12)}  # fmt: skip


async def _crawl(url: str, set_back: Callable[[], None]) -> list[str]:
    """The crawl of WEB; the sixth page does not answer, and then the clock is set."""
    crawl = SmallCrawl(url, WEB)
    await crawl.worker.open()
    crawl.worker.enqueue([seed_candidate(link("0").url, Queue.SITE, TOPIC, refetch=False)])
    failed = False
    while not crawl.worker.drained and not crawl.worker.stop_reason:
        lease = crawl.worker.next_lease()
        if lease is None:
            await asyncio.sleep(0.005)
        elif len(crawl.fetched) == 5 and not failed:
            failed = True
            crawl.worker.left_downloader(lease)
            await crawl.worker.retry(lease, reason="no answer", pause_seconds=0.5)
            set_back()
        else:
            await crawl.fetch(lease)
    await crawl.close()
    return crawl.fetched


def test_a_run_goes_on_when_the_clock_is_set_back(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_pack(database_url, pack(SITE))
    true_time = time.time

    def set_back() -> None:
        monkeypatch.setattr(time, "time", lambda: true_time() - FORTY_DAYS)

    fetched = asyncio.run(asyncio.wait_for(_crawl(database_url, set_back), 300))
    assert sorted(fetched) == sorted(WEB)


def test_a_run_does_not_wait_for_rows_that_a_clock_put_off_for_weeks(database_url: str) -> None:
    import_pack(database_url, pack(SITE))

    async def first() -> None:
        crawl = SmallCrawl(database_url, WEB)
        await crawl.run(most=6)
        await crawl.close()

    asyncio.run(first())
    with Database.open(database_url) as database, database.engine.begin() as c:
        ahead = time.time() + FORTY_DAYS
        c.execute(text("UPDATE url SET not_before = :ahead WHERE state = 0"), {"ahead": ahead})
    began = time.monotonic()
    again = crawl_all(database_url, WEB)
    assert len(again.fetched) == len(WEB) - 6
    assert time.monotonic() - began < 300
