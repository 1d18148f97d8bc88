"""What somebody new meets: an empty console, topics that come along, pages that are not there."""

from __future__ import annotations

import re
from pathlib import Path

from console_client import Desk, visible
from qiaocrawl.console.pages.people import ACTION_NAMES
from qiaocrawl.console.security import credentials
from qiaocrawl.storage import people
from qiaocrawl.storage.topics.topics import list_topics

ROOT = Path(__file__).parents[2] / "qiaocrawl"
_RECORDED = re.compile(r'\b_?record\(\s*c, (?:actor|Actor\([^()]*\))[^"]*?"([a-z]+\.[a-z_]+)"')


def test_a_topic_that_comes_along_is_taken_with_one_click(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    desk.log_in_as("reader")
    assert "/topics/shipped" not in desk.get("/topics").text
    desk.log_in_as("editor")
    assert "侨情" in visible(desk.get("/topics").text)
    answer = desk.post("/topics/shipped", name="qiaoqing")
    assert (answer.status_code, answer.headers["location"]) == (303, "/topics/qiaoqing")
    with desk.database.engine.connect() as c:
        (topic,) = list_topics(c)
    assert (topic.name, topic.terms > 100) == ("qiaoqing", True)
    # A second click, or a name of nothing, changes nothing.
    desk.post(
        "/topics/qiaoqing/terms", old="侨批", text="侨批", kind="core", weight="2", note="我们的"
    )
    assert desk.post("/topics/shipped", name="qiaoqing").status_code == 303
    assert "我们的" in desk.get("/topics/qiaoqing?find=侨批").text
    assert desk.post("/topics/shipped", name="../qiaoqing").status_code == 404
    assert 'value="qiaoqing">Take' not in desk.get("/topics").text


def test_what_is_not_there_is_told_in_the_readers_language(sqlite_desk: Desk) -> None:
    sqlite_desk.client.cookies.set(credentials.LANGUAGE, "zh_CN")
    assert "没有这个页面" in visible(sqlite_desk.get("/nowhere").text)
    sqlite_desk.client.cookies.set(credentials.LANGUAGE, "en")
    assert "There is no such page." in visible(sqlite_desk.get("/nowhere").text)


def test_the_log_has_words_for_every_change(sqlite_desk: Desk) -> None:
    sources = [*ROOT.glob("console/**/*.py"), *ROOT.glob("storage/console/*.py"),
               *ROOT.glob("jobs/*.py")]  # fmt: skip
    recorded = {code for path in sources for code in _RECORDED.findall(path.read_text("utf-8"))}
    assert len(recorded) > 12
    assert recorded <= set(ACTION_NAMES)
    sqlite_desk.log_in_as("administrator")
    sqlite_desk.post("/people", name="li", role="reader")
    assert "added a user" in visible(sqlite_desk.get("/people/changes").text)


def test_who_was_shut_out_is_let_in_again_with_one_click(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    desk.log_in_as("reader")
    desk.log_in_as("administrator")
    with desk.database.engine.connect() as c:
        reader = people.find_user(c, "reader")
    assert reader is not None
    assert desk.post(f"/people/{reader.id}", disabled="yes").status_code == 303
    page = desk.get("/people").text
    assert "reader cannot log in any more." in visible(page)
    undo = re.search(rf'action="(/people/{reader.id})".*?name="disabled" value="no".*?Undo', page)
    assert undo
    desk.post(undo[1], disabled="no")
    with desk.database.engine.connect() as c:
        back = people.find_user(c, "reader")
    assert back is not None
    assert back.disabled_at is None
