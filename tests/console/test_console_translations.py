"""A foreign article in Chinese beside the original, and foreign titles in lists."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import text

from console_articles import FOREIGN, add_foreign, add_stories
from console_client import Desk, visible
from model_server import ModelServer, Raw
from qiaocrawl.console.security import credentials
from qiaocrawl.storage.audit_log import entries

GOOD = (
    "1|马尼拉火灾\n2|警方说，11月10日唐人街一场火灾造成三人受伤。\n"
    "3|陈亚才（Tan Ah Chai）的协会捐出1200个口罩。\n4|使馆没有评论。"
)


@pytest.fixture
def abroad(desk: Desk) -> str:
    """The path of an English article; an editor's console in Chinese."""
    add_stories(desk.database)
    number = add_foreign(desk.database)
    desk.log_in_as("editor")
    desk.client.cookies.set(credentials.LANGUAGE, "zh_CN")
    return f"/articles/{number}"


def test_an_article_is_translated_line_by_line_and_taken_away(
    desk: Desk, abroad: str, model: ModelServer
) -> None:
    page = desk.get(abroad).text
    assert "翻译" in visible(page)
    assert "1. Fire in Manila" in page, "what is sent is shown before"
    assert 'id="translation"' not in desk.get("/articles/1").text
    # Four for three, a name left out, what was not denied: each is asked again, one stays wrong.
    model.answers = [
        GOOD.replace("三人", "四人").replace("（Tan Ah Chai）", "").replace("没有", "作了"),
        "\n".join([*GOOD.splitlines()[1:3], "4|使馆发表评论。"]),
    ]
    assert desk.post(f"{abroad}/translation").status_code == 303
    assert len(model.questions) == 2
    again = model.questions[1]["messages"][-1]["content"]
    assert all(said in again for said in ("原文没有这个数字 四", "Tan Ah Chai", "否定与原文不同"))
    words = visible(desk.get(abroad).text)
    assert "模型翻译" in words
    assert "警方说，11月10日唐人街一场火灾造成三人受伤。" in words
    assert "四人" not in words
    assert "发表评论" not in words
    assert "未译" in words
    assert FOREIGN[1].split(".")[0] in words, "the original stands beside it"
    with desk.database.engine.connect() as c:
        (noted,) = [own for own in entries(c) if own.action == "article.translate"]
    assert json.loads(noted.after) == {"model": "klein", "sentences": 3, "dropped": 1}
    listed = visible(desk.get("/articles").text)
    assert "Fire in Manila 马尼拉火灾 模型翻译" in listed
    assert desk.post(f"{abroad}/translation/drop").status_code == 303
    assert "马尼拉火灾" not in desk.get("/articles").text
    assert desk.post(f"{abroad}/translation/drop").status_code == 400
    assert desk.post("/articles/1/translation").status_code == 400, "it is in Chinese"
    assert desk.post("/articles/99999/translation").status_code == 404


def test_titles_of_a_list_are_translated_at_once(
    desk: Desk, abroad: str, model: ModelServer
) -> None:
    number = abroad.rpartition("/")[2]
    page = desk.get("/articles").text
    assert "翻译 1 条外文标题" in visible(page)
    model.answers = ["1|马尼拉火灾"]
    assert desk.post("/articles/titles", article=["1", number, "x", "9" * 30]).status_code == 303
    assert model.questions[0]["messages"][1]["content"] == "1. Fire in Manila"
    page = visible(desk.get("/articles").text)
    assert "马尼拉火灾 模型翻译" in page
    assert "外文标题" not in page
    assert desk.post("/articles/titles", article=[number]).status_code == 400
    # A title that is another now has no translation any more.
    with desk.database.engine.begin() as c:
        c.execute(text("UPDATE article SET title = 'Fire in Cebu' WHERE id = :id"), {"id": number})
    assert "马尼拉火灾" not in desk.get("/articles").text
    assert "翻译 1 条外文标题" in visible(desk.get("/articles").text)
    assert "现在写的不同" in visible(desk.get(abroad).text)


def test_a_title_takes_no_whole_text_away(desk: Desk, abroad: str, model: ModelServer) -> None:
    number = abroad.rpartition("/")[2]
    # The title alone fails; the text is kept, and lists ask for that title no more.
    model.answers = [GOOD.replace("1|马尼拉火灾", "1|马尼拉9处火灾"), "1|马尼拉9处火灾"]
    desk.post(f"{abroad}/translation")
    assert "外文标题" not in visible(desk.get("/articles").text)
    assert desk.post("/articles/titles", article=[number]).status_code == 400
    assert "使馆没有评论。" in visible(desk.get(abroad).text)
    assert len(model.questions) == 2


def test_what_goes_wrong_is_said_and_nothing_is_kept(
    desk: Desk, abroad: str, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.answers = [Raw(b"overloaded", 503)]
    desk.post(f"{abroad}/translation")
    assert "503" in visible(desk.get(abroad).text)
    model.answers = ["抱歉，我不能翻译。"] * 2
    desk.post(f"{abroad}/translation")
    words = visible(desk.get(abroad).text)
    assert "4 行中有 0 行" in words
    assert "模型翻译" not in words
    monkeypatch.setenv("QIAO_MODEL_FORBIDDEN", "on")
    assert 'id="translation"' not in desk.get(abroad).text
    assert desk.post(f"{abroad}/translation").status_code == 303
    assert "禁止" in visible(desk.get(abroad).text)
    assert len(model.questions) == 3, "nothing is asked where it is forbidden"


def test_a_reader_sees_what_was_translated_and_asks_nothing(
    desk: Desk, abroad: str, model: ModelServer
) -> None:
    model.answers = [GOOD]
    desk.post(f"{abroad}/translation")
    desk.log_in_as("reader")
    page = desk.get(abroad).text
    assert "马尼拉火灾" in page
    assert f"{abroad}/translation" not in page
    assert desk.post(f"{abroad}/translation").status_code == 403
    assert desk.post("/articles/titles").status_code == 403
