"""Stories and briefings at the console: listed, read, followed, made, taken home."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, update

from console_client import Desk, visible
from qiaocrawl.console.security import credentials
from qiaocrawl.news.stories.analyse import analyse_stories
from qiaocrawl.storage.schema import article, metadata, story, story_article
from storage_samples import PACK
from title_samples import runtime_on
from told_stories import TEXTS, make_stories, store_on_topic


@pytest.fixture
def told(desk: Desk, database_url: str) -> Desk:
    """A reader's console over two stories."""
    make_stories(database_url)
    desk.log_in_as("reader")
    return desk


def test_stories_are_listed_read_and_followed(desk: Desk, database_url: str) -> None:
    desk.log_in_as("reader")
    desk.client.cookies.set(credentials.LANGUAGE, "zh_CN")
    assert "qiaocrawl analyse" in desk.get("/stories").text
    make_stories(database_url)
    listed = desk.get(f"/stories?topic={PACK.name}&least=1").text
    (number,) = re.findall(r'/stories/(\d+)"><strong>[^<]*马德里', listed)
    page = desk.get(f"/stories/{number}").text
    words = visible(page)
    for expected in ("首发：甲侨网", "各家数字不一", "姚敬 1", "时间线", "变动记录"):
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
    assert "关注了一个事件" in _chinese(desk, "/people/changes")


def _numbers(desk: Desk) -> dict[str, str]:
    """The numbers of the two stories by where they are told to happen."""
    listed = desk.get("/stories?least=1").text
    return {
        place: re.findall(rf'/stories/(\d+)">(?:<[^>]+>)*[^<]*{place}', listed)[0]
        for place in ("马德里", "槟城")
    }


def test_stories_of_more_outlets_come_first_and_by_publication(told: Desk) -> None:
    words = visible(told.get("/stories").text)
    assert "马德里" in words
    assert "槟城" not in words, "one outlet has it"
    words = visible(told.get("/stories?least=1").text)
    assert words.index("马德里") < words.index("槟城")
    assert "goes on" in words
    with told.database.engine.begin() as c:
        c.exec_driver_sql("UPDATE article SET published_at = '2025-03-02 01:00:00'")
        c.exec_driver_sql("UPDATE story SET last_published = '2025-03-02 01:00:00'")
    assert "马德里" not in visible(told.get("/stories?days=30").text)
    old = visible(told.get("/stories?days=3650").text)
    assert "2025/3/2" in old
    assert "goes on" not in old
    # Addresses of before still choose the same days and topic.
    assert told.get(f"/stories?topic={PACK.name}&days=1").status_code == 200


def test_articles_and_stories_lead_to_each_other(told: Desk) -> None:
    number = _numbers(told)["马德里"]
    page = told.get(f"/stories/{number}").text
    articles = re.findall(r'href="(/articles/\d+)"', page)
    assert len(articles) == 2
    for address in articles:
        assert f'href="/stories/{number}"' in told.get(address).text
    school = told.get(f"/stories/{_numbers(told)['槟城']}").text
    alone = re.findall(r'href="(/articles/\d+)"', school)
    assert "/stories/" not in told.get(alone[0]).text.split("<main")[1], "one article is no event"


def test_stories_are_merged_and_split_and_it_can_be_taken_back(
    told: Desk, database_url: str
) -> None:
    numbers = _numbers(told)
    fire, school = numbers["马德里"], numbers["槟城"]
    assert told.post(f"/stories/{fire}/merge", other=school).status_code == 403
    told.log_in_as("editor")
    assert told.post(f"/stories/{fire}/merge", other=fire).status_code == 400
    assert told.post(f"/stories/{fire}/merge", other="99999").status_code == 404
    assert told.post(f"/stories/{fire}/split").status_code == 400
    assert told.post(f"/stories/{fire}/merge", other=school).status_code == 303
    page = told.get(f"/stories/{fire}").text
    (undo,) = set(re.findall(r'action="(/stories/corrections/\d+/undo)"', page))
    assert "both are one event" in visible(page)
    assert "both are one event" not in visible(told.get(f"/stories/{fire}").text), "said once"
    assert told.post(undo, story=fire).headers["location"] == f"/stories/{fire}"
    assert told.post(undo, story=fire).status_code == 400, "there is nothing to take back"
    members = re.findall(r'name="article" value="(\d+)"', page)
    assert told.post(f"/stories/{fire}/split", article=members).status_code == 400, "none is left"
    # Copies of one text move together; here that would leave nothing.
    assert told.post(f"/stories/{fire}/split", article=members[1]).status_code == 400
    told.post(f"/stories/{fire}/merge", other=school)
    with runtime_on(database_url) as runtime:
        analyse_stories(runtime, lambda _count: True)
    whole = next(
        number
        for number in (fire, school)
        if 'name="article"' in told.get(f"/stories/{number}").text
    )
    ticked = re.findall(r'value="(\d+)" aria-label="[^"]*槟城', told.get(f"/stories/{whole}").text)
    assert len(ticked) == 1
    told.post(f"/stories/{whole}/split", article=ticked[0])
    assert "took out: 槟城" in visible(told.get(f"/stories/{whole}").text)
    with runtime_on(database_url) as runtime:
        analyse_stories(runtime, lambda _count: True)
    after = told.get(f"/stories/{whole}").text
    assert "took out" not in after
    assert f'name="article" value="{ticked[0]}"' not in after
    told.log_in_as("administrator")
    changes = visible(told.get("/people/changes").text)
    for said in ("two stories are one", "took articles out", "took back a correction"):
        assert said in changes


def test_who_printed_a_text_first_is_no_reprint_of_who_was_found_first(
    told: Desk, database_url: str
) -> None:
    _host, title, body = TEXTS[0]
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=20)
    with runtime_on(database_url) as runtime:
        store_on_topic(runtime, "first", [("first.example", at, title, body)])
        analyse_stories(runtime, lambda _count: True)
    words = visible(told.get(f"/stories/{_numbers(told)['马德里']}").text)
    listed = words[words.index("Articles 3") :]
    assert re.search(r"first\.example · [^·]*马德里", listed)
    assert re.search(r"甲侨网 · [^·]*· reprint", listed)


def test_each_article_tells_why_it_is_in_its_event(told: Desk, database_url: str) -> None:
    number = _numbers(told)["马德里"]
    copies = re.findall(r"\?why=(\d+)#why", told.get(f"/stories/{number}").text)
    assert "It has the same text as" in visible(told.get(f"/stories/{number}?why={copies[1]}").text)
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
    body = (
        "起火的马德里仓库由一家侨商租用，消防员用了三个小时将火扑灭。受伤侨胞的家属说，"
        "失火时仓库里存放的都是日用百货，姚敬大使到医院看望了他们。"
    )
    with runtime_on(database_url) as runtime:
        title = "姚敬大使看望马德里火灾受伤侨胞 仓库货物全毁"
        store_on_topic(runtime, "more", [("d.example", at, title, body)])
        analyse_stories(runtime, lambda _count: True)
    page = told.get(f"/stories/{number}").text
    (newest,) = set(re.findall(r"\?why=(\d+)#why", page)) - set(copies)
    page = told.get(f"/stories/{number}?why={newest}").text
    words = visible(page)
    for expected in ("Most like it in this event", "Both say:", "仓库", "Published within one day"):
        assert expected in words, expected
    assert "Score" in page.split("Technical details")[1], "figures stand behind the details"
    assert f"?why={copies[0]}#why" in page
    assert f"?why={newest}#why" not in page
    assert "Both say:" not in visible(told.get(f"/stories/{number}?why=99999").text)
    chinese = _chinese(told, f"/stories/{number}?why={newest}")
    assert "为什么在这个事件里" in chinese
    assert "两篇都写到" in chinese


def test_round_ups_that_name_an_event_stand_beside_it(told: Desk, database_url: str) -> None:
    number = _numbers(told)["马德里"]
    body = (
        "马德里华人仓库失火\n西班牙马德里一处华人仓库失火，两名侨胞受伤送医，使馆已派员看望慰问。\n"
        "巴黎华商会举行年会\n法国巴黎华商会举行年会，三百名会员出席，会上选举产生新一届理事会成员。"
    )
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
    with runtime_on(database_url) as runtime:
        store_on_topic(runtime, "week", [("d.example", at, "侨情一周：欧洲华社速览", body)])
        analyse_stories(runtime, lambda _count: True)
    words = _chinese(told, f"/stories/{number}")
    assert "综述提到" in words
    assert "侨情一周：欧洲华社速览" in words
    assert "综述提到" not in _chinese(told, f"/stories/{_numbers(told)['槟城']}")


def test_what_was_said_is_done_at_once_when_asked(told: Desk) -> None:
    numbers = _numbers(told)
    fire, school = numbers["马德里"], numbers["槟城"]
    assert told.post(f"/stories/{fire}/analyse").status_code == 403
    told.log_in_as("editor")
    assert "/analyse" not in told.get(f"/stories/{fire}").text, "there is nothing to do"
    told.post(f"/stories/{fire}/merge", other=school)
    assert f'action="/stories/{fire}/analyse"' in told.get(f"/stories/{fire}").text
    assert told.post(f"/stories/{fire}/analyse").status_code == 303
    page = told.get(f"/stories/{min(fire, school, key=int)}").text
    assert "槟城" in page
    assert "马德里" in page


def test_a_part_that_stands_alone_is_offered_as_another_event(
    told: Desk, database_url: str
) -> None:
    numbers = _numbers(told)
    with runtime_on(database_url) as runtime:
        # As it was put together at a time when more was alike.
        fire, school = int(numbers["马德里"]), int(numbers["槟城"])
        runtime.write_now(
            lambda c: c.execute(
                update(story_article)
                .where(story_article.c.story_id == school)
                .values(story_id=fire)
            )
        )
        runtime.write_now(
            lambda c: c.execute(
                update(story).where(story.c.id == fire).values(voices=3, articles=3)
            )
        )
    assert "hardly like" not in visible(told.get(f"/stories/{fire}").text), "readers change nothing"
    told.log_in_as("editor")
    page = told.get(f"/stories/{fire}").text
    assert "1 article is hardly like the others" in visible(page)
    (offered,) = re.findall(r'type="hidden" name="article" value="(\d+)"', page)
    assert "槟城" in told.get(f"/articles/{offered}").text
    told.post(f"/stories/{fire}/split", article=offered)
    assert "took out: 槟城" in visible(told.get(f"/stories/{fire}").text)


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
