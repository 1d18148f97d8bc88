"""Feeds of a topic at the console: added, refused beside the field, imported, exported, removed."""

from __future__ import annotations

from console_client import Desk, visible
from crawling import pack
from qiaocrawl.storage import audit_log
from qiaocrawl.storage.sites.sources import feed_sources
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.feeds import feeds_in

FEED = "http://maker.test/wx/1"
OPML = f'<opml><body><outline text="公众号" xmlUrl="{FEED}"/></body></opml>'


def ready(desk: Desk, role: str = "editor") -> None:
    with desk.database.engine.begin() as c:
        save_pack(c, pack(), now=1.8e9)
    desk.log_in_as(role)


def test_a_feed_is_added_named_listed_and_taken_away(desk: Desk) -> None:
    ready(desk)
    assert "No feed yet" in visible(desk.get("/sites/feeds").text)
    said = desk.post("/sites/feeds", topic="qiaoqing", url=FEED, name="侨乡公众号")
    assert "1 feed added" in visible(said.text)
    again = desk.post("/sites/feeds", topic="qiaoqing", url=FEED)
    assert "1 was there already" in visible(again.text)
    page = visible(desk.get("/sites/feeds", params={"topic": "qiaoqing"}).text)
    assert "侨乡公众号" in page
    assert "not visited yet" in page
    exported = desk.get("/sites/feeds.opml", params={"topic": "qiaoqing"})
    assert feeds_in(exported.content, "a.opml")[0].name == "侨乡公众号"
    assert desk.post("/sites/feeds/remove", topic="qiaoqing", url=FEED).status_code == 303
    with desk.database.engine.connect() as c:
        assert feed_sources(c, "qiaoqing") == []
        actions = [entry.action for entry in audit_log.entries(c)]
    assert actions[:3] == ["feed.remove", "feed.add", "feed.add"]


def test_a_wrong_address_is_told_beside_the_field_and_the_form_is_kept(desk: Desk) -> None:
    ready(desk)
    said = desk.post("/sites/feeds", topic="qiaoqing", url="wx:公众号", name="侨报")
    assert said.status_code == 400
    assert 'value="wx:公众号"' in said.text
    assert 'value="侨报"' in said.text
    assert "no http or https address" in visible(said.text)


def test_a_list_is_imported_and_one_that_is_none_says_why(desk: Desk) -> None:
    ready(desk)
    fields = {"topic": "qiaoqing", "csrf_token": desk.token}
    for name, data, words in (
        ("list.opml", OPML, "1 feed added"),
        ("list.opml", "<html/>", "no OPML document"),
        ("", "", "choose a file first"),
    ):
        files = {"file": (name, data.encode())}
        said = desk.client.post("/sites/feeds", data=fields, files=files)
        assert words in visible(said.text), said.text


def test_a_reader_sees_feeds_and_changes_none(desk: Desk) -> None:
    ready(desk, "reader")
    assert "multipart/form-data" not in desk.get("/sites/feeds").text
    assert desk.post("/sites/feeds", topic="qiaoqing", url=FEED).status_code == 403
