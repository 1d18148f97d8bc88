"""Several workers on one MariaDB: every URL leased once, nobody waits for anybody."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack

from sqlalchemy import text

from crawl_starter import started_code
from fresh_schema import make_tables
from qiaocrawl.storage import Database, frontier
from storage_samples import (
    NOW,
    SITE,
    add_topic,
    candidate,
    child_environment,
    close,
    enqueue,
    scalar,
    take,
)

_URLS = 900
_MANY = 3_000

_WORKER = """
import sys, time
import storage_samples as samples
from qiaocrawl.items import Outcome
from qiaocrawl.storage import Database, Writer, frontier
from qiaocrawl.storage.pages.raw_pages import store_page
url, token = sys.argv[1], int(sys.argv[2])
writer = Writer(Database.open(url))
while True:
    leases = writer.run(lambda c: samples.take(c, 20, token=token, per_host=10))
    if not leases:
        left = writer.run(lambda c: frontier.remaining(c, samples.SITE, now=samples.NOW))
        if not left.pending:
            break
        time.sleep(0.005)
    for lease in leases:
        stored = writer.submit(
            lambda c, lease=lease: store_page(c, lease, samples.fetched(lease), now=samples.NOW))
        closed = writer.submit(lambda c, lease=lease: samples.close(c, lease))
        assert stored.result() is not None and closed.result()
        print(lease.url, flush=True)
writer.close()
"""


def test_three_workers_share_without_duplicates(mariadb_url: str) -> None:
    with Database.open(mariadb_url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            enqueue(c, [candidate(str(n), host=f"h{n % 11}.example", score=n % 13)
                      for n in range(_URLS)])  # fmt: skip
        with ExitStack() as stack:
            workers = [
                stack.enter_context(
                    started_code(_WORKER, mariadb_url, str(token), environment=child_environment())
                )
                for token in (1, 2, 3)
            ]
            outputs = [printed.read().split() for _, printed in workers]
            assert [worker.wait(300) for worker, _ in workers] == [0, 0, 0]
        fetched = Counter(line for lines in outputs for line in lines)
        assert len(fetched) == _URLS
        assert set(fetched.values()) == {1}
        with database.engine.connect() as c:
            assert scalar(c, "SELECT COUNT(*) FROM page_source") == _URLS
            assert scalar(c, "SELECT SUM(attempts) FROM url") == _URLS
            assert scalar(c, "SELECT COUNT(*) FROM url WHERE state = 3") == _URLS


def test_rows_another_worker_is_taking_are_passed_over(mariadb_url: str) -> None:
    """A lease that is not committed yet neither blocks nor doubles."""
    with Database.open(mariadb_url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            enqueue(c, [candidate(str(n), score=float(n)) for n in range(_MANY)])
        with database.engine.connect() as c:
            # Of few rows MariaDB rather sorts all, which locks them: the other one comes again.
            c.execute(text("ANALYZE TABLE url"))
        with database.engine.connect() as one, database.engine.connect() as other:
            one.begin()
            other.begin()
            other.execute(text("SET SESSION innodb_lock_wait_timeout = 1"))
            first = take(one, 10, token=1)
            second = take(other, 10, token=2)
            best = [float(number) for number in range(_MANY - 1, 0, -1)]
            assert [lease.score for lease in first] == best[:10]
            assert [lease.score for lease in second] == best[10:20]
            one.commit()
            other.commit()
        with database.engine.begin() as c:
            assert all(close(c, lease) for lease in first + second)


def test_a_dead_workers_rows_come_back_to_the_others(mariadb_url: str) -> None:
    with Database.open(mariadb_url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            enqueue(c, [candidate("1")])
            take(c, token=1)
        with database.engine.begin() as c:
            assert take(c, token=2, now=NOW + 90) == []
            assert frontier.remaining(c, SITE, now=NOW + 90).leased == 1
            assert frontier.recover(c, SITE, now=NOW + 90, all_dead=False).requeued == 1
            assert len(take(c, token=2, now=NOW + 90)) == 1


def test_a_worker_stopped_in_mid_transaction_does_not_hold_up_the_others_for_ever(
    mariadb_url: str,
) -> None:
    """Its locks go with its connection, before the others have given up waiting for them."""
    with Database.open(mariadb_url) as database, database.engine.connect() as c:
        assert c.execute(text("SELECT @@idle_transaction_timeout")).scalar_one() == 300
