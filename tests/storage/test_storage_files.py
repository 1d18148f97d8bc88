"""SQLite's files under a writer: deleted, replaced, damaged, made read-only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pymysql.connections import Connection as MysqlConnection

from qiaocrawl.errors import CrawlLockedError, DatabaseLostError, StorageError
from qiaocrawl.storage import Database, Reader, Writer
from qiaocrawl.storage.backup import backup, restore
from qiaocrawl.storage.locking import CrawlLock
from storage_samples import add_topic, candidate, child_environment, enqueue, scalar


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Path, Database, Writer]]:
    """A database file with ten URLs in it, and the writer that wrote them."""
    path = tmp_path / "q.db"
    with Database.open(f"sqlite:///{path}") as database:
        database.upgrade()
        add_topic(database)
        writer = Writer(database, outage_seconds=60.0)
        write_urls(writer, 0, 10)
        yield path, database, writer
        writer.close()


def write_urls(writer: Writer, first: int, count: int) -> None:
    for n in range(first, first + count):
        assert writer.run(lambda c, n=n: enqueue(c, [candidate(str(n))])) == 1


def count_urls(path: Path) -> int:
    with Database.open(f"sqlite:///{path}") as database, database.engine.connect() as c:
        assert database.check() == []
        return int(scalar(c, "SELECT COUNT(*) FROM url"))


def test_a_lost_file_is_told_at_once_and_to_everybody(
    opened: tuple[Path, Database, Writer], tmp_path: Path
) -> None:
    path, database, writer = opened
    reader = Reader(database)
    kept = tmp_path / "kept"
    path.rename(kept)
    began = time.monotonic()
    for _ in range(2):
        with pytest.raises(DatabaseLostError, match="deleted or moved away"):
            write_urls(writer, 10, 1)
    with pytest.raises(DatabaseLostError, match="deleted or moved away"):
        reader.run(lambda c: scalar(c, "SELECT 1"))
    reader.close()
    assert time.monotonic() - began < 30, "there is nothing to wait for"
    assert not path.exists()
    # Back in its place it is a file like any other.
    for one in tmp_path.glob("q.db-*"):
        shutil.move(one, kept.with_name(one.name.replace("q.db", "kept")))
    assert count_urls(kept) == 10


@pytest.mark.parametrize("name", ["备份#1.db", "a?b.db", "50%25.db"])
def test_a_backup_is_put_back_whatever_its_name(
    opened: tuple[Path, Database, Writer], tmp_path: Path, name: str
) -> None:
    source = tmp_path / name
    backup(opened[1], source)
    before = {*tmp_path.iterdir()}
    with Database.open(f"sqlite:///{tmp_path / 'other' / 'q.db'}") as other:
        restore(other, source, lambda done, whole: None)
    assert count_urls(tmp_path / "other" / "q.db") == 10
    assert {*tmp_path.iterdir()} == {*before, tmp_path / "other"}


@pytest.mark.parametrize("gone", ["q.db-wal", "q.db-shm"])
def test_what_a_deleted_log_held_is_written_back(
    opened: tuple[Path, Database, Writer], gone: str
) -> None:
    path, _, writer = opened
    assert path.with_name("q.db-wal").stat().st_size > 0
    path.with_name(gone).unlink()
    with pytest.raises(DatabaseLostError, match="what they held was written back"):
        write_urls(writer, 10, 1)
    writer.close()
    assert count_urls(path) == 10


def test_a_damaged_file_is_told_with_what_to_do(opened: tuple[Path, Database, Writer]) -> None:
    path, database, writer = opened
    reader = Reader(database)
    for one in (path, path.with_name("q.db-wal")):
        with one.open("r+b") as file:
            file.seek(4096)
            file.write(os.urandom(one.stat().st_size - 4096))
    with pytest.raises(DatabaseLostError, match="`qiaocrawl db check`.*backup"):
        reader.run(lambda c: scalar(c, "SELECT COUNT(*) FROM url"))
    reader.close()


def test_an_outage_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes after the patience has ended fails at once: a crawl has to end."""
    database = Database.open("mysql+pymysql://u:geheim@127.0.0.1:1/d")
    tried: list[int] = []
    connect = MysqlConnection.connect

    def noting(connection: MysqlConnection) -> None:
        tried.append(1)
        connect(connection)

    monkeypatch.setattr(MysqlConnection, "connect", noting)
    writer = Writer(database, outage_seconds=1.0)
    failed = [writer.submit(lambda c: scalar(c, "SELECT 1")).exception(60)]
    before = len(tried)
    failed += [writer.submit(lambda c: scalar(c, "SELECT 1")).exception(60) for _ in range(20)]
    assert len(tried) == before >= 1, "nobody asks the server again"
    writer.close()
    assert {type(one) for one in failed} == {StorageError}
    assert all("QIAO_STORAGE_OUTAGE_SECONDS" in str(one) for one in failed)
    assert not any("geheim" in str(one) for one in failed)


def test_a_hurried_writer_does_not_wait(tmp_path: Path) -> None:
    writer = Writer(Database.open("mysql+pymysql://u:p@127.0.0.1:1/d"), outage_seconds=600.0)
    waiting = writer.submit(lambda c: scalar(c, "SELECT 1"))
    writer.limit_wait(0.5)
    assert isinstance(waiting.exception(60), StorageError)
    writer.close()


def test_a_file_made_read_only_is_waited_for() -> None:
    # Not below tmp_path, which is root's alone where root runs the tests.
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            [sys.executable, "-c", _READ_ONLY, folder], env=child_environment(),
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout == "1\n"
    assert result.stderr.count("readonly database") == 1


_READ_ONLY = """
import logging, os, sys, threading, time
from pathlib import Path
import storage_samples as samples
from qiaocrawl.storage import Database, Writer
logging.basicConfig(format="%(message)s")
folder = Path(sys.argv[1])
database = Database.open(f"sqlite:///{folder / 'q.db'}")
database.upgrade()
samples.add_topic(database)
file = folder / "q.db"
file.chmod(0o400)
if os.getuid() == 0:
    # Root may write all the same.
    for one in (folder, *folder.iterdir()):
        os.chown(one, 65534, 65534)
    os.setgid(65534)
    os.setuid(65534)
def make_writable():
    while not writer.is_away:
        time.sleep(0.01)
    # The files beside it have got its mode.
    for one in folder.iterdir():
        one.chmod(0o600)
writer = Writer(database)
threading.Thread(target=make_writable).start()
print(writer.submit(lambda c: samples.enqueue(c, [samples.candidate("1")])).result())
writer.close()
"""


def test_the_lock_holds_although_its_file_is_deleted(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").symlink_to(tmp_path / "here")
    lock = CrawlLock(tmp_path / "here" / "q.db")
    lock.path.unlink()
    for folder in ("here", "there"):
        with pytest.raises(CrawlLockedError, match=rf"process {os.getpid()}\)"):
            CrawlLock(tmp_path / folder / "q.db")
    lock.release()
    CrawlLock(tmp_path / "there" / "q.db").release()


def test_check_does_not_advise_an_upgrade_that_refuses(database: Database) -> None:
    with database.engine.begin() as c:
        c.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    (problem,) = (one for one in database.check() if "9999" in one)
    assert "db upgrade" not in problem
    assert "upgrade the program" in problem


def test_opening_it_again_cancels_no_lock_of_this_process(
    opened: tuple[Path, Database, Writer],
) -> None:
    """What POSIX does when a process closes a file it has locks on corrupted a database once."""
    path, database, _ = opened
    log = path.with_name(path.name + "-wal")
    leaves = (
        f"import sqlite3; c = sqlite3.connect({str(path)!r});"
        "c.execute('CREATE TABLE other (a)'); c.commit(); c.close()"
    )
    with database.engine.connect() as c:
        assert scalar(c, "SELECT COUNT(*) FROM url") == 10
        c.rollback()
        with Database.open(f"sqlite:///{path}"):
            pass
        subprocess.run([sys.executable, "-c", leaves], check=True, timeout=300)
        assert log.exists(), "the other process took itself for the last one"
        assert scalar(c, "SELECT COUNT(*) FROM other") == 0
