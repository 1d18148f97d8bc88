"""QIAO_SEGMENTER: jieba itself cuts titles and pages in a crawl, its workers included."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from crawling import Answer, article, crawl, import_pack, local_server, pack, rows
from qiaocrawl.dedup.cleaning import TitleWords
from qiaocrawl.dedup.vocabulary import TermTable
from qiaocrawl.items import FetchedPage
from qiaocrawl.options import Options
from qiaocrawl.runtime.analyse_page import analyse_page
from qiaocrawl.runtime.analysis_setup import AnalysisSetup
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.text.segment import page_segmenter, use_segmenter
from qiaocrawl.topic.profile import PageWords
from qiaocrawl.vsm import IdfSnapshot

HOST = "www.qiao.test"
# Two cuts of it are equally likely: the last bit of a sum decides, in another order in each.
TITLE = "侨爸侨侨侨谢侨"
BY_JIEBA = ["侨爸", "侨", "侨侨", "谢侨"]
BY_RJIEBA = ["侨爸", "侨侨", "侨", "谢侨"]


def test_a_worker_cuts_by_what_its_setup_names() -> None:
    page = FetchedPage(
        f"http://{HOST}/1", f"http://{HOST}/1", 200, (("content-type", "text/html"),),
        article(TITLE), datetime(2026, 6, 1, tzinfo=UTC),
    )  # fmt: skip
    try:
        for name, words in (("jieba", BY_JIEBA), ("rjieba", BY_RJIEBA)):
            setup = AnalysisSetup("density", 50, (), "vsm_breadth", segmenter=name)  # type: ignore[arg-type]
            assert list(analyse_page(page, setup).title_tokens) == words
    finally:
        use_segmenter("rjieba")


def test_a_crawl_by_jieba_judges_and_groups_as_ever(tmp_path: Path) -> None:
    database_url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(database_url, pack(HOST))
    links = "".join(f'<li><a href="/a/{n}.html">{n}</a></li>' for n in range(3))
    pages = {
        "/": f"<title>侨报</title><ul>{links}</ul>".encode(),
        "/a/0.html": article(TITLE),
        "/a/1.html": article("华侨农场变迁"),
        "/a/2.html": article("华侨农场变迁"),
    }

    def respond(host: str, path: str) -> Answer | None:
        return Answer(pages[path]) if host == HOST and path in pages else None

    with local_server(respond) as server:
        done = crawl(
            "site", database_url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin,
            QIAO_SEGMENTER="jieba",
        )  # fmt: skip
    assert done.returncode == 0, done.log
    stored = dict(rows(database_url, "SELECT title, title_tokens FROM article"))
    assert json.loads(str(stored[TITLE])) == BY_JIEBA
    assert len(rows(database_url, "SELECT 1 FROM relevance WHERE score > 0")) >= 2

    options = {"QIAO_DATABASE_URL": database_url, "QIAO_SEGMENTER": "jieba"}
    runtime = Runtime(Options.from_environment(options))
    try:
        assert page_segmenter([]).backend == "jieba"
        # The index of titles cuts as the workers did.
        assert TitleWords(TermTable(IdfSnapshot())).texts([TITLE]) == [BY_JIEBA]
        assert PageWords(["侨批"]).count("侨批档案")["侨批"] == 1
    finally:
        runtime.close()
        use_segmenter("rjieba")
