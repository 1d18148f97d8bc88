"""Rows that wait for the browser, and what is known of the forms of URLs; both databases."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from qiaocrawl.items import Candidate, FetchedPage, Lease, Queue
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.frontier.enqueue import payload_from, payload_keys
from qiaocrawl.storage.pages.raw_pages import load_page, store_page
from qiaocrawl.storage.pages.sites import forget_mark, newest_votes, save_votes, wait_for_browser
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.pack import TopicPack
from qiaocrawl.urls import url_key

URL = "http://news.test/a/1.html"


def leased(database: Database, token: int) -> list[Lease]:
    with database.engine.begin() as c:
        scope = frontier.Scope(Queue.SITE, "t", None)
        return frontier.lease(
            c, scope, token=token, lease_seconds=60, now=time.time(), limit=9, per_host=9
        )


def test_a_stored_page_waits_again_with_its_mark(database: Database) -> None:
    with database.engine.begin() as c:
        save_pack(c, TopicPack("t", "t", "", 0.1, (), (), ()), now=time.time())
        payload = payload_from({"x": 1})
        one = Candidate(URL, url_key(URL), "news.test", Queue.SITE, "t", payload=payload)
        frontier.enqueue(c, [one], run_id=None, now=time.time())
    (lease,) = leased(database, 7)
    page = FetchedPage(URL, URL, 200, (), b"shell", datetime.now(UTC))
    with database.engine.begin() as c:
        assert store_page(c, lease, page, now=time.time())
        assert wait_for_browser(c, lease, "空页") is True
        assert wait_for_browser(c, lease, "空页") is False, "the lease is over"
    (again,) = leased(database, 8)
    assert (payload_keys(again.payload), again.stored) == ({"x": 1, "render": "空页"}, False)
    with database.engine.begin() as c:
        stored = load_page(c, again.url_id)
        assert stored is not None
        assert stored.body == b"shell"
        forget_mark(c, again)
        frontier.release(c, [again], now=time.time())
    (last,) = leased(database, 9)
    assert payload_keys(last.payload) == {"x": 1}


def test_votes_are_read_back_oldest_first(database: Database) -> None:
    rows = [("b.test", "/侨/0.html", 1, 2, 3, 10.5), ("a.test", "*", 4, 0, 0, 20.0)]
    with database.engine.begin() as c:
        save_votes(c, (*rows[0][:5], 5.0))
        for row in reversed(rows):
            save_votes(c, row)
        assert newest_votes(c, 9) == rows
        assert newest_votes(c, 1) == rows[1:]
