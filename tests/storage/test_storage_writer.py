"""The writer: one thread, group commit, replay of what passes by itself."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, text

from crawl_starter import run_started, started_code
from fresh_schema import make_tables
from qiaocrawl.errors import StorageError
from qiaocrawl.storage import Database, Reader, Writer
from storage_samples import (
    PACK,
    add_topic,
    candidate,
    child_environment,
    enqueue,
    scalar,
)


@pytest.fixture
def writer(database: Database) -> Iterator[Writer]:
    """A writer on a fresh database with the topic."""
    add_topic(database)
    opened = Writer(database)
    yield opened
    opened.close()


def _adding(n: int) -> Callable[[Connection], int]:
    return lambda c: enqueue(c, [candidate(str(n), host=f"h{n % 7}.example")])


def test_operations_run_in_order_and_share_commits(database: Database, writer: Writer) -> None:
    order: list[int] = []
    commits: list[int] = []
    event.listen(database.engine, "commit", lambda c: commits.append(1))
    gate = threading.Event()
    # All of them wait when the writer is free, however slowly they come.
    writer.submit(lambda c: gate.wait(60))
    futures = [writer.submit(lambda c, n=n: order.append(n)) for n in range(200)]
    gate.set()
    for future in futures:
        future.result()
    assert order == list(range(200))
    assert len(commits) < 100


def test_what_must_come_first_does_once_a_transaction(writer: Writer) -> None:
    order: list[str] = []
    begun, gate = threading.Event(), threading.Event()

    def lock(c: Connection) -> None:
        order.append("lock")

    def hold(c: Connection) -> None:
        begun.set()
        assert gate.wait(60)

    held = writer.submit(hold)
    assert begun.wait(60)
    futures = [writer.submit(lambda c: order.append("plain"))]
    futures += [writer.submit(lambda c: order.append("locked"), lock) for _ in range(2)]
    gate.set()
    for future in (held, *futures):
        future.result(60)
    assert order == ["lock", "plain", "locked", "locked"]


def test_a_result_is_there_only_after_its_commit(database: Database, writer: Writer) -> None:
    for n in range(20):
        assert writer.run(_adding(n)) == 1
        with database.engine.connect() as c:
            assert scalar(c, "SELECT COUNT(*) FROM url") == n + 1


def test_a_failing_operation_fails_alone(database: Database, writer: Writer) -> None:
    def fail(c: Connection) -> None:
        enqueue(c, [candidate("rolled-back")])
        raise ValueError("mine")

    futures = [writer.submit(_adding(n) if n != 5 else fail) for n in range(10)]
    outcomes = [future.exception() for future in futures]
    assert [type(one) for one in outcomes if one is not None] == [ValueError]
    with database.engine.connect() as c:
        assert scalar(c, "SELECT COUNT(*) FROM url") == 9


def test_a_bad_statement_is_a_storage_error_without_its_values(writer: Writer) -> None:
    def fail(c: Connection) -> None:
        c.execute(text("INSERT INTO no_table VALUES (:body)"), {"body": "geheim"})

    with pytest.raises(StorageError) as caught:
        writer.run(fail)
    assert "no_table" in str(caught.value)
    assert "geheim" not in str(caught.value)
    assert writer.run(_adding(1)) == 1


def test_closing_writes_what_is_queued(database: Database) -> None:
    add_topic(database)
    writer = Writer(database, max_group=3)
    futures = [writer.submit(_adding(n)) for n in range(50)]
    writer.close()
    writer.close()
    assert all(future.result(0) == 1 for future in futures)
    with pytest.raises(StorageError, match="closed"):
        writer.submit(_adding(1))


def test_a_cancelled_operation_is_left_out(database: Database) -> None:
    add_topic(database)
    writer = Writer(database)
    begun, gate = threading.Event(), threading.Event()

    def hold(c: Connection) -> bool:
        begun.set()
        return gate.wait(60)

    first = writer.submit(hold)
    assert begun.wait(60)
    second = writer.submit(_adding(1))
    assert writer.backlog == 1
    assert second.cancel()
    gate.set()
    writer.close()
    assert first.result() is True
    with database.engine.connect() as c:
        assert scalar(c, "SELECT COUNT(*) FROM url") == 0


def test_the_reader_sees_commits_and_cannot_write(database: Database, writer: Writer) -> None:
    reader = Reader(database)
    try:
        for n in range(5):
            writer.run(_adding(n))
            assert reader.run(lambda c: scalar(c, "SELECT COUNT(*) FROM url")) == n + 1
        reader.run(lambda c: enqueue(c, [candidate("from-reader")]))
        assert reader.run(lambda c: scalar(c, "SELECT COUNT(*) FROM url")) == 5
    finally:
        reader.close()


def test_readers_work_while_a_transaction_is_open(database: Database, writer: Writer) -> None:
    begun, gate = threading.Event(), threading.Event()
    reader = Reader(database)

    def slow(c: Connection) -> None:
        enqueue(c, [candidate("1")])
        begun.set()
        assert gate.wait(60)

    future = writer.submit(slow)
    assert begun.wait(60)
    try:
        assert reader.run(lambda c: scalar(c, "SELECT COUNT(*) FROM url")) == 0
    finally:
        gate.set()
        future.result()
        reader.close()


def test_many_sqlite_writers_never_see_locked(tmp_path: Path) -> None:
    """F-D2: 8 writers that read, then write: no lock error reaches a caller."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with Database.open(url) as database:
        make_tables(database)
        add_topic(database)
        databases = [Database.open(url) for _ in range(8)]
        writers = [Writer(one, linger_seconds=0) for one in databases]

        def read_then_write(c: Connection) -> None:
            seen = scalar(c, "SELECT COALESCE(MAX(threshold), 0) FROM topic")
            c.execute(text("UPDATE topic SET threshold = :n"), {"n": seen + 1})

        futures = [writer.submit(read_then_write) for _ in range(25) for writer in writers]
        for future in futures:
            future.result()
        for writer, one in zip(writers, databases, strict=True):
            writer.close()
            one.close()
        with database.engine.connect() as c:
            assert scalar(c, "SELECT threshold FROM topic") == PACK.threshold + 200


def test_a_full_disk_is_waited_for(tmp_path: Path) -> None:
    """F-F4: writes fail while there is no room and go through afterwards."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    result = run_started("-c", _FULL_DISK, url, environment=child_environment())
    assert result.returncode == 0, result.stderr
    assert result.stdout == "60 urls\n"
    assert result.stderr.count("does not answer") == 1
    assert result.stderr.count("answers again") == 1


_FULL_DISK = """
import logging, os, resource, signal, sys, threading, time
from pathlib import Path
import storage_samples as samples
from qiaocrawl.storage import Database, Writer
logging.basicConfig(format="%(message)s")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
database = Database.open(sys.argv[1])
database.upgrade()
samples.add_topic(database)
writer = Writer(database)
# No file may grow: writing ends as on a full disk.
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (16384, hard))
def make_room():
    while not writer.is_away:
        time.sleep(0.01)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
threading.Thread(target=make_room).start()
futures = [
    writer.submit(lambda c, n=n: samples.enqueue(c, [samples.candidate(f"{n}", anchor="x" * 400)]))
    for n in range(60)
]
assert all(future.result() == 1 for future in futures)
writer.close()
with database.engine.connect() as c:
    print(samples.scalar(c, "SELECT COUNT(*) FROM url"), "urls")
"""


_WRITE_FOR_EVER = """
import itertools, sys
import storage_samples as samples
from qiaocrawl.storage import Database, Writer
database = Database.open(sys.argv[1])
writer = Writer(database, linger_seconds=0.001)
start = int(sys.argv[2])
for n in itertools.count(start):
    future = writer.submit(
        lambda c, n=n: samples.enqueue(c, [samples.candidate(str(n), context="x" * 900)])
    )
    future.add_done_callback(lambda future, n=n: print(n, flush=True))
    if n % 50 == 0:
        future.result()
"""


def test_acknowledged_rows_survive_kill_9(database_url: str) -> None:
    """F-D1: 5 kills at random moments; whatever was acknowledged is there, nothing is broken."""
    with Database.open(database_url) as database:
        make_tables(database)
        add_topic(database)
        acknowledged: set[str] = set()
        chance = random.Random(8)
        for kill in range(5):
            with started_code(
                _WRITE_FOR_EVER, database_url, str(kill * 1_000_000),
                environment=child_environment(),
            ) as (process, printed):  # fmt: skip
                # By rows, not by time: how many a second depends on the machine.
                lines = [printed.readline() for _ in range(chance.randint(21, 90))]
                time.sleep(chance.uniform(0.0, 0.03))
                process.send_signal(signal.SIGKILL)
                lines = ("".join(lines) + printed.read()).split("\n")[:-1]
            acknowledged |= {f"http://a.example/{line}" for line in lines}
        with database.engine.connect() as c:
            stored = set(c.execute(text("SELECT url FROM url")).scalars())
        assert len(acknowledged) > 100
        assert acknowledged <= stored
        assert database.check() == []


def test_patience_ends() -> None:
    database = Database.open("mysql+pymysql://root@127.0.0.1:1/q")
    writer = Writer(database, outage_seconds=0.3)
    futures = [writer.submit(_adding(n)) for n in range(3)]
    for future in futures:
        assert isinstance(future.exception(30), StorageError)
    writer.close()
