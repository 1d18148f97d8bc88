"""From article to article: places in a list, topics of marks, what is still there."""

from __future__ import annotations

import html
import re
import time
from dataclasses import replace

import pytest
from sqlalchemy import text

from console_articles import add_stories
from console_client import Desk, visible
from qiaocrawl.console.page import Console
from qiaocrawl.console.pages import article, articles, listed_articles
from qiaocrawl.storage.audit_log import entries
from qiaocrawl.storage.pages.revisions import note_deleted
from qiaocrawl.storage.topics.judgements import list_judgements
from qiaocrawl.storage.topics.topics import save_pack
from storage_samples import NOW, PACK, soon

OTHER = "球事"
SECONDS = 30.0
LINES_OF_A_REVISION = 15_000


@pytest.fixture
def stories(sqlite_desk: Desk) -> Desk:
    """An editor over four articles, whose index is in step."""
    add_stories(sqlite_desk.database)
    sqlite_desk.log_in_as("editor")
    console: Console = sqlite_desk.client.app.state.console  # type: ignore[attr-defined]
    limit = soon(120)
    while console.search.notice():
        assert time.monotonic() < limit
        time.sleep(0.05)
    return sqlite_desk


def addresses(page: str, what: str) -> list[str]:
    """The addresses in *page* that *what* stands before."""
    return [html.unescape(found) for found in re.findall(rf'{what}[^>]*?href="([^"]+)"', page)]


def rows(page: str) -> list[str]:
    """Where the titles of a list lead to."""
    return addresses(page, 'console-title"><a ')


def mark(desk: Desk, action: str, topic: str = PACK.name, article_id: int = 1) -> dict[str, object]:
    """Press a mark, as the script of the page does."""
    answer = desk.client.post(
        f"/articles/{article_id}/mark",
        data={"action": action, "topic": topic, "value": "yes"},
        headers={"x-csrf-token": desk.token, "accept": "application/json"},
    )
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


def test_a_phrase_is_marked_in_the_article_and_in_the_titles_of_lists(stories: Desk) -> None:
    query = 'q="侨务工作"+-球赛'
    listed = stories.get(f"/articles?{query}").text
    assert "<mark>侨务工作</mark>会议召开</a>" in listed
    shown = stories.get(rows(listed)[0]).text
    assert "<mark>侨务工作</mark>会议召开</h1>" in shown


def test_a_search_of_too_many_says_by_what_they_were_chosen(
    stories: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(articles, "MOST_MATCHES", 1)
    for order, words in (("newest", "1 newest of them"), ("score", "1 best matches")):
        assert words in visible(stories.get(f"/articles?q=侨务&copies=1&sort={order}").text)


def test_an_article_leads_to_the_next_of_its_list_and_back(stories: Desk) -> None:
    listed = stories.get("/articles?copies=1&relevance=any&sort=published").text
    order = rows(listed)
    assert len(order) == 4
    assert "place=2" in order[2]
    page = stories.get(order[2]).text
    assert addresses(page, 'data-step="-1"') == [order[1]]
    assert addresses(page, 'data-step="1"') == [order[3]]
    assert "3 of 4" in visible(page)
    (to_list,) = addresses(page, "data-back")
    number = order[2].partition("?")[0].rpartition("/")[2]
    assert to_list.endswith(f"#article-{number}")
    assert rows(stories.get(to_list.partition("#")[0]).text) == order
    assert addresses(stories.get(order[0]).text, 'data-step="-1"') == []
    assert addresses(stories.get(order[-1]).text, 'data-step="1"') == []
    # The stored page and the fields lead back to the article in its place.
    evidence = next(link for link in addresses(page, "<a ") if "/evidence?" in link)
    assert "place=2" in evidence
    assert order[2] in addresses(stories.get(evidence).text, 'page-pretitle"><a')
    # Without a list there is no next, and the way to all articles.
    alone = stories.get("/articles/1").text
    assert "data-step" not in alone
    assert addresses(alone, "data-back") == ["/articles#article-1"]


def test_an_article_that_left_its_list_stands_where_it_stood(stories: Desk) -> None:
    choice = "/articles?copies=1"
    order = rows(stories.get(choice).text)
    mark(stories, "irrelevant", article_id=int(order[1].partition("?")[0].rpartition("/")[2]))
    page = stories.get(order[1]).text
    assert "no longer in the list" in visible(page)
    assert addresses(page, 'data-step="-1"') == [order[0]]
    (following,) = addresses(page, 'data-step="1"')
    assert following.partition("?")[0] == order[2].partition("?")[0]
    assert "place=1" in following


def test_the_end_of_a_page_leads_to_the_next(
    stories: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (listed_articles, articles):
        monkeypatch.setattr(module, "ROWS", 2)
    first = stories.get("/articles?copies=1&relevance=any").text
    (following,) = addresses(first, 'data-step="1"')
    second = rows(stories.get(following).text)
    assert ["place=2" in address or "place=3" in address for address in second] == [True, True]
    (to_list,) = addresses(stories.get(second[0]).text, "data-back")
    assert "page=2" in to_list


def test_the_mark_names_its_topic_and_pressed_again_is_taken_back(stories: Desk) -> None:
    with stories.database.engine.begin() as c:
        score = c.execute(text("SELECT score FROM relevance WHERE article_id = 1")).scalar_one()
        assert score == 0.75
    listed = stories.get("/articles").text
    assert f'data-topic="{PACK.name}"' in listed
    assert mark(stories, "irrelevant")["judged"] == {PACK.name: False}
    page = stories.get("/articles/1").text
    assert "not relevant · 侨情" in visible(page)
    # The button that says so now takes it back, with scripts or without.
    assert re.search(r'name="action" value="unjudged" data-act="irrelevant"[^>]*"true"', page)
    with stories.database.engine.connect() as c:
        assert len(list_judgements(c, PACK.name, 9)) == 1
    answer = stories.post("/articles/1/mark", action="unjudged", topic=PACK.name, next="/articles")
    assert answer.headers["location"] == "/articles"
    with stories.database.engine.connect() as c:
        assert list_judgements(c, PACK.name, 9) == []
        row = c.execute(text("SELECT method, score FROM relevance WHERE article_id = 1")).one()
        noted = entries(c)[0]
    # A scorer judged it again: neither the operator's word nor the operator's score stands.
    assert row.method != "operator"
    assert 0 < row.score < 1
    assert (noted.action, noted.after) == ("article.judge", "")
    assert mark(stories, "unjudged")["judged"] == {}
    assert mark(stories, "star")["starred"] is True
    assert mark(stories, "unstar")["starred"] is False
    assert stories.post("/articles/99/mark", action="unjudged").status_code == 400


def test_where_topics_are_several_the_one_of_the_list_is_judged(stories: Desk) -> None:
    with stories.database.engine.begin() as c:
        save_pack(c, replace(PACK, name="ball", title=OTHER), now=NOW)
        c.execute(text(
            "INSERT INTO relevance (article_id, topic_id, score, relevant, method, terms)"
            " SELECT 1, id, 0.3, 1, 'vsm', '[]' FROM topic WHERE name = 'ball'"
        ))  # fmt: skip
    listed = stories.get("/articles?topic=ball").text
    assert 'data-topic="ball"' in listed
    page = stories.get(rows(listed)[0]).text
    assert f'<option value="ball" selected>{OTHER}</option>' in page
    # Without a list of a topic: the one it scored best for.
    assert f'<option value="{PACK.name}" selected>' in stories.get("/articles/1").text
    assert 'id="judged-topic"' in stories.get("/articles").text
    mark(stories, "relevant", "ball")
    assert f"relevant · {OTHER}" in visible(stories.get("/articles").text)
    assert mark(stories, "irrelevant")["judged"] == {PACK.name: False, "ball": True}


def test_it_says_whether_it_is_still_there_and_who_was_first(stories: Desk) -> None:
    page = stories.get("/articles/1").text
    assert "last seen on the web 2026-11-03" in visible(page)
    assert 'id="gone"' not in page
    # Of the two that have it, the one that came out first.
    group = page[page.index('id="group"') :]
    first = re.findall(r'desk-facts">([^<]*?) · [^<]*<span class="desk-tag">first<', group)
    assert first == ["甲侨网"]
    with stories.database.engine.begin() as c:
        (url_id,) = c.execute(text("SELECT url_id FROM article WHERE id = 1")).one()
        assert note_deleted(c, url_id, "HTTP 404", now=NOW)
    page = stories.get("/articles/1").text
    assert "Gone from the web since 2027-01-15 16:00 (HTTP 404)" in visible(page)
    assert 'href="#changes"' in page
    assert 'id="changes"' in page
    with stories.database.engine.begin() as c:
        c.execute(text("DELETE FROM revision"))
        c.execute(text("UPDATE url SET outcome = 'dead', reason = 'HTTP 503',"
                       " done_at = '2027-02-01' WHERE id = :id"), {"id": url_id})  # fmt: skip
    assert "could not be fetched again at 2027-02-01" in visible(stories.get("/articles/1").text)


def test_many_hostile_revisions_do_not_keep_a_page_busy(stories: Desk) -> None:
    with stories.database.engine.begin() as c:
        for number in range(article._MOST_CHANGES + 2):
            lines = "\n".join(f"{n % 7}\n{number} {n}" for n in range(LINES_OF_A_REVISION))
            c.execute(text(
                "INSERT INTO revision (url_id, kind, at, note, title, body_digest, text) SELECT"
                " url_id, 'revised', '2026-03-06', 'body', title, body_digest, :lines FROM article"
                " WHERE id = 1"
            ), {"lines": lines})  # fmt: skip
    began = time.process_time()
    page = visible(stories.get("/articles/1").text)
    assert time.process_time() - began < SECONDS
    assert "this ends before the texts do" in page
    assert "2 earlier changes are not shown" in page


def test_everybody_learns_the_keys_and_only_editors_get_marks(stories: Desk) -> None:
    assert stories.get("/articles").text.count("data-acts") == 2
    stories.log_in_as("reader")
    for path in ("/articles", "/articles/1"):
        page = stories.get(path).text
        assert "data-keys" in page
        assert "data-mark=" not in page
        assert "data-acts" not in page
        assert re.search(r'data-evidence="/articles/\d+/evidence', page)
