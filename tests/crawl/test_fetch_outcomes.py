"""What becomes of a leased URL whose fetch brought no page: its row, its host, what was counted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.exceptions import DownloadFailedError
from scrapy.utils.test import get_crawler
from sqlalchemy import Connection, text

from fresh_schema import make_tables
from qiaocrawl.crawl.context import CrawlContext, runtime_of
from qiaocrawl.crawl.fetch_outcomes import FetchOutcomes
from qiaocrawl.errors import BlockedError, TrapError
from qiaocrawl.fetch.failure_policy import FetchDecision
from qiaocrawl.frontier import CrawlTopic, strategies
from qiaocrawl.frontier.crawl_order import CrawlOrder
from qiaocrawl.frontier.host_slots import Fetches, Limits
from qiaocrawl.frontier.journal import CrawlJournal, PagelessEnd
from qiaocrawl.frontier.worker import FrontierWorker
from qiaocrawl.items import Lease, Outcome, Queue
from qiaocrawl.runtime.follow_links import FollowPolicy, seed_candidate
from qiaocrawl.storage import Database
from storage_samples import PACK, add_topic

HOST = "www.a-qiao.cn"
URL = f"http://{HOST}/1"


class Journal(CrawlJournal):
    """Remembers what it was told."""

    counts_pageless_as = "journal"

    def __init__(self) -> None:
        self.closed: list[tuple[Outcome, str, int | None, str]] = []
        self.failed: list[str] = []

    def closes_without_page(self, c: Connection, lease: Lease, end: PagelessEnd) -> None:
        self.closed.append((end.outcome, end.reason, end.status, end.target))

    def try_fails(self, c: Connection, lease: Lease, reason: str) -> None:
        self.failed.append(reason)


class Crawl:
    """A crawl of one URL with the real worker and database."""

    def __init__(self, url: str) -> None:
        self.crawler = get_crawler(settings_dict={
            "QIAO_DATABASE_URL": url, "QIAO_FRONTIER_MAX_FAILURES": 3,
            "QIAO_FRONTIER_RETRY_SECONDS": 0.01, "QIAO_URL_ALIASES": "off",
        })  # fmt: skip
        self.runtime = runtime_of(self.crawler)
        policy = FollowPolicy(frozenset([HOST]))
        scope = self.runtime.scope(Queue.SITE, PACK.name, policy)
        order = CrawlOrder(strategies.get("bfs")(CrawlTopic(PACK)))  # type: ignore[arg-type]
        self.journal = Journal()
        self.context = CrawlContext(
            self.runtime, scope, policy, order, {}, Limits(), journal=self.journal
        )
        self.context.worker = self.worker = FrontierWorker(
            self.runtime, scope, order=order, limits=Limits(), fetches=Fetches(1, 1),
            run_id=None, wake=lambda: None,
        )  # fmt: skip
        self.outcomes = FetchOutcomes(self.crawler, self.context)

    async def lease(self) -> Lease:
        """The next URL, as the scheduler gets it."""
        for _ in range(20_000):
            if (lease := self.worker.next_lease()) is not None:
                self.worker.left_downloader(lease)
                return lease
            await asyncio.sleep(0.005)
        raise AssertionError("nothing is handed out")

    def play(self, act: Callable[[Lease], Awaitable[object]], *, times: int = 1) -> Lease:
        """Lease the URL and let *act* happen to it, as often as asked; returns the last lease."""

        async def go() -> Lease:
            await self.worker.open()
            self.worker.enqueue([seed_candidate(URL, Queue.SITE, PACK.name, refetch=False)])
            for _ in range(times):
                lease = await self.lease()
                await act(lease)
            await self.worker.close()
            return lease

        return asyncio.run(go())

    def row(self, url: str = URL) -> dict[str, Any]:
        """What the database says of *url*."""
        sql = text("SELECT outcome, reason, failures, http_status, redirect_key"
                   " FROM url WHERE url = :url")  # fmt: skip
        with self.runtime.database.engine.connect() as c:
            return dict(c.execute(sql, {"url": url}).mappings().one())

    def counted(self, name: str) -> object:
        assert self.crawler.stats is not None
        return self.crawler.stats.get_value(f"qiaocrawl/{name}", 0)


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    url = f"sqlite:///{tmp_path}/q.db"
    with Database.open(url) as database:
        make_tables(database)
        add_topic(database)
    made = Crawl(url)
    yield made
    made.runtime.close()


def test_a_final_status_closes_the_row_with_its_words(crawl: Crawl) -> None:
    gone = FetchDecision(Outcome.DEAD, "HTTP 404 Not Found (gone)")
    crawl.play(lambda lease: crawl.outcomes.record(lease, 404, gone))
    row = crawl.row()
    assert (row["outcome"], row["reason"], row["http_status"]) == ("dead", gone.reason, 404)
    assert crawl.journal.closed == [(Outcome.DEAD, gone.reason, 404, "")]
    assert (crawl.counted("outcome/dead"), crawl.counted("journal")) == (1, 1)


def test_a_redirect_proposes_its_target_in_the_same_transaction(crawl: Crawl) -> None:
    target = f"http://{HOST}/2"
    moved = FetchDecision(Outcome.REDIRECT, "HTTP 301", target=target)
    crawl.play(lambda lease: crawl.outcomes.record(lease, 301, moved))
    assert crawl.row()["outcome"] == "redirect"
    assert crawl.row()["redirect_key"] is not None
    assert crawl.row(target)["outcome"] is None, "it waits"
    assert crawl.journal.closed == [(Outcome.REDIRECT, "HTTP 301", 301, target)]


def test_a_redirect_to_the_url_itself_is_tried_again_with_the_cookie_it_set(crawl: Crawl) -> None:
    wall = FetchDecision(Outcome.REDIRECT, "HTTP 302", target=URL)
    crawl.play(lambda lease: crawl.outcomes.record(lease, 302, wall))
    assert (crawl.row()["outcome"], crawl.row()["failures"]) == (None, 1)
    assert crawl.journal.failed == ["HTTP 302 to itself"]


def test_a_redirect_that_is_not_followed_closes_its_row_alone(crawl: Crawl) -> None:
    crawl.context.follow_redirect = lambda lease, target, policy: None
    moved = FetchDecision(Outcome.REDIRECT, "HTTP 301", target="http://b.test/")
    crawl.play(lambda lease: crawl.outcomes.record(lease, 301, moved))
    assert (crawl.row()["outcome"], crawl.row()["redirect_key"]) == ("redirect", None)


def test_a_server_error_is_tried_again_until_the_tries_are_used_up(crawl: Crawl) -> None:
    error = FetchDecision(Outcome.RETRY, "HTTP 500")
    crawl.play(lambda lease: crawl.outcomes.record(lease, 500, error), times=3)
    assert (crawl.row()["outcome"], crawl.row()["reason"]) == ("unreachable", "HTTP 500")
    assert crawl.journal.failed == ["HTTP 500"] * 2
    assert (crawl.counted("outcome/retry"), crawl.counted("outcome/unreachable")) == (2, 1)


def test_a_busy_host_costs_the_url_no_try_at_first(crawl: Crawl) -> None:
    busy = FetchDecision(Outcome.RETRY, "HTTP 503", park_seconds=60.0, is_busy=True)
    crawl.play(lambda lease: crawl.outcomes.record(lease, 503, busy))
    row = crawl.row()
    assert (row["outcome"], row["failures"]) == (None, 0)
    assert row["reason"].startswith("host asks to wait until ")
    assert crawl.worker._hosts.parked_hosts == {HOST}


def test_an_error_instead_of_a_response_is_judged_by_what_it_says(crawl: Crawl) -> None:
    crawl.play(lambda lease: crawl.outcomes.record_error(lease, TrapError("trap: x")))
    assert (crawl.row()["outcome"], crawl.row()["reason"]) == ("trap", "trap: x")


def test_a_url_of_a_host_that_is_given_up_waits_for_another_run(crawl: Crawl) -> None:
    blocked = BlockedError("captcha", 60.0, give_up=True)
    crawl.play(lambda lease: crawl.outcomes.record_error(lease, blocked))
    row = crawl.row()
    assert (row["outcome"], row["failures"]) == (None, 0)
    assert row["reason"] == "host given up for this run: captcha"


def test_a_fault_of_ours_sets_the_page_aside_in_the_end(crawl: Crawl) -> None:
    crawl.play(lambda lease: crawl.outcomes.record_fault(lease, "KeyError: x"), times=3)
    assert (crawl.row()["outcome"], crawl.row()["reason"]) == ("poison", "KeyError: x")


def test_a_lease_that_was_lost_changes_nothing_and_is_counted(crawl: Crawl) -> None:
    def lose(c: Connection) -> None:
        c.execute(text("UPDATE url SET lease_token = 1"))

    async def late(lease: Lease) -> None:
        await crawl.runtime.write(lose)
        await crawl.outcomes.record(lease, 404, FetchDecision(Outcome.DEAD, "gone"))
        await crawl.outcomes.record_error(lease, DownloadFailedError("lost"))

    crawl.play(late)
    assert crawl.row()["outcome"] is None
    assert (crawl.journal.closed, crawl.journal.failed) == ([], [])
    assert crawl.counted("lease_lost") == 2
