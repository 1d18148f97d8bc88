"""The briefing desk: written, changed, approved, locked, sent, on the office's paper."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from docx import Document

from console_client import Desk, visible
from qiaocrawl.news.drafts import stored
from qiaocrawl.storage.audit_log import entries
from storage_samples import PACK
from told_stories import TEXTS, make_stories
from webhooks import Webhook, served_webhook

OWN = "written by the editor, without a source"


@pytest.fixture
def writing(desk: Desk, database_url: str) -> Desk:
    """An editor at a console over two stories."""
    make_stories(database_url)
    desk.log_in_as("editor")
    return desk


def begin(desk: Desk, **fields: object) -> str:
    """Begin a briefing; the address of its desk."""
    answer = desk.post("/briefings/drafts", **{"kind": "day", **fields})
    assert answer.status_code == 303, visible(answer.text)
    return str(answer.headers["location"])


def items_of(desk: Desk, at: str) -> dict[str, str]:
    """The rows of the items by the place their headings name."""
    page = desk.get(at).text
    found = re.findall(r'<li id="item-(\d+)".*?</li>', page, re.DOTALL)
    parts = re.split(r'<li id="item-\d+"', page)[1:]
    return {
        place: row
        for row, part in zip(found, parts, strict=True)
        for place in ("马德里", "槟城")
        if place in part.split("</li>")[0]
    }


def _told(page: str) -> str:
    """The words of the items of a desk."""
    return visible(page.split('id="desk-items"')[1].split("</ol>")[0])


def sentences_of(desk: Desk, at: str) -> list[str]:
    """What stands in the fields of an item's form."""
    page = desk.get(at).text
    return re.findall(r'<textarea [^>]*name="sentence"[^>]*>(.*?)</textarea>', page, re.DOTALL)


def save(desk: Desk, at: str, sentences: list[str], **fields: object) -> object:
    """Send the form of an item as it would be, but for what is given."""
    page = desk.get(at).text
    (heading,) = re.findall(r'name="heading" value="([^"]*)"', page)
    (revision,) = re.findall(r'name="revision" value="(\d+)"', page)
    values = {"heading": heading, "revision": revision, **fields}
    return desk.post(at, sentence=sentences, **values)


def test_a_days_briefing_begins_with_its_events_and_cites_them(writing: Desk) -> None:
    at = begin(writing)
    page = writing.get(at).text
    words = visible(page)
    assert set(items_of(writing, at)) == {"马德里", "槟城"}
    assert TEXTS[0][2].split("。")[0] in words
    assert "[1]" in words
    assert "draft" in words
    assert "各家数字不一" in words, "figures that differ are told"
    assert at in writing.get("/briefings").text
    for wrong in ({"kind": "x"}, {"kind": "event", "story": "x"}, {"kind": "period"},
                  {"kind": "period", "since": "2026-03-05", "until": "2026-03-01"}):  # fmt: skip
        assert writing.post("/briefings/drafts", **wrong).status_code == 400, wrong
    assert writing.post("/briefings/drafts", kind="event", story="99999").status_code == 404
    assert writing.post("/briefings/drafts", kind="day", topic="nothing").status_code == 404
    writing.log_in_as("reader")
    assert writing.post("/briefings/drafts", kind="day").status_code == 403
    seen = writing.get(at)
    assert seen.status_code == 200
    assert "/drop" not in seen.text


def test_week_event_and_own_days_each_make_one(writing: Desk) -> None:
    today = datetime.now(UTC).date()
    assert set(items_of(writing, begin(writing, kind="week", topic=PACK.name)))
    fire = re.findall(r'/stories/(\d+)"><strong>[^<]*马德里', writing.get("/stories?least=1").text)
    at = begin(writing, kind="event", story=fire[0])
    assert "马德里" in visible(writing.get(at).text)
    at = begin(writing, kind="period", since="2020-01-01", until="2020-01-03")
    assert "Nothing is in it yet" in visible(writing.get(at).text)
    assert writing.post(f"{at}/submit").status_code == 400, "an empty one is no briefing"
    at = begin(writing, kind="period", since=f"{today:%Y-%m-%d}", until=f"{today:%Y-%m-%d}")
    assert writing.post(f"{at}/delete").headers["location"] == "/briefings"
    assert writing.get(at).status_code == 404


def test_items_are_ordered_taken_out_and_put_back(writing: Desk) -> None:
    at = begin(writing)
    rows = items_of(writing, at)
    first, second = rows
    assert writing.post(f"{at}/items/{rows[second]}/move", step="up").status_code == 303
    assert list(items_of(writing, at)) == [second, first]
    assert writing.post(f"{at}/items/{rows[second]}/move", step="up").status_code == 303
    assert writing.post(f"{at}/items/{rows[second]}/move", step="aside").status_code == 400
    writing.post(f"{at}/items/{rows[first]}/drop")
    page = writing.get(at).text
    assert list(items_of(writing, at)) == [second]
    assert "Taken out" in visible(page)
    # What is not in it is offered at the right.
    offered = page.split("Events that may go in")[1]
    assert first in offered
    # What is offered is narrowed by kinds of media, on request only.
    assert first not in writing.get(f"{at}?medium=forum").text.split("Events that may go in")[1]
    assert first in writing.get(f"{at}?medium=unknown").text.split("Events that may go in")[1]
    assert writing.post(f"{at}/items/{rows[first]}/restore").status_code == 303
    assert set(items_of(writing, at)) == {first, second}
    assert writing.post(f"{at}/items/{rows[first]}/restore").status_code == 400
    assert writing.post(f"{at}/items/{rows[first]}/drop").status_code == 303
    number = re.findall(r'name="story" value="(\d+)"', writing.get(at).text)[0]
    assert writing.post(f"{at}/add", story=number).status_code == 303
    assert set(items_of(writing, at)) == {first, second}
    assert writing.post(f"{at}/add", story=number).status_code == 400, "it is in it"
    assert writing.post(f"{at}/add", story="99999").status_code == 404
    assert writing.post(f"{at}/add").status_code == 400
    assert writing.post(f"{at}/items/99999/drop").status_code == 400


def test_a_sentence_that_is_changed_is_the_editors_until_it_is_as_before(writing: Desk) -> None:
    at = begin(writing)
    item = f"{at}/items/{items_of(writing, at)['马德里']}"
    before = sentences_of(writing, item)
    assert OWN not in _told(writing.get(at).text)
    changed = ["两名侨胞受伤，均已出院。", *before[1:]]
    assert save(writing, item, changed, heading="马德里仓库失火").status_code == 303
    page = writing.get(at).text.split("</ol>")[0]
    assert OWN in visible(page)
    part = page.split("均已出院。")[1].split("</p>")[0]
    assert "</p>" in page.split("均已出院。")[1]
    assert "[1]" not in part, "it is what no source says"
    assert "马德里仓库失火" in page
    assert "The sources say" in visible(writing.get(item).text)
    again = sentences_of(writing, item)
    restored = [before[0], *again[1:]]
    assert save(writing, item, restored).status_code == 303
    page = writing.get(at).text.split("</ol>")[0]
    assert page.count(OWN) <= 1, "written back it is the sources' again"
    assert "均已出院" not in page


def test_what_two_write_at_once_is_lost_to_neither(writing: Desk) -> None:
    at = begin(writing)
    item = f"{at}/items/{items_of(writing, at)['马德里']}"
    assert save(writing, item, ["甲写的。"]).status_code == 303
    answer = save(writing, item, ["乙写的。"], revision="1")
    assert answer.status_code == 409
    assert "乙写的。" in answer.text, "the form keeps what was typed"
    assert "甲写的。" in answer.text
    assert "changed this item meanwhile" in visible(answer.text)
    long = save(writing, item, ["长" * 2001])
    assert (long.status_code, "长" * 2001 in long.text) == (409, True)
    assert save(writing, item, [""], heading="").status_code == 303
    assert writing.get(item).status_code == 200, "a heading alone stays"


def test_title_number_note_and_characters_are_kept(writing: Desk) -> None:
    at = begin(writing)
    head = {"title": "侨情日报", "issue": "12", "script": "traditional", "note": "请关注后续。"}
    assert writing.post(f"{at}/head", **head).status_code == 303
    words = visible(writing.get(at).text)
    for expected in ("僑情日報", "請關注後續。", "西班牙馬德里一處華人倉庫失火"):
        assert expected in words, expected
    for wrong in ({"title": ""}, {"issue": "x"}, {"issue": "0"}, {"script": "klingon"}):
        assert writing.post(f"{at}/head", **{**head, **wrong}).status_code == 400, wrong
    text = writing.get(f"{at}/0/file/txt").text
    assert "第12期" in text
    assert "编" not in text, "one script throughout"
    assert "西班牙馬德里" in text
    # Shown in other characters and sent back as shown, a sentence is still its sources'.
    (row, *_rest) = re.findall(r'<li id="item-(\d+)"', writing.get(at).text)
    item = f"{at}/items/{row}"
    assert save(writing, item, sentences_of(writing, item)).status_code == 303
    assert OWN not in _told(writing.get(at).text)
    # The next briefing has the next number.
    assert 'name="issue" inputmode="numeric" value="13"' in writing.get(begin(writing)).text


def test_events_and_articles_go_into_the_open_briefing(writing: Desk) -> None:
    numbers = re.findall(r'/stories/(\d+)"', writing.get("/stories?least=1").text)
    page = writing.get(f"/stories/{numbers[0]}").text
    assert 'action="/briefings/put"' in page
    put = writing.post("/briefings/put", story=numbers[0], next=f"/stories/{numbers[0]}")
    assert put.headers["location"] == f"/stories/{numbers[0]}"
    told = writing.get(f"/stories/{numbers[0]}").text
    (at,) = set(re.findall(r'href="(/briefings/drafts/\d+)"', told))
    assert len(items_of(writing, at)) == 1, "the first one begins a briefing that has it alone"
    article = re.findall(r'href="/articles/(\d+)"', page)[0]
    assert 'action="/briefings/put"' in writing.get(f"/articles/{article}").text
    assert writing.post("/briefings/put", article=article, next="//evil.test").status_code == 303
    assert writing.get(at).text.count('data-desk="drop"') == 2
    assert writing.post("/briefings/put", article="99999").status_code == 400
    assert writing.post("/briefings/put", story="99999").status_code == 404
    assert writing.post("/briefings/put").status_code == 400


def test_an_approved_copy_is_locked_and_a_change_makes_the_next_version(writing: Desk) -> None:
    at = begin(writing)
    writing.post(f"{at}/add", line="以上情况请阅示。")
    rows = items_of(writing, at)
    assert writing.post(f"{at}/approve").status_code == 403
    writing.post(f"{at}/submit")
    assert "waits for approval" in visible(writing.get(at).text)
    assert writing.post(f"{at}/items/{rows['马德里']}/drop").status_code == 400
    assert writing.post(f"{at}/approve").status_code == 403, "nobody named: administrators do"
    writing.log_in_as("administrator")
    assert writing.post(f"{at}/return", reason="请补充人数。").status_code == 303
    assert "请补充人数。" in visible(writing.get(at).text)
    assert writing.post(f"{at}/approve").status_code == 400, "it is a draft again"
    # A chief who only reads may be who approves.
    writing.log_in_as("reader")
    writing.log_in_as("administrator")
    office = {"unit": "某市侨办信息处", "masthead": "侨情简报", "report_to": "市委办公室",
              "send_to": "", "title_font": "方正小标宋简体", "heading_font": "黑体",
              "body_font": "仿宋_GB2312", "approver": "reader"}  # fmt: skip
    assert writing.post("/office/paper", **office).status_code == 303
    writing.log_in_as("editor")
    writing.post(f"{at}/submit")
    writing.log_in_as("reader")
    assert writing.post(f"{at}/approve").status_code == 303
    page = writing.get(at).text
    assert "Version 1, as approved" in visible(page)
    word = writing.get(f"{at}/1/file/docx").content
    assert hashlib.sha256(word).hexdigest() in page
    said = [line.text for line in Document(BytesIO(word)).paragraphs]
    assert said[0] == "侨情简报"
    assert any("以上情况请阅示。" in line and "编辑撰写，无出处" in line for line in said)
    writing.log_in_as("editor")
    assert writing.post(f"{at}/items/{rows['马德里']}/drop").status_code == 400
    assert writing.post(f"{at}/delete").status_code == 400
    assert writing.post(f"{at}/reopen").status_code == 303
    writing.post(f"{at}/items/{rows['马德里']}/drop")
    assert writing.get(f"{at}/1/file/docx").content == word, "what was approved stays"
    assert "马德里" not in writing.get(f"{at}/0/file/txt").text
    writing.post(f"{at}/submit")
    writing.log_in_as("reader")
    writing.post(f"{at}/approve")
    assert "马德里" not in writing.get(f"{at}/2/file/txt").text
    assert "马德里" in writing.get(f"{at}/1/file/txt").text
    assert writing.get(f"{at}/3/file/txt").status_code == 404
    assert writing.get(f"{at}/1/file/exe").status_code == 404
    writing.log_in_as("editor")
    assert writing.post(f"{at}/delete").status_code == 400, "what was approved once stays"
    with writing.database.reading() as c:
        done = {entry.action for entry in entries(c, limit=100)}
    acts = ("begin", "put", "submit", "return", "approve", "reopen", "drop")
    assert {*(f"briefing.{act}" for act in acts), "office.paper"} <= done


def test_a_locked_copy_that_was_tampered_with_is_not_given_out(writing: Desk) -> None:
    at = begin(writing)
    writing.post(f"{at}/submit")
    writing.log_in_as("administrator")
    writing.post(f"{at}/approve")
    number = int(at.rsplit("/", 1)[1])
    with writing.database.engine.begin() as c:
        c.exec_driver_sql("UPDATE briefing_version SET record = replace(record, '马德里', '巴黎')")
        c.exec_driver_sql(
            "UPDATE briefing_version_file SET data = (SELECT x.data FROM (SELECT data FROM "
            "briefing_version_file WHERE ending = 'html') x) WHERE ending = 'docx'"
        )
    answer = writing.get(f"{at}/1/file/docx")
    assert answer.status_code == 503
    assert "is not what was approved" in visible(answer.text)
    with writing.database.reading() as c, pytest.raises(Exception, match="not what was approved"):
        stored.draft_of_version(c, number, 1)


def test_an_approved_briefing_is_sent_with_a_receipt_each(
    writing: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served_webhook() as webhook:
        _send_to(writing, webhook, tmp_path / "channels.toml", monkeypatch)


def _send_to(
    writing: Desk, webhook: Webhook, channels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    channels.write_text(f'desk = "{webhook.address}"\ngone = "json://127.0.0.1:9/"\n', "utf-8")
    monkeypatch.setenv("QIAO_WARNING_CHANNELS", str(channels))
    at = begin(writing)
    assert writing.post(f"{at}/send", channel="desk").status_code == 400, "nobody approved it"
    writing.post(f"{at}/submit")
    writing.log_in_as("administrator")
    writing.post(f"{at}/approve")
    assert writing.post(f"{at}/send").status_code == 400
    assert writing.post(f"{at}/send", channel="nowhere").status_code == 400
    answer = writing.post(f"{at}/send", channel=["desk", "gone"], by_hand="市委办公室（纸质）\n\n")
    assert answer.status_code == 303, visible(answer.text)
    page = writing.get(at)
    words = visible(page.text)
    assert "Sent to 2 of 3." in words
    assert "Not arrived: gone" in words
    assert "市委办公室（纸质） handed over" in words
    assert "desk arrived" in words
    assert "gone not arrived" in words
    assert "sent out" in words
    assert "127.0.0.1:9" not in page.text, "addresses are shown nowhere"
    (message,) = webhook.bodies
    assert "马德里" in str(message)


@pytest.mark.chromium
@pytest.mark.skipif(not Path("/usr/bin/chromium").exists(), reason="chromium is not installed")
def test_a_briefing_of_the_desk_is_printed(sqlite_desk: Desk) -> None:
    make_stories(str(sqlite_desk.database.engine.url))
    sqlite_desk.log_in_as("editor")
    at = begin(sqlite_desk)
    assert sqlite_desk.get(f"{at}/0/file/pdf").content.startswith(b"%PDF")


def test_any_article_is_found_and_put_in(writing: Desk) -> None:
    at = begin(writing)
    search = writing.client.app.state.console.search  # type: ignore[attr-defined]
    while search.notice():
        search._look()
    found = writing.get(at, params={"find": "马德里"}).text
    card = found.split('id="search"')[1].split("</section>")[0]
    (number, *_others) = re.findall(r'name="article" value="(\d+)"', card)
    assert writing.post(at + "/add", article=number).status_code == 303
    again = writing.get(at, params={"find": "马德里"}).text
    assert "is in it" in visible(again.split('id="search"')[1].split("</section>")[0])
    nothing = visible(writing.get(at, params={"find": "没有这样的词语"}).text)
    assert "No article has these words." in nothing
