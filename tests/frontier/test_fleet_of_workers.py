"""Several real workers on one MariaDB share the hosts of a crawl, and one of them dies."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict

import pytest
from sqlalchemy import Connection, text

from collector_samples import WAIT_SECONDS, Collector
from fresh_schema import make_tables
from qiaocrawl.frontier import host_share
from qiaocrawl.frontier.host_share import DEAD_AFTER_SECONDS
from qiaocrawl.storage import Database
from storage_samples import add_topic, candidate, enqueue

pytestmark = pytest.mark.mariadb
HOSTS, PAGES = 18, 6


@pytest.fixture
def url(mariadb_url: str) -> str:
    with Database.open(mariadb_url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            enqueue(c, [candidate(str(page), host=f"h{host}.example")
                        for host in range(HOSTS) for page in range(PAGES)])  # fmt: skip
    return mariadb_url


def _rows(url: str, sql: str) -> list[tuple[object, ...]]:
    with Database.open(url) as database, database.engine.begin() as c:
        answer = c.execute(text(sql))
        return [tuple(row) for row in answer] if answer.returns_rows else []


async def _dealt(fleet: list[Collector]) -> None:
    """Until each has hosts of its own; the first one had them all, and would have begun them."""
    shares = [collector.worker.share for collector in fleet]
    async with asyncio.timeout(WAIT_SECONDS):
        while (
            not all(one._hosts for one in shares) or sum(len(one._hosts) for one in shares) > HOSTS
        ):
            for share in shares:
                share._beat_at = float("-inf")  # each asks anew which hosts it has
            await asyncio.sleep(0.1)


async def _crawl_together(url: str, **options: object) -> list[Collector]:
    fleet = [Collector(url, **options) for _number in range(3)]
    for collector in fleet:
        await collector.worker.open()
    await _dealt(fleet)
    await asyncio.gather(*(collector.crawl() for collector in fleet))
    for collector in fleet:
        await collector.close()
    return fleet


@pytest.mark.parametrize("policy", ["round_robin", "pick2"])
def test_a_host_is_crawled_by_the_worker_that_has_it(url: str, policy: str) -> None:
    fleet = asyncio.run(_crawl_together(url, QIAO_HOST_POLICY=policy))
    pages = Counter(page for collector in fleet for _host, page in collector.fetched)
    assert (len(pages), set(pages.values())) == (HOSTS * PAGES, {1})
    workers = defaultdict(set)
    for number, collector in enumerate(fleet):
        for host, _page in collector.fetched:
            workers[host].add(number)
    # Hosts move when one worker has nothing left; without a policy nearly all have all three.
    assert sum(len(of_host) for of_host in workers.values()) < 1.7 * HOSTS
    assert all(collector.fetched for collector in fleet)
    assert _rows(url, "SELECT * FROM collector") == []
    assert _rows(url, "SELECT * FROM host_owner") == []


async def _crawl_with_a_death(url: str, policy: str) -> tuple[Collector, Collector]:
    dead, other = (Collector(url, QIAO_HOST_POLICY=policy) for _number in range(2))
    await dead.worker.open()
    await other.worker.open()
    await asyncio.gather(dead.crawl(10), other.crawl(10))
    await dead.die()
    # Half a minute later, by the clock of the database.
    _rows(url, f"UPDATE collector SET seen_at = seen_at - {DEAD_AFTER_SECONDS + 5}"
               f" WHERE token = {dead.worker.token}")  # fmt: skip
    await other.crawl()
    await other.close()
    return dead, other


@pytest.mark.parametrize("policy", ["least_load", "shared"])
def test_what_a_dead_worker_had_is_crawled_by_another(
    url: str, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its leases would last an hour more."""
    monkeypatch.setattr(host_share, "_STEADY_SECONDS", 0.0)
    dead, other = asyncio.run(_crawl_with_a_death(url, policy))
    both = Counter(page for collector in (dead, other) for _host, page in collector.fetched)
    assert (len(both), set(both.values())) == (HOSTS * PAGES, {1})
    assert {host for host, _page in dead.fetched} & {host for host, _page in other.fetched}
    assert _rows(url, "SELECT COUNT(*) FROM url WHERE state <> 3") == [(0,)]


async def _two_with_hosts(url: str, mode: str) -> tuple[Collector, Collector]:
    """Two workers that have fetched three pages each, so that both have hosts."""
    one, other = (
        Collector(url, QIAO_HOST_POLICY="round_robin", QIAO_LINK_MODE=mode) for _number in range(2)
    )
    await one.worker.open()
    await other.worker.open()
    await asyncio.gather(one.crawl(3), other.crawl(3))
    return one, other


def _a_host_of(c: Connection, collector: Collector) -> str:
    token = {"token": collector.worker.token}
    names = "SELECT h.name FROM host_owner o JOIN host h ON h.id = o.host_id"
    # Locked: hosts move from one worker to the other at any time.
    chosen = f"{names} WHERE o.token = :token ORDER BY h.name FOR UPDATE"
    return str(c.scalar(text(chosen), token))


def test_behind_a_firewall_links_to_others_hosts_are_dropped(url: str) -> None:
    async def run() -> None:
        one, other = await _two_with_hosts(url, "firewall")

        def links(c: Connection) -> tuple[list[str], list[str]]:
            theirs = _a_host_of(c, other)
            own = _a_host_of(c, one)
            links = [candidate("new", host=host) for host in (own, theirs, "new.example")]
            kept = one.worker.share.admit(c, links)
            return [link.host for link in kept], [own, "new.example"]

        kept, expected = await one.runtime.write(links)
        assert kept == expected
        await one.close()
        await other.close()

    asyncio.run(run())


def test_a_worker_with_nothing_left_helps_out_only_where_it_may(url: str) -> None:
    async def run(mode: str) -> bool:
        one, other = await _two_with_hosts(url, mode)
        rows = one.worker._rows.now
        one.worker.share._hosts = frozenset()
        leases = await one.worker.share.take(
            one.worker._supply.take, rows, {"limit": 5, "per_host": 1}
        )
        await one.close()
        await other.close()
        return bool(leases)

    assert asyncio.run(run("crossover"))
    assert not asyncio.run(run("exchange"))
