"""Accounts of groups of URLs and pages shown for missing ones, on both databases."""

from __future__ import annotations

from qiaocrawl.discovery.soft_404 import MissingPage
from qiaocrawl.discovery.trap_scores import StoredPatternScore
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages.sites import (
    cut_reason,
    known_keys,
    load_missing_pages,
    load_pattern_scores,
    save_missing_page,
    save_pattern_scores,
)

_CUT = StoredPatternScore("a.test", "a.test/cal/…", -0.5, 9, 0, 9)
_GOOD = StoredPatternScore("a.test", "a.test/cal/0.html", 8.0, 5, 4, 0)


def test_accounts_are_replaced_and_forgotten(database: Database) -> None:
    with database.engine.begin() as c:
        save_pattern_scores(c, [_CUT, _GOOD], now=1000.0)
        save_pattern_scores(c, [_CUT], now=2000.0)
        save_pattern_scores(c, [], now=3000.0)
        assert load_pattern_scores(c, since=0.0) == [_CUT, _GOOD]
        assert load_pattern_scores(c, since=1500.0) == [_CUT]


def test_why_a_url_that_was_never_proposed_is_cut(database: Database) -> None:
    with database.engine.begin() as c:
        save_pattern_scores(c, [_CUT, _GOOD], now=1000.0)
        assert "a.test/cal/…" in cut_reason(c, "http://a.test/cal/x/2")
        assert cut_reason(c, "http://a.test/cal/2.html") == "", "its own form brought stories"
        assert cut_reason(c, "http://b.test/cal/x/2") == ""


def test_missing_pages(database: Database) -> None:
    page = MissingPage("a.test", "走丢了", b"d" * 16, 2**64 - 1)
    with database.engine.begin() as c:
        save_missing_page(c, MissingPage("a.test", "x", b"e" * 16, 1), now=1.0)
        save_missing_page(c, page, now=2.0)
        assert load_missing_pages(c, since=2.0) == [page]
        assert load_missing_pages(c, since=3.0) == []
        assert known_keys(c, [b"k" * 16]) == set()
        assert known_keys(c, []) == set()
