"""Raw pages outside the database: written, read, moved, packed anew, verified."""

from __future__ import annotations

import logging
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from fresh_schema import make_tables
from page_store_samples import body_of, fill, picture_of, work_on
from qiaocrawl.errors import ConfigError, PageStoreError
from qiaocrawl.fetch.replay.warc import find_warcs
from qiaocrawl.items import Outcome
from qiaocrawl.options import Options
from qiaocrawl.reading.alarms import StoreInUse, place_figures, store_alarms, store_figures
from qiaocrawl.storage import Database, Reader, Writer
from qiaocrawl.storage.page_store.files import MARK_FILE
from qiaocrawl.storage.page_store.moving import (
    move_records,
    move_to_database,
    payload_count,
    prune_store,
    verify,
)
from qiaocrawl.storage.page_store.packing import enough_for, pack
from qiaocrawl.storage.page_store.reading import files_at, places
from qiaocrawl.storage.page_store.stores import FileState, open_store, relocate
from qiaocrawl.storage.pages.raw_pages import iter_pages, load_page, store_page
from qiaocrawl.storage.pages.revisions import picture_of_article
from s3_server import s3_endpoint, s3_store
from storage_samples import NOW, add_article, candidate, close, enqueue, fetched, scalar, take

__all__ = ["s3_endpoint", "s3_store"]

_ALWAYS = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["file", "s3"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of either kind."""
    if request.param == "s3":
        found: str = request.getfixturevalue("s3_store")
        return found
    return f"file://{tmp_path}/pages"


def _in_rows(database: Database) -> int:
    with database.engine.connect() as c:
        return scalar(c, "SELECT COUNT(*) FROM page_source WHERE LENGTH(body) > 0")


def _all_there(database: Database, url_ids: list[int]) -> bool:
    with database.engine.connect() as c:
        pages = [load_page(c, url_id) for url_id in url_ids]
        return all(page is not None and page.body == body_of(int(page.url.rpartition("/")[2]))
                   for page in pages)  # fmt: skip


def _verified(database: Database) -> list[str]:
    reader, writer = Reader(database), Writer(database)
    try:
        seen: list[int] = []
        done = verify(reader, writer, lambda number: not seen.append(number))
        # The bar of `pages verify` ends where it says that it will.
        assert sum(seen) == reader.run(payload_count)
        return done.faults
    finally:
        writer.close()
        reader.close()


def test_pages_go_out_and_come_back(database: Database, address: str, tmp_path: Path) -> None:
    url_ids = fill(database, 30)
    with work_on(database, address) as work:
        assert pack(work) == 36
        assert pack(work) == 0
    assert _in_rows(database) == 0
    assert _all_there(database, url_ids)
    with database.engine.begin() as c:
        article = add_article(c, "5")
        assert picture_of_article(c, article) == picture_of(5)
        assert len(iter_pages(c, topic=None, after_id=0, limit=40)) == 30
        figures = place_figures(c)
        assert figures.in_database == 0
        assert [(one.records, one.unread) for one in figures.stores] == [(36, 0)]
        # Of bounded size, and not one a page.
        assert 3 <= figures.stores[0].files <= 6
        assert store_alarms(c, StoreInUse(address, 50_000), store_figures(c)) == []
    assert _verified(database) == []

    elsewhere = f"file://{tmp_path}/elsewhere"
    with work_on(database, elsewhere) as work:
        moved = move_records(work)
        assert (moved.records, moved.faults) == (36, None)
    assert _all_there(database, url_ids)
    with work_on(database, address) as work:
        assert prune_store(work, _ALWAYS).deleted_files == figures.stores[0].files
    assert _all_there(database, url_ids)

    reader, writer = Reader(database), Writer(database)
    assert move_to_database(reader, writer, lambda number: True).records == 36
    writer.close()
    reader.close()
    # Before that, the files still hold what was moved back.
    assert _verified(database) == []
    with work_on(database, elsewhere) as work:
        assert prune_store(work, _ALWAYS).records == 36
    assert _in_rows(database) == 30
    assert _all_there(database, url_ids)
    assert find_warcs(tmp_path / "elsewhere") == []


def test_the_same_bytes_are_stored_once(database: Database, tmp_path: Path) -> None:
    fill(database, 1)
    with database.engine.begin() as c:
        enqueue(c, [candidate("a"), candidate("b")])
        for lease in take(c):
            store_page(c, lease, fetched(lease, b"<p>404</p>"), now=NOW)
            close(c, lease, Outcome.LIST)
    with work_on(database, f"file://{tmp_path}/pages") as work:
        assert pack(work) == 3
        assert prune_store(work, _ALWAYS).records == 0
    with database.engine.connect() as c:
        assert scalar(c, "SELECT COUNT(*) FROM page_record") == 2
    assert _verified(database) == []


def test_what_waits_for_its_analysis_stays(database: Database, tmp_path: Path) -> None:
    url_ids = fill(database, 4, waiting=True)
    with work_on(database, f"file://{tmp_path}/pages") as work:
        assert pack(work) == 0
    assert _in_rows(database) == 4
    assert _all_there(database, url_ids)
    with database.engine.connect() as c:
        assert enough_for(c, 5_000)
        assert not enough_for(c, 50_000)


def test_pruning_packs_anew_and_keeps_old_files_for_a_while(
    database: Database, address: str
) -> None:
    url_ids = fill(database, 30)
    with work_on(database, address) as work:
        pack(work)
        with database.engine.begin() as c:
            c.execute(text("DELETE FROM page_source WHERE id % 3 <> 0"))
        kept = url_ids[2::3]
        week_ago = datetime.now(UTC) - timedelta(days=7)
        done = prune_store(work, week_ago)
        assert done.records > 20
        assert done.repacked_files > 2
        # A database restored from yesterday's copy still finds its pages.
        assert done.deleted_files == 0
        assert _all_there(database, kept)
        again = prune_store(work, _ALWAYS)
        assert again.deleted_files == done.repacked_files
        assert _all_there(database, kept)
        with database.engine.connect() as c:
            names = c.execute(text("SELECT name FROM page_file WHERE state = 1")).scalars().all()
        assert all(work.store.files.size(name) for name in names)
    assert _verified(database) == []


def test_a_damaged_or_missing_record_is_named_and_counted(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    address = f"file://{tmp_path}/pages"
    url_ids = fill(database, 20)
    with work_on(database, address) as work:
        pack(work)
    with database.engine.connect() as c:
        record = scalar(c, "SELECT record_id FROM page_source WHERE url_id = :id", id=url_ids[0])
        place = places(c, [record])[record]
    file = tmp_path / "pages" / place.name
    whole = file.read_bytes()
    middle = place.offset + place.length // 2
    file.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    with (
        database.engine.connect() as c,
        pytest.raises(PageStoreError, match=f"{place.name} @{place.offset}"),
    ):
        load_page(c, url_ids[0])
    assert [place.name in fault for fault in _verified(database)] == [True]
    with database.engine.connect() as c:
        assert len(iter_pages(c, topic=None, after_id=0, limit=40)) == 19
        alarms = store_alarms(c, StoreInUse(address, 10**6), store_figures(c))
        assert "1 stored pages cannot be read" in alarms[0]
    assert place.name in caplog.text
    # What is damaged is not moved as if it were good, and stays where it is.
    with work_on(database, f"file://{tmp_path}/elsewhere") as work:
        moved = move_records(work)
        assert len(moved.faults or []) == 1
    file.unlink()
    assert any("FileNotFoundError" in fault for fault in _verified(database))
    # The same page once more: its row gets a record that can be read.
    file.write_bytes(whole)
    assert _verified(database) == []


def test_an_unreadable_copy_takes_no_body_with_it(database: Database, tmp_path: Path) -> None:
    fill(database, 3)
    with work_on(database, f"file://{tmp_path}/pages") as work:
        pack(work)
    for file in find_warcs(tmp_path / "pages"):
        file.write_bytes(b"")
    with database.engine.begin() as c:
        enqueue(c, [candidate("copy")])
        (lease,) = take(c)
        store_page(c, lease, fetched(lease, body_of(1)), now=NOW)
        close(c, lease, Outcome.LIST)
    with work_on(database, f"file://{tmp_path}/pages") as work:
        assert pack(work) == 1
    with database.engine.connect() as c:
        page = load_page(c, lease.url_id)
        assert page is not None
        assert page.body == body_of(1)


def test_a_store_belongs_to_one_database(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "pages"
    address = f"file://{folder}"
    fill(database, 2)
    with work_on(database, address) as work:
        pack(work)
    with Database.open(f"sqlite:///{tmp_path}/other.db") as other:
        make_tables(other)
        with pytest.raises(ConfigError, match="another database"):
            open_store(other, address)
    # Not mounted: an empty folder stands where the pages were.
    folder.rename(tmp_path / "moved")
    with pytest.raises(ConfigError, match="is it mounted"):
        open_store(database, address)
    with pytest.raises(ConfigError, match=r"qiaocrawl pages relocate file://.*/pages file://"):
        open_store(database, f"file://{tmp_path}/moved")
    assert relocate(database, address, f"file://{tmp_path}/moved") == 1
    assert open_store(database, f"file://{tmp_path}/moved")
    assert _verified(database) == []


# Or as if the clock had been ahead when it took it.
@pytest.mark.parametrize("at", [0.0, 4e9])
def test_one_process_at_a_time_has_a_store(database: Database, tmp_path: Path, at: float) -> None:
    address = f"file://{tmp_path}/pages"
    fill(database, 2)
    with work_on(database, address) as first:
        assert first.hold.take() == ""
        with database.engine.begin() as c:
            # As if this process had hung for longer than a store is held.
            c.execute(text("UPDATE page_store SET held_until = :at"), {"at": at})
        with work_on(database, address) as second:
            assert pack(second) == 2
            with pytest.raises(PageStoreError, match="taken the page store over"):
                first.write(lambda c: None)


def test_stopped_it_ends_with_a_whole_file(database: Database, tmp_path: Path) -> None:
    address = f"file://{tmp_path}/pages"
    url_ids = fill(database, 20)
    counted: list[int] = []

    def advance(number: int) -> bool:
        counted.append(number)
        return len(counted) < 10

    with work_on(database, address, advance=advance) as work:
        assert pack(work) == 10
    assert _in_rows(database) == 10
    assert _all_there(database, url_ids)
    with work_on(database, address) as work:
        pack(work)
    with database.engine.connect() as c:
        states = c.execute(text("SELECT DISTINCT state FROM page_file")).scalars().all()
    assert states == [FileState.COMPLETE]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("pages", "must be database, file:///FOLDER"),
        ("file://pages", "must be absolute"),
        ("s3://user:secret@bucket/a", "environment"),
        ("s3://bucket/a?secret=1", "environment"),
        ("memory://pages", "must be database"),
        ("https://a.example/pages", "must be database"),
        ("s3://b/" + "x" * 400, "at most 400"),
    ],
)
def test_a_wrong_address_names_the_option(value: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=f"QIAO_PAGE_STORE .*{reason}"):
        Options({"QIAO_PAGE_STORE": value})


def test_what_is_missing_is_told_at_once(
    tmp_path: Path, s3_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files_at.cache_clear()
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    with pytest.raises(ConfigError, match=r"QIAO_PAGE_STORE: s3://b .*AWS_ACCESS_KEY_ID"):
        files_at("s3://b")
    with pytest.raises(ConfigError, match=r"QIAO_PAGE_STORE: teapot://b cannot be used"):
        files_at("teapot://b")
    with Database.open(f"sqlite:///{tmp_path}/a.db") as database:
        make_tables(database)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        monkeypatch.setenv("AWS_ENDPOINT_URL", s3_endpoint)
        with pytest.raises(ConfigError, match=r"QIAO_PAGE_STORE: .*s3://no-such-bucket"):
            open_store(database, "s3://no-such-bucket/pages")
        (tmp_path / "a file").touch()
        with pytest.raises(ConfigError, match=r"QIAO_PAGE_STORE: .*a file"):
            open_store(database, f"file://{tmp_path}/a file/pages")


def test_a_folder_is_made_where_its_parent_is(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for folder in (tmp_path / "mtn" / "pages", Path("/no-such-folder-of-qiaocrawl")):
        with pytest.raises(ConfigError, match=f"QIAO_PAGE_STORE: .*mkdir -p {folder}"):
            open_store(database, f"file://{folder}")
        assert not folder.exists()
    with caplog.at_level(logging.INFO):
        open_store(database, f"file://{tmp_path}/pages")
        open_store(database, f"file://{tmp_path}/pages")
    assert [str(tmp_path / "pages") in line for line in caplog.messages] == [True]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_without_rights_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with Database.open("sqlite:////tmp/x.db") as database, pytest.raises(ConfigError):
            open_store(database, f"file://{tmp_path}/pages")
    finally:
        tmp_path.chmod(0o700)


def test_pruning_drops_what_was_left_of_the_mark(database: Database, tmp_path: Path) -> None:
    fill(database, 1)
    left = tmp_path / f"{MARK_FILE}.1f.part"
    with work_on(database, f"file://{tmp_path}") as work:
        left.write_bytes(b"{")
        prune_store(work, _ALWAYS)
    assert not left.exists()
    assert (tmp_path / MARK_FILE).exists()


def test_many_mark_a_new_store_at_once(database: Database, tmp_path: Path) -> None:
    address = f"file://{tmp_path}/new"
    with ThreadPoolExecutor(8) as threads:
        stores = list(threads.map(lambda _number: open_store(database, address), range(16)))
    assert len({store.id for store in stores}) == 1
    assert [path.name for path in (tmp_path / "new").iterdir()] == [MARK_FILE]
