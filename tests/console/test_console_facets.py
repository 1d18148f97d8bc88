"""Choices with counts: a count is that of the list it leads to; several sites or tiers at once."""

from __future__ import annotations

import html
import math
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest

from benchmarks.consoles.collection import TOPIC, fill
from console_articles import add_stories
from console_client import Desk, visible
from qiaocrawl.console.keepers import CountKeeper
from qiaocrawl.console.page import Console
from qiaocrawl.console.pages.listed_articles import ArticleFilter
from qiaocrawl.lexicon.term_groups import TermGroup
from qiaocrawl.reading import article_columns, facets
from qiaocrawl.reading import pages_of_a_list as article_list
from qiaocrawl.reading.facets import Count, FacetCounter
from qiaocrawl.reading.pages_of_a_list import ListWish
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages.articles import page_of
from qiaocrawl.storage.selection import Selection
from qiaocrawl.storage.sites.media import say_medium
from qiaocrawl.storage.topics.judgements import save_judgement
from qiaocrawl.storage.topics.word_groups import keep_groups, mark_some
from storage_samples import PACK

ARTICLES, _VALUES = 300, 8
NOW = datetime(2026, 11, 20, 4, tzinfo=UTC)
_VALUE = re.compile(
    r'<a href="([^"]*)"( aria-current="true")?>.*?<span>(.*?)</span></a> <span[^>]*>(.*?)</span>'
)
A, B = "www.a-qiao.cn", "www.b-news.cn"
STARTS: tuple[dict[str, str], ...] = (
    {}, {"copies": "1"}, {"relevance": "any"}, {"topic": PACK.name, "relevance": "no"},
    {"status": "reprint", "copies": "1"}, {"since": "2026-03-05", "until": "2026-03-05"},
)  # fmt: skip


def counts_of(desk: Desk, **choices: object) -> dict[str, dict[str, tuple[str, str]]]:
    """Facet, value, then its count as it is shown and the list it leads to."""
    page = desk.get(f"/articles/facets?part=1&{urlencode(choices, doseq=True)}")
    assert page.status_code == 200
    assert "<html" not in page.text
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for section in page.text.split("<section>")[1:]:
        name = re.findall("<h3>(.*?)</h3>", section)[0]
        found[name] = {value: (count, html.unescape(link))
                       for link, _now, value, count in _VALUE.findall(section)}  # fmt: skip
    return found


def unchosen(desk: Desk, **choices: str) -> list[tuple[str, str]]:
    """Counts and links of the values that are not chosen."""
    page = desk.get(f"/articles/facets?{urlencode(choices)}").text
    return [(count, html.unescape(link)) for link, now, _value, count in _VALUE.findall(page)
            if not now]  # fmt: skip


def titles(desk: Desk, path: str) -> list[str]:
    """Titles of a list."""
    return re.findall(r'console-title"><a [^>]*>(.*?)</a>', desk.get(path).text)


def test_each_count_is_that_of_the_list_it_leads_to(desk: Desk) -> None:
    add_stories(desk.database)
    desk.log_in_as("reader")
    looked_at = 0
    for start in STARTS:
        for count, link in unchosen(desk, **start):
            looked_at += 1
            assert len(titles(desk, link)) == int(count), (start, link)
    assert looked_at > 40
    whole = visible(desk.get("/articles/facets").text)
    assert "Choices with counts" in whole
    assert "乙新闻 2" in whole


def test_counts_by_columns_lead_to_lists_of_so_many_and_follow_what_is_judged(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(article_columns, "LEAST_KEPT", 1)
    add_stories(desk.database)
    console: Console = desk.client.app.state.console  # type: ignore[attr-defined]
    keeper = CountKeeper(desk.database)
    keeper.look()
    assert keeper.columns.is_ready
    monkeypatch.setattr(console, "columns", keeper.columns)
    # However few are looked at otherwise.
    monkeypatch.setattr(facets, "MOST_FACETED", 1)
    desk.log_in_as("editor")
    for start in STARTS:
        for count, link in unchosen(desk, **start):
            assert len(titles(desk, link)) == int(count), (start, link)
    on_topic = [int(counts_of(desk, copies="1", found="3001")["Relevance"]["on topic"][0])]
    with desk.database.engine.begin() as c:
        wanted = Selection(only_relevant=True)
        judged = article_list.list_page(c, ListWish(wanted, folded=False)).ids[0]
        address = page_of(c, judged)[1]
        save_judgement(c, PACK.name, address, relevant=False, note="", now=0.0)
    on_topic.append(int(counts_of(desk, copies="1", found="3002")["Relevance"]["on topic"][0]))
    assert on_topic[0] - on_topic[1] == 1
    # It sees for itself when something changed without a trace.
    with desk.database.engine.begin() as c:
        c.exec_driver_sql("UPDATE relevance SET relevant = 1 - relevant WHERE article_id = 2")
    monkeypatch.setattr(keeper, "_verified_at", -math.inf)
    keeper.look()
    with desk.database.reading() as c:
        assert keeper.columns.is_true(c)


def test_several_sites_and_tiers_are_one_or_the_other(desk: Desk) -> None:
    add_stories(desk.database)
    desk.log_in_as("reader")
    both = urlencode({"site": [A, B], "tier": [1, 3], "copies": "1"}, doseq=True)
    page = desk.get(f"/articles?{both}")
    assert len(titles(desk, f"/articles?{both}")) == 3
    assert page.text.count('type="checkbox" name="site"') == 2
    assert len(re.findall(r'name="(?:site|tier)" value="[^"]+" checked', page.text)) == 4
    assert "3 articles" in visible(page.text)
    # The whole choice is handed on: to a file, to the page after, to one article.
    rows = desk.get(f"/articles/export/csv?{both}").text.strip().splitlines()
    assert len(rows) == 4
    assert urlencode({"site": [A, B]}, doseq=True) in html.unescape(page.text)
    assert "2 of 3" in visible(desk.get(f"/articles/2?{both}&place=1").text)
    # Beside a site stands what it has by itself, whatever other sites are chosen.
    counts = counts_of(desk, site=A)["Site"]
    assert {name: count for name, (count, _link) in counts.items()} == {
        "甲侨网": "1",
        "乙新闻": "2",
    }
    assert counts["甲侨网"][1] == "/articles?"
    assert counts["乙新闻"][1] == f"/articles?{urlencode({'site': [A, B]}, doseq=True)}"
    assert counts_of(desk, region="北京", relevance="any")["Tier"].keys() == {"tier 1"}


def test_kept_lists_have_several_values_and_too_many_are_cut(sqlite_desk: Desk) -> None:
    sqlite_desk.log_in_as("reader")
    query = urlencode({"site": [A, B, A, " "], "tier": ["1", "x", "0"]}, doseq=True)
    assert sqlite_desk.post("/articles/searches", name="两家", query=query).status_code == 303
    kept = urlencode({"site": [A, B], "tier": ["1"]}, doseq=True)
    assert f'href="/articles?{html.escape(kept)}">两家' in sqlite_desk.get("/articles").text
    many = ArticleFilter.of(("site", f"s{number}.cn") for number in range(500))
    assert len(many.site) == 50


def test_more_than_are_looked_at_are_told_as_at_least(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_stories(sqlite_desk.database)
    sqlite_desk.log_in_as("reader")
    monkeypatch.setattr(facets, "MOST_FACETED", 1)
    page = visible(sqlite_desk.get("/articles/facets?relevance=any&copies=1").text)
    assert "1+" in page
    assert "+ means at least" in page
    # Without the index a word is looked for in texts, which is never done for a count.
    console: Console = sqlite_desk.client.app.state.console  # type: ignore[attr-defined]
    console.search.stop()
    monkeypatch.setattr(console.search, "_in_step", False)
    page = visible(sqlite_desk.get("/articles/facets?q=%E4%BE%A8%E5%8A%A1").text)
    assert "not counted" in page
    assert "only the first" in page
    assert sqlite_desk.get("/articles/facets?topic=nothing").status_code == 404


def test_what_would_take_too_long_is_left_out(sqlite_desk: Desk) -> None:
    add_stories(sqlite_desk.database)
    with sqlite_desk.database.engine.connect() as c:
        counted = FacetCounter(c, Selection(), seconds=0).facets()
    assert set(counted.counts) == {facets.SITES}


FACETS = {"site", "region", "tier", "topic", "relevance", "status", "group", "medium"}
CHOICES = (
    Selection(), Selection(only_relevant=True), Selection(topic=TOPIC, only_irrelevant=True),
    Selection(topic=TOPIC, regions=("中国", "广东"), only_relevant=True),
    Selection(tiers=(1, 2), sites=("example.cn",)), Selection(marks=("judged",)),
    Selection(groups=("会议",), only_relevant=True),
    Selection(topic=TOPIC, media=("central", "blog"), only_relevant=True),
)  # fmt: skip


def test_counts_of_a_collection_are_those_of_its_lists(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(database, ARTICLES, NOW, lambda _count: None)
    with database.engine.begin() as c:
        keep_groups(c, TOPIC, [TermGroup("会议", ("会议", "座谈")), TermGroup("其他", ("华侨",))])
        while mark_some(c).left:
            pass
        say_medium(c, ["example.cn"], "blog", by="editor", now=0.0)
    monkeypatch.setattr(article_list, "MOST_COUNTED", ARTICLES)
    seen = 0
    with database.engine.connect() as c:
        for number, selection in enumerate(CHOICES):
            folded = number % 2 == 0
            counts = FacetCounter(c, selection, folded, seconds=1e9).facets().counts
            assert counts.keys() == FACETS
            for facet, values in counts.items():
                for value, count in list(values.items())[:_VALUES]:
                    chosen = replace(selection, **_chosen(facet, value))
                    wish = ListWish(chosen, folded=folded, limit=ARTICLES)
                    rows = article_list.list_page(c, wish).count
                    assert count == Count(rows, False), (selection, facet, value)
                    seen += rows > 0
    assert seen > 60


def _chosen(facet: str, value: str) -> dict[str, Any]:
    """What a value of a facet is in a selection."""
    if facet == "relevance":
        return {"only_relevant": value == "yes", "only_irrelevant": value == "no"}
    return {
        "site": {"sites": (value,)}, "region": {"regions": (value,)}, "topic": {"topic": value},
        "group": {"groups": (value,)}, "medium": {"media": (value,)},
        "tier": {"tiers": (int(value),) if facet == "tier" else ()}, "status": {"marks": (value,)},
    }[facet]  # fmt: skip
