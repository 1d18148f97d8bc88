"""Hosts with waiting rows are all found, wherever one begins, and few rows are read for it."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator

import pytest
from sqlalchemy import Connection, text

from qiaocrawl.items import Queue
from qiaocrawl.storage import Database
from qiaocrawl.storage.frontier import Scope
from qiaocrawl.storage.frontier.lease import LOOKED_AT, waiting_hosts
from qiaocrawl.storage.values import host_id
from storage_samples import PACK, add_topic, candidate, enqueue

_END = (1 << 63) - 1
HOSTS = {host_id(name): name for n in range(3 * LOOKED_AT) if (name := f"w{n}.example")}


@pytest.fixture
def connection(database: Database) -> Iterator[Connection]:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate(str(n), host=name) for name in HOSTS.values() for n in range(2)])
        yield c


def only_on(c: Connection, hosts: Collection[int]) -> None:
    """Leave waiting rows on *hosts* alone."""
    c.execute(text("UPDATE url SET state = 3"))
    for host in hosts:
        c.execute(text("UPDATE url SET state = 0 WHERE host_id = :host"), {"host": host})


@pytest.mark.parametrize("one_in", [1, 3, 60, 300, 1_000])
def test_all_hosts_are_found_in_order(connection: Connection, one_in: int) -> None:
    c, scope = connection, Scope(Queue.SITE, PACK.name).params(connection)
    chance = random.Random(one_in)
    there = sorted(host for host in HOSTS if chance.randrange(one_in) == 0)
    only_on(c, there)
    assert waiting_hosts(c, scope, 0, _END, 5_000) == there
    for first in (0, 1, *chance.sample(sorted(HOSTS), 5), _END):
        last = chance.choice([_END, first, *HOSTS])
        expected = [host for host in there if first <= host <= last]
        for count in (1, 7, LOOKED_AT):
            assert waiting_hosts(c, scope, first, last, count) == expected[:count]


def test_rows_of_others_do_not_count(connection: Connection) -> None:
    scope = Scope(Queue.SEARCH, PACK.name).params(connection)
    assert waiting_hosts(connection, scope, 0, _END, 10) == []


@pytest.mark.parametrize("database_url", ["mariadb"], indirect=True)
def test_a_host_costs_one_row_however_many_it_has(connection: Connection) -> None:
    c, scope = connection, Scope(Queue.SITE, PACK.name).params(connection)
    for host in sorted(HOSTS)[:3]:
        enqueue(c, [candidate(f"more/{n}", host=HOSTS[host]) for n in range(3_000)])
    before = _rows_read(c)
    assert len(waiting_hosts(c, scope, 0, _END, LOOKED_AT)) == LOOKED_AT
    assert _rows_read(c) - before < 6 * LOOKED_AT


def _rows_read(c: Connection) -> int:
    """Rows this session has read from indexes."""
    counts = c.execute(text("SHOW SESSION STATUS LIKE 'Handler_read_%'")).fetchall()
    return sum(int(count) for _name, count in counts)
