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
    assert lines["结束 ended"].startswith("到时限")
    assert lines["用时 took"] == "1 小时 2 分"
    assert (lines["新文章 new articles"], lines["已知 known"][:1]) == ("2", "1")
    assert lines["切题 on topic"] == "2 篇 articles"
    assert lines["转载 reprints"] == "22 篇 articles"
    assert lines["漏采 missed"] == "12 页 pages: robots.txt 9、需要登录 3"
    assert lines["待采 waiting"] == "5 网址 URLs"
    steps = list(next_steps("site", "qiaoqing", _SITE))
    assert steps[0].startswith("再运行同一命令")
    assert steps[-1] == "qiaocrawl missed qiaoqing"


def test_a_search_counts_queries_and_leads_to_the_pages() -> None:
    lines = dict(summary_lines("search", "qiaoqing", _SEARCH))
    assert lines["检索 queries"] == "496 问 asked，有结果 266 with hits"
    assert lines["新网址 new URLs"] == "263"
    assert lines["已知 known"] == "1,222 网址 URLs"
    assert lines["漏答 no answer"] == "45 问 queries"
    steps = list(next_steps("search", "qiaoqing", _SEARCH))
    assert steps == ["scrapy crawl pages -a topic=qiaoqing", "qiaocrawl coverage qiaoqing"]


def test_a_run_that_failed_says_so_first() -> None:
    name, words = next(summary_lines("site", "t", {"finish_reason": "storage_error"}))
    assert (name, words) == ("结束 ended", "数据库出错 the database failed")
    _, words = next(summary_lines("site", "t", {"finish_reason": "a reason of next year"}))
    assert words == "a reason of next year"
