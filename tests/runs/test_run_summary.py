"""What a run says of itself at its end."""

from __future__ import annotations

from qiaocrawl.runs.run_summary import article_numbers, next_steps, summary_lines

_ON = frozenset({"qiaoqing", "other"})
_SITE = {
    "finish_reason": "limit_seconds", "elapsed_time_seconds": 3_725.4,
    "qiaocrawl/pages": 1_388,
    "qiaocrawl/dedup/reprint": 22, "qiaocrawl/dedup/revision": 17, "qiaocrawl/dedup/same_page": 4,
    "qiaocrawl/dedup/series": 27, "qiaocrawl/outcome/login": 3, "qiaocrawl/outcome/robots": 9,
    "qiaocrawl/outcome/dead": 11, "qiaocrawl/frontier/remaining": 5,
    **article_numbers([(True, _ON), (False, _ON), (True, frozenset())], "qiaoqing"),
}  # fmt: skip
_SEARCH = {
    "finish_reason": "finished", "elapsed_time_seconds": 6.5, "qiaocrawl/search/hit": 266,
    "qiaocrawl/search/blocked": 45, "qiaocrawl/search/empty": 185,
    "qiaocrawl/search/new_urls": 263, "qiaocrawl/search/known_urls": 1_222,
}  # fmt: skip


def test_a_crawl_says_what_is_new_known_missed_and_next() -> None:
    lines = dict(summary_lines("site", "qiaoqing", _SITE))
    assert lines["ended"].startswith("as long as")
    assert lines["took"] == "1 h 2 min"
    assert (lines["new articles"], lines["known"][:1]) == ("2", "1")
    assert lines["on topic"] == "2 articles"
    assert lines["reprints"] == "22 articles"
    assert lines["missed"] == "12 pages: refused by robots.txt 9, login wall 3"
    assert lines["waiting"] == "5 URLs"
    steps = list(next_steps("site", "qiaoqing", _SITE))
    assert steps[0].startswith("the same command")
    assert steps[-1] == "qiaocrawl report missed qiaoqing"


def test_a_search_counts_queries_and_leads_to_the_pages() -> None:
    lines = dict(summary_lines("search", "qiaoqing", _SEARCH))
    assert lines["queries"] == "496 asked, 266 with hits"
    assert lines["new URLs"] == "263"
    assert lines["known"] == "1,222 URLs"
    assert lines["no answer"] == "45 queries"
    steps = list(next_steps("search", "qiaoqing", _SEARCH))
    assert steps == [
        "qiaocrawl crawl pages -a topic=qiaoqing",
        "qiaocrawl report coverage qiaoqing",
    ]


def test_pages_without_a_search_before_leads_to_a_whole_round() -> None:
    assert list(next_steps("pages", "own", {"finish_reason": "finished"})) == ["qiaocrawl run own"]


def test_a_run_that_failed_says_so_first() -> None:
    name, words = next(summary_lines("site", "t", {"finish_reason": "storage_error"}))
    assert (name, words) == ("ended", "the database failed")
    _, words = next(summary_lines("site", "t", {"finish_reason": "a reason of next year"}))
    assert words == "a reason of next year"
