"""Trends at the console: counted, compared, led on to articles, taken home."""

from __future__ import annotations

import html
import json
import re
from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from openpyxl import load_workbook

from console_client import Desk, visible
from qiaocrawl.console.security import credentials
from qiaocrawl.news.trends.trend import trend_of_selection
from qiaocrawl.news.trends.usual import Stretch, default_calendar
from qiaocrawl.storage.selection import Selection
from qiaocrawl.storage.topics.word_groups import kept_groups
from qiaocrawl.text.zones import SHANGHAI, start_of_days
from storage_samples import PACK
from told_stories import make_stories, tell_stories

PARTS = ("", "/words", "/names", "/outlets", "/spread", "/hits")


@pytest.fixture
def told(desk: Desk, database_url: str) -> Desk:
    """A reader's console over two stories of today, in Chinese."""
    make_stories(database_url)
    tell_stories(database_url)
    desk.log_in_as("reader")
    desk.client.cookies.set(credentials.LANGUAGE, "zh_CN")
    return desk


def test_the_curve_counts_what_its_links_lead_to(told: Desk) -> None:
    page = told.get("/trends?days=7").text
    drawn = json.loads(html.unescape(re.findall(r'data-chart="([^"]+)"', page)[0]))
    counts = drawn["lines"][0]["values"]
    assert len(counts) == len(drawn["labels"]) == 7
    now = datetime.now(UTC)
    with told.database.reading() as c:
        trend, _left_out = trend_of_selection(
            c,
            Selection(topic=PACK.name, only_relevant=True),
            Stretch(start_of_days(now, 7), now),
            default_calendar(),
        )
    assert trend is not None
    assert counts == [step.count for step in trend.steps], "the command counts the same"
    assert sum(counts) == 3
    for count, query in zip(counts, drawn["queries"], strict=True):
        listed = told.get(f"/articles?{query}").text
        assert len(re.findall(r'class="console-row', listed)) == count
    words = visible(page)
    assert "按发布日期：3 篇" in words
    assert "看表格" in words


def test_every_word_name_and_outlet_leads_to_its_articles(told: Desk) -> None:
    for part, expected in (("/names", "马德里"), ("/outlets", "甲侨网")):
        page = told.get(f"/trends{part}?days=7").text
        (link,) = re.findall(rf'href="([^"]+)">{expected}</a>', page)[:1]
        listed = visible(told.get(html.unescape(link)).text)
        assert "马德里" in listed, part
        assert "槟城" not in listed, part
    spread = told.get("/trends/spread?days=7").text
    assert re.search(r'/stories/\d+">[^<]*马德里', spread)


def test_what_is_compared_stands_beside_each_other(told: Desk) -> None:
    page = told.get("/trends?days=7&against=~").text
    drawn = json.loads(html.unescape(re.findall(r'data-chart="([^"]+)"', page)[0]))
    assert [line["name"] for line in drawn["lines"]] == ["本期", "上一期"]
    assert drawn["lines"][1]["values"] == [0] * 7
    for part in PARTS[1:]:
        assert told.get(f"/trends{part}?days=7&against=~").status_code == 200


def test_an_empty_period_says_why_and_where_there_is_something(told: Desk) -> None:
    last = datetime.now(SHANGHAI).date() - timedelta(days=200)
    words = visible(told.get(f"/trends?since={last}&until={last}").text)
    assert "这些天没有切题的报道" in words
    assert f"{datetime.now(SHANGHAI):%Y}" in words


@pytest.mark.parametrize("part", ["show", "words", "names", "outlets", "spread", "hits"])
def test_each_page_is_taken_home_as_a_workbook(told: Desk, part: str) -> None:
    for more in ("", "&against=~"):
        answer = told.get(f"/trends/export/{part}?days=7{more}")
        assert answer.status_code == 200
        assert load_workbook(BytesIO(answer.content)).sheetnames
    assert told.get("/trends/export/nothing").status_code == 404


def test_without_a_topic_or_with_a_wrong_address_there_is_a_page(sqlite_desk: Desk) -> None:
    sqlite_desk.log_in_as("reader")
    for part in (*PARTS, "/cards"):
        assert sqlite_desk.get(f"/trends{part}").status_code == 200
    make_stories(str(sqlite_desk.database.engine.url))
    for query in ("days=x", "since=2026-13-01", "since=9999-01-01&until=1", "against=nothing"):
        assert sqlite_desk.get(f"/trends?{query}").status_code == 200


def test_cards_are_a_part_of_a_page_and_words_of_an_earlier_period_too(told: Desk) -> None:
    cards = told.get("/trends/cards?days=7").text
    assert "<html" not in cards
    assert "甲侨网" in cards


def test_groups_of_words_are_kept_counted_changed_and_dropped(told: Desk) -> None:
    told.log_in_as("editor")
    told.client.cookies.set(credentials.LANGUAGE, "zh_CN")
    kept = told.post(f"/trends/hits/{PACK.name}", name="火灾", any="失火、起火", none="校庆")
    assert kept.status_code == 303
    told.post(f"/trends/hits/{PACK.name}", name="学校", any="小学", all="校庆")
    page = told.get("/trends/hits?days=7").text
    words = visible(page)
    # Two outlets have one text, which counts once.
    assert re.search(r"火灾 1 1", words)
    assert re.search(r"学校 1 1", words)
    assert "槟城华文小学迎百年校庆" in words
    drawn = json.loads(html.unescape(re.findall(r'data-chart="([^"]+)"', page)[0]))
    assert dict(zip(drawn["labels"], drawn["lines"][0]["values"], strict=True)) == {
        "火灾": 1,
        "学校": 1,
    }
    workbook = load_workbook(BytesIO(told.get("/trends/export/hits?days=7").content))
    assert workbook.sheetnames == ["专题命中", "命中文章"]
    # The group chooses lists, files and feeds; near each other is one more condition.
    assert "马德里" in visible(told.get("/articles?group=火灾&copies=1").text)
    assert "槟城" not in visible(told.get("/articles?group=火灾&copies=1").text)
    assert "马德里" in told.get("/articles/export/csv?group=火灾").text
    assert "槟城" not in told.get("/articles/feed.xml?group=火灾").text
    near = f"/trends/hits/{PACK.name}"
    assert told.post(near, name="近", near="侨胞、失火", within="x").status_code == 400
    told.post(near, name="近", near="仓库、失火\n小学、无此词", within="")
    told.post(near, name="远", near="马德里、侨胞", within="1")
    assert "马德里" in visible(told.get("/articles?group=近").text)
    assert "马德里" not in visible(told.get("/articles?group=远").text)
    for name in ("近", "远"):
        told.post(f"{near}/drop", name=name)
    # Another name takes the place of the old one; a name alone is refused, and nothing is lost.
    told.post(f"/trends/hits/{PACK.name}", old="火灾", name="火情", any="失火")
    assert told.post(f"/trends/hits/{PACK.name}", name="空").status_code == 400
    words = visible(told.get("/trends/hits?days=7").text)
    assert "火情" in words
    assert "火灾" not in words
    told.post(f"/trends/hits/{PACK.name}/drop", name="学校")
    assert "迎百年校庆" not in visible(told.get("/trends/hits?days=7").text)
    told.log_in_as("administrator")
    told.client.cookies.set(credentials.LANGUAGE, "zh_CN")
    assert "改了专题词组" in visible(told.get("/people/changes").text)


def test_groups_come_out_of_a_file_and_a_wrong_one_changes_nothing(told: Desk) -> None:
    told.log_in_as("editor")
    address, token = f"/trends/hits/{PACK.name}", {"csrf_token": told.token}
    told.post(f"/trends/hits/{PACK.name}", name="火灾", any="旧词")
    wrong = {"file": ("词组.csv", "名,词\n火灾,失火\n".encode(), "text/csv")}
    assert told.client.post(address, data=token, files=wrong).status_code == 400
    rows = "组,词,用法\n火灾,失火、起火,\n火灾,校庆,排除\n学校,小学,任一\n"
    sent = {"file": ("词组.csv", rows.encode("utf-8-sig"), "text/csv")}
    assert told.client.post(address, data=token, files=sent).status_code == 303
    with told.database.reading() as c:
        groups = {one.name: one for one in kept_groups(c, PACK.name)}
    assert groups.keys() == {"火灾", "学校"}
    assert groups["火灾"].any_of == ("失火", "起火")
    assert groups["火灾"].none_of == ("校庆",)
    told.log_in_as("reader")
    assert told.post(f"/trends/hits/{PACK.name}", name="x", any="y").status_code == 403


def test_kinds_of_media_are_said_of_many_outlets_at_once_and_choose_lists(told: Desk) -> None:
    words = visible(told.get("/sites/media").text)
    assert "类别未定" in words
    assert "b.example" in words
    told.log_in_as("editor")
    told.client.cookies.set(credentials.LANGUAGE, "zh_CN")
    assert told.post("/sites/media", medium="diaspora").status_code == 400
    assert told.post("/sites/media", host="b.example", medium="x").status_code == 400
    hosts = {"host": ["b.example", "c.example"], "medium": "diaspora", "csrf_token": told.token}
    assert told.client.post("/sites/media", data=hosts).status_code == 303
    assert "b.example" in visible(told.get("/sites/media?kind=diaspora").text)
    listed = visible(told.get("/articles?medium=diaspora&copies=1").text)
    assert "槟城" in listed
    assert "侨媒" in listed
    assert "槟城" not in visible(told.get("/articles?medium=unknown&copies=1").text)
    assert "槟城" not in told.get("/articles/feed.xml?medium=unknown").text
    assert "槟城" in told.get("/articles/export/csv?medium=diaspora").text
    # A rule of warnings names both, and what is none is refused beside its field.
    told.post(f"/trends/hits/{PACK.name}", name="火灾", any="失火")
    rule = {"name": "侨媒火灾", "severity": "warning", "groups": "火灾", "media": "diaspora"}
    assert "火灾" in told.get("/warnings/rules/new").text
    previewed = visible(told.post("/warnings/rules/preview", **rule, least_articles="1").text)
    assert "马德里" in previewed
    wrong = told.post("/warnings/rules/preview", **{**rule, "media": "x"})
    assert wrong.status_code == 400
