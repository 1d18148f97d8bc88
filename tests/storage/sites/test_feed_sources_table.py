"""The feeds of a topic in the database, and what is told of one that became silent."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import pytest
from sqlalchemy import text

from crawling import import_pack, pack
from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Candidate, Queue
from qiaocrawl.reading.silence import silence_alarms, state_words
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.sites import watched
from qiaocrawl.storage.sites.sources import (
    add_sources,
    feed_sources,
    has_sources,
    present_gaps,
    remove_source,
    silent_sites,
)
from qiaocrawl.topic.feeds import Feed
from qiaocrawl.urls import url_key

T, NOW, DAY = "qiaoqing", 1_800_000_000.0, 86_400.0
FEED = "http://maker.test/wx/1"


def visits(c, address: str, *, changes: int, changed_at: float, last_at: float) -> None:  # type: ignore[no-untyped-def]
    """As that many changes since ten days before *changed_at* leave a watched page."""
    c.execute(
        text(
            "UPDATE watched_page SET since = :since, changes = :changes, visits = :changes + 1,"
            " changed_at = :changed_at, last_at = :last_at"
            " WHERE url_id = (SELECT id FROM url WHERE `key` = :key)"
        ),
        {
            "since": changed_at - 10 * DAY,
            "changes": changes,
            "changed_at": changed_at,
            "last_at": last_at,
            "key": url_key(address),
        },
    )


def test_feeds_are_added_once_named_anew_and_taken_away(database_url: str) -> None:
    import_pack(database_url, pack())
    with Database.open(database_url) as database, database.engine.begin() as c:
        assert not has_sources(c, T)
        assert add_sources(c, T, [Feed(FEED, "公众号"), Feed("http://b.test/f")], now=NOW) == 2
        assert add_sources(c, T, [Feed(FEED), Feed("http://b.test/f", "侨报")], now=NOW) == 0
        assert {one.url: one.name for one in feed_sources(c, T)} == {
            FEED: "公众号",
            "http://b.test/f": "侨报",
        }
        with pytest.raises(ConfigError, match="ftp"):
            add_sources(c, T, [Feed("http://c.test/"), Feed("ftp://d.test/")], now=NOW)
        assert len(feed_sources(c, T)) == 2, "nothing of a refused list is added"
        assert remove_source(c, T, FEED)
        assert not remove_source(c, T, FEED)
        state = text("SELECT outcome FROM url WHERE `key` = :key")
        assert c.execute(state, {"key": url_key(FEED)}).scalar_one() == "pruned"
    with Database.open(database_url) as database, database.engine.begin() as c:
        assert add_sources(c, T, [Feed(FEED)], now=NOW) == 1
        assert c.execute(state, {"key": url_key(FEED)}).scalar_one() is None, "it waits again"


def test_a_feed_that_a_crawl_had_found_becomes_a_source(database_url: str) -> None:
    import_pack(database_url, pack())
    with Database.open(database_url) as database, database.engine.begin() as c:
        found = Candidate(FEED, url_key(FEED), "maker.test", Queue.SITE, T)
        frontier.enqueue(c, [found], run_id=None, now=NOW)
        watched.enter_page(c, T, found.key, kind="feed", name="", weight=5.0, now=NOW)
        assert add_sources(c, T, [Feed(FEED, "公众号")], now=NOW) == 1
        assert [one.state for one in feed_sources(c, T)] == ["waiting"]


@pytest.mark.parametrize(
    ("changes", "silent_days", "state"),
    [
        (10, 6.0, "well"),
        (10, 8.0, "silent"),  # daily before: seven days
        (100, 2.5, "well"),  # feeds rest at weekends
        (100, 3.5, "silent"),
        (4, 300.0, "well"),  # too few to know a rhythm
    ],
)
def test_silence_is_measured_by_the_own_rhythm(
    database_url: str, changes: int, silent_days: float, state: str
) -> None:
    import_pack(database_url, pack("www.qiao.test"))
    home = "http://www.qiao.test/"
    with Database.open(database_url) as database, database.engine.begin() as c:
        add_sources(c, T, [Feed(FEED, "公众号")], now=NOW)
        page = Candidate(home, url_key(home), "www.qiao.test", Queue.WATCH, T)
        frontier.enqueue(c, [page], run_id=None, now=NOW)
        watched.enter_page(c, T, page.key, kind="home", name="", weight=4.0, now=NOW)
        for address in (FEED, home):
            visits(c, address, changes=changes, changed_at=NOW - silent_days * DAY, last_at=NOW)
        (feed,) = feed_sources(c, T)
        assert feed.state == state
        assert [one.host for one in silent_sites(c, T)] == ["www.qiao.test"] * (state == "silent")
        told = silence_alarms(c)
        assert len(told) == 2 * (state == "silent")
        if told:
            assert "公众号" in told[0]
            assert "www.qiao.test" in told[1]
            assert "nothing new since" in state_words(feed)
        # Nobody looked since: that is no silence of the feed.
        visits(c, FEED, changes=changes, changed_at=NOW - 300 * DAY, last_at=NOW - 300 * DAY)
        assert feed_sources(c, T)[0].state == "well"


def _gaps(c, address: str, hours: list[float]) -> None:  # type: ignore[no-untyped-def]
    packed = np.array(hours, "<f4").tobytes()
    c.execute(
        text(
            "UPDATE watched_page SET gaps = :gaps"
            " WHERE url_id = (SELECT id FROM url WHERE `key` = :key)"
        ),
        {"gaps": packed, "key": url_key(address)},
    )


@pytest.mark.parametrize(
    ("hours", "silent_days", "state"),
    [
        # Daily once, weekly now: five weeks are no silence, eight are.
        ([24.0] * 15 + [168.0] * 12, 35.0, "well"),
        ([24.0] * 15 + [168.0] * 12, 56.0, "silent"),
        # Weekly once, daily now: nobody has to wait for seven weeks.
        ([168.0] * 15 + [24.0] * 12, 8.0, "silent"),
        ([168.0] * 15 + [24.0] * 12, 6.0, "well"),
        # Pauses of one rhythm, long and short as they come.
        ([3.0, 90.0, 20.0, 41.0, 5.0, 60.0, 1.0, 30.0, 12.0, 18.0] * 3, 7.0, "well"),
    ],
)
def test_the_rhythm_is_the_present_one(
    database_url: str, hours: list[float], silent_days: float, state: str
) -> None:
    import_pack(database_url, pack())
    with Database.open(database_url) as database, database.engine.begin() as c:
        add_sources(c, T, [Feed(FEED)], now=NOW)
        visits(c, FEED, changes=1_000, changed_at=NOW - silent_days * DAY, last_at=NOW)
        _gaps(c, FEED, hours)
        (feed,) = feed_sources(c, T)
        assert feed.state == state, feed.every_hours


def test_one_rhythm_is_seldom_taken_for_two_and_another_one_is_noticed() -> None:
    rng = np.random.default_rng(7)
    steady = [len(present_gaps(rng.exponential(24.0, 30).tolist())) for _ in range(2_000)]
    assert sum(kept < 30 for kept in steady) <= 30
    for before, now in ((24.0, 168.0), (168.0, 24.0)):
        drawn = [np.r_[rng.exponential(before, 20), rng.exponential(now, 10)] for _ in range(200)]
        means = [fmean(present_gaps(gaps.tolist())) for gaps in drawn]
        near = sum(now / 2 < mean < now * 2 for mean in means)
        assert near >= 155
    assert present_gaps([0.0] * 30) == [0.0] * 30
