"""What a connection need not ask the database again, and when it must."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import Connection, create_engine, make_url
from sqlalchemy.exc import OperationalError

from fresh_schema import make_tables
from mariadb_fixtures import MariaDB
from qiaocrawl.items import Candidate, LeftOut, Outcome, Queue
from qiaocrawl.storage import Database
from qiaocrawl.storage import engine as connection_cache
from qiaocrawl.storage.engine import ConnectionCache
from storage_samples import add_topic, candidate, enqueue, take

OFFERED = candidate("1", score=0.5, depth=2)
PUT_OFF = replace(OFFERED, left_out=LeftOut(Outcome.POSTPONED, "pager"))


@pytest.fixture
def connection() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    with engine.connect() as c:
        yield c
    engine.dispose()


def offered(*candidates: Candidate) -> ConnectionCache:
    cache = ConnectionCache()
    cache.remember(candidates)
    return cache


@pytest.mark.parametrize(
    ("change", "is_known"),
    [
        ({}, True),
        ({"score": 0.4}, True),
        ({"depth": 3}, True),
        ({"anchor": "别的字"}, True),
        ({"score": 0.6}, False),
        ({"depth": 1}, False),
        ({"queue": Queue.PAGES}, False),
        ({"topic": "other"}, False),
        ({"refetch": True}, False),
        ({"key": b"x" * 16}, False),
    ],
)
def test_what_was_offered_is_no_news_unless_it_is_better_or_for_another_crawl(
    change: dict[str, object], is_known: bool
) -> None:
    again = replace(OFFERED, **change)  # type: ignore[arg-type]
    assert offered(OFFERED).already_offered(again) is is_known


def test_a_plain_link_to_what_was_put_off_reaches_the_database() -> None:
    assert not offered(PUT_OFF).already_offered(OFFERED)
    assert offered(PUT_OFF).already_offered(PUT_OFF)
    assert offered(OFFERED).already_offered(PUT_OFF)
    assert offered(PUT_OFF, OFFERED).already_offered(OFFERED), "the last offer counts"


def test_of_too_many_offers_the_older_half_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_cache, "_MAX_OFFERS", 10)
    candidates = [candidate(str(number)) for number in range(11)]
    cache = offered(*candidates[:10])
    assert all(map(cache.already_offered, candidates[:10]))
    cache.remember(candidates[10:])
    known = [number for number, each in enumerate(candidates) if cache.already_offered(each)]
    assert known == [6, 7, 8, 9, 10]


def test_a_host_is_unseen_once() -> None:
    cache = ConnectionCache()
    assert cache.unseen_hosts([1, 2, 1]) == {1, 2}
    assert cache.unseen_hosts([2, 3]) == {3}
    assert cache.unseen_hosts([]) == set()


def test_of_too_many_hosts_all_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_cache, "_MAX_HOSTS", 2)
    cache = ConnectionCache()
    cache.unseen_hosts([1, 2, 3])
    assert cache.unseen_hosts([1]) == set()
    assert cache.unseen_hosts([1]) == {1}


def test_a_cache_belongs_to_its_connection_and_a_rollback_empties_it(
    connection: Connection,
) -> None:
    cache = ConnectionCache.of(connection)
    cache.topic_ids["t"] = 1
    assert ConnectionCache.of(connection) is cache
    with connection.engine.connect() as other:
        assert ConnectionCache.of(other) is ConnectionCache.of(other)
    ConnectionCache.forget(connection)
    assert ConnectionCache.of(connection).topic_ids == {}
    ConnectionCache.forget(connection)
    ConnectionCache.forget(connection)


@pytest.mark.mariadb
def test_a_commit_that_fails_leaves_nothing_remembered(mariadb: MariaDB, mariadb_url: str) -> None:
    """As on a cluster, where another member may be first."""
    url = make_url(mariadb_url)
    with Database.open(mariadb_url) as database:
        make_tables(database)
        add_topic(database)
    # root may commit whatever the server is.
    mariadb.execute("CREATE OR REPLACE USER plain@'%'")
    mariadb.execute(f"GRANT ALL ON {url.database}.* TO plain@'%'")
    shown = url.set(username="plain").render_as_string(hide_password=False)
    with Database.open(shown) as database:

        def offer_then(sql: str) -> None:
            with database.engine.begin() as c:
                assert enqueue(c, [OFFERED]) == 1
                mariadb.execute(sql)

        try:
            with pytest.raises(OperationalError, match="read-only"):
                offer_then("SET GLOBAL read_only = 1")
        finally:
            mariadb.execute("SET GLOBAL read_only = 0")
        with database.engine.begin() as c:
            assert enqueue(c, [OFFERED]) == 1
            assert len(take(c)) == 1
