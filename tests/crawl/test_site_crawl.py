"""`scrapy crawl site` on a local web: every fetch ends in the right outcome."""

from __future__ import annotations

from pathlib import Path

from crawling import Answer, article, crawl, import_pack, local_server, outcomes, pack, rows

HOST = "www.qiao.test"
PAGES = {
    "/": Answer(article("首页新闻", links=("/a", "/b", "/moved", "/gone", "/broken", "/far",
                                           "/loop1", "http://other.test/x", "/paper",
                                           "http://sub.qiao.test/s", "/forbidden", "/empty"))),
    "/a": Answer(article("侨胞回乡寻根", links=("/", "/deep"))),
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


def respond(host: str, path: str) -> Answer | None:
    if host == "sub.qiao.test":
        return Answer(article("子站的侨务新闻"))
    return PAGES.get(path) if host == HOST else None


def test_every_url_has_its_outcome(database_url: str, tmp_path: Path) -> None:
    import_pack(database_url, pack(HOST))
    with local_server(respond) as server:
        options = {"QIAO_DEMO": server.origin, "QIAO_FRONTIER_RETRY_SECONDS": "0.1"}
        done = crawl("site", database_url, "topic=qiaoqing", folder=tmp_path, **options)
        assert done.returncode == 0, done.log
        assert "(finished)" in done.log
        found = outcomes(database_url)
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
        assert server.paths().count("/b") == 1, "a redirect's target is fetched once"
        assert server.paths().count("/broken") == 3

        counted = [rows(database_url, f"SELECT COUNT(*) FROM {table}")[0][0]
                   for table in ("url", "page_source", "article", "relevance", "verdict")]
        asked = len(server.log)
        again = crawl("site", database_url, "topic=qiaoqing", folder=tmp_path, **options)
        assert again.returncode == 0, again.log
        recounted = [rows(database_url, f"SELECT COUNT(*) FROM {table}")[0][0]
                     for table in ("url", "page_source", "article", "relevance", "verdict")]
        assert recounted == counted, "a second run adds nothing twice"
        assert len(server.log) - asked <= 4, "only robots.txt and the start page are asked again"


def test_the_stored_article_carries_its_attributes(database_url: str, tmp_path: Path) -> None:
    import_pack(database_url, pack(HOST))
    with local_server(respond) as server:
        crawl("site", database_url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin,
              QIAO_FRONTIER_RETRY_SECONDS="0.1")
    found = rows(
        database_url,
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
    # All articles of this site have one body.
    assert kind in ("distinct", "same_page")
    assert "归侨侨眷" in str(body)


def test_crawl_order_and_limits(tmp_path: Path) -> None:
    def grow(host: str, path: str) -> Answer | None:
        """A binary tree, six links deep: /, /a, /b, /aa …"""
        if path == "/robots.txt":
            return None
        name = path.strip("/")
        links = (f"/{name}a", f"/{name}b") if len(name) < 6 else ()
        return Answer(article(f"侨乡新闻{path}", links=links))

    deepest = {}
    with local_server(grow) as server:
        for strategy in ("bfs", "dfs"):
            url = f"sqlite:///{tmp_path / strategy}.db"
            import_pack(url, pack(HOST))
            server.log.clear()
            arguments = ("topic=qiaoqing", f"strategy={strategy}",
                         "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1")
            first = crawl("site", url, *arguments, "-s", "QIAO_MAX_PAGES=20", folder=tmp_path,
                          QIAO_DEMO=server.origin)
            assert first.returncode == 0, first.log
            assert "(limit_pages)" in first.log
            assert "still wait" in first.log
            assert len(server.paths()) == 20
            deepest[strategy] = max(len(path) - 1 for path in server.paths())
        # 1 + 2 + 4 + 8 = 15 pages lie above the fourth level.
        assert deepest["bfs"] == 4
        assert deepest["dfs"] == 6
        rest = crawl("site", url, "topic=qiaoqing", "strategy=dfs", folder=tmp_path,
                     QIAO_DEMO=server.origin)
    assert "(finished)" in rest.log
    assert len(server.paths()) == 127
    assert len(set(server.paths())) == 127


def test_links_beyond_the_depth_are_counted_not_fetched(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))

    def endless(host: str, path: str) -> Answer | None:
        if path == "/robots.txt":
            return None
        below = f"{path.rstrip('/')}/{len(path)}"  # the same name thrice would be a trap
        return Answer(article(f"侨乡新闻{path}", links=(below,)))

    with local_server(endless) as server:
        done = crawl("site", url, "topic=qiaoqing", "-s", "QIAO_MAX_DEPTH=3", folder=tmp_path,
                     QIAO_DEMO=server.origin)
    assert len(server.paths()) == 4
    assert "'qiaocrawl/links/too_deep': 1" in done.log


def test_redirects_end(tmp_path: Path) -> None:
    """Endless chains are cut, a cookie wall is passed, raw bytes in Location are understood."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    walls: list[str] = []

    def respond(host: str, path: str) -> Answer | None:
        if path == "/":
            return Answer(article("首页", links=("/hop0", "/wall", "/raw")))
        if path.startswith("/hop"):
            return Answer(status=302, headers={"Location": f"/hop{int(path[4:]) + 1}"})
        if path == "/wall" and not walls:
            walls.append(path)
            return Answer(status=302, headers={"Location": "/wall", "Set-Cookie": "seen=1"})
        if path == "/raw":
            return Answer(status=302, headers={"Location": "/侨.html".encode().decode("latin-1")})
        if path in {"/wall", "/%E4%BE%A8.html"}:
            return Answer(article("墙后的侨务新闻" if path == "/wall" else "侨字路径的新闻"))
        return None

    with local_server(respond) as server:
        done = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin,
                     QIAO_FRONTIER_RETRY_SECONDS="0.1")
    found = outcomes(url)
    assert len([path for path in server.paths() if path.startswith("/hop")]) == 21
    assert found[f"http://{HOST}/wall"] == "article", done.log
    assert found[f"http://{HOST}/%E4%BE%A8.html"] == "article"
    assert "(finished)" in done.log
