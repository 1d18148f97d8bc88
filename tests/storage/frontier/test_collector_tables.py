"""Rows of workers and of the hosts they have, on every database."""

from __future__ import annotations

from sqlalchemy import Connection

from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.frontier import Scope
from qiaocrawl.storage.frontier import workers as stored
from qiaocrawl.storage.frontier.workers import Beat, OwnedHost
from qiaocrawl.storage.values import host_id
from storage_samples import NOW, SITE, add_topic, candidate, close, enqueue, take

CRAWL = 77
A, B, IDLE = (host_id(name) for name in ("a.example", "b.example", "idle.example"))


def _beat(token: int, **fields: float) -> Beat:
    values = {"weight": 1.0, "fetch_seconds": 0.0, "pages": 0, "pages_per_minute": 0.0}
    return Beat(token, CRAWL, None, **{**values, **fields})  # type: ignore[arg-type]


def _rows(c: Connection) -> None:
    hosts = ("a.example", "a.example", "b.example", "idle.example")
    enqueue(c, [candidate(str(n), host=host) for n, host in enumerate(hosts)])
    (done,) = take(c, scope=Scope(SITE.queue, SITE.topic, frozenset({"idle.example"})))
    assert close(c, done)


def test_a_round_is_dealt_by_one_at_a_time(database: Database) -> None:
    with database.engine.begin() as c:
        assert stored.take_round(c, CRAWL, NOW, 5.0)
        assert not stored.take_round(c, CRAWL, NOW + 4, 5.0)
        assert stored.take_round(c, CRAWL + 1, NOW + 4, 5.0)
        assert stored.take_round(c, CRAWL, NOW + 5, 5.0)
        # The clock was set back by an hour.
        assert stored.take_round(c, CRAWL, NOW - 3600, 5.0)


def test_a_worker_says_that_it_lives(database: Database) -> None:
    with database.engine.begin() as c:
        assert stored.beat(c, _beat(5), NOW) is None
        stored.enter(c, _beat(5), 3.5, NOW)
        assert stored.beat(c, _beat(5, pages=9, fetch_seconds=0.25), NOW + 5) == NOW
        (row,) = stored.collectors_of(c, CRAWL)
        assert (row.pages, row.fetch_seconds, row.turns, row.seen_at) == (9, 0.25, 3.5, NOW + 5)
        assert stored.collectors_of(c, CRAWL + 1) == []


def test_only_hosts_with_work_are_dealt(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        _rows(c)
        assert set(stored.free_hosts(c, CRAWL, SITE, 10)) == {A, B}
        assert len(stored.free_hosts(c, CRAWL, SITE, 1)) == 1
        some = Scope(SITE.queue, SITE.topic, frozenset({"b.example", "idle.example"}))
        assert stored.free_hosts(c, CRAWL, some, 10) == [B]
        stored.give_hosts(c, CRAWL, {A: 1, B: 2, IDLE: 2})
        assert stored.free_hosts(c, CRAWL, SITE, 10) == []
        assert set(stored.owned_hosts(c, CRAWL, SITE)) == {
            OwnedHost(A, 1, True), OwnedHost(B, 2, True), OwnedHost(IDLE, 2, False)
        }  # fmt: skip
        assert stored.own_hosts(c, CRAWL, 2, SITE) == {"b.example"}
        assert stored.hosts_of_others(c, CRAWL, 2, [A, B, 9]) == {A}
        stored.give_hosts(c, CRAWL, {A: 2})
        assert stored.own_hosts(c, CRAWL, 2, SITE) == {"a.example", "b.example"}


def test_a_dead_worker_leaves_its_hosts_and_its_leases(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        _rows(c)
        stored.enter(c, _beat(1), 0.0, NOW)
        stored.give_hosts(c, CRAWL, {A: 1, B: 2})
        leases = take(c, token=1, scope=Scope(SITE.queue, SITE.topic, frozenset({"a.example"})))
        others = take(c, token=2)
        assert (len(leases), len(others)) == (2, 1)
        stored.remove_collector(c, CRAWL, 1)
        assert stored.end_leases(c, SITE, 1, NOW + 1) == 2
        assert frontier.recover(c, SITE, now=NOW + 1, all_dead=False).requeued == 2
        assert stored.free_hosts(c, CRAWL, SITE, 10) == [A]
        assert stored.collectors_of(c, CRAWL) == []
        # Its leases are fenced: what it brings later is refused.
        assert not close(c, leases[0], now=NOW + 2)
        assert close(c, others[0], now=NOW + 2)
