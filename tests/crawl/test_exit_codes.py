"""The exit code of a crawl tells whether it did what it was asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawling import Answer, article, crawl, import_pack, local_server, pack
from qiaocrawl.runtime.run_end import END_REASON, end_reason, exit_code
from qiaocrawl.topic.pack import Term

HOST = "www.qiao.test"


@pytest.mark.parametrize(("reason", "code"), [
    ("finished", 0), ("limit_pages", 0), ("hosts_given_up", 0), ("shutdown", 0),
    ("closespider_timeout", 0),
    ("storage_error", 1), ("internal_error", 1), ("secret_key", 1), ("start_error", 1),
    ("memusage_exceeded", 1), ("closespider_errorcount", 1), ("cancelled", 1), ("", 1),
    ("a reason of next year", 1),
])  # fmt: skip
def test_only_what_was_asked_for_is_success(reason: str, code: int) -> None:
    assert exit_code(reason) == code


def test_what_fails_while_a_run_closes_is_how_it_ended() -> None:
    assert end_reason({"finish_reason": "finished"}) == "finished"
    assert end_reason({"finish_reason": "finished", END_REASON: "storage_error"}) == "storage_error"
    assert end_reason({}) == ""


@pytest.mark.parametrize(("setting", "reason", "code"), [
    ("QIAO_MAX_PAGES=1", "limit_pages", 0), ("MEMUSAGE_LIMIT_MB=1", "memusage_exceeded", 1),
])  # fmt: skip
def test_scrapy_crawl_ends_with_that_code(
    setting: str, reason: str, code: int, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    links = tuple(f"/{n}" for n in range(100))
    with local_server(lambda host, path: Answer(article("侨乡新闻", links=links))) as server:
        done = crawl("site", url, "topic=qiaoqing", "-s", setting,
                     "-s", "MEMUSAGE_CHECK_INTERVAL_SECONDS=0.1",
                     folder=tmp_path, QIAO_DEMO=server.origin)  # fmt: skip
    assert f"Spider closed ({reason})" in done.log, done.log
    assert done.returncode == code, done.log
    # The summary comes last, and the statistics stay in the log.
    summary = done.log.index("Summary: site qiaoqing")
    assert done.log.index("Dumping Scrapy stats") < summary


def test_a_crawl_with_nothing_on_topic_says_why_and_what_to_do(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST, terms=(Term("碧波灯塔", "other"),), samples=()))
    links = tuple(f"/news/{n}.html" for n in range(15))

    def page(host: str, path: str) -> Answer:
        if path == "/":
            return Answer(article("要闻", links=links, paragraphs=0))
        number = path.strip("/").partition("/")[2].removesuffix(".html")
        # Named once in the text, which is not enough.
        once = "<p>2026-03-05 10:00 来源：侨网</p>\n<p>代表们参观了碧波灯塔。</p>".encode()
        said = article(f"第{number}届乡亲代表大会在{number}号会堂开幕")
        return Answer(said.replace("<p>2026-03-05 10:00 来源：侨网</p>".encode(), once))

    with local_server(page) as server:
        done = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin,
                     QIAO_LANG="en")  # fmt: skip
    assert done.returncode == 0, done.log
    said = done.log.partition("Summary: site qiaoqing")[2]
    assert "Few or none on topic. 侨情: 0 of" in said, done.log
    assert "judged by 1 word alone" in said
    assert "articles more are on topic" in said
    assert "qiaocrawl topic threshold qiaoqing --line 0." in said
