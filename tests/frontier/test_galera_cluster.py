"""Workers on different members of a real Galera cluster, which loses a member and is split."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from benchmarks.fleets.galera import Galera, provider_library
from benchmarks.fleets.harm import SplitMember
from benchmarks.fleets.network import NoNetworkError, cluster_network
from benchmarks.mariadb_server import NoServerError, server_program
from collector_samples import WAIT_SECONDS, Collector
from fresh_schema import make_tables
from mariadb_fixtures import fast_folder
from qiaocrawl.items import Lease
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.sql import ErrorKind, classify
from storage_samples import NOW, SITE, add_topic, candidate, enqueue, take

pytestmark = pytest.mark.mariadb
HOSTS, PAGES = 12, 8
_names = itertools.count(1)
# A member that is gone is missed after a second, and heard again at once.
_HASTY = (
    "evs.suspect_timeout=PT1S;evs.inactive_timeout=PT3S;evs.keepalive_period=PT0.3S;"
    "evs.inactive_check_period=PT0.5S;evs.join_retrans_period=PT0.3S;evs.install_timeout=PT2S;"
    "gmcast.peer_timeout=PT1S;gmcast.time_wait=PT1S"
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Galera]:
    """Three members, in networks of their own where this account may make some."""
    try:
        server_program()
        provider_library()
    except NoServerError as error:
        pytest.skip(str(error))
    with ExitStack() as stack:
        folder = tempfile.TemporaryDirectory(prefix="qiao-", dir=fast_folder())
        path = Path(stack.enter_context(folder))
        try:
            network = stack.enter_context(cluster_network(3))
        except NoNetworkError:
            network = None
        galera = Galera(path, 3, network, _HASTY)
        stack.callback(galera.stop)
        galera.start()
        yield galera


@pytest.fixture
def urls(cluster: Galera) -> list[str]:
    """The address of one new database at each member; rows of several hosts wait in it."""
    name = f"fleet{next(_names)}"
    cluster.members[0].execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    with Database.open(cluster.members[0].url(name)) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            enqueue(c, [candidate(str(page), host=f"h{host}.example")
                        for host in range(HOSTS) for page in range(PAGES)])  # fmt: skip
    # Each member has the rows before the test begins.
    assert cluster.differing_tables(name) == []
    return [member.url(name) for member in cluster.members]


def _lease(c: Connection, token: int) -> list[Lease]:
    return take(c, 10, token=token)


def test_of_two_that_lease_the_same_rows_the_second_is_refused_at_its_commit(
    urls: list[str],
) -> None:
    """Row locks are a member's own: neither sees what the other has chosen."""
    with Database.open(urls[0]) as here, Database.open(urls[1]) as there:
        first, second = here.engine.connect(), there.engine.connect()
        with first, second:
            mine, theirs = _lease(first, 1), _lease(second, 2)
            assert {one.url_id for one in mine} & {one.url_id for one in theirs}
            first.commit()
            with pytest.raises(OperationalError) as refused:
                second.commit()
            assert classify(refused.value) is ErrorKind.CONTENTION
        with here.engine.connect() as c:
            rows = c.execute(text("SELECT lease_token FROM url WHERE state = 1")).fetchall()
        assert Counter(row[0] for row in rows) == {1: len(mine)}


def test_workers_on_different_members_never_lease_the_same_row(urls: list[str]) -> None:
    """They all want the best rows at once; who is refused plays it again with what is left."""

    async def run() -> list[Lease]:
        fleet = [Collector(url) for url in urls]
        leases: list[Lease] = []
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                taken = await asyncio.gather(*(
                    one.runtime.write(lambda c, token=number: take(c, 4, token=token))
                    for number, one in enumerate(fleet, start=1)
                ))  # fmt: skip
                leases += itertools.chain(*taken)
                if not any(taken):
                    break
        for one in fleet:
            one.runtime.close()
        return leases

    leases = asyncio.run(run())
    assert Counter(Counter(lease.url_id for lease in leases).values()) == {1: HOSTS * PAGES}


async def _crawl_through_losses(cluster: Galera, urls: list[str]) -> list[Collector]:
    fleet = [Collector(url, QIAO_HOST_POLICY="least_load") for url in urls]
    for collector in fleet:
        await collector.worker.open()
    first, second, third = fleet
    await asyncio.gather(*(one.crawl(3) for one in fleet))

    cluster.members[2].kill()
    waiting = asyncio.create_task(third.crawl(8))
    await asyncio.gather(first.crawl(8), second.crawl(8))
    await asyncio.to_thread(cluster.restart, 2)
    await waiting

    split = SplitMember(cluster, 1)
    split.lose()
    waiting = asyncio.create_task(second.crawl(14))
    await asyncio.gather(first.crawl(14), third.crawl(14))
    await asyncio.to_thread(split.regain)
    await waiting

    await asyncio.gather(*(one.crawl() for one in fleet))
    for collector in fleet:
        await collector.close()
    return fleet


def test_a_crawl_outlives_a_killed_member_and_a_split_network(
    cluster: Galera, urls: list[str]
) -> None:
    """No page is lost, none is closed twice, and no worker believes in the end too early."""
    fleet = asyncio.run(_crawl_through_losses(cluster, urls))
    closed = Counter(page for collector in fleet for _host, page in collector.fetched)
    assert (len(closed), set(closed.values())) == (HOSTS * PAGES, {1})
    for url in urls:
        with Database.open(url) as database, database.engine.connect() as c:
            assert not frontier.remaining(c, SITE, now=NOW).is_open
    assert cluster.differing_tables(urls[0].rpartition("/")[2]) == []
