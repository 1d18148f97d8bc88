"""Hot lists and programs in the console: entered, shown with their words, told when ill."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pytest
from typer.testing import CliRunner

from console_client import Desk, visible
from qiaocrawl.cli.watch import app
from qiaocrawl.fetch.sessions.vault import new_key
from qiaocrawl.news.warnings.channels import all_channels
from qiaocrawl.news.warnings.hooks import stored_hooks
from qiaocrawl.news.warnings.signed import DATA, split_address
from qiaocrawl.news.warnings.stored import count_states, enqueue
from qiaocrawl.search.boards import BoardEntry
from qiaocrawl.storage import audit_log
from qiaocrawl.storage.schema import url
from qiaocrawl.storage.sites.boards import board_states, note_entries, note_fault
from qiaocrawl.urls import url_key
from storage_samples import PACK, add_topic
from told_stories import make_stories

LIST = "http://boards.test/api/s?id=weibo"


@pytest.fixture
def editor(sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("QIAO_LANG", "zh_CN")
    make_stories(str(sqlite_desk.database.engine.url))
    sqlite_desk.log_in_as("editor")
    return sqlite_desk


def test_a_list_is_entered_and_its_lines_are_shown_with_how_long_and_how_high(editor: Desk) -> None:
    assert "还没有关注热榜" in visible(editor.get("/boards").text)
    wrong = editor.post("/sites/boards", topic=PACK.name, url="boards.test")
    assert (wrong.status_code, "http" in visible(wrong.text)) == (400, True)
    wrong = editor.post("/sites/boards", topic=PACK.name, url=LIST, format="html", each="li[")
    assert wrong.status_code == 400
    # What was entered stays where it is refused, and is gone where it is kept.
    assert 'value="li["' in wrong.text
    assert _entered(editor, name="微博") == "已开始关注这个热榜。 下一轮采集会去读取。"
    now = time.time()
    with editor.database.engine.begin() as c:
        number = c.execute(url.select().where(url.c.key == url_key(LIST))).one().id
        for at, place in ((now - 3 * 3_600, 9), (now - 1_800, 5), (now, 7)):
            shown = [BoardEntry(place, "马德里华人仓库失火"), BoardEntry(20, "明星官宣")]
            note_entries(c, number, shown, at)
    page = visible(editor.get("/boards").text)
    assert "在榜 3 小时，最高第 5 名" in page
    assert "名次先后：9 → 5 → 7" in page
    assert re.search(r"微博 最近在榜：\d", page)
    assert "明星官宣" not in page
    whole = visible(editor.get("/boards?all=1").text)
    assert "明星官宣" in whole
    # One that never moved has no row of places.
    assert whole.count("名次先后") == 1
    for hours in ("abc", "0", "169", "1.5"):
        wrong = editor.get(f"/boards?hours={hours}")
        assert wrong.status_code == 400
        assert f"hours '{hours}'" in unescape(visible(wrong.text))
    assert editor.get("/boards?hours=").status_code == 200
    (story,) = re.findall(r'href="(/stories/\d+)"', editor.get("/boards").text)
    event = visible(editor.get(story).text)
    assert "热榜情况" in event
    assert "在榜 3 小时，最高第 5 名" in event
    with editor.database.engine.begin() as c:
        note_fault(c, number, "answers, but no list stands where its form says (0 entries)")
    for path in ("/boards", "/sites/boards"):
        assert "格式所指之处没有榜单" in visible(editor.get(path).text)
    assert editor.post("/sites/boards/remove", topic=PACK.name, url=LIST).status_code == 303
    assert editor.post("/sites/boards/remove", topic=PACK.name, url=LIST).status_code == 400


def _entered(desk: Desk, **given: str) -> str:
    """Enter the list; what the next page says of it, whose form is empty."""
    answer = desk.post("/sites/boards", topic=PACK.name, url=LIST, **given)
    assert answer.status_code == 303, visible(answer.text)
    page = desk.get(answer.headers["location"]).text
    (form,) = re.findall(r'<form class="card mb-3".*?</form>', page, re.S)
    assert LIST not in form
    (told,) = re.findall(r'<div[^>]*role="status"[^>]*>(.*?)</div>', page, re.S)
    return visible(told)


def test_a_list_that_is_entered_again_is_changed_in_words_and_on_record(editor: Desk) -> None:
    _entered(editor, name="微博")
    assert "没有任何更改" in _entered(editor, name="微博")
    # Without a name it keeps its own.
    assert "没有任何更改" in _entered(editor)
    places = {"format": "html", "each": "li", "title": "a", "link": "a"}
    assert "原为：微博、newsnow" in _entered(editor, name="知乎", **places)
    assert editor.post("/sites/boards/remove", topic=PACK.name, url=LIST).status_code == 303
    with editor.database.engine.connect() as c:
        noted = [one for one in audit_log.entries(c) if one.action.startswith("board.")][::-1]
    assert [one.action for one in noted] == ["board.add", "board.change", "board.remove"]
    assert [one.target for one in noted] == [
        f"{PACK.name} {name}" for name in ("微博", "知乎", "知乎")
    ]
    added, changed, removed = noted
    assert (added.before, removed.after) == ("", "")
    first, last = json.loads(added.after), json.loads(changed.after)
    assert (first["url"], first["name"]) == (LIST, "微博")
    assert (last["name"], last["format"]) == ("知乎", "html")
    assert (changed.before, removed.before) == (added.after, changed.after)
    editor.log_in_as("administrator")
    page = visible(editor.get("/people/changes").text)
    assert "微博 → 知乎" in page


def test_lists_of_a_file_are_added_and_shown_at_the_terminal(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    add_topic(sqlite_desk.database)
    file = tmp_path / "lists.toml"
    file.write_text(f'[[board]]\nurl = "{LIST}"\nname = "微博"\n', "utf-8")
    where = ["--database", str(sqlite_desk.database.engine.url)]
    done = CliRunner().invoke(app, ["boards", PACK.name, "--import", str(file), *where])
    assert done.exit_code == 0, done.output
    assert "微博" in done.output
    done = CliRunner().invoke(app, ["boards", PACK.name, "--remove", LIST, *where])
    assert done.exit_code == 0, done.output
    with sqlite_desk.database.engine.connect() as c:
        assert board_states(c, PACK.name) == []


def test_the_secret_of_a_program_is_shown_once(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, key = sqlite_desk, new_key()
    monkeypatch.setenv("QIAO_SECRET_KEY", key)
    add_topic(desk.database)
    desk.log_in_as("administrator")
    sent = {"kind": "program", "name": "平台", "address": "http://127.0.0.1/hook"}
    refused = desk.post("/warnings/channels", **sent)
    assert (refused.status_code, "QIAO_ALLOW_ADDRESSES" in refused.text) == (400, True)
    made = desk.post("/warnings/channels", **{**sent, "address": "https://a.example/hook?x=1"})
    assert made.status_code == 200
    (secret,) = set(re.findall(r"whsec_[\w+/=]+", made.text))
    with desk.database.engine.connect() as c:
        address = all_channels(c, "", key)["平台"]
    assert split_address(address) == ("https://a.example/hook?x=1", secret)
    page = desk.get("/warnings/channels/program?name=平台").text
    assert secret not in page
    assert secret not in desk.get("/people/changes").text
    chosen = {"channel": "平台", "topic": PACK.name, "articles": "yes", "events": "yes"}
    for outlets in ("0", "-3", "abc", "1.5", "", "1001"):
        wrong = desk.post("/warnings/channels/program", **chosen, outlets=outlets)
        assert wrong.status_code == 400
        assert f'value="{outlets}"' in wrong.text
        (fault,) = re.findall(r'<div[^>]*id="about-outlets"[^>]*>([^<]*)</div>', wrong.text)
        assert ("1000" in fault, outlets in fault) == (True, True)
        assert f'<option value="{PACK.name}" selected>' in wrong.text
        assert wrong.text.count(" checked") == 2
    wrong = desk.post("/warnings/channels/program", **{**chosen, "topic": "gone"}, outlets="3")
    assert (wrong.status_code, 'id="about-topic"' in wrong.text) == (400, True)
    assert desk.post("/warnings/channels/program", **chosen, outlets="3").status_code == 303
    with desk.database.engine.connect() as c:
        hook = stored_hooks(c)["平台"]
    assert (hook.topic, hook.with_articles, hook.event_outlets) == (PACK.name, True, 3)
    assert desk.get("/warnings/channels/program?name=nobody").status_code == 404
    with desk.database.engine.begin() as c:
        enqueue(c, "f" * 32, "平台", "新报道", "{}", datetime.now(UTC), DATA)
    assert desk.post("/warnings/channels/drop", channel="平台").status_code == 303
    with desk.database.engine.connect() as c:
        assert count_states(c, "平台", DATA) == {"given_up": 1}
        assert stored_hooks(c) == {}
