"""`scrapy crawl site` on a local web: every fetch ends in the right outcome."""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from crawling import (
    Answer,
    LocalServer,
    Respond,
    article,
    crawl,
    import_pack,
    local_server,
    outcomes,
    pack,
    rows,
)
from qiaocrawl.storage.packed_text import unpack_text

HOST, HOPS, STORM = "www.qiao.test", "hops.test", "storm.test"
# A body of its own; all other articles here have one and the same.
ROOTS = "".join(
    f"<p>{told}</p>" for told in (
        "清明前后，六十位旅居槟城的老人带着儿孙走进祖屋，族谱摊在八仙桌上，一页一页认名字。",
        "村里的归侨侨眷早早煮好了线面，说起当年下南洋的船期和寄回来的侨批，几位老人红了眼眶。",
        "族中后生把口述录了音，打算同侨乡博物馆一起整理，明年再请华侨的孙辈来办夏令营。",
    )
)  # fmt: skip
PAGES = {
    "/": Answer(
        article(
            "首页新闻",
            links=(
                "/a",
                "/b",
                "/moved",
                "/gone",
                "/broken",
                "/far",
                "/loop1",
                "http://other.test/x",
                "/paper",
                "http://sub.qiao.test/s",
                "/forbidden",
                "/empty",
            ),
        )
    ),
    "/a": Answer(
        article("侨胞回乡寻根", links=("/", "/deep"), paragraphs=0).replace(
            b"<ul>", ROOTS.encode() + b"<ul>"
        )
    ),
    "/b": Answer(article("华侨农场变迁")),
    "/deep": Answer(article("归侨口述历史")),
    "/moved": Answer(status=301, headers={"Location": "/b"}),
    "/far": Answer(status=302, headers={"Location": "http://other.test/y"}),
    "/loop1": Answer(status=302, headers={"Location": "/loop2"}),
    "/loop2": Answer(status=302, headers={"Location": "/loop1"}),
    "/broken": Answer(b"oops", 500),
    "/forbidden": Answer(b"no", 403),
    "/empty": Answer(b""),
    "/paper": Answer(b"%PDF-1.4 ...", headers={"Content-Type": "application/pdf"}),
}


STORM_PATHS = tuple(f"/{n}" for n in range(6))


class Web:
    """Three hosts: every kind of answer, chains of redirects, and one that is busy at first."""

    def __init__(self) -> None:
        self._refusals = Counter({(STORM, path): 2 for path in STORM_PATHS})
        self._refusals[HOPS, "/wall"] = 1

    def __call__(self, host: str, path: str) -> Answer | None:
        refuses = self._refusals[host, path] > 0
        self._refusals[host, path] -= refuses
        if host == "sub.qiao.test":
            return Answer(article("子站的侨务新闻"))
        if host == HOPS:
            return _hops(path, walled=refuses)
        if host == STORM and path in ("/", *STORM_PATHS):
            links = STORM_PATHS if path == "/" else ()
            return Answer(b"busy", 503) if refuses else Answer(article("忙站的新闻", links=links))
        return PAGES.get(path) if host == HOST else None


def _hops(path: str, *, walled: bool) -> Answer | None:
    """An endless chain, a cookie wall, raw bytes in Location."""
    if path == "/":
        return Answer(article("首页", links=("/hop0", "/wall", "/raw")))
    if path.startswith("/hop"):
        return Answer(status=302, headers={"Location": f"/hop{int(path[4:]) + 1}"})
    if walled:
        return Answer(status=302, headers={"Location": "/wall", "Set-Cookie": "seen=1"})
    if path == "/raw":
        return Answer(status=302, headers={"Location": "/侨.html".encode().decode("latin-1")})
    if path in {"/wall", "/%E4%BE%A8.html"}:
        return Answer(article("墙后的侨务新闻" if path == "/wall" else "侨字路径的新闻"))
    return None


@pytest.mark.mariadb
def test_every_url_has_its_outcome(mariadb_url: str, tmp_path: Path) -> None:
    import_pack(mariadb_url, pack(HOST, HOPS, STORM))
    with local_server(Web()) as server:
        options = {"QIAO_DEMO": server.origin, "QIAO_FRONTIER_RETRY_SECONDS": "0.1"}
        done = crawl("site", mariadb_url, "topic=qiaoqing", folder=tmp_path, **options)
        assert done.returncode == 0, done.log
        assert "(finished)" in done.log
        found = outcomes(mariadb_url)
        every_answer_has_its_outcome(found, server)
        redirects_end(found, server)
        a_short_storm_of_503_loses_nothing(found)
        the_stored_article_carries_its_attributes(mariadb_url)

        counted = counts(mariadb_url)
        asked = Counter(hit.host for hit in server.log)
        again = crawl("site", mariadb_url, "topic=qiaoqing", folder=tmp_path, **options)
    assert again.returncode == 0, again.log
    assert counts(mariadb_url) == counted, "a second run adds nothing twice"
    for host, number in Counter(hit.host for hit in server.log).items():
        assert number - asked[host] <= 4, f"{host}: only robots.txt and the start page again"


def counts(url: str) -> list[object]:
    return [
        rows(url, f"SELECT COUNT(*) FROM {table}")[0][0]
        for table in ("url", "page_source", "article", "relevance", "verdict")
    ]


def every_answer_has_its_outcome(found: dict[str, str], server: LocalServer) -> None:
    base = f"http://{HOST}"
    assert {found[base + path] for path in ("/a", "/b", "/deep")} == {"article"}
    assert found["http://sub.qiao.test/s"] == "article"
    assert found[base + "/moved"] == found[base + "/far"] == "redirect"
    assert found[base + "/loop1"] == found[base + "/loop2"] == "redirect"
    assert found[base + "/gone"] == "dead"
    assert found[base + "/broken"] == "unreachable"
    assert found[base + "/forbidden"] == "blocked"
    assert found[base + "/empty"] == "not_article"
    assert found[base + "/paper"] == "not_html"
    assert not [url for url in found if "other.test" in url], "left the sites"
    assert server.paths(HOST).count("/b") == 1, "a redirect's target is fetched once"
    assert server.paths(HOST).count("/broken") == 3


def redirects_end(found: dict[str, str], server: LocalServer) -> None:
    """Endless chains are cut, a cookie wall is passed, raw bytes in Location are understood."""
    assert len([path for path in server.paths(HOPS) if path.startswith("/hop")]) == 21
    assert found[f"http://{HOPS}/wall"] == "article"
    assert found[f"http://{HOPS}/%E4%BE%A8.html"] == "article"


def a_short_storm_of_503_loses_nothing(found: dict[str, str]) -> None:
    ended = {found[f"http://{STORM}{path}"] for path in ("/", *STORM_PATHS)}
    assert ended <= {"article", "list"}


def the_stored_article_carries_its_attributes(url: str) -> None:
    found = rows(
        url,
        "SELECT a.title, a.site, a.source, a.published_at, a.anchor, r.relevant, v.kind, a.text "
        "FROM article a JOIN url u ON u.id = a.url_id JOIN relevance r ON r.article_id = a.id "
        "JOIN verdict v ON v.article_id = a.id WHERE u.url = :url",
        url=f"http://{HOST}/a",
    )
    assert len(found) == 1
    title, site, source, published, anchor, relevant, kind, body = found[0]
    assert (title, site, source, anchor) == ("侨胞回乡寻根", HOST, "侨网", "/a")
    assert str(published).startswith("2026-03-05 02:00")
    assert relevant
    assert kind == "distinct"
    assert "归侨侨眷" in unpack_text(body)


def grow(host: str, path: str) -> Answer | None:
    """A binary tree without end: /, /a, /b, /aa …"""
    name = path.strip("/")
    if path == "/robots.txt":
        return None
    return Answer(article(f"侨乡新闻{path}", links=(f"/{name}a", f"/{name}b")))


def one_by_one(database: Path) -> Respond:
    """As :func:`grow`, each page once those asked for before it are stored, with their links.

    What is asked for next goes by the order then, and not by how fast the machine analyses.
    """
    numbers = count()

    def respond(host: str, path: str) -> Answer | None:
        if path == "/robots.txt":
            return None
        earlier, end = next(numbers), time.monotonic() + 300
        with closing(sqlite3.connect(database)) as stored:
            while stored.execute(_STORED).fetchone()[0] < earlier and time.monotonic() < end:
                time.sleep(0.01)
        return grow(host, path)

    return respond


_STORED = "SELECT COUNT(*) FROM url WHERE outcome IS NOT NULL"


def test_crawl_order_and_limits(tmp_path: Path) -> None:
    deepest, limited = {}, ("-s", "QIAO_MAX_DEPTH=5")
    with local_server(grow) as server:
        for strategy in ("bfs", "dfs"):
            file = tmp_path / f"{strategy}.db"
            url = f"sqlite:///{file}"
            import_pack(url, pack(HOST))
            server.log.clear()
            server.respond = one_by_one(file)
            first = crawl("site", url, "topic=qiaoqing", f"strategy={strategy}",
                          "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1", "-s", "QIAO_MAX_PAGES=20",
                          *limited, folder=tmp_path, QIAO_DEMO=server.origin)  # fmt: skip
            assert first.returncode == 0, first.log
            assert "(limit_pages)" in first.log
            assert "still wait" in first.log
            assert len(server.paths()) == 20
            deepest[strategy] = max(len(path) - 1 for path in server.paths())
        # 1 + 2 + 4 + 8 = 15 pages lie above the fourth level.
        assert deepest["bfs"] == 4
        assert deepest["dfs"] == 5
        server.respond = grow
        rest = crawl(
            "site",
            url,
            "topic=qiaoqing",
            "strategy=dfs",
            *limited,
            folder=tmp_path,
            QIAO_DEMO=server.origin,
        )
    assert "(finished)" in rest.log
    assert len(server.paths()) == 63
    assert len(set(server.paths())) == 63
    runs = [json.loads(str(stats)) for (stats,) in rows(url, "SELECT stats FROM run")]
    too_deep = sum(stats.get("qiaocrawl/links/too_deep", 0) for stats in runs)
    assert too_deep == 2 * 32, "links beyond the depth are counted, not fetched"
