"""Feeds that a topic has as sources: their entries are fetched on any host, and lead no further."""

from __future__ import annotations

import json
import time
from pathlib import Path

from sqlalchemy import text

from crawling import (
    Answer,
    Crawl,
    LocalServer,
    article,
    crawl,
    import_pack,
    local_server,
    pack,
    rows,
)
from qiaocrawl.storage import Database
from qiaocrawl.storage.sites.sources import FeedSource, add_sources, feed_sources, remove_source
from qiaocrawl.topic.feeds import Feed

TOPIC = "topic=qiaoqing"
# As services that make feeds of other sites write them: nothing lies on their own host.
RSS = """<?xml version="1.0" encoding="UTF-8"?>
<rss xmlns:atom="http://www.w3.org/2005/Atom" version="2.0"><channel>
<title><![CDATA[侨乡要闻]]></title><link>https://paper.test/</link>
<atom:link href="http://maker.test/qiaoxiang/news" rel="self" type="application/rss+xml"/>
<item><title><![CDATA[侨胞回乡寻根]]></title><description><![CDATA[<p>侨胞回乡</p>]]></description>
<link>http://paper.test/2026/a1.html</link><guid isPermaLink="false">a1</guid>
<pubDate>Thu, 05 Mar 2026 02:00:00 GMT</pubDate></item>
<item><title>华侨农场变迁</title><link>http://paper.test/2026/undated.html</link>
<pubDate>Fri, 06 Mar 2026 01:30:00 GMT</pubDate></item>
</channel></rss>"""
ATOM = """<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom">
<id>tag:alerts.test,2013:1</id><title>提醒 - 侨胞</title>
<entry><id>tag:alerts.test,2013:2</id><title type="html">&lt;b&gt;侨胞&lt;/b&gt;返乡投资</title>
<link href="http://alerts.test/url?rct=j&amp;url=http://other.test/n/7.html&amp;ct=ga"/>
<published>2026-03-07T03:00:00Z</published></entry></feed>"""
JSON_FEED = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "侨刊",
        "items": [
            {"id": "1", "url": "http://journal.test/p/9", "title": "侨刊话侨乡",
             "date_published": "2026-03-08T08:00:00+08:00"}
        ],
    }
)  # fmt: skip


class Web:
    """A service of feeds and the papers they are made of; its feeds can be changed."""

    def __init__(self) -> None:
        undated = article("华侨农场变迁").replace(b"2026-03-05 10:00", b"")
        link = '<a href="http://paper.test/2026/further.html">华侨新村的更多报道在这里</a></body>'
        self.pages = {
            ("maker.test", "/qiaoxiang/news"): Answer(
                RSS.encode(), headers={"Content-Type": "application/rss+xml"}
            ),
            ("alerts.test", "/feeds/1"): Answer(
                ATOM.encode(), headers={"Content-Type": "application/atom+xml"}
            ),
            ("alerts.test", "/url?rct=j&url=http://other.test/n/7.html&ct=ga"): Answer(
                status=302, headers={"Location": "http://other.test/n/7.html"}
            ),
            ("journal.test", "/feed.json"): Answer(
                JSON_FEED.encode(), headers={"Content-Type": "application/feed+json"}
            ),
            ("paper.test", "/2026/a1.html"): Answer(
                article("侨胞回乡寻根").replace(b"</body>", link.encode())
            ),
            ("paper.test", "/2026/undated.html"): Answer(undated),
            ("paper.test", "/2026/further.html"): Answer(article("华侨新村")),
            ("other.test", "/n/7.html"): Answer(article("侨胞返乡投资")),
            ("journal.test", "/p/9"): Answer(article("侨刊话侨乡")),
        }

    def respond(self, host: str, path: str) -> Answer | None:
        return self.pages.get((host, path))


def watch(database_url: str, folder: Path, server: LocalServer, *arguments: str) -> Crawl:
    done = crawl("watch", database_url, TOPIC, *arguments, folder=folder, QIAO_DEMO=server.origin)
    assert done.returncode == 0, done.log
    return done


def add(database_url: str, *addresses: str) -> None:
    with Database.open(database_url) as database, database.engine.begin() as c:
        add_sources(c, "qiaoqing", [Feed(one) for one in addresses], now=time.time())


def sources(database_url: str) -> dict[str, FeedSource]:
    with Database.open(database_url) as database, database.engine.connect() as c:
        return {one.url: one for one in feed_sources(c, "qiaoqing")}


def make_due(database_url: str) -> None:
    """As if the planned time had passed."""
    with Database.open(database_url) as database, database.engine.begin() as c:
        c.execute(text("UPDATE watched_page SET next_at = 1, last_at = last_at - 1000000"))


def test_entries_of_feeds_are_fetched_wherever_they_lie_and_lead_no_further(
    mariadb_url: str, tmp_path: Path
) -> None:
    web = Web()
    import_pack(mariadb_url, pack())
    feeds = (
        "http://maker.test/qiaoxiang/news",
        "http://alerts.test/feeds/1",
        "http://journal.test/feed.json",
    )
    add(mariadb_url, *feeds)
    with local_server(web.respond) as server:
        watch(mariadb_url, tmp_path, server)
        stored = rows(
            mariadb_url,
            "SELECT u.url, a.published_at FROM article a JOIN url u ON u.id = a.url_id"
            " ORDER BY u.url",
        )
        assert {str(url): str(at) for url, at in stored} == {
            "http://journal.test/p/9": "2026-03-05 02:00:00",
            "http://other.test/n/7.html": "2026-03-05 02:00:00",
            "http://paper.test/2026/a1.html": "2026-03-05 02:00:00",
            # Its page tells no day: the feed's counts.
            "http://paper.test/2026/undated.html": "2026-03-06 01:30:00",
        }
        asked = {(hit.host, hit.path) for hit in server.log}
        assert ("paper.test", "/2026/further.html") not in asked
        found = sources(mariadb_url)
        assert {url: (one.state, one.visits) for url, one in found.items()} == dict.fromkeys(
            feeds, ("well", 1)
        )

        # One becomes a page of a service that was switched off, one moves, one is taken away.
        web.pages["alerts.test", "/feeds/1"] = Answer(article("服务已停"))
        web.pages["maker.test", "/qiaoxiang/news"] = Answer(
            status=301, headers={"Location": "http://new.test/news.xml"}
        )
        web.pages["new.test", "/news.xml"] = Answer(
            RSS.replace("a1.html", "a2.html").encode(),
            headers={"Content-Type": "application/rss+xml"},
        )
        web.pages["paper.test", "/2026/a2.html"] = Answer(article("新侨办厂"))
        with Database.open(mariadb_url) as database, database.engine.begin() as c:
            assert remove_source(c, "qiaoqing", feeds[2])
            assert not remove_source(c, "qiaoqing", "http://nowhere.test/")
        make_due(mariadb_url)
        before = len(server.log)
        watch(mariadb_url, tmp_path, server)
        later = {(hit.host, hit.path) for hit in server.log[before:]}
        assert ("journal.test", "/feed.json") not in later
        assert ("paper.test", "/2026/a2.html") in later
        assert {url: one.state for url, one in sources(mariadb_url).items()} == {
            feeds[0]: "moved",
            feeds[1]: "no_feed",
            "http://new.test/news.xml": "well",
        }


def test_named_sites_are_watched_without_the_feeds(tmp_path: Path) -> None:
    database_url = f"sqlite:///{tmp_path / 'news.db'}"
    web = Web()
    web.pages["www.qiao.test", "/"] = Answer(article("首页"))
    import_pack(database_url, pack("www.qiao.test"))
    add(database_url, "http://maker.test/qiaoxiang/news")
    with local_server(web.respond) as server:
        watch(database_url, tmp_path, server, "site=www.qiao.test")
        assert "maker.test" not in {hit.host for hit in server.log}
