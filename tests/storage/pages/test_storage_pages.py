"""Raw pages."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from fresh_schema import make_tables
from mariadb_fixtures import MariaDB
from qiaocrawl.errors import StorageError
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages.raw_pages import iter_pages, load_page, store_page
from storage_samples import (
    FETCHED_AT,
    NOW,
    PACK,
    add_topic,
    candidate,
    enqueue,
    fetched,
    scalar,
    take,
)


@pytest.mark.parametrize(
    "body",
    [b"", b"\0\xff" * 50, "侨胞𠮷😀".encode("gb18030"), b"<p>" * 400_000],
    ids=["empty", "binary", "gb18030", "large"],
)
def test_a_page_comes_back_as_it_came(database: Database, body: bytes) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (lease,) = take(c)
        page = fetched(lease, body, final_url="http://a.example/1?x=%E4%BE%A8", status=404)
        assert store_page(c, lease, page, now=NOW) is not None
        assert load_page(c, lease.url_id) == page
        assert load_page(c, lease.url_id + 1) is None
        row = c.execute(text("SELECT charset, content_type, body_bytes FROM page_source")).one()
        assert tuple(row) == ("gbk", "text/html; charset=GBK", len(body))
        assert tuple(c.execute(text("SELECT state, http_status FROM url")).one()) == (2, 404)


def test_storing_three_times_is_storing_once(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (lease,) = take(c)
        counted: list[int] = []
        ids = {
            store_page(c, lease, fetched(lease), now=NOW + n, then=lambda _: counted.append(1))
            for n in range(3)
        }
        assert len(ids) == 1
        assert counted == [1], "what is counted with a page is counted once"
        assert scalar(c, "SELECT COUNT(*) FROM page_source") == 1


def test_versions_are_kept_and_the_one_seen_last_is_loaded(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (lease,) = take(c)
        for hours, body in enumerate((b"one", b"two", b"one")):
            seen = FETCHED_AT + timedelta(hours=hours)
            store_page(c, lease, fetched(lease, body, fetched_at=seen), now=NOW)
            newest = load_page(c, lease.url_id)
            assert newest is not None
            assert newest.body == body
        assert newest.fetched_at == FETCHED_AT  # first seen stays
        assert scalar(c, "SELECT COUNT(*) FROM page_source") == 2
        (stored,) = iter_pages(c, topic=None, after_id=0, limit=10)
        assert stored.page.body == b"one"


def test_pages_are_read_in_batches(database: Database) -> None:
    add_topic(database)
    add_topic(database, replace(PACK, name="other"))
    with database.engine.begin() as c:
        enqueue(c, [candidate(f"{n:02}", topic=PACK.name, depth=n, anchor="锚") for n in range(7)])
        for lease in take(c):
            store_page(c, lease, fetched(lease, lease.url.encode()), now=NOW)
        seen = []
        after = 0
        while batch := iter_pages(c, topic=PACK.name, after_id=after, limit=3):
            seen += batch
            after = batch[-1].id
        assert sorted(one.page.body.decode()[-2:] for one in seen) == [f"{n:02}" for n in range(7)]
        assert {(one.host, one.topic, one.anchor) for one in seen} == {
            ("a.example", PACK.name, "锚")
        }
        assert iter_pages(c, topic="other", after_id=0, limit=9) == []
        with pytest.raises(StorageError, match="'none'"):
            iter_pages(c, topic="none", after_id=0, limit=9)


def test_odd_headers_are_kept(database: Database) -> None:
    add_topic(database)
    headers = (("content-type", 'text/html; charset="x\r\ny"; charset*=%'), ("x", "\0\xe9"),
               ("set-cookie", "a=1"), ("set-cookie", "b=2"))  # fmt: skip
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (lease,) = take(c)
        store_page(c, lease, fetched(lease, headers=headers), now=NOW)
        page = load_page(c, lease.url_id)
    assert page is not None
    assert page.headers == (headers[0], ("x", "\ufffd\xe9"), *headers[2:])


def test_a_body_above_the_servers_packet_is_cut_and_marked(
    mariadb: MariaDB, mariadb_url: str
) -> None:
    """F-D7: a 20 MB body and a 65,000-character title; the connection survives."""
    body = random.Random(7).randbytes(20 * 1024 * 1024)
    with Database.open(mariadb_url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            enqueue(c, [candidate("1")])
            (lease,) = take(c)
            connection_id = scalar(c, "SELECT CONNECTION_ID()")
            assert store_page(c, lease, fetched(lease, body), now=NOW)
            page = load_page(c, lease.url_id)
            assert page is not None
            assert page.truncated
            assert len(page.body) > 7_500_000
            assert body.startswith(page.body)
            assert scalar(c, "SELECT body_bytes FROM page_source") == len(body)
            assert scalar(c, "SELECT CONNECTION_ID()") == connection_id


def test_a_compressible_body_is_never_cut(database: Database) -> None:
    body = b"0123456789" * 2_000_000
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (lease,) = take(c)
        store_page(c, lease, fetched(lease, body), now=NOW)
        page = load_page(c, lease.url_id)
    assert page is not None
    assert (page.body, page.truncated) == (body, False)
