"""`scrapy crawl search`: an answer that is cut off is asked again for shorter periods."""

from __future__ import annotations

from pathlib import Path

from crawling import crawl, import_pack, local_server, pack, rows
from qiaocrawl.topic.pack import Term
from searxng_stand_in import HOST, Found, Searxng


def test_a_cut_off_answer_is_asked_for_ever_shorter_periods(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(terms=(Term("侨胞", "core"), Term("侨乡", "core"))))
    searxng = Searxng({
        "侨胞": Found([f"http://a.test/{n}" for n in range(30)]),
        "侨胞 year": Found([f"http://a.test/{n}" for n in range(5, 30)]),
        # The last month has nothing that the year has not shown.
        "侨胞 month": Found([f"http://a.test/{n}" for n in range(5, 15)]),
        "侨乡": Found(["http://b.test/1"]),
    })  # fmt: skip
    options = {"QIAO_ENGINES": "searxng", "QIAO_SEARXNG_URL": f"http://{HOST}",
               "QIAO_SEARCH_MAX_PAGES": "1"}  # fmt: skip
    with local_server(searxng.respond) as server:
        done = crawl("search", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin,
                     **options)  # fmt: skip
    assert done.returncode == 0, done.log
    asked = rows(url, "SELECT term, period, state, hits FROM `query` WHERE engine = 'searxng'"
                      " ORDER BY asked_at")  # fmt: skip
    # Shorter periods come after every query of the plan.
    assert asked[:2] == [("侨胞", "", "hit", 10), ("侨乡", "", "hit", 1)]
    assert asked[2:] == [("侨胞", "year", "hit", 10), ("侨胞", "month", "hit", 10)]
