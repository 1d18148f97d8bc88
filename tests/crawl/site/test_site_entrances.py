"""Sitemaps, feeds, lists and missing pages in real crawls of a site."""

from __future__ import annotations

import gzip
import random
from itertools import count
from pathlib import Path

from crawling import Answer, Crawl, article, crawl, import_pack, local_server, outcomes, pack, rows

HOST = "www.qiao.test"
BASE = f"http://{HOST}"
_XML = {"Content-Type": "application/xml"}
_SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def sitemap(*entries: tuple[str, str]) -> bytes:
    rows = "".join(f"<url><loc>{url}</loc><lastmod>{at}</lastmod></url>" for url, at in entries)
    return f'<?xml version="1.0"?><urlset {_SPACE}>{rows}</urlset>'.encode()


INDEX = (
    f"<sitemapindex {_SPACE}><sitemap><loc>{BASE}/map-1.xml.gz</loc></sitemap>"
    "<sitemap><loc>http://10.1.2.3/private.xml</loc></sitemap>"
    "<sitemap><loc>http://other.test/map.xml</loc></sitemap></sitemapindex>"
).encode()
FEED = (
    "<rss><channel><title>侨务</title>"
    f"<item><title>华侨农场新貌</title><link>{BASE}/feed-only.html</link>"
    "<pubDate>Thu, 05 Mar 2026 10:00:00 +0800</pubDate></item>"
    "<item><title>内网</title><link>http://127.0.0.1/admin</link></item></channel></rss>"
).encode()
HOME = article("首页新闻", links=("/a.html", "/gone-soft.html", "/secret/x.html")).replace(
    b"</head>",
    b'<link rel="alternate" type="application/rss+xml" title="RSS" href="/rss.xml">'
    b'<link rel="alternate" type="application/rss+xml" href="/comments/feed"></head>',
)
PAGES = {
    "/robots.txt": Answer(
        f"User-agent: *\nDisallow: /secret/\nSitemap: {BASE}/index.xml\n"
        f"sitemap: {BASE}/secret/map.xml".encode(),
        headers={"Content-Type": "text/plain"},
    ),
    "/": Answer(HOME),
    "/a.html": Answer(article("侨胞回乡寻根")),
    "/index.xml": Answer(INDEX, headers=_XML),
    "/map-1.xml.gz": Answer(
        gzip.compress(
            sitemap(
                (f"{BASE}/map-only.html", "2026-03-05"),
                (f"{BASE}/old.html", "2001-01-01"),
                (f"{BASE}/a.html", "2026-03-05"),
                ("http://192.168.0.1/x", "2026-03-05"),
            )
        ),
        headers={"Content-Type": "application/gzip"},
    ),
    "/map-only.html": Answer(article("只在站点地图里的侨乡新闻")),
    "/old.html": Answer(article("旧闻一则")),
    "/rss.xml": Answer(FEED, headers={"Content-Type": "application/rss+xml"}),
    "/feed-only.html": Answer(article("华侨农场新貌")),
}


def missing(path: str) -> Answer:
    """What the site shows for missing pages: 200, and nothing that says so in usual words."""
    return Answer(
        f"<html><head><title>{HOST}</title></head><body><h1>走丢了</h1>"
        f"<p>您来到了一片荒地，请回到我们的大门重新出发，或者给编辑部写信说明您的来意。</p>"
        f"<p>编号 {len(path)}</p></body></html>".encode()
    )


def respond(host: str, path: str) -> Answer | None:
    return PAGES.get(path) or missing(path) if host == HOST else None


def crawled(database_url: str, folder: Path, origin: str, *settings: str, **options: str) -> Crawl:
    arguments = [part for one in settings for part in ("-s", one)]
    done = crawl(
        "site",
        database_url,
        "topic=qiaoqing",
        "-s",
        "DOWNLOAD_DELAY=0",
        *arguments,
        folder=folder,
        QIAO_DEMO=origin,
        **options,
    )
    assert done.returncode == 0, done.log
    assert "(finished)" in done.log
    return done


def test_entries_of_sitemaps_and_feeds_are_crawled_as_links(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    import_pack(url, pack(HOST))
    with local_server(respond) as server:
        done = crawled(
            url,
            tmp_path,
            server.origin,
            "QIAO_LISTED_MAX_AGE_DAYS=3650",
            QIAO_SITEMAPS="on",
            QIAO_SOFT_404_PROBE="on",
        )
        asked = server.paths()
        found = outcomes(url)
        assert found[f"{BASE}/index.xml"] == found[f"{BASE}/map-1.xml.gz"] == "sitemap"
        assert found[f"{BASE}/rss.xml"] == "feed"
        assert found[f"{BASE}/map-only.html"] == found[f"{BASE}/feed-only.html"] == "article"
        assert f"{BASE}/old.html" not in found, "older than asked"
        assert "'qiaocrawl/links/entry_too_old': 1" in done.log
        assert found[f"{BASE}/secret/map.xml"] == "robots"
        assert not [one for one in found if "10.1" in one or "192." in one or "other." in one]
        assert "/comments/feed" not in asked
        anchors = rows(url, "SELECT anchor, context FROM url WHERE url LIKE '%feed-only%'")
        assert anchors == [("华侨农场新貌", "2026-03-05T02:00:00Z")]
        assert rows(
            url,
            "SELECT COUNT(*) FROM page_source p JOIN url u ON u.id = p.url_id "
            "WHERE u.outcome IN ('sitemap', 'feed')",
        ) == [(3,)]
        # Missing pages are known by the answer to the one probe.
        assert found[f"{BASE}/gone-soft.html"] == "soft_404"
        probes = [path for path in asked if path not in PAGES and path != "/gone-soft.html"]
        assert len(probes) == 1
        assert rows(url, "SELECT COUNT(*) FROM missing_page") == [(1,)]

        # A second run within QIAO_REVISIT_HOURS asks for the start page only.
        before = len(server.paths())
        crawled(url, tmp_path, server.origin, QIAO_SITEMAPS="on", QIAO_SOFT_404_PROBE="on")
        assert server.paths()[before:] == ["/"]


class PagedSite:
    """A list of 12 pages that brings new stories on its first *fresh* pages only."""

    def __init__(self, fresh: int) -> None:
        self._fresh = fresh

    def respond(self, host: str, path: str) -> Answer | None:
        if path == "/":
            return Answer(article("首页", links=("/list/1.html",)))
        if path.startswith("/list/"):
            number = int(path[6:].partition(".")[0])
            stories = [f"/s/{min(number, self._fresh)}{n:02}.html" for n in range(12)]
            items = "".join(f"<li><a href='{href}'>侨务新闻{href}</a></li>" for href in stories)
            pages = " ".join(f"<a href='/list/{n}.html'>{n}</a>" for n in range(1, 13))
            return Answer(
                (
                    f"<html><head><title>要闻列表</title></head><body><ul>{items}</ul><div>{pages}"
                    f"<a href='/list/{number + 1}.html'>下一页</a></div></body></html>"
                ).encode()
            )
        if path.startswith("/s/"):
            return Answer(article(f"侨乡故事{path}", paragraphs=2))
        return None


class Loops:
    """Redirects and refreshes without end (faults F-T4)."""

    def respond(self, host: str, path: str) -> Answer | None:
        step = random.Random(path).getrandbits(24)
        name = path.partition("?")[0]
        if name == "/":
            return Answer(
                article(
                    "首页",
                    links=("/to?a", "/fresh?a", "/one", "/wall", "/all-1", "/all-2", "/all-3"),
                )
            )
        if name.startswith("/all-"):
            return Answer(status=302, headers={"Location": "/target.html"})
        if name == "/to":
            return Answer(status=302, headers={"Location": f"/to?{step}"})
        if name in ("/one", "/two"):
            return Answer(status=302, headers={"Location": "/two" if name == "/one" else "/one"})
        if name == "/wall":
            return Answer(status=302, headers={"Location": "/wall", "Set-Cookie": "seen=1"})
        if name == "/fresh":
            return Answer(f'<meta http-equiv="refresh" content="0; url=/fresh?{step}">'.encode())
        return Answer(article("统一的落脚页")) if name == "/target.html" else None


def test_what_is_switched_off_lists_and_loops(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    sites = {HOST: respond, "lists.test": PagedSite(3).respond, "loops.test": Loops().respond}
    import_pack(url, pack(*sites))
    with local_server(lambda host, path: sites[host](host, path)) as server:
        # One at a time: two that are asked for at once may come in either order.
        crawled(url, tmp_path, server.origin, "CONCURRENT_REQUESTS_PER_DOMAIN=1",
                QIAO_FEEDS="off", QIAO_FRONTIER_RETRY_SECONDS="0.1")  # fmt: skip
    # Entrances that are switched off are not asked.
    assert set(server.paths(HOST)) == {"/", "/a.html", "/gone-soft.html"}
    # A list is read in order until it brings nothing new; then it is tried in vain, and the rest
    # stays listed.
    lists = [path for path in server.paths("lists.test") if path.startswith("/list/")]
    assert lists[:5] == [f"/list/{n}.html" for n in range(1, 6)]
    assert len(lists) == len(set(lists)) < 5 + 64
    left = [str(reason) for (reason,) in rows(
        url, "SELECT reason FROM url WHERE outcome IN ('postponed', 'trap')"
             " AND url LIKE 'http://lists.test/%'")]  # fmt: skip
    assert left
    assert {"lists.test/list/" in reason for reason in left} == {True}
    _check_that_loops_end([path.partition("?")[0] for path in server.paths("loops.test")])


def _check_that_loops_end(asked: list[str]) -> None:
    assert asked.count("/to") <= 21
    assert asked.count("/fresh") <= 21
    assert asked.count("/one") + asked.count("/two") == 2
    assert asked.count("/wall") <= 3
    assert asked.count("/target.html") == 1


class SitemapTree:
    """An index of thirty indexes of thirty sitemaps of thirty pages, which are not there."""

    def __init__(self) -> None:
        self._lists = count(1)

    def __call__(self, host: str, path: str) -> Answer | None:
        level = path.count("-")
        if not path.startswith("/sitemap") or level > 2:
            return Answer(article("首页")) if path == "/" else None
        kind, item = ("urlset", "url") if level == 2 else ("sitemapindex", "sitemap")
        base = f"http://{host}{path.removesuffix('.xml')}"
        places = (f"{base}-{n}.xml" if level < 2 else f"{base}/page-{n}.html" for n in range(30))
        listed = "".join(f"<{item}><loc>{one}</loc></{item}>" for one in places)
        # What the first ones list is stored before others come.
        is_early = level == 2 and next(self._lists) <= 6
        return Answer(f"<{kind} {_SPACE}>{listed}</{kind}>".encode(), headers=_XML,
                      before_seconds=0.4 if is_early else 0)  # fmt: skip


def test_a_tree_of_sitemaps_costs_a_host_so_much_and_no_more(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    import_pack(url, pack(HOST))
    with local_server(SitemapTree()) as server:
        done = crawled(
            url,
            tmp_path,
            server.origin,
            "QIAO_MAX_SITEMAPS_PER_HOST=10",
            "QIAO_MAX_LISTED_PER_HOST=40",
            QIAO_SITEMAPS="on",
        )
    read = [path for path in server.paths() if path.startswith("/sitemap") and "page" not in path]
    # Ten, and three rounds of postponed ones that led to nothing; the tree has 931.
    assert 10 <= len(read) <= 10 + 4 + 8 + 16, len(read)
    # Forty, and what sitemaps list that were read before the fortieth was stored.
    assert sum("page" in path for path in server.paths()) <= 40 + 2 * 30
    assert rows(url, "SELECT DISTINCT reason FROM url WHERE outcome = 'postponed'") == [
        (f"more than 10 sitemaps of {HOST}",)
    ]
    assert rows(
        url, "SELECT COUNT(*) <= 100 FROM url WHERE outcome IN ('postponed', 'sitemap')"
    ) == [(1,)]
    assert "'qiaocrawl/links/too_many_sitemaps'" in done.log
    assert f"the sitemaps of {HOST} list more than QIAO_MAX_SITEMAPS_PER_HOST=10" in done.log
