"""F-U6: addresses that another version wrote otherwise are found before they are fetched twice."""

from __future__ import annotations

import time

from crawling import import_pack, pack
from qiaocrawl.items import Candidate, Queue
from qiaocrawl.search.definition import load_definitions
from qiaocrawl.search.plan import query_candidate
from qiaocrawl.search.query import Query
from qiaocrawl.storage import Database, frontier
from qiaocrawl.urls import canonical_url, host_of, url_key


def _candidate(url: str) -> Candidate:
    return Candidate(
        url=url, key=url_key(url), host=host_of(url), queue=Queue.PAGES, topic="qiaoqing"
    )


def test_a_changed_canonical_form_is_named(database_url: str) -> None:
    import_pack(database_url, pack())
    same = [canonical_url(f"https://侨网.cn/新闻/{n}?b=2&a=1") or "" for n in range(30)]
    engine = load_definitions()["baidu"]
    query = query_candidate(Query("qiaoqing", "侨胞", "", "baidu"), engine)
    with Database.open(database_url) as database:
        with database.engine.begin() as c:
            frontier.enqueue(c, [query, *map(_candidate, same)], run_id=None, now=time.time())
        assert database.check() == []
        # As a version would have stored it that keeps this parameter.
        with database.engine.begin() as c:
            frontier.enqueue(
                c, [_candidate("https://a.cn/1?utm_source=x")], run_id=None, now=time.time()
            )
        (problem,) = database.check()
    assert problem.startswith("1 of 31 addresses looked at are written differently by this version")
    assert "https://a.cn/1?utm_source=x" in problem
    assert "fetched twice" in problem
