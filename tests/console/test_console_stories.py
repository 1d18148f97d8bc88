"""Stories and briefings at the console: listed, read, followed, made, taken home."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlalchemy import delete

from console_client import Desk, visible
from qiaocrawl.console.security import credentials
from qiaocrawl.storage.schema import article, metadata
from storage_samples import PACK
from told_stories import TEXTS, make_stories


def test_stories_are_listed_read_and_followed(desk: Desk, database_url: str) -> None:
    desk.log_in_as("reader")
    desk.client.cookies.set(credentials.LANGUAGE, "zh_CN")
    assert "qiaocrawl analyse" in desk.get("/stories").text
    make_stories(database_url)
    listed = desk.get(f"/stories?topic={PACK.name}&least=1").text
    (number,) = re.findall(r'/stories/(\d+)">[^<]*马德里', listed)
    page = desk.get(f"/stories/{number}").text
    words = visible(page)
    for expected in ("首发：甲侨网", "各家数字不一", "姚敬 1", "时间线", "来龙去脉"):
        assert expected in words, expected
    assert TEXTS[0][2].split("。")[0] in words
    assert "<svg" in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page, "what a page says stays text"
    assert desk.post(f"/stories/{number}/follow").status_code == 403
    desk.log_in_as("editor")
    assert desk.post(f"/stories/{number}/follow").status_code == 303
    assert "★" in desk.get("/stories?followed=1").text
    assert desk.post("/stories/99999/follow").status_code == 404
    assert desk.get("/stories?topic=nothing").status_code == 404
    desk.log_in_as("administrator")
    assert "关注了一个故事" in _chinese(desk, "/people/changes")


def test_a_story_without_articles_still_tells_what_became_of_it(
    sqlite_desk: Desk, tmp_path: Path
) -> None:
    desk = sqlite_desk
    make_stories(str(desk.database.engine.url))
    with desk.database.engine.begin() as c:
        for table in reversed(metadata.sorted_tables):
            if table is article or any(key.column.table is article for key in table.foreign_keys):
                c.execute(delete(table))
    desk.log_in_as("reader")
    page = desk.get("/stories/1")
    assert page.status_code == 200
    assert "None of its articles is stored any more." in visible(page.text)


def test_briefings_are_made_read_and_taken_home(desk: Desk, database_url: str) -> None:
    make_stories(database_url)
    desk.log_in_as("editor")
    assert "qiaocrawl briefing make" in desk.get("/briefings").text
    for wrong in ("0", "2", "x", ""):
        refused = desk.post("/briefings", topic=PACK.name, days=wrong)
        assert refused.status_code == 400
        assert repr(wrong) in visible(refused.text).replace("&#39;", "'")
    assert desk.post("/briefings", topic="nothing", days="1").status_code == 404
    made = desk.post("/briefings", topic=PACK.name, days="1")
    assert (made.status_code, made.headers["location"]) == (303, "/briefings/1")
    assert "sandbox" in desk.get("/briefings/1").text
    frame = desk.get("/briefings/1/page")
    assert "sandbox" in frame.headers["content-security-policy"]
    assert "马德里" in frame.text
    word = desk.get("/briefings/1/file/docx")
    assert word.content.startswith(b"PK")
    assert 'filename="briefing-1.docx"' in word.headers["content-disposition"]
    assert desk.get("/briefings/1/file/md").text.startswith("# ")
    assert desk.get("/briefings/1/file/exe").status_code == 404
    assert desk.get("/briefings/9/file/docx").status_code == 404
    assert "/briefings/1" in desk.get("/briefings").text
    desk.log_in_as("reader")
    assert desk.post("/briefings", topic=PACK.name, days="1").status_code == 403
    assert desk.get("/briefings/1/page").status_code == 200


@pytest.mark.chromium
@pytest.mark.skipif(not Path("/usr/bin/chromium").exists(), reason="chromium is not installed")
def test_a_briefing_is_printed_from_its_page(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    make_stories(str(desk.database.engine.url))
    desk.log_in_as("editor")
    desk.post("/briefings", topic=PACK.name, days="7")
    assert desk.get("/briefings/1/file/pdf").content.startswith(b"%PDF")


def _chinese(desk: Desk, path: str) -> str:
    desk.client.cookies.set(credentials.LANGUAGE, "zh_CN")
    return visible(desk.get(path).text)
