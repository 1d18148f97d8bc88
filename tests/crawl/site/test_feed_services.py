"""Services that make feeds, each in the form it writes, used as docs/feeds.md says."""

from __future__ import annotations

import time
from pathlib import Path

from crawling import Answer, article, crawl, import_pack, local_server, pack, rows
from qiaocrawl.storage import Database
from qiaocrawl.storage.sites.sources import FeedSource, add_sources, feed_sources
from qiaocrawl.topic.feeds import Feed

# RSSHub: every item with a guid that is no permalink, descriptions as escaped HTML.
RSSHUB = """<?xml version="1.0" encoding="UTF-8"?>
<rss xmlns:atom="http://www.w3.org/2005/Atom" version="2.0"><channel>
<title>侨乡日报 - 要闻</title><link>http://paper.test/news</link>
<atom:link href="http://hub.test:1200/qiaoxiang/news?key=k" rel="self"
 type="application/rss+xml"></atom:link>
<description>侨乡日报 - 要闻 - Powered by RSSHub</description><generator>RSSHub</generator>
<webMaster>contact@rsshub.app (RSSHub)</webMaster><language>zh-cn</language>
<lastBuildDate>Fri, 06 Mar 2026 02:10:00 GMT</lastBuildDate><ttl>5</ttl>
<item><title>侨胞回乡寻根</title><description>&lt;p&gt;侨胞回乡&lt;/p&gt;
&lt;a href=&quot;http://paper.test/ad&quot;&gt;广告&lt;/a&gt;</description>
<link>http://paper.test/news/1.html</link>
<guid isPermaLink="false">http://paper.test/news/1.html</guid>
<pubDate>Thu, 05 Mar 2026 02:00:00 GMT</pubDate>
<author>记者</author><category>侨务</category></item>
</channel></rss>"""
# we-mp-rss: an id that is no part of RSS, dates by the clock of its machine and without a zone.
WE_MP_RSS = """<?xml version="1.0" encoding="utf-8"?>\r
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>\
<title>侨乡发布</title><link>http://werss.test:8001/</link><description>发布侨情</description>\
<language>zh-CN</language><generator>Mp-We-Rss</generator>\
<lastBuildDate>Fri, 06 Mar 2026 10:10:00 </lastBuildDate>\
<image><url>http://wx.test/cover</url><title>侨乡发布</title><link>http://werss.test:8001/</link></image>\
<item><id>MP_WXS_1-2</id><title>华侨农场变迁</title><description>华侨农场</description>\
<guid>http://wx.test/s/AbC</guid><enclosure url="http://wx.test/pic" length="0" type="image/jpeg">\
</enclosure><content:encoded>&lt;p&gt;华侨农场&lt;/p&gt;</content:encoded>\
<link>http://wx.test/s/AbC</link>\
<pubDate>Thu, 05 Mar 2026 09:30:00 </pubDate></item></channel></rss>"""
# Google Alerts: Atom, words found in <b>, every link through its own redirect.
ALERTS = """<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:idx="urn:atom-extension:indexing">
<id>tag:google.com,2013:googlealerts/feed:111</id><title>Google Alert - 侨胞</title>
<link href="http://alerts.test/alerts/feeds/1/2" rel="self"></link>
<updated>2026-03-07T03:05:00Z</updated>
<entry><id>tag:google.com,2013:googlealerts/feed:222</id>
<title type="html">&lt;b&gt;侨胞&lt;/b&gt;返乡投资 - 某报</title>
<link href="http://alerts.test/url?rct=j&amp;sa=t&amp;url=http://other.test/n%3Fid%3D7\
&amp;ct=ga&amp;cd=CAIy&amp;usg=AOv"></link>
<published>2026-03-07T03:00:00Z</published><updated>2026-03-07T03:00:00Z</updated>
<content type="html">&lt;b&gt;侨胞&lt;/b&gt;返乡</content>
<author><name></name></author></entry></feed>"""
SHUT = b"User-agent: *\nDisallow: /"
FEEDS = {
    "http://hub.test/qiaoxiang/news?key=k": RSSHUB,
    "http://werss.test/rss/MP_WXS_1": WE_MP_RSS,
    "http://alerts.test/alerts/feeds/1/2": ALERTS,
}


class Web:
    """The services and the pages they lead to.

    Attributes:
        shut: hosts whose robots.txt lets nobody in.
    """

    def __init__(self) -> None:
        self.shut = {"hub.test"}
        undated = article("华侨农场变迁").replace(b"2026-03-05 10:00", b"")
        self.pages = {
            ("paper.test", "/news/1.html"): article("侨胞回乡寻根"),
            ("wx.test", "/s/AbC"): undated,
            ("other.test", "/n?id=7"): article("侨胞返乡投资"),
        }
        for address, content in FEEDS.items():
            host, _slash, path = address.removeprefix("http://").partition("/")
            self.pages[host, f"/{path}"] = content.encode()

    def respond(self, host: str, path: str) -> Answer | None:
        if path == "/robots.txt":
            return Answer(SHUT) if host in self.shut else None
        body = self.pages.get((host, path))
        # Alerts answer programs that follow their links with a page of scripts.
        if body is None and (host, path[:4]) == ("alerts.test", "/url"):
            return Answer(b"<title>Redirect Notice</title>")
        kind = "application/xml" if body and body.startswith(b"<?xml") else "text/html"
        return None if body is None else Answer(body, headers={"Content-Type": kind})


def _sources(database_url: str) -> dict[str, FeedSource]:
    with Database.open(database_url) as database, database.engine.connect() as c:
        return {one.url: one for one in feed_sources(c, "qiaoqing")}


def test_each_service_brings_the_pages_it_lists(tmp_path: Path) -> None:
    database_url = f"sqlite:///{tmp_path / 'q.db'}"
    web = Web()
    import_pack(database_url, pack())
    with Database.open(database_url) as database, database.engine.begin() as c:
        add_sources(c, "qiaoqing", [Feed(one) for one in FEEDS], now=time.time())

    def watch() -> None:
        with local_server(web.respond) as server:
            done = crawl(
                "watch", database_url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin
            )
            assert done.returncode == 0, done.log
            asked.update((hit.host, hit.path) for hit in server.log)

    asked: set[tuple[str, str]] = set()
    watch()
    # RSSHub as it comes lets no program in: that is said.
    hub, *others = FEEDS
    found = _sources(database_url)
    assert {one: found[one].state for one in others} == dict.fromkeys(others, "well")
    assert (found[hub].state, "robots" in found[hub].reason) == ("failing", True), found[hub]
    web.shut.clear()
    with Database.open(database_url) as database, database.engine.begin() as c:
        c.exec_driver_sql("UPDATE watched_page SET next_at = 1, last_at = last_at - 1000000")
    watch()
    stored = rows(
        database_url,
        "SELECT u.url, a.title, a.published_at FROM article a JOIN url u ON u.id = a.url_id",
    )
    assert {str(url): str(at)[:16] for url, _title, at in stored} == {
        "http://paper.test/news/1.html": "2026-03-05 02:00",
        # By the clock of the service, which is China's: its page tells no day.
        "http://wx.test/s/AbC": "2026-03-05 01:30",
        "http://other.test/n?id=7": "2026-03-05 02:00",
    }
    assert not [path for host, path in asked if host == "alerts.test" and path.startswith("/url")]
