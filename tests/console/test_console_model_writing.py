"""A paragraph of an event and the lead of a briefing, drafted by a model on loopback."""

from __future__ import annotations

import html
import re

import pytest

from console_client import Desk, visible
from model_server import ModelServer, Raw
from qiaocrawl.console.security import credentials
from qiaocrawl.news.drafts.stored import one_draft
from storage_samples import PACK
from told_stories import make_stories


@pytest.fixture
def told(desk: Desk, database_url: str) -> Desk:
    """An editor's console over two stories, in Chinese."""
    make_stories(database_url)
    desk.log_in_as("editor")
    desk.client.cookies.set(credentials.LANGUAGE, "zh_CN")
    return desk


def _number(desk: Desk) -> str:
    listed = desk.get(f"/stories?topic={PACK.name}&least=1").text
    return str(re.findall(r'/stories/(\d+)"><strong>[^<]*马德里', listed)[0])


def _sent(page: str) -> dict[int, str]:
    """The numbered sentences that a page says it would send."""
    lines = re.findall(r'<p class="desk-facts console-wrap mb-0">(\d+)\. (.+?)</p>', page)
    return {int(number): html.unescape(text) for number, text in lines}


def _verbatim(sent: dict[int, str]) -> tuple[int, str]:
    """A sentence to be answered as it stands: without marks, and figures that sources differ in."""
    return next(
        (number, text)
        for number, text in sent.items()
        if text.endswith("。") and not re.search(r"[<>\[\]{}*#|两三]", text)
    )


def test_a_paragraph_is_drafted_shown_changed_and_taken_away(
    told: Desk, model: ModelServer
) -> None:
    number = _number(told)
    page = told.get(f"/stories/{number}").text
    assert "起草" in visible(page)
    assert model.url.removesuffix("/v1") in page
    cite, text = _verbatim(_sent(page))
    model.answers = [f"{cite}|{text}\n{cite}|王大锤捐款九百万元。", f"{cite}|王大锤捐款九百万元。"]
    assert told.post(f"/stories/{number}/draft").status_code == 303
    assert len(model.questions) == 2
    page = told.get(f"/stories/{number}").text
    words = visible(page)
    assert "模型起草" in words
    assert text in words
    assert "王大锤捐款九百万元。" in words, "what was dropped is shown with why"
    assert "所引句子里没有" in words
    revision = re.findall(r'name="revision" value="(\d+)"', page)[0]
    changed: dict[str, object] = {"revision": revision, "sentence": "我们自己的话。"}
    assert told.post(f"/stories/{number}/draft/save", **changed).status_code == 303
    words = visible(told.get(f"/stories/{number}").text)
    assert "我们自己的话。" in words
    assert "未经核对" in words
    answer = told.post(f"/stories/{number}/draft/save", **changed)
    assert answer.status_code == 400, "a colleague changed it meanwhile"
    assert told.post(f"/stories/{number}/draft/drop").status_code == 303
    assert "我们自己的话。" not in visible(told.get(f"/stories/{number}").text)
    assert told.post(f"/stories/{number}/draft/drop").status_code == 400
    assert told.post("/stories/99999/draft").status_code == 404
    told.log_in_as("reader")
    assert told.post(f"/stories/{number}/draft").status_code == 403
    assert "会送出" not in visible(told.get(f"/stories/{number}").text)


def test_a_model_that_is_down_leaves_the_page_as_it_is(told: Desk, model: ModelServer) -> None:
    number = _number(told)
    before = visible(told.get(f"/stories/{number}").text)
    model.answers = [Raw(b"overloaded", 503)]
    assert told.post(f"/stories/{number}/draft").status_code == 303
    words = visible(told.get(f"/stories/{number}").text)
    assert "503" in words
    assert "模型起草" not in words
    assert before[before.index("报道内容") if "报道内容" in before else 0 :][:50] in words


def test_an_answer_of_inventions_keeps_what_was_there(told: Desk, model: ModelServer) -> None:
    number = _number(told)
    cite, text = _verbatim(_sent(told.get(f"/stories/{number}").text))
    model.answers = [f"{cite}|{text}"]
    told.post(f"/stories/{number}/draft")
    model.answers = [f"{cite}|王大锤捐款九百万元。"] * 2
    told.post(f"/stories/{number}/draft")
    words = visible(told.get(f"/stories/{number}").text)
    assert "没有一句" in words
    assert "模型起草" in words, "the earlier draft stays"


def test_without_a_model_nothing_is_offered(
    told: Desk, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = _number(told)
    monkeypatch.setenv("QIAO_MODEL_FORBIDDEN", "on")
    assert f"/stories/{number}/draft" not in told.get(f"/stories/{number}").text
    told.post(f"/stories/{number}/draft")
    monkeypatch.delenv("QIAO_MODEL_FORBIDDEN")
    monkeypatch.delenv("QIAO_MODEL_URL")
    assert f"/stories/{number}/draft" not in told.get(f"/stories/{number}").text
    assert model.questions == []


def test_a_wrong_address_is_said_and_breaks_no_page(
    told: Desk, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = _number(told)
    monkeypatch.setenv("QIAO_MODEL_URL", "nowhere")
    page = told.get(f"/stories/{number}")
    assert page.status_code == 200
    assert "nowhere" in visible(page.text)
    monkeypatch.setenv("QIAO_MODEL_URL", "https://8.8.8.8/v1")
    assert "不得外送" in visible(told.get(f"/stories/{number}").text)
    assert told.post(f"/stories/{number}/draft").status_code == 303
    assert "不得外送" in visible(told.get(f"/stories/{number}").text)
    assert model.questions == []


def test_a_lead_stands_first_and_waits_for_an_editors_word(told: Desk, model: ModelServer) -> None:
    told.post("/briefings/drafts", kind="event", story=_number(told))
    page = told.get("/briefings/drafts/1").text
    cite, text = _verbatim(_sent(page))
    model.answers = [f"{cite}|{text}"]
    assert told.post("/briefings/drafts/1/lead").status_code == 303
    words = visible(told.get("/briefings/drafts/1").text)
    assert "模型起草，尚未认可" in words
    with told.database.engine.connect() as c:
        lead = one_draft(c, 1).items[0]
    assert (lead.kind, lead.sentences[0].text) == ("lead", text)
    assert lead.sentences[0].sources
    assert lead.waits_for_word
    assert told.post("/briefings/drafts/1/submit").status_code == 400
    accept = "/briefings/drafts/1/lead/accept"
    assert told.post(accept, revision=lead.revision).status_code == 303
    assert told.post(accept, revision=lead.revision).status_code == 400
    assert "模型起草，editor 认可" in visible(told.get("/briefings/drafts/1").text)
    assert told.post("/briefings/drafts/1/submit").status_code == 303
    assert told.post("/briefings/drafts/1/lead").status_code == 400, "it waits for approval"


def test_a_new_lead_takes_the_place_of_the_old(told: Desk, model: ModelServer) -> None:
    told.post("/briefings/drafts", kind="event", story=_number(told))
    cite, text = _verbatim(_sent(told.get("/briefings/drafts/1").text))
    model.answers = [f"{cite}|{text}"] * 2
    told.post("/briefings/drafts/1/lead")
    told.post("/briefings/drafts/1/lead")
    with told.database.engine.connect() as c:
        kinds = [item.kind for item in one_draft(c, 1).items]
    assert kinds.count("lead") == 1
    assert kinds[0] == "lead"
