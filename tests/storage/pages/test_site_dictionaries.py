"""What pages of a site have in common is kept once, and no page is lost by it."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, delete, select, text, update

from qiaocrawl.errors import PageStoreError
from qiaocrawl.storage import Database, Reader, Writer, upkeep
from qiaocrawl.storage.engine import ConnectionCache
from qiaocrawl.storage.packed_text import compress
from qiaocrawl.storage.page_store.moving import verify
from qiaocrawl.storage.pages.raw_pages import iter_pages, load_page, store_page
from qiaocrawl.storage.pages.site_dictionaries import FIRST_PAGES, GROWTH
from qiaocrawl.storage.schema import page_dictionary, page_source, url
from qiaocrawl.storage.upkeep import count_pages, pack_pages
from qiaocrawl.storage.values import host_id
from qiaocrawl.text.zstd import zstd
from storage_samples import NOW, add_topic, candidate, close, enqueue, fetched, scalar, take

_WORDS = [f"{a}{b}" for a in "侨胞归国华商会馆乡亲" for b in "讯闻联谊访问建设交流"]


def _text(seed: object, words: int) -> str:
    return "".join(random.Random(repr(seed)).choices(_WORDS, k=words))


def body_of(host: str, number: int) -> bytes:
    """A page of *host*: the frame of the site around a text of its own."""
    links = "".join(
        f'<li><a href="/{_text((host, n), 2)}/{n}.html">{_text((host, n), 4)}</a></li>'
        for n in range(40)
    )
    own = "".join(f"<p>{_text((host, number, n), 40)}</p>" for n in range(5))
    return f"<html><body><ul>{links}</ul><h1>{number}</h1>{own}</body></html>".encode()


def store(
    c: Connection, numbers: Sequence[int], *, host: str = "a.example", body: bytes | None = None,
    done: bool = False,
) -> list[int]:  # fmt: skip
    """Store a page a number, as a crawl does; returns their URLs' ids."""
    enqueue(c, [candidate(str(number), host=host) for number in numbers])
    leases = take(c, len(numbers), per_host=10_000)
    for lease in leases:
        number = int(lease.url.rpartition("/")[2])
        page = fetched(lease, body_of(lease.host, number) if body is None else body)
        assert store_page(c, lease, page, now=NOW) is not None
        assert not done or close(c, lease)
    return [lease.url_id for lease in leases]


def dictionaries_used(c: Connection) -> list[int]:
    frames = c.execute(select(page_source.c.body).order_by(page_source.c.id)).scalars()
    return [zstd.get_frame_info(bytes(frame)).dictionary_id for frame in frames]


def assert_all_there(database: Database, url_ids: Sequence[int]) -> None:
    with database.engine.connect() as c:
        for url_id in url_ids:
            page = load_page(c, url_id)
            assert page is not None
            host, _, number = page.url.removeprefix("http://").partition("/")
            assert page.body == body_of(host, int(number))


@pytest.fixture
def with_topic(database: Database) -> Database:
    add_topic(database)
    return database


def test_later_pages_of_a_site_cost_less_and_come_back(with_topic: Database) -> None:
    with with_topic.engine.begin() as c:
        url_ids = store(c, range(FIRST_PAGES + 20))
        used = dictionaries_used(c)
        assert set(used[:FIRST_PAGES]) == {0}
        (number,) = set(used[FIRST_PAGES:])
        assert number == scalar(c, "SELECT id FROM page_dictionary")
        first, last = "id <= :n", "id > :n"
        sizes = [
            scalar(c, f"SELECT SUM(LENGTH(body)) FROM page_source WHERE {half}", n=FIRST_PAGES)
            for half in (first, last)
        ]
        assert int(sizes[1]) / 20 < 0.7 * int(sizes[0]) / FIRST_PAGES
    assert_all_there(with_topic, url_ids)


def test_each_site_has_its_own_and_small_ones_none(with_topic: Database) -> None:
    with with_topic.engine.begin() as c:
        url_ids = store(c, range(20), host="a.example") + store(c, range(20), host="b.example")
        url_ids += store(c, range(FIRST_PAGES - 1), host="c.example")
        hosts = set(c.execute(select(page_dictionary.c.host_id)).scalars())
        assert hosts == {host_id("a.example"), host_id("b.example")}
    assert_all_there(with_topic, url_ids)


@pytest.mark.parametrize(
    "bodies",
    [
        [random.Random(n).randbytes(3_000) for n in range(FIRST_PAGES * 2)],
        [b"x" * (n % 5) for n in range(FIRST_PAGES * 2)],
        [b""] * FIRST_PAGES * 2,
        [b"<p>%d</p>" % n for n in range(FIRST_PAGES * 2)],
        [b"0"] * FIRST_PAGES * 2,
    ],
    ids=["noise", "a few bytes", "nothing", "short", "one byte"],
)
def test_pages_with_little_in_common_get_none(with_topic: Database, bodies: list[bytes]) -> None:
    with with_topic.engine.begin() as c:
        url_ids = [store(c, [n], body=body)[0] for n, body in enumerate(bodies)]
        assert scalar(c, "SELECT COUNT(*) FROM page_dictionary") == 0
        assert [page.body for url_id in url_ids if (page := load_page(c, url_id))] == bodies


def test_a_dictionary_that_was_rolled_back_packs_no_page(with_topic: Database) -> None:
    with with_topic.engine.connect() as c:
        with c.begin() as transaction:
            store(c, range(FIRST_PAGES + 2))
            assert any(dictionaries_used(c))
            transaction.rollback()
        with c.begin():
            url_ids = store(c, range(5))
            assert dictionaries_used(c) == [0] * 5
    assert_all_there(with_topic, url_ids)


def test_another_worker_goes_on_with_it(with_topic: Database) -> None:
    with with_topic.engine.begin() as c:
        store(c, range(FIRST_PAGES))
    with with_topic.engine.begin() as c:
        ConnectionCache.forget(c)
        url_ids = store(c, range(100, 103))
        assert all(dictionaries_used(c)[-3:])
    assert_all_there(with_topic, url_ids)


def test_runs_of_a_few_pages_each_learn_together(with_topic: Database) -> None:
    url_ids = []
    for run in range(FIRST_PAGES // 4 + 1):
        with with_topic.engine.begin() as c:
            ConnectionCache.forget(c)
            url_ids += store(c, range(run * 4, run * 4 + 4), done=True)
    with with_topic.engine.connect() as c:
        assert [bool(number) for number in dictionaries_used(c)] == [False] * 16 + [True] * 4
    assert_all_there(with_topic, url_ids)


def test_a_site_that_grows_gets_a_new_one_and_keeps_the_old(with_topic: Database) -> None:
    count = FIRST_PAGES * GROWTH
    with with_topic.engine.begin() as c:
        url_ids = store(c, range(count + 10))
        used = dictionaries_used(c)
        assert len(set(used)) == 3, "none, the first, the second"
        assert len(set(used[count:])) == 1
        pages = c.execute(select(page_dictionary.c.pages).order_by(page_dictionary.c.pages))
        assert list(pages.scalars()) == [FIRST_PAGES, count]
    assert_all_there(with_topic, url_ids)


def test_large_pages_are_learnt_from_in_part_and_one_by_one(with_topic: Database) -> None:
    noise = random.Random(0).randbytes(1_000_000)
    bodies = [body_of("a.example", n) + noise[n:] for n in range(FIRST_PAGES)]
    with with_topic.engine.begin() as c:
        for n, body in enumerate(bodies[:-1]):
            store(c, [n], body=body)
        tracemalloc.start()
        try:
            store(c, [len(bodies)], body=bodies[-1])
            _, most_bytes = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        (later,) = store(c, [100])
        assert dictionaries_used(c)[-1]
    # Not all the pages at once, which are sent to MariaDB in hexadecimal digits.
    assert most_bytes < FIRST_PAGES * 1_000_000 * 0.8
    assert_all_there(with_topic, [later])


def test_two_workers_that_learn_the_same_at_once_use_it_both(with_topic: Database) -> None:
    _as_before(with_topic, 30)
    host = host_id("a.example")

    def learnt(c: Connection) -> int:
        site = select(page_source.c.id).join(url).where(url.c.host_id == host)
        ids = list(c.execute(site).scalars())
        dictionaries = ConnectionCache.of(c).dictionaries
        dictionaries.learn(c, host, ids, pages=30, now=NOW)
        frame = dictionaries.pack(c, host, body_of("a.example", 0))
        return zstd.get_frame_info(frame).dictionary_id

    def other() -> int:
        with with_topic.engine.begin() as c:
            return learnt(c)

    with ThreadPoolExecutor(1) as thread:
        with with_topic.engine.begin() as c:
            number = learnt(c)
            waiting = thread.submit(other)
            # It has to wait for this transaction, on either kind of database.
            with pytest.raises(TimeoutError):
                waiting.result(1.0)
        assert waiting.result() == number
    with with_topic.engine.connect() as c:
        assert scalar(c, "SELECT id FROM page_dictionary") == number != 0


@pytest.fixture
def packed(with_topic: Database) -> tuple[Database, list[int]]:
    """A store whose last four pages need the dictionary of their site."""
    with with_topic.engine.begin() as c:
        url_ids = store(c, range(FIRST_PAGES + 4))
    return with_topic, url_ids


def _faults(database: Database) -> list[str]:
    reader, writer = Reader(database), Writer(database)
    try:
        return verify(reader, writer, lambda number: True).faults
    finally:
        writer.close()
        reader.close()


@pytest.mark.parametrize("damage", ["gone", "another", "cut", "emptied", "of another number"])
def test_a_damaged_dictionary_is_told_and_hides_no_other_page(
    packed: tuple[Database, list[int]], damage: str
) -> None:
    database, url_ids = packed
    assert _faults(database) == []
    with database.engine.begin() as c:
        (row,) = c.execute(select(page_dictionary)).all()
        content = bytearray(zstd.decompress(row.content))
        # Its number and tables as before, its text another.
        content[-2_000:] = b"z" * 2_000
        changes = {
            "gone": delete(page_dictionary),
            "another": update(page_dictionary).values(content=compress(bytes(content))),
            "cut": update(page_dictionary).values(content=row.content[:100]),
            "emptied": update(page_dictionary).values(content=compress(b"")),
            "of another number": update(page_dictionary).values(
                content=compress(bytes(content[:4] + b"\xff" + content[5:]))
            ),
        }
        c.execute(changes[damage])
        ConnectionCache.forget(c)
    with database.engine.connect() as c:
        assert load_page(c, url_ids[0]) is not None
        with pytest.raises(PageStoreError, match="in the database"):
            load_page(c, url_ids[-1])
        readable = iter_pages(c, topic=None, after_id=0, limit=100)
        assert len(readable) == FIRST_PAGES
    assert len(_faults(database)) == 4
    if damage != "another":
        with database.engine.begin() as c:
            ConnectionCache.forget(c)
            later = store(c, [100])
            assert load_page(c, later[0]) is not None, "no new page depends on it"


def test_a_flipped_bit_of_a_dictionary_is_noticed(packed: tuple[Database, list[int]]) -> None:
    database, _ = packed
    with database.engine.begin() as c:
        (row,) = c.execute(select(page_dictionary)).all()
        damaged = bytearray(row.content)
        damaged[len(damaged) // 2] ^= 1
        c.execute(update(page_dictionary).values(content=bytes(damaged)))
        ConnectionCache.forget(c)
        (later,) = store(c, [100])
        # As a backup puts it back.
        c.execute(update(page_dictionary).values(content=row.content))
        ConnectionCache.forget(c)
    assert_all_there(database, [later])


def test_a_damaged_page_is_told(packed: tuple[Database, list[int]]) -> None:
    database, url_ids = packed
    with database.engine.begin() as c:
        c.execute(update(page_source).where(page_source.c.url_id == url_ids[2]).values(body=b"x"))
        with pytest.raises(PageStoreError, match="damaged"):
            load_page(c, url_ids[2])
    assert len(_faults(database)) == 1


# --- what was stored before -------------------------------------------------------------------


def _as_before(database: Database, pages: int) -> list[int]:
    """*pages* of two sites and one of a third, as a version without dictionaries left them."""
    with database.engine.begin() as c:
        url_ids = store(c, range(pages)) + store(c, range(pages), host="b.example")
        url_ids += store(c, [1], host="c.example")
        for row_id, url_id in c.execute(select(page_source.c.id, page_source.c.url_id)).all():
            page = load_page(c, url_id)
            assert page is not None
            values = {"body": compress(page.body)}
            c.execute(update(page_source).where(page_source.c.id == row_id).values(values))
        c.execute(delete(page_dictionary))
        ConnectionCache.forget(c)
    return url_ids


def test_old_pages_are_packed_once_and_read_before_and_after(with_topic: Database) -> None:
    url_ids = _as_before(with_topic, 30)
    with with_topic.engine.connect() as c:
        assert count_pages(c) == 61
    looked_at: list[int] = []
    done = pack_pages(with_topic, looked_at.append)
    assert (done.rows, done.packed, sum(looked_at)) == (61, 60, 61)
    assert done.after < 0.7 * done.before
    assert_all_there(with_topic, url_ids)
    assert pack_pages(with_topic, looked_at.append).packed == 0
    assert _faults(with_topic) == []


def test_packing_that_was_stopped_goes_on(
    with_topic: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "_BATCH", 10)
    url_ids = _as_before(with_topic, 30)
    looked_at: list[int] = []

    def stop_at_the_third(rows: int) -> None:
        looked_at.append(rows)
        if len(looked_at) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pack_pages(with_topic, stop_at_the_third)
    assert_all_there(with_topic, url_ids)
    assert pack_pages(with_topic, looked_at.append).packed == 40
    assert_all_there(with_topic, url_ids)


def test_a_damaged_page_stays_as_it_is_and_stops_nothing(with_topic: Database) -> None:
    _as_before(with_topic, 20)
    with with_topic.engine.begin() as c:
        c.execute(text("UPDATE page_source SET body = :body WHERE id = 3"), {"body": b"damaged"})
    assert pack_pages(with_topic, lambda rows: None).packed == 39
    with with_topic.engine.connect() as c:
        body = c.execute(select(page_source.c.body).where(page_source.c.id == 3)).scalar_one()
        assert bytes(body) == b"damaged"
