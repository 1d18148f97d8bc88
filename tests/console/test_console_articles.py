"""Articles at the console: lists, choices, marks, one article, evidence, exports, saved lists."""

from __future__ import annotations

import csv
import hashlib
import html
import io
import json
import re
import time
import zipfile
from datetime import UTC, datetime, tzinfo
from urllib.parse import urlencode

import pytest
from openpyxl import load_workbook
from sqlalchemy import text

from console_articles import add_stories
from console_client import Desk, visible
from qiaocrawl.console.page import Console
from qiaocrawl.console.pages.listed_articles import ArticleFilter
from qiaocrawl.items import PagePicture
from qiaocrawl.reading import pages_of_a_list as article_list
from qiaocrawl.storage.audit_log import entries
from qiaocrawl.storage.pages.revisions import save_picture
from storage_samples import PACK, soon


@pytest.fixture
def stories(desk: Desk) -> Desk:
    """An editor over four articles, whose index is in step."""
    add_stories(desk.database)
    desk.log_in_as("editor")
    console: Console = desk.client.app.state.console  # type: ignore[attr-defined]
    limit = soon(120)
    while console.search.notice():
        assert time.monotonic() < limit
        time.sleep(0.05)
    return desk


def titles(desk: Desk, **choices: str) -> list[str]:
    """Titles of a list."""
    page = desk.get(f"/articles?{urlencode(choices)}")
    assert page.status_code == 200
    return [
        html.unescape(re.sub("</?mark>", "", title))
        for title in re.findall(r'console-title"><a [^>]*>(.*?)</a>', page.text)
    ]


def test_without_the_index_the_beginning_of_a_list_is_searched_and_that_is_said(
    stories: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    console: Console = stories.client.app.state.console  # type: ignore[attr-defined]
    console.search.stop()
    monkeypatch.setattr(console.search, "_in_step", False)
    found = titles(stories, q="侨务", copies="1")
    assert found == ["侨务工作会议召开（转载）", "侨务工作会议召开"]
    notice = visible(stories.get("/articles?q=侨务").text)
    assert "index is being built; until then only the first 10000 articles" in notice
    assert titles(stories, q="侨务") == ["侨务工作会议召开"]
    monkeypatch.setattr(article_list, "MOST_READ", 2)
    assert titles(stories, q="侨务", copies="1") == found[:1]
    assert "first 2 articles" in stories.get("/articles?q=侨务").text


def test_a_list_shows_a_story_once_and_what_is_chosen(stories: Desk) -> None:
    first, copy, other, off = (
        "侨务工作会议召开",
        "侨务工作会议召开（转载）",
        "僑胞回鄉辦廠",
        "昨晚的球赛",
    )
    assert titles(stories) == [other, first]
    assert "2 outlets" in visible(stories.get("/articles").text)
    assert titles(stories, copies="1") == [other, copy, first]
    # Folded into the first of those that are chosen, not into one that is not.
    assert titles(stories, site="www.b-news.cn") == [other, copy]
    assert titles(stories, relevance="any") == [off, other, first]
    assert titles(stories, relevance="no") == [off]
    assert titles(stories, topic=PACK.name, sort="score", region="北京") == [first]
    assert titles(stories, tier="3", copies="1") == [other, copy]
    assert titles(stories, since="2026-03-05", until="2026-03-05", relevance="any") == [
        off, other, first,
    ]  # fmt: skip
    assert titles(stories, since="2026-03-06", relevance="any") == []
    assert titles(stories, status="reprint", copies="1") == [copy]
    # What cannot be a choice counts as none.
    assert titles(stories, sort="x", status="x", tier="x", page="0", since="2026-99-99") == [
        other, first,
    ]  # fmt: skip
    assert stories.get("/articles?topic=nothing").status_code == 404


def test_a_search_finds_two_characters_and_marks_them(stories: Desk) -> None:
    assert titles(stories, q="侨务") == ["侨务工作会议召开"]
    assert titles(stories, q="农场", copies="1", sort="score") != []
    assert titles(stories, q="侨胞") == ["僑胞回鄉辦廠"]
    page = stories.get("/articles?q=%E5%8D%8E%E4%BE%A8").text
    assert "<mark>华侨</mark>" in page
    assert "&lt;b&gt;" in page


def test_marks_are_saved_noted_and_asked_for(stories: Desk) -> None:
    path = "/articles/1/mark"
    answers = [
        stories.client.post(
            path,
            data={"action": action, "value": value},
            headers={"x-csrf-token": stories.token, "accept": "application/json"},
        )
        for action, value in (
            ("star", "yes"), ("note", " 看看 "), ("tags", "要闻，侨务, 要闻"), ("irrelevant", ""),
        )
    ]  # fmt: skip
    assert answers[-1].json() == {
        "starred": True, "note": "看看", "tags": ["侨务", "要闻"], "judged": {PACK.name: False},
        "said": "",
    }  # fmt: skip
    for choices in ({"status": "starred"}, {"status": "noted"}, {"tag": "要闻"},
                    {"status": "judged"}):  # fmt: skip
        assert titles(stories, relevance="any", **choices) == ["侨务工作会议召开"], choices
    assert len(titles(stories, relevance="any", copies="1", status="unjudged")) == 3
    # The judgement is the one of `qiaocrawl topic judge`.
    assert "侨务工作会议召开" not in titles(stories, copies="1")
    with stories.database.engine.connect() as c:
        noted = [(entry.action, entry.user_name) for entry in entries(c)]
        judged = "SELECT method FROM relevance WHERE article_id = 1"
        method = c.execute(text(judged)).scalar_one()
    assert method == "operator"
    assert noted[:4] == [
        (f"article.{what}", "editor") for what in ("judge", "tags", "note", "star")
    ]
    assert stories.post(path, action="star", value="").headers["location"] == "/articles/1"
    assert titles(stories, relevance="any", status="starred") == []
    for fields in ({"action": "nothing"}, {"action": "tags", "value": "长" * 51}):
        assert stories.post(path, **fields).status_code == 400
    assert stories.post("/articles/99/mark", action="star", value="yes").status_code == 400


def test_an_article_shows_all_that_speaks_for_it(stories: Desk) -> None:
    with stories.database.engine.begin() as c:
        c.execute(text(
            "INSERT INTO revision (url_id, kind, at, note, title, body_digest, text) SELECT url_id,"
            " 'revised', '2026-03-06', 'body', title, body_digest, '各地代表讨论农场' FROM article"
            " WHERE id = 1"
        ))  # fmt: skip
    page = stories.get("/articles/1?q=农场").text
    words = visible(page)
    for part in ("why", "乙新闻", "Its text has “侨务”", "reprint", "by the vector space model",
                 "0.90", "75%"):  # fmt: skip
        assert part in words, part
    # What the machine reckoned with stands behind a fold.
    plain = visible(re.sub(r'<details class="desk-technical".*?</details>', "", page, flags=re.S))
    assert not [part for part in ("vector space", "0.90", "75%", "HTTP") if part in plain]
    assert "<mark>农场</mark>" in page
    assert "&lt;b&gt;代表" in page
    assert "<ins>" in page
    assert stories.get("/articles/99").status_code == 404
    assert stories.get("/articles/9" + "9" * 25).status_code == 404
    fields = visible(stories.get("/articles/1/fields").text)
    assert "title 侨务工作会议召开" in fields


def test_the_stored_page_is_shown_without_any_right(stories: Desk) -> None:
    page = stories.get("/articles/1/evidence").text
    assert re.search(r"<code>[0-9a-f]{64}</code>", page)
    assert "charset=utf-8" in page
    assert re.search(r"<iframe[^>]* sandbox src=\"/articles/1/page\"", page)
    copy = stories.get("/articles/1/page")
    policy = copy.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "allow-" not in policy
    assert copy.headers["cache-control"] == "no-store"
    assert "console-picture" not in page
    assert stories.get("/articles/1/picture").status_code == 404
    picture = PagePicture("image/webp", 640, 480, True, datetime(2026, 3, 5, tzinfo=UTC), b"RIFF")
    with stories.database.engine.begin() as c:
        (source,) = c.execute(text("SELECT page_source_id FROM article WHERE id = 1")).one()
        save_picture(c, source, picture)
    page = stories.get("/articles/1/evidence").text
    assert re.search(r'<img class="console-picture" src="/articles/1/picture" width="640"', page)
    assert hashlib.sha256(b"RIFF").hexdigest() in page
    shown = stories.get("/articles/1/picture")
    assert (shown.content, shown.headers["content-type"]) == (b"RIFF", "image/webp")
    assert shown.headers["content-security-policy"].startswith("sandbox; default-src 'none'")


def test_lists_go_out_as_files_that_run_nothing(desk: Desk) -> None:
    add_stories(desk.database, title='=HYPERLINK("http://evil.test")', body="+cmd|' /C calc'!A0")
    desk.log_in_as("reader")
    for format_ in ("xlsx", "docx", "csv", "jsonl"):
        answer = desk.get(f"/articles/export/{format_}?relevance=any&copies=1")
        name = answer.headers["content-disposition"]
        assert re.search(rf'attachment; filename="articles-[\d-]+\.{format_}"', name)
    for path in ("/articles/export/..%2f..%2fetc%2fpasswd", "/articles/export/warc",
                 "/articles/export/files"):  # fmt: skip
        assert desk.get(path).status_code == 404
    rows = list(csv.reader(io.StringIO(
        desk.get("/articles/export/csv?relevance=any").content.decode("utf-8-sig")
    )))  # fmt: skip
    assert len(rows) == 5
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row)
    lines = desk.get("/articles/export/jsonl?relevance=any").text.splitlines()
    assert {json.loads(line)["title"] for line in lines} == {'=HYPERLINK("http://evil.test")'}
    book = load_workbook(io.BytesIO(desk.get("/articles/export/xlsx?relevance=any").content))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert any("HYPERLINK" in str(cell.value) for cell in cells)
    assert {cell.data_type for cell in cells} <= {"s", "n", "d", "inlineStr"}
    docx = desk.get("/articles/export/docx?relevance=any").content
    assert "word/document.xml" in zipfile.ZipFile(io.BytesIO(docx)).namelist()


def test_a_news_reader_gets_the_list_with_a_token(stories: Desk) -> None:
    page = stories.post("/tokens", name="reader").text
    (token,) = re.findall(r'console-secret">([^<]+)</code>', page)
    stories.log_in_as("")
    assert stories.get("/articles/feed.xml").status_code == 401
    bearer = {"authorization": f"Bearer {token}"}
    feed = stories.client.get("/articles/feed.xml?q=侨务", headers=bearer)
    assert feed.headers["content-type"].startswith("application/rss+xml")
    assert "<title>侨务工作会议召开</title>" in feed.text
    assert stories.client.get("/articles", headers=bearer).status_code == 303
    bearer["authorization"] += "x"
    assert stories.client.get("/articles/feed.xml", headers=bearer).status_code == 401


def test_lists_are_kept_by_name_for_their_user_only(stories: Desk) -> None:
    query = ArticleFilter(q="侨务", page="7").query()
    for name in ("要闻", "要闻", "<b>"):
        assert stories.post("/articles/searches", name=name, query=query).status_code == 303
    page = stories.get("/articles").text
    assert page.count("console-saved") == 2
    assert f'href="/articles?{query}">要闻</a>' in page
    assert "page" not in query
    searches = re.findall(r"/articles/searches/(\d+)/remove", page)
    stories.log_in_as("reader")
    assert "要闻" not in stories.get("/articles").text
    assert stories.post(f"/articles/searches/{searches[0]}/remove").status_code == 303
    stories.log_in_as("editor")
    assert stories.get("/articles").text.count("console-saved") == 2
    stories.post(f"/articles/searches/{searches[0]}/remove")
    assert stories.get("/articles").text.count("console-saved") == 1


class _Noon(datetime):
    """A clock that stands still: no midnight comes between what is stored and what is counted."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime(2026, 11, 20, 4, tzinfo=UTC).astimezone(tz)


def test_the_figures_count_and_lead_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qiaocrawl.console.pages.overview.datetime", _Noon)
    now = _Noon.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    desk.log_in_as("reader")
    for path in ("/", "/articles"):
        assert "The first steps" in visible(desk.get(path).text)
    add_stories(desk.database)
    with desk.database.engine.begin() as c:
        c.execute(text("UPDATE article SET fetched_at = :now"), {"now": now})
        c.execute(text("UPDATE url SET outcome = 'dead', done_at = :now WHERE id = 1"),
                  {"now": now})  # fmt: skip
    desk.client.app.state.console.kept.clear()  # type: ignore[attr-defined]
    page = desk.get("/figures").text
    words = visible(page)
    for part in ("New articles 4 today 4 30 days", "On topic 3 today", "Reprints 1 today",
                 "Sources 3 today", "Dead links 1 today"):  # fmt: skip
        assert part in words, part
    for address in set(re.findall(r'class="console-figure" href="([^"]+)"', page)):
        assert desk.get(html.unescape(address)).status_code == 200
    assert "a-qiao.cn/0" in desk.get("/dead?found=1").text


def test_a_judgement_of_copies_is_taken_back_from_all_of_them_at_once(desk: Desk) -> None:
    """While one of them is still a sample against the topic, the others would be judged by it."""
    body = "侨胞、归侨与华侨农场代表出席侨务工作会议。" * 5
    add_stories(desk.database, "侨务工作会议召开", body)
    desk.log_in_as("editor")
    with desk.database.engine.connect() as c:
        whole = c.execute(
            text("SELECT MIN(article_id) FROM verdict WHERE kind = 'reprint'")
        ).scalar_one()
    assert _marked(desk, whole, "irrelevant") == "2 copies were marked."
    assert _marked(desk, whole, "unjudged") == "2 copies were marked."
    with desk.database.engine.connect() as c:
        judged = c.execute(text("SELECT COUNT(*) FROM judgement")).scalar()
        statement = text(
            "SELECT r.score, r.relevant FROM relevance r JOIN verdict v"
            " ON v.article_id = r.article_id WHERE v.group_id ="
            " (SELECT group_id FROM verdict WHERE article_id = :id)"
        )
        scores = set(map(tuple, c.execute(statement, {"id": whole})))
    assert judged == 0
    assert len(scores) == 1, "one text, one score"


def _marked(desk: Desk, article_id: int, action: str) -> str:
    sent = {"csrf_token": desk.token, "action": action, "topic": PACK.name, "copies": "yes"}
    address = f"/articles/{article_id}/mark"
    answer = desk.client.post(address, data=sent, headers={"accept": "application/json"})
    return str(answer.json()["said"])
