"""A running crawl takes over what an expert decides of its topic's words."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from crawling import Answer, crawl, import_pack, local_server, pack, rows
from qiaocrawl.lexicon.decisions import Decision
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.lexicon_decisions import decide
from qiaocrawl.topic.pack import Term

SITE = "www.qiao.test"
# Longer than the second that lies between two looks for changed topics.
_AFTER_A_LOOK_SECONDS = 1.5


def decided(database_url: str, *decisions: Decision) -> None:
    with Database.open(database_url) as database, database.engine.begin() as c:
        decide(c, "qiaoqing", decisions, by="test", now=datetime.now(UTC))


def page(number: int, word: str) -> bytes:
    text = f"本届{word}在体育馆开幕，{word}的观众很多，{word}的门票三天售完，{word}的选手来自各地。"
    body = "".join(f"<p>{text}第{number}天第{part}场。</p>" for part in range(8))
    return (
        f'<html><head><meta charset="utf-8"><title>{word}第{number}天</title></head><body>'
        f"<h1>{word}第{number}天</h1>{body}<a href='/{number + 1}'>下一天的消息</a></body></html>"
    ).encode()


def test_pages_are_judged_by_a_word_that_was_accepted_meanwhile(
    database_url: str, tmp_path: Path
) -> None:
    topic = pack(SITE, terms=(Term("侨胞", "core", 3.0), Term("归侨", "core", 3.0)), samples=())
    import_pack(database_url, topic)

    def respond(host: str, path: str) -> Answer | None:
        if path == "/":
            return Answer(b"<html><body><a href='/1'>go on to the first page</a></body></html>")
        if not path[1:].isdigit() or int(path[1:]) > 5:
            return Answer(status=404)
        number = int(path[1:])
        if number == 2:
            decided(database_url, Decision("滑板公开赛", "accept", weight=5.0))
        wait = _AFTER_A_LOOK_SECONDS if number == 2 else 0.0
        return Answer(page(number, "滑板公开赛"), before_seconds=wait)

    with local_server(respond) as server:
        done = crawl("site", database_url, "topic=qiaoqing", folder=tmp_path,
                     QIAO_DEMO=server.origin, QIAO_RELEVANCE_METHOD="vsm_breadth",
                     QIAO_DEDUP_METHOD="vsm")  # fmt: skip
    assert done.returncode == 0, done.log
    judged = {
        str(url).rpartition("/")[2]: bool(relevant)
        for url, relevant in rows(
            database_url,
            "SELECT url.url, relevance.relevant FROM relevance"
            " JOIN article ON article.id = relevance.article_id"
            " JOIN url ON url.id = article.url_id",
        )
    }
    assert judged["1"] is False
    assert (judged["4"], judged["5"]) == (True, True), done.log
    assert "'qiaoqing' has changed" in done.log


def test_a_new_word_is_asked_and_a_rejected_one_no_longer(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    terms = tuple(Term(f"侨词{letter}", "core", 9.0 - n) for n, letter in enumerate("甲乙丙丁"))
    import_pack(url, pack(SITE, terms=terms, samples=()))
    queries: list[str] = []

    def respond(host: str, path: str) -> Answer | None:
        if host != "searx.test" or not path.startswith("/search"):
            return Answer(status=404)
        queries.append(parse_qs(urlsplit(path).query)["q"][0])
        if len(queries) == 1:
            decided(url, Decision("新词", "accept", weight=5.0), Decision("侨词丁", "reject"))
        # The first answers take longer than a look, and the pause between two requests is theirs.
        time.sleep(_AFTER_A_LOOK_SECONDS if len(queries) < 3 else 0.0)
        hit = {"url": f"http://{SITE}/{len(queries)}", "title": queries[-1], "content": queries[-1]}
        return Answer(json.dumps({"results": [hit]}).encode(),
                      headers={"Content-Type": "application/json"})  # fmt: skip

    with local_server(respond) as server:
        done = crawl("search", url, "topic=qiaoqing", "site=-", folder=tmp_path,
                     QIAO_DEMO=server.origin, QIAO_ENGINES="searxng",
                     QIAO_SEARXNG_URL="http://searx.test", QIAO_SEARCH_MAX_PAGES="1",
                     QIAO_FRONTIER_BATCH="1")  # fmt: skip
    assert done.returncode == 0, done.log
    assert any("新词" in query for query in queries), (queries, done.log)
    assert not any("侨词丁" in query for query in queries), queries
    assert any("侨词丙" in query for query in queries), queries
