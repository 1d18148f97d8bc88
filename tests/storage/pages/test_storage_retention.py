"""Retention, statistics and backups."""

from __future__ import annotations

import gzip
import os
import sqlite3
import stat
import subprocess
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from fresh_schema import make_tables
from mariadb_fixtures import MariaDB
from qiaocrawl.errors import StorageError
from qiaocrawl.items import Outcome, PagePicture
from qiaocrawl.storage import Database, Writer
from qiaocrawl.storage.backup import backup
from qiaocrawl.storage.pages.raw_pages import load_page, store_page
from qiaocrawl.storage.pages.revisions import picture_of_article, save_picture
from qiaocrawl.storage.schema import State
from qiaocrawl.storage.upkeep import Pruned, prune, prune_in_batches, stats
from storage_samples import (
    FETCHED_AT,
    NOW,
    add_article,
    add_topic,
    candidate,
    close,
    enqueue,
    fetched,
    scalar,
    take,
)

_LATER = FETCHED_AT + timedelta(days=30)


def _fill(c: Connection) -> None:
    """An article with two versions of its page, a list page, a page waiting for analysis."""
    enqueue(c, [candidate("article"), candidate("list"), candidate("waiting")])
    for lease in take(c):
        store_page(c, lease, fetched(lease, b"old " + lease.url.encode()), now=NOW)
        if lease.url.endswith("waiting"):
            continue
        if lease.url.endswith("article"):
            newer = FETCHED_AT + timedelta(hours=1)
            store_page(c, lease, fetched(lease, b"new", fetched_at=newer), now=NOW)
        close(c, lease, Outcome.ARTICLE if lease.url.endswith("article") else Outcome.LIST)
    add_article(c, "article")


def test_pruning_keeps_evidence_and_what_waits(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        _fill(c)
        assert prune(c, FETCHED_AT, dry_run=False) == Pruned(0, 0)
        would = prune(c, _LATER, dry_run=True)
        assert scalar(c, "SELECT COUNT(*) FROM page_source") == 4
        assert prune(c, _LATER, dry_run=False) == would
        assert would.pages == 2
        assert would.body_bytes > 0
        kept = c.execute(text("SELECT url_id FROM page_source ORDER BY url_id")).scalars().all()
        pages = [load_page(c, url_id) for url_id in kept]
        assert {page.body for page in pages if page} == {b"new", b"old http://a.example/waiting"}
        assert scalar(c, "SELECT COUNT(*) FROM url") == 3


def test_a_picture_stays_with_its_page_and_goes_with_it(database: Database) -> None:
    add_topic(database)
    first, later = (PagePicture("image/webp", 1280, 900, True, FETCHED_AT, data)
                    for data in (b"first", b"later"))  # fmt: skip
    with database.engine.begin() as c:
        _fill(c)
        bare = prune(c, _LATER, dry_run=True).body_bytes
        article = add_article(c, "article")
        for (page_id,) in c.execute(text("SELECT id FROM page_source")).all():
            for picture in (first, later):
                save_picture(c, page_id, picture)
        assert picture_of_article(c, article) == first
        assert prune(c, _LATER, dry_run=True).body_bytes == bare + 2 * len(first.data)
        assert prune(c, _LATER, dry_run=False).pages == 2
        assert scalar(c, "SELECT COUNT(*) FROM page_picture") == 2
        assert picture_of_article(c, article) == first


def test_pruning_in_batches_ends(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        _fill(c)
    told: list[int] = []
    assert prune_in_batches(database, _LATER, told.append).pages == sum(told) == 2
    assert prune_in_batches(database, _LATER, told.append) == Pruned(0, 0)


def test_stats_count_rows_states_and_bytes(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        _fill(c)
        found = stats(c)
    assert found.rows["page_source"] == 4
    assert found.states == {State.DONE: 2, State.FETCHED: 1}
    assert found.outcomes == {"article": 1, "list": 1}
    assert found.body_bytes == sum(
        len(b"old http://a.example/" + name) for name in (b"article", b"list", b"waiting")
    ) + len(b"new")
    assert found.stored_bytes > 0


def test_a_sqlite_backup_is_whole_while_a_crawl_writes(tmp_path: Path) -> None:
    """F-D12."""
    target = tmp_path / "copies" / "b.db"
    with Database.open(f"sqlite:///{tmp_path / 'q.db'}") as database:
        make_tables(database)
        add_topic(database)
        writer = Writer(database)
        stop = threading.Event()

        def write() -> None:
            n = 0
            while not stop.is_set():
                writer.run(lambda c, n=n: enqueue(c, [candidate(str(n))]))  # type: ignore[misc]
                n += 1

        thread = threading.Thread(target=write)
        thread.start()
        try:
            backup(database, target)
        finally:
            stop.set()
            thread.join()
            writer.close()
        with pytest.raises(StorageError, match="exists already"):
            backup(database, target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert list(target.parent.iterdir()) == [target]
    with Database.open(f"sqlite:///{target}") as copy:
        assert copy.check() == []


def test_a_mariadb_backup_can_be_restored(
    mariadb: MariaDB, mariadb_url: str, tmp_path: Path
) -> None:
    password = "ge\"heim\\ #'"
    with Database.open(mariadb_url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            _fill(c)
        name = database.engine.url.database
        with mariadb.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CREATE USER IF NOT EXISTS b@'%%' IDENTIFIED BY %s", (password,))
            cursor.execute(f"GRANT ALL ON {name}.* TO b@'%'")
        url = database.engine.url.set(username="b", password=password)
    with Database.open(url.render_as_string(hide_password=False)) as database:
        backup(database, tmp_path / "b.sql")
        backup(database, tmp_path / "b.sql.gz")
        dump = (tmp_path / "b.sql").read_text("utf-8")
        assert gzip.decompress((tmp_path / "b.sql.gz").read_bytes()).startswith(b"/*")
        assert "geheim" not in dump
        with database.engine.begin() as c:
            c.execute(text("DROP TABLE verdict"))
        subprocess.run(
            ["mariadb", "--host=127.0.0.1", f"--port={mariadb.port}", "--user=root", str(name)],
            input=dump, text=True, check=True,
        )  # fmt: skip
        assert database.check() == []
        with database.engine.connect() as c:
            assert load_page(c, 3) is not None


def test_a_dump_that_fails_leaves_nothing_and_no_password(mariadb_url: str, tmp_path: Path) -> None:
    url = mariadb_url.replace("root@", "nobody:geheim@")
    with pytest.raises(StorageError, match="mariadb-dump") as caught:
        backup(Database.open(url), tmp_path / "b.sql")
    assert "geheim" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_dump_program_says_what_to_run(
    mariadb_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "PATH", str(tmp_path))
    with pytest.raises(StorageError, match="mysqldump --single-transaction"):
        backup(Database.open(mariadb_url), tmp_path / "b.sql")


def test_a_damaged_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "q.db"
    with Database.open(f"sqlite:///{path}") as database:
        make_tables(database)
        add_topic(database)
    with sqlite3.connect(path) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'ix_site_host'"
        ).fetchone()
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096 + 8)
        file.write(b"\xff" * 40)
    with Database.open(f"sqlite:///{path}") as database:
        assert any(one.startswith("damaged") for one in database.check())
