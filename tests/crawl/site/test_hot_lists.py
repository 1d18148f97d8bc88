"""Hot lists are read by the crawl that watches; what changed its form or refuses is told."""

from __future__ import annotations

import json
import time
from pathlib import Path

from sqlalchemy import text

from crawling import Answer, Crawl, LocalServer, crawl, import_pack, local_server, pack, rows
from qiaocrawl.reading.silence import board_words, silence_alarms
from qiaocrawl.search.boards import Board, BoardForm
from qiaocrawl.storage import Database
from qiaocrawl.storage.sites.boards import BoardState, Standing, add_boards, board_states, standings

TOPIC = "topic=qiaoqing"
WEIBO, PAPER, SHUT = (
    "http://boards.test/api/s?id=weibo", "http://paper.test/hot", "http://shut.test/hot.json",
)  # fmt: skip
FORM = BoardForm(format="html", each=("ol li",), title=("a",), link=("a",))


def _json(*titles: str) -> Answer:
    items = [{"id": own, "title": own, "url": f"http://s.test/{own}"} for own in titles]
    body = json.dumps({"status": "success", "id": "weibo", "items": items}).encode()
    return Answer(body, headers={"Content-Type": "application/json"})


class Web:
    """A service of lists, a paper with one on a page, and a host that lets no robot in."""

    def __init__(self) -> None:
        lines = "".join(f"<li><a href='/n/{n}.html'>热点第{n}条新闻</a>" for n in range(1, 5))
        self.pages = {
            ("boards.test", "/api/s?id=weibo"): _json("甲事", "乙事", "丙事"),
            ("paper.test", "/hot"): Answer(f"<html><ol>{lines}</ol></html>".encode()),
            ("shut.test", "/robots.txt"): Answer(b"User-agent: *\nDisallow: /"),
        }

    def respond(self, host: str, path: str) -> Answer | None:
        return self.pages.get((host, path))


def _watch(database_url: str, folder: Path, server: LocalServer) -> Crawl:
    done = crawl("watch", database_url, TOPIC, folder=folder, QIAO_DEMO=server.origin)
    assert done.returncode == 0, done.log
    return done


def _states(database_url: str) -> dict[str, BoardState]:
    with Database.open(database_url) as database, database.engine.connect() as c:
        return {one.source.url: one for one in board_states(c, "qiaoqing")}


def _standings(database_url: str) -> dict[str, Standing]:
    with Database.open(database_url) as database, database.engine.connect() as c:
        return {one.title: one for one in standings(c, "qiaoqing", 0)}


def test_lists_are_read_noted_and_not_followed(mariadb_url: str, tmp_path: Path) -> None:
    web = Web()
    import_pack(mariadb_url, pack())
    with Database.open(mariadb_url) as database, database.engine.begin() as c:
        lists = [Board(WEIBO, "微博"), Board(PAPER, "报社", FORM), Board(SHUT, "拒收")]
        assert add_boards(c, "qiaoqing", lists, now=time.time()) == 3
    with local_server(web.respond) as server:
        _watch(mariadb_url, tmp_path, server)
        found = _standings(mariadb_url)
        assert {title: own.last_rank for title, own in found.items()} == {
            "甲事": 1, "乙事": 2, "丙事": 3, **{f"热点第{n}条新闻": n for n in range(1, 5)},
        }  # fmt: skip
        asked = {(hit.host, hit.path) for hit in server.log if hit.path != "/robots.txt"}
        assert {("boards.test", "/api/s?id=weibo"), ("paper.test", "/hot")} <= asked
        assert not {host for host, path in asked} & {"s.test", "shut.test"}
        assert ("paper.test", "/n/1.html") not in asked
        states = _states(mariadb_url)
        assert (states[WEIBO].source.state, states[WEIBO].entries) == ("well", 3)
        assert states[SHUT].source.state == "failing"
        assert "robots" in states[SHUT].source.reason

        # Later: one has another order, the other another form.
        web.pages[("boards.test", "/api/s?id=weibo")] = _json("乙事", "丁事", "甲事")
        web.pages[("paper.test", "/hot")] = Answer("<html><p>请登录</p></html>".encode())
        with Database.open(mariadb_url) as database, database.engine.begin() as c:
            c.execute(text("UPDATE watched_page SET next_at = 1, last_at = last_at - 1000000"))
        _watch(mariadb_url, tmp_path, server)
    found = _standings(mariadb_url)
    assert (found["乙事"].best_rank, found["乙事"].is_on) == (1, True)
    assert found["乙事"].on_seconds > 0
    assert not found["丙事"].is_on
    assert len(rows(mariadb_url, "SELECT entry_id FROM board_rank")) == 10
    states = _states(mariadb_url)
    assert "no list stands" in states[PAPER].fault
    assert states[PAPER].source.failures == 1
    with Database.open(mariadb_url) as database, database.engine.connect() as c:
        (alarm,) = [line for line in silence_alarms(c) if "报社" in line]
    assert board_words(states[PAPER]) in alarm
