"""Processes killed with -9 while they fill, move and pack anew: no page is lost."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from fsspec.core import url_to_fs
from sqlalchemy import text

from crawl_starter import started_code
from fresh_schema import make_tables
from page_store_samples import body_of, fill, work_on
from qiaocrawl.storage import Database
from qiaocrawl.storage.page_store.moving import move_records, prune_store
from qiaocrawl.storage.page_store.packing import pack
from qiaocrawl.storage.pages.raw_pages import load_page
from s3_server import s3_endpoint, s3_store
from storage_samples import child_environment, scalar

__all__ = ["s3_endpoint", "s3_store"]

_ALWAYS = datetime(2100, 1, 1, tzinfo=UTC)
_CHILD = """
import sys
from datetime import UTC, datetime
from page_store_samples import work_on
from qiaocrawl.storage import Database
from qiaocrawl.storage.page_store.moving import move_records
from qiaocrawl.storage.page_store.packing import pack
from qiaocrawl.storage.page_store.moving import prune_store
url, *addresses = sys.argv[1:]
with Database.open(url) as database:
    print("ready", flush=True)
    # Round and round: from one store to the other, and what became sparse is packed anew.
    while True:
        for address in addresses:
            with work_on(database, address, file_bytes=30_000) as work:
                pack(work)
                move_records(work)
        for address in addresses:
            with work_on(database, address, file_bytes=30_000) as work:
                prune_store(work, datetime(2100, 1, 1, tzinfo=UTC))
"""


def test_kills_lose_no_page(database: Database, tmp_path: Path) -> None:
    _kill_between(database, [f"file://{tmp_path}/one", f"file://{tmp_path}/two"])
    assert not list(tmp_path.rglob("*.part"))


def test_kills_between_folder_and_bucket_lose_no_page(tmp_path: Path, s3_store: str) -> None:
    with Database.open(f"sqlite:///{tmp_path / 'q.db'}") as database:
        make_tables(database)
        _kill_between(database, [f"file://{tmp_path}/one", s3_store])


def _kill_between(database: Database, addresses: list[str]) -> None:
    """Kill processes that carry pages to and fro, then carry them over and prune."""
    chance = random.Random()
    url_ids = fill(database, 40)
    for _round in range(4):
        # Into the middle of whatever it does then.
        _killed_after(chance.uniform(0.05, 0.8), database.url, addresses)
        _require_all(database, url_ids)
    for address in addresses:
        with work_on(database, address) as work:
            pack(work)
            move_records(work)
    for address in addresses:
        with work_on(database, address) as work:
            prune_store(work, _ALWAYS)
    _require_all(database, url_ids)
    with database.engine.connect() as c:
        assert scalar(c, "SELECT COUNT(*) FROM page_source WHERE record_id IS NULL") == 0
        named = set(c.execute(text("SELECT name FROM page_file")).scalars())
    # What killed processes left is gone, but for what the tables name.
    left = {name for address in addresses for name in _warcs_at(address)}
    assert left == named


def _warcs_at(address: str) -> Iterator[str]:
    system, root = url_to_fs(address, use_listings_cache=False)
    # moto has buckets that are no folders.
    for path in system.find(root):
        if str(path).endswith(".warc.gz"):
            yield str(path).removeprefix(f"{root}/")


def _killed_after(seconds: float, url: str, addresses: list[str]) -> None:
    given = child_environment()
    with started_code(_CHILD, url, *addresses, environment=given) as (child, lines):
        assert lines.readline() == "ready\n"
        time.sleep(seconds)
        assert child.poll() is None, "it ended by itself"
        child.kill()


def _require_all(database: Database, url_ids: list[int]) -> None:
    with database.engine.connect() as c:
        for url_id in url_ids:
            page = load_page(c, url_id)
            assert page is not None
            assert page.body == body_of(int(page.url.rpartition("/")[2]))
