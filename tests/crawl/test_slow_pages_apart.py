"""Which pages are analysed apart, which of them comes next, and when a host is asked no more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from scrapy.utils.test import get_crawler

from fresh_schema import make_tables
from qiaocrawl.crawl.context import CrawlContext, runtime_of, share_crawl
from qiaocrawl.crawl.slow_pages import SlowPages, set_aside, slow_pages_of
from qiaocrawl.frontier import CrawlTopic, strategies
from qiaocrawl.frontier.crawl_order import CrawlOrder
from qiaocrawl.frontier.host_slots import Fetches, Limits
from qiaocrawl.frontier.worker import FrontierWorker
from qiaocrawl.items import FetchedPage, Lease, Outcome, Queue
from qiaocrawl.runtime.analysis_slots import QUICK_BYTES
from qiaocrawl.runtime.follow_links import FollowPolicy
from qiaocrawl.storage import Database
from storage_samples import PACK, add_topic


def lease(number: int = 1, host: str = "a", crashes: int = 0) -> Lease:
    return Lease(number, 7, 1, f"http://{host}/{number}", b"", host, Queue.SITE, "t", 0.0, 1, 0,
                 stored=bool(crashes), crashes=crashes)  # fmt: skip


def page(size: int = 10) -> FetchedPage:
    return FetchedPage("http://a/1", "http://a/1", 200, (), b"x" * size,
                       datetime(2026, 3, 1, tzinfo=UTC))  # fmt: skip


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    address = f"sqlite:///{tmp_path_factory.mktemp('slow')}/q.db"
    with Database.open(address) as database:
        make_tables(database)
        add_topic(database)
    return address


@pytest.fixture
def slow(url: str) -> Iterator[SlowPages]:
    """The slow pages of a crawl whose worker hands out nothing."""
    crawler = get_crawler(settings_dict={"QIAO_DATABASE_URL": url, "QIAO_EXTRACT_SECONDS": 10})
    runtime = runtime_of(crawler)
    policy = FollowPolicy(frozenset())
    scope = runtime.scope(Queue.SITE, PACK.name, policy)
    order = CrawlOrder(strategies.get("bfs")(CrawlTopic(PACK)))  # type: ignore[arg-type]
    crawl = CrawlContext(runtime, scope, policy, order, {}, Limits())
    crawl.worker = FrontierWorker(
        runtime, scope, order=order, limits=Limits(), fetches=Fetches(1, 1), run_id=None,
        wake=lambda: None,
    )  # fmt: skip
    share_crawl(crawler, crawl)
    yield slow_pages_of(crawler)
    runtime.close()


def queue_up(slow: SlowPages, *leases: Lease) -> None:
    """As :meth:`SlowPages.take`, with nobody who analyses them."""
    for each in leases:
        slow._waiting_of[each.host] += 1
        slow._waiting.append(each)


def test_large_pages_and_suspects_are_never_tried_in_an_ordinary_slot(slow: SlowPages) -> None:
    assert not slow.is_for(lease(), page(QUICK_BYTES))
    assert slow.is_for(lease(), page(QUICK_BYTES + 1))
    assert slow.is_for(lease(crashes=1), page())


def test_from_two_slow_pages_on_a_host_gets_no_more_time_in_ordinary_slots(
    slow: SlowPages,
) -> None:
    slow.note_outlasted(lease())
    assert not slow.is_for(lease(), page())
    slow.note_outlasted(lease())
    assert slow.is_for(lease(2), page())
    assert not slow.is_for(lease(host="b"), page()), "other hosts are not to blame"


def test_four_quick_pages_make_up_for_a_slow_one(slow: SlowPages) -> None:
    for _ in range(2):
        slow.note_outlasted(lease())
    slow.was_quick("a")
    assert not slow.is_for(lease(), page())
    slow.note_outlasted(lease())
    for _ in range(3):
        slow.was_quick("a")
    assert slow.is_for(lease(), page())
    for _ in range(9):
        slow.was_quick("a")
    slow.note_outlasted(lease())
    assert not slow.is_for(lease(), page()), "quick pages are not saved up"


def test_hosts_take_turns(slow: SlowPages) -> None:
    queue_up(slow, lease(1, "a"), lease(2, "a"), lease(3, "a"), lease(4, "b"))
    assert [slow._next().url_id for _ in range(4)] == [1, 4, 2, 3]
    assert not slow._waiting_of


def test_a_host_with_many_slow_pages_is_asked_for_nothing_meanwhile(
    slow: SlowPages, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")

    async def take() -> None:
        for number in range(4):
            slow.take(lease(number))
        assert slow._worker._hosts.parked_hosts == set()
        slow.take(lease(4))

    asyncio.run(take())
    hosts = slow._worker._hosts
    assert hosts.next_rest is not None
    assert hosts.next_rest[0] == "a"
    assert 45 < hosts.next_rest[1] <= 50, "ten seconds for each of the five"
    assert "a: 5 pages wait to be analysed apart" in caplog.text
    stats = slow._crawler.stats
    assert stats is not None
    assert stats.get_value("qiaocrawl/extract/apart") == 5
    assert stats.get_value("qiaocrawl/extract/hosts_waiting") == 1


def test_a_page_that_killed_as_many_workers_as_a_url_has_tries_is_set_aside(
    slow: SlowPages,
) -> None:
    # The first of its crashes only made it a suspect.
    most: int = slow._runtime.options["QIAO_FRONTIER_MAX_FAILURES"]
    analysis = asyncio.run(slow._analysis(lease(crashes=most + 1), page()))
    assert analysis.outcome is Outcome.POISON
    assert analysis.reason == f"{most} workers died while this page was tried alone"


def test_what_is_set_aside_says_that_it_was_not_read() -> None:
    analysis = set_aside("too slow")
    assert (analysis.outcome, analysis.reason, analysis.article, analysis.links) == (
        Outcome.POISON, "too slow", None, (),
    )  # fmt: skip
    assert analysis.charset_source == "unread"
