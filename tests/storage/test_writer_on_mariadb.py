"""The writer on MariaDB: killed connections, deadlocks, a server that is away or hangs."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable

import pytest
from pymysql.constants.ER import NO_SUCH_THREAD
from pymysql.err import OperationalError
from sqlalchemy import Connection, text

from fresh_schema import make_tables
from mariadb_fixtures import MariaDB, own_server
from qiaocrawl.errors import StorageError
from qiaocrawl.storage import Database, Reader, Writer
from storage_samples import add_topic, candidate, counts, enqueue, scalar, soon


def _adding(n: int) -> Callable[[Connection], int]:
    return lambda c: enqueue(c, [candidate(str(n), host=f"h{n % 7}.example")])


def test_killed_connections_lose_nothing(mariadb: MariaDB, mariadb_url: str) -> None:
    """F-D3: 50 connections are killed at random while pages are written."""
    with Database.open(mariadb_url) as database:
        make_tables(database)
        add_topic(database)
        writer = Writer(database, linger_seconds=0.0, max_group=5)
        done = threading.Event()
        kills = 0

        def kill_at_random() -> None:
            nonlocal kills
            chance = random.Random(50)
            with mariadb.connect() as connection, connection.cursor() as cursor:
                while kills < 50 and not done.is_set():
                    time.sleep(chance.uniform(0.0, 0.06))
                    cursor.execute(
                        "SELECT id FROM information_schema.processlist WHERE db = %s",
                        (database.engine.url.database,),
                    )
                    for (process,) in cursor.fetchall():
                        try:
                            cursor.execute("KILL CONNECTION %s", (process,))
                            kills += 1
                        except OperationalError as error:
                            # It was killed before, and has gone since the list was made.
                            if error.args[0] != NO_SUCH_THREAD:
                                raise

        killer = threading.Thread(target=kill_at_random)
        killer.start()
        futures = []
        # Where every transaction is cut short none ends before the killing does.
        while killer.is_alive() or len(futures) <= 60:
            futures.append(writer.submit(_adding(len(futures))))
            if len(futures) % 10 == 0:
                futures[-1].result()
        done.set()
        killer.join()
        results = [future.result() for future in futures]
        writer.close()
        with database.engine.connect() as c:
            assert scalar(c, "SELECT COUNT(*) FROM url") == len(futures)
            assert scalar(c, "SELECT COUNT(DISTINCT url) FROM url") == len(futures)
    assert kills >= 50
    assert len(results) > 50


def test_deadlocks_are_played_again(mariadb_url: str) -> None:
    """F-D4: two writers lock the same rows in opposite order; every addition counts."""
    with Database.open(mariadb_url) as database:
        make_tables(database)
        with database.engine.begin() as c:
            c.execute(text("INSERT INTO term_weight VALUES ('a', 0, 0), ('b', 0, 0)"))
        writers = [Writer(database, linger_seconds=0, max_group=6) for _ in range(2)]
        for writer in writers:
            writer.run(lambda c: None)  # connected, so that both begin at once

        # The first time each waits until the other has its row: that is a deadlock.
        together, have_met = threading.Barrier(2, timeout=60), threading.Event()

        def adding(first: str, second: str) -> Callable[[Connection], None]:
            def operation(c: Connection) -> None:
                for term in (first, second):
                    c.execute(
                        text("UPDATE term_weight SET df = df + 1 WHERE term = :t"), {"t": term}
                    )
                    if not have_met.is_set():
                        together.wait()
                        have_met.set()
                    time.sleep(0.002)

            return operation

        futures = [
            writer.submit(adding(*order))
            for _ in range(60)
            for writer, order in zip(writers, ("ab", "ba"), strict=True)
        ]
        for future in futures:
            future.result()
        for writer in writers:
            writer.close()
        with database.engine.connect() as c:
            status = dict(c.execute(text("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'")).all())
            assert int(status["Innodb_deadlocks"]) > 0
            assert scalar(c, "SELECT SUM(df) FROM term_weight") == 240


@pytest.mark.usefixtures("mariadb")  # skips where there is no MariaDB
def test_a_server_that_is_away_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    """F-D8: the server stops under load and comes back; said once, nothing lost."""
    with own_server() as server:
        server.execute("CREATE DATABASE q CHARACTER SET utf8mb4")
        with Database.open(server.url("q")) as database, caplog.at_level(logging.WARNING):
            make_tables(database)
            add_topic(database)
            writer = Writer(database)
            futures = [writer.submit(_adding(n)) for n in range(30)]
            server.stop()
            futures += [writer.submit(_adding(n)) for n in range(30, 60)]
            until = soon(120)
            while not writer.is_away and time.monotonic() < until:
                time.sleep(0.01)
            assert writer.is_away
            server.start()
            assert sum(future.result(120) for future in futures) >= 30
            assert not writer.is_away
            writer.close()
            with database.engine.connect() as c:
                assert counts(c)["url"] == 60
    told = [record.message for record in caplog.records]
    assert len([one for one in told if "does not answer" in one]) == 1
    assert len([one for one in told if "answers again" in one]) == 1


def test_a_server_that_hangs_holds_nobody_up(mariadb: MariaDB, mariadb_url: str) -> None:
    """F-D9: operations queue up meanwhile, visibly, and go through afterwards."""
    with Database.open(mariadb_url) as database:
        make_tables(database)
        add_topic(database)
        writer = Writer(database)
        writer.run(_adding(0))
        with mariadb.halted():
            futures = [writer.submit(_adding(n)) for n in range(1, 200)]
            assert writer.backlog >= 199 - 64
            assert not any(future.done() for future in futures)
        assert [future.result(120) for future in futures] == [1] * 199
        writer.close()


@pytest.mark.mariadb
def test_a_run_that_must_end_waits_for_no_hung_server(mariadb: MariaDB, mariadb_url: str) -> None:
    """F-F6: SIGTERM while the server hangs: what is under way fails, closing does not wait."""
    with Database.open(mariadb_url) as database:
        make_tables(database)
        add_topic(database)
        writer, reader = Writer(database), Reader(database)
        writer.run(_adding(0))
        reader.run(lambda c: scalar(c, "SELECT 1"))
        with mariadb.halted():
            futures = [writer.submit(_adding(n)) for n in range(1, 200)]
            futures.append(reader.submit(lambda c: scalar(c, "SELECT 1")))
            until = soon(60)
            while not (writer._group and reader._group):  # each has begun, and hangs
                assert time.monotonic() < until
                time.sleep(0.01)
            database.limit_wait(0.5)
            outcomes = [future.exception(60) for future in futures]
            assert [one for one in outcomes if not isinstance(one, StorageError)] == []
            writer.close()
            reader.close()
