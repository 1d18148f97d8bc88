"""Warnings at the console: what is open and why, who was told, muted, noted, followed by RSS."""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest
from sqlalchemy import text

from console_client import Desk, visible
from qiaocrawl.console.security import credentials
from qiaocrawl.news.warnings.rules import Rule
from qiaocrawl.news.warnings.stored import load_warnings, note_failed, note_sent, take_due
from qiaocrawl.storage import Database, people
from qiaocrawl.storage.audit_log import Actor
from storage_samples import PACK
from told_stories import make_stories, warn_of_stories

FIRE = Rule("火情", "warning", any_of=("失火",), channels=("desk", "mail"))
SCHOOL = Rule("学校", "notice", any_of=("校庆",), channels=())
RAISED = Rule("两家", "urgent", least_outlets=2, channels=("desk",))


@pytest.fixture
def warned(desk: Desk, database_url: str) -> Desk:
    """A console with two open warnings: of a fire, and of a school that nobody is told of."""
    make_stories(database_url)
    warn_of_stories(database_url, FIRE, SCHOOL)
    desk.log_in_as("reader")
    return desk


def _ids(desk: Desk) -> dict[str, str]:
    """Names of the warnings by the first two characters of their titles."""
    with desk.database.engine.connect() as c:
        return {own.title[:2]: own.id for own in load_warnings(c).values()}


def _settle(database: Database) -> None:
    """One message arrives, the other does not."""
    now = datetime.now(UTC)
    with database.engine.begin() as c:
        for message in take_due(c, now.timestamp() + 1):
            if message.channel == "desk":
                note_sent(c, message, now)
            else:
                note_failed(c, message, "connection refused", now.timestamp())


def test_open_warnings_say_why_and_who_was_told(warned: Desk) -> None:
    page = warned.get("/warnings").text
    words = visible(page)
    assert "desk: waits to be sent" in words
    _settle(warned.database)
    page = warned.get("/warnings").text
    words = visible(page)
    assert words.index("马德里") < words.index("槟城"), "the more severe one first"
    stuck = "mail: did not arrive yet, attempt 1 : connection refused"
    for expected in (PACK.title, "火情", "words: 失火", "2 articles", "desk: sent", stuck,
                     "nobody; it is shown here"):  # fmt: skip
        assert expected in words, expected
    numbers = re.findall(r'href="/stories/(\d+)"', page)
    assert len(numbers) == 2
    assert "Mute" not in words, "a reader only reads"
    story = warned.get(f"/stories/{numbers[0]}").text
    assert f'href="/warnings#w-{_ids(warned)["马德"]}"' in story
    for query, titles in (("severity=warning", ["马德里"]), ("severity=urgent", []),
                          (f"topic={PACK.name}", ["马德里", "槟城"]), ("topic=nothing", []),
                          ("state=closed", []), ("state=nothing", ["马德里", "槟城"])):  # fmt: skip
        page = visible(warned.get(f"/warnings?{query}").text)
        assert [title for title in ("马德里", "槟城") if title in page] == titles, query


def test_the_first_page_and_the_figures_lead_to_open_warnings(warned: Desk) -> None:
    first = visible(warned.get("/").text)
    assert "2 more open warnings" in first
    assert "马德里" in first
    page = warned.get("/figures").text
    assert re.search(r'Open warnings</div>\s*<a class="console-figure" href="/warnings"><span '
                     r'class="h1 m-0">2<', page)  # fmt: skip
    assert 'href="/warnings"' in warned.get("/articles").text, "in the menu"


def test_without_warnings_it_says_what_comes_first(sqlite_desk: Desk) -> None:
    sqlite_desk.log_in_as("reader")
    assert "qiaocrawl analyse" in sqlite_desk.get("/warnings").text
    for path in ("/", "/figures"):
        assert "pen warning" not in sqlite_desk.get(path).text


def test_editors_mute_and_take_note(warned: Desk, database_url: str) -> None:
    desk, name = warned, _ids(warned)["马德"]
    path = f"/warnings/{name}/mark"
    assert desk.post(path, action="mute").status_code == 403
    desk.log_in_as("editor")
    marked = desk.post(path, action="note", next="/warnings?severity=warning")
    assert (marked.status_code, marked.headers["location"]) == (303, "/warnings?severity=warning")
    words = visible(desk.get("/warnings").text)
    assert "Taken note of editor" in words
    assert words.index("槟城") < words.index("马德里"), "what nobody has taken note of first"
    # Its severity rises: that is news again.
    warn_of_stories(database_url, RAISED)
    words = visible(desk.get("/warnings").text)
    assert "severity rose" in words
    assert "Taken note of editor" not in words
    desk.post(path, action="note")
    desk.post(path, action="unnote")
    assert "Taken note of editor" not in visible(desk.get("/warnings").text)
    desk.post(path, action="mute")
    assert "马德里" not in visible(desk.get("/warnings").text)
    assert "马德里" in visible(desk.get("/warnings?state=muted").text)
    desk.post(path, action="unmute")
    assert "马德里" in visible(desk.get("/warnings").text)
    wrong = desk.post(path, action="shout")
    assert wrong.status_code == 400
    assert "mute, unmute, note, unnote" in visible(wrong.text)
    assert desk.post("/warnings/999/mark", action="mute").status_code == 404
    with desk.database.engine.connect() as c:
        actions = c.execute(text("SELECT action FROM audit_entry ORDER BY id")).scalars().all()
    assert [one for one in actions if one.startswith("warning.")] == [
        "warning.note", "warning.note", "warning.note", "warning.mute", "warning.unmute",
    ]  # fmt: skip


def test_what_is_over_is_shown_on_demand(warned: Desk, database_url: str) -> None:
    warn_of_stories(database_url, hours=100)
    assert "马德里" not in visible(warned.get("/warnings").text)
    words = visible(warned.get("/warnings?state=closed").text)
    assert "马德里" in words
    assert "over (2)" in words


def _basic(desk: Desk) -> dict[str, str]:
    """What a news reader sends, with a token as the password; nobody is logged in."""
    token = credentials.new_secret()
    with desk.database.engine.begin() as c:
        user = people.find_user(c, "reader")
        assert user is not None
        people.add_token(c, Actor("reader"), user, "news", token)
    desk.log_in_as("")
    return {"Authorization": "Basic " + base64.b64encode(f"me:{token}".encode()).decode()}


def _items(desk: Desk, headers: dict[str, str], query: str = "") -> list[dict[str, str]]:
    answer = desk.get(f"/warnings/feed{query}", headers=headers)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/rss+xml")
    items = ElementTree.fromstring(answer.text).iter("item")
    return [{part.tag: part.text or "" for part in item} for item in items]


def test_a_news_reader_follows_warnings(warned: Desk, database_url: str) -> None:
    basic = _basic(warned)
    assert warned.get("/warnings/feed").status_code == 401
    before = {item["title"]: item for item in _items(warned, basic)}
    assert len(before) == 2
    (fire,) = (item for title, item in before.items() if "马德里" in title)
    assert "火情" in fire["description"]
    assert re.fullmatch(r"http://console.test/stories/\d+", fire["link"])
    assert [item["title"] for item in _items(warned, basic, "?severity=warning")] == [fire["title"]]
    assert _items(warned, basic, "?topic=nothing") == []
    # More articles are no news; a higher severity is, of the same item.
    warn_of_stories(database_url, FIRE, hours=1)
    assert _items(warned, basic)[-1]["pubDate"] == fire["pubDate"]
    warn_of_stories(database_url, RAISED, hours=2)
    raised = _items(warned, basic)[0]
    assert raised["guid"] == fire["guid"]
    assert raised["pubDate"] != fire["pubDate"]
    assert raised["title"].startswith("urgent")
    warned.log_in_as("editor")
    warned.post(f"/warnings/{_ids(warned)['马德']}/mark", action="mute")
    warned.log_in_as("")
    assert [item["title"] for item in _items(warned, basic)] == [
        title for title in before if "马德里" not in title
    ]  # fmt: skip


def test_a_warning_of_a_story_that_is_gone_is_still_shown(warned: Desk) -> None:
    with warned.database.engine.begin() as c:
        c.execute(text("UPDATE story_article SET story_id = NULL"))
    page = warned.get("/warnings")
    assert page.status_code == 200
    assert "马德里" in visible(page.text)
    assert "/stories/" not in page.text
    links = [item["link"] for item in _items(warned, _basic(warned))]
    assert set(links) == {"http://console.test/warnings"}
