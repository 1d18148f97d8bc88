"""Hosts are dealt out in the database, and go on when their worker is dead."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import text

from fresh_schema import make_tables
from qiaocrawl.frontier.host_policies import POLICIES, LinkMode
from qiaocrawl.frontier.host_share import (
    DEAD_AFTER_SECONDS,
    HostShare,
    crawl_number,
    deal_hosts,
)
from qiaocrawl.items import Queue
from qiaocrawl.options import Options
from qiaocrawl.options.table import OPTIONS
from qiaocrawl.runtime.crawl_rows import CrawlScope
from qiaocrawl.runtime.follow_links import FollowPolicy
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.frontier import Scope
from qiaocrawl.storage.frontier import workers as stored
from qiaocrawl.storage.frontier.workers import Beat
from storage_samples import NOW, SITE, add_topic, candidate, enqueue, take
from title_samples import runtime_on

CRAWL = 5


def _enter(database: Database, *tokens: int, at: float = NOW) -> None:
    with database.engine.begin() as c:
        for token in tokens:
            stored.enter(c, Beat(token, CRAWL, None, 1.0, 0.0, 0, 0.0), 0.0, at)


def _shares(database: Database, *tokens: int) -> list[frozenset[str]]:
    with database.engine.connect() as c:
        return [stored.own_hosts(c, CRAWL, token, SITE) for token in tokens]


@pytest.fixture
def twelve_hosts(database: Database) -> Database:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1", host=f"h{n}.example") for n in range(12)])
    return database


def _deal(database: Database, policy: str, now: float, *, may_bury: bool = True) -> tuple[int, ...]:
    with database.engine.begin() as c:
        dealt = deal_hosts(c, CRAWL, SITE, POLICIES[policy], now=now, may_bury=may_bury)
    return dealt.dead


def test_a_dead_worker_s_hosts_and_leases_go_to_others(twelve_hosts: Database) -> None:
    _enter(twelve_hosts, 1, 2, 3)
    _deal(twelve_hosts, "round_robin", NOW)
    shares = _shares(twelve_hosts, 1, 2, 3)
    assert [len(share) for share in shares] == [4, 4, 4]
    assert len(frozenset.union(*shares)) == 12
    with twelve_hosts.engine.begin() as c:
        (held,) = take(c, 1, token=3, scope=Scope(SITE.queue, SITE.topic, shares[2]))
        for token in (1, 2):
            stored.beat(c, Beat(token, CRAWL, None, 1.0, 0.0, 0, 0.0), NOW + 20)
    later = NOW + DEAD_AFTER_SECONDS + 1
    # All were silent while the database was away: that proves nothing.
    assert _deal(twelve_hosts, "round_robin", later, may_bury=False) == ()
    assert _deal(twelve_hosts, "round_robin", later) == (3,)
    with twelve_hosts.engine.begin() as c:
        assert frontier.recover(c, SITE, now=later, all_dead=False).requeued == 1
    _deal(twelve_hosts, "round_robin", later)
    first, second = _shares(twelve_hosts, 1, 2)
    assert (len(first), len(second)) == (6, 6)
    assert held.host in first | second


def test_a_worker_that_was_taken_for_dead_lets_go_of_all_it_holds(mariadb_url: str) -> None:
    """What it was leased goes on elsewhere; it would be fetched twice."""
    with Database.open(mariadb_url) as database:
        make_tables(database)
        add_topic(database)
    with runtime_on(mariadb_url) as runtime:
        share = HostShare(
            runtime, CrawlScope(SITE.queue, "a", FollowPolicy(frozenset())), token=1, run_id=None
        )
        bury = text("DELETE FROM collector")

        async def beats() -> list[frozenset[str]]:
            lost = [(await share.refresh(SITE, ["x.cn", "y.cn"]))[0]]
            runtime.write_now(lambda c: c.execute(bury))
            share._beat_at = float("-inf")  # the next beat is due
            return [*lost, (await share.refresh(SITE, ["x.cn", "y.cn"]))[0]]

        assert asyncio.run(beats()) == [frozenset(), frozenset(("x.cn", "y.cn"))]


def test_a_new_worker_gets_its_part(twelve_hosts: Database) -> None:
    _enter(twelve_hosts, 1)
    _deal(twelve_hosts, "least_load", NOW)
    _enter(twelve_hosts, 2)
    _deal(twelve_hosts, "least_load", NOW + 3)
    first, second = _shares(twelve_hosts, 1, 2)
    assert len(second) >= 4
    assert len(first | second) == len(first) + len(second) == 12


def test_a_slow_worker_sheds_load(twelve_hosts: Database) -> None:
    _enter(twelve_hosts, 1, 2)
    _deal(twelve_hosts, "round_robin", NOW)
    with twelve_hosts.engine.begin() as c:
        for token, seconds in ((1, 0.1), (2, 2.0)):
            stored.beat(c, Beat(token, CRAWL, None, 1.0, seconds, 50, 9.0), NOW + 3)
    _deal(twelve_hosts, "round_robin", NOW + 3)
    fast, slow = _shares(twelve_hosts, 1, 2)
    assert len(slow) <= 3
    assert len(fast | slow) == 12


def test_workers_share_hosts_only_with_those_of_the_same_crawl() -> None:
    def number(*sites: str, queue: Queue = Queue.SITE, topic: str = "a") -> int:
        return crawl_number(CrawlScope(queue, topic, FollowPolicy(frozenset(sites))))

    assert number("x.cn", "y.cn") == number("y.cn", "x.cn")
    numbers = {
        number("x.cn"), number("y.cn"), number("x.cn", topic="b"),
        number("x.cn", queue=Queue.PAGES), crawl_number(CrawlScope(Queue.PAGES, "a", None)),
    }  # fmt: skip
    assert len(numbers) == 5


def test_options_offer_what_there_is() -> None:
    choices = {option.name: option for option in OPTIONS}
    for name in ("shared", *POLICIES):
        assert Options({"QIAO_HOST_POLICY": name})["QIAO_HOST_POLICY"] == name
        assert name in choices["QIAO_HOST_POLICY"].help
    for mode in LinkMode:
        assert Options({"QIAO_LINK_MODE": mode.value})["QIAO_LINK_MODE"] == mode
