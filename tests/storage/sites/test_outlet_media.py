"""Kinds of media: as an operator said, as a topic has the site, or unknown; a choice of lists."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select

from qiaocrawl.console.pages.outlet_media import outlet_lines
from qiaocrawl.errors import ConfigError
from qiaocrawl.storage import Database
from qiaocrawl.storage.schema import article
from qiaocrawl.storage.selection import Selection, article_conditions
from qiaocrawl.storage.sites.media import NAME, SAID, TOPIC, OutletMedia, known_media, say_medium
from qiaocrawl.topic.media import MEDIA, UNKNOWN, medium_of_site
from qiaocrawl.topic.pack import SITE_KINDS, Site
from storage_samples import PACK, add_topic, put_article

SITES = (
    Site("www.paper.cn", "某报", "target", 1, "中国", "newspaper"),
    Site("daily.fj.cn", "某地日报", "target", 3, "福建泉州", "newspaper"),
    Site("www.abroad.my", "某国报", "target", 3, "马来西亚", "newspaper"),
    Site("trade.cn", "行业报", "target", 4, "中国", "newspaper"),
    Site("bbs.cn", "某论坛", "target", 5, "", "forum"),
)
HOSTS = {
    "news.paper.cn": ("central", TOPIC), "daily.fj.cn": ("local", TOPIC),
    "www.abroad.my": ("overseas", TOPIC), "trade.cn": (UNKNOWN, ""), "a.bbs.cn": ("forum", TOPIC),
    "qb.xx.gov.cn": ("government", NAME), "notgov.cn": (UNKNOWN, ""),
}  # fmt: skip


@pytest.fixture
def named(database: Database) -> Database:
    add_topic(database, replace(PACK, sites=SITES))
    with database.engine.begin() as c:
        for number, host in enumerate(HOSTS):
            put_article(c, str(number), host=host)
    return database


def sites_of(database: Database, *kinds: str) -> set[str]:
    with database.reading() as c:
        chosen = article_conditions(c, Selection(media=kinds))
        return set(c.execute(select(article.c.site).where(*chosen)).scalars())


def test_what_is_certain_follows_and_all_else_is_unknown(named: Database) -> None:
    with named.reading() as c:
        media = OutletMedia(c, None)
        assert {host: media.of(host)[:2] for host in HOSTS} == HOSTS
        lines = outlet_lines(c)
        assert lines.sites == lines.articles
        assert lines.sites[UNKNOWN] == 2
    for kind in MEDIA:
        assert sites_of(named, kind) == {host for host, own in HOSTS.items() if own[0] == kind}
    assert {medium_of_site(kind, "某地", 3) for kind in SITE_KINDS} <= {*MEDIA, ""} - {UNKNOWN}


def test_an_operators_word_goes_before_all_and_can_be_taken_back(named: Database) -> None:
    with named.engine.begin() as c:
        said = say_medium(c, ["abroad.my", "NOTGOV.cn"], "侨媒", by="editor", now=0.0)
        assert said == {"abroad.my": "", "notgov.cn": ""}
    assert sites_of(named, "diaspora") == {"www.abroad.my", "notgov.cn"}
    assert sites_of(named, "overseas", "local") == {"daily.fj.cn"}
    with named.engine.begin() as c:
        assert OutletMedia(c, None).of("www.abroad.my") == ("diaspora", SAID, "abroad.my")
        before = say_medium(c, ["abroad.my"], UNKNOWN, by="editor", now=1.0)
        assert before == {"abroad.my": "diaspora"}
    assert sites_of(named, "overseas") == {"www.abroad.my"}
    with named.engine.begin() as c:
        for hosts, kind in (([""], "local"), ([], "local"), (["a.cn"], "nothing")):
            with pytest.raises(ConfigError):
                say_medium(c, hosts, kind, by="editor", now=0.0)


def test_kinds_are_known_by_key_and_by_what_they_are_called() -> None:
    assert known_media(["Central", "central media", "unknown"]) == ("central", "unknown")
    with pytest.raises(ConfigError, match="diaspora"):
        known_media(["x"])
