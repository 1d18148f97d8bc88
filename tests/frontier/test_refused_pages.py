"""An order in memory whose pages are refused, and workers whose clocks disagree."""

from __future__ import annotations

import asyncio
import time

import pytest

from crawling import import_pack, outcomes, pack, rows
from learning_samples import SITE
from qiaocrawl.frontier.row_waits import recover_rows
from qiaocrawl.items import Lease, Queue
from qiaocrawl.storage import Database, frontier
from small_crawl import TOPIC, WEB, SmallCrawl


def test_pages_whose_close_is_refused_bring_their_links_again(database_url: str) -> None:
    """Another worker takes some of the first pages back while this one works on them."""
    import_pack(database_url, pack(SITE))
    refused: set[str] = set()

    def steal(lease: Lease) -> None:
        path = lease.url.rsplit("/", 1)[1]
        if path in ("0", "2", "7") and path not in refused:
            refused.add(path)
            with Database.open(database_url) as database, database.engine.begin() as c:
                scope = frontier.Scope(Queue.SITE, TOPIC, None)
                frontier.recover(c, scope, now=time.time(), all_dead=True)

    async def run() -> SmallCrawl:
        crawl = SmallCrawl(database_url, WEB, QIAO_FRONTIER_LEASE_SECONDS="2")
        await crawl.run(on_page=steal)
        await crawl.close()
        return crawl

    crawl = asyncio.run(run())
    assert len(refused) == 3
    assert set(crawl.fetched) == set(WEB)
    assert set(outcomes(database_url).values()) == {"list"}
    assert rows(database_url, "SELECT COUNT(*), COUNT(DISTINCT url_id) FROM visit") == [(40, 40)]


@pytest.mark.mariadb
@pytest.mark.parametrize("ahead", [300.0, -300.0])
def test_a_worker_whose_clock_is_wrong_neither_takes_nor_loses_leases(
    ahead: float, mariadb_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-Q2: five minutes ahead of the others, and behind them; no page is fetched twice."""
    import_pack(mariadb_url, pack(SITE))
    true_time = time.time

    async def run() -> list[str]:
        right, wrong = SmallCrawl(mariadb_url, WEB), SmallCrawl(mariadb_url, WEB)
        await right.run(most=3)
        with monkeypatch.context() as clock:
            clock.setattr(time, "time", lambda: true_time() + ahead)
            await wrong.run(most=3)
            await recover_rows(wrong.runtime, wrong.worker._rows.now, all_dead=False)
        await recover_rows(right.runtime, right.worker._rows.now, all_dead=False)
        await asyncio.gather(right.run(), wrong.run())
        for crawl in (right, wrong):
            await crawl.close()
        return right.fetched + wrong.fetched

    assert sorted(asyncio.run(run())) == sorted(WEB)
