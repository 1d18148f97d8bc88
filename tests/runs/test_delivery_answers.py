"""What channels answer: delivered is what the far side took, long messages go in parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from apprise.plugins.dingtalk import NotifyDingTalk
from apprise.plugins.feishu import NotifyFeishu
from apprise.plugins.lark import NotifyLark
from apprise.plugins.pushdeer import NotifyPushDeer
from apprise.plugins.serverchan import NotifyServerChan
from apprise.plugins.vonage import NotifyVonage
from apprise.plugins.wecombot import NotifyWeComBot
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from held_ports import held_port
from qiaocrawl.news.warnings.answers import Room, parts_of, room_of
from qiaocrawl.news.warnings.delivery import deliver_due, send_test
from qiaocrawl.news.warnings.markup import form_of
from qiaocrawl.news.warnings.stored import add_claimed, stuck_messages
from qiaocrawl.storage import Database
from webhooks import Webhook, served_webhook

NOW = datetime(2026, 3, 5, 4, tzinfo=UTC)
AT = NOW.timestamp()
TOKEN = "8f14e45fceea167a5a36dedd4bea2543"


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """SQLite alone: what is tested is what comes over HTTP."""
    return f"sqlite:///{tmp_path / 'answers.db'}"


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Webhook]:
    """The far side of all services, on loopback; nothing waits between two requests."""
    with served_webhook() as server:
        for plugin in (NotifyWeComBot, NotifyDingTalk, NotifyFeishu, NotifyLark, NotifyPushDeer,
                       NotifyServerChan, NotifyVonage):  # fmt: skip
            monkeypatch.setattr(plugin, "notify_url", f"{server.origin}/")
            monkeypatch.setattr(plugin, "request_rate_per_sec", 0)
        yield server


CHANNELS: Mapping[str, str] = {
    "text": f"wecombot://{TOKEN}/?format=text",
    "wecom": f"wecombot://{TOKEN}/", "ding": f"dingtalk://{TOKEN}/", "feishu": f"feishu://{TOKEN}/",
    "lark": f"lark://{TOKEN}/", "schan": f"schan://{TOKEN}/", "deer": f"pushdeer://{TOKEN}/",
    "sms": "vonage://abcd1234:abcdefgh12345678@8613800000000/8613900000000",
}  # fmt: skip


def _add(database: Database, channel: str, body: str, title: str = "警告：唐人街失火") -> int:
    """A message that waits; returns its number."""
    with database.engine.begin() as c:
        message = add_claimed(c, channel, title, body, NOW)
        c.execute(text("UPDATE warning_message SET attempts = 0, next_at = 0"))
    return message.id


def _row(database: Database, number: int) -> Any:
    with database.engine.connect() as c:
        statement = text("SELECT * FROM warning_message WHERE id = :id")
        return c.execute(statement, {"id": number}).one()


REFUSALS = [
    ("wecom", {"errcode": 93000, "errmsg": "invalid webhook url"}, "93000 invalid webhook url"),
    ("wecom", {"errcode": 40058, "errmsg": "text.content exceed max length 2048"}, "40058"),
    ("wecom", "<html>Please log in</html>", "does not say that it took"),
    ("wecom", {}, "does not say that it took"),
    ("ding", {"errcode": 310000, "errmsg": "description:关键词不匹配"}, "310000"),
    ("ding", {"errcode": 300005, "errmsg": "token is not exist"}, "300005"),
    ("feishu", {"code": 9499, "msg": "Bad Request", "data": {}}, "9499 Bad Request"),
    ("feishu", {"code": 19024, "msg": "Key Words Not Found"}, "19024 Key Words Not Found"),
    ("feishu", {"StatusCode": 19001, "StatusMessage": "param invalid"}, "19001 param invalid"),
    ("lark", {"code": 19021, "msg": "sign match fail"}, "19021 sign match fail"),
    ("schan", {"code": 40001, "message": "bad pushkey", "data": None}, "40001 bad pushkey"),
    ("deer", {"code": 80501, "error": "no such key"}, "80501 no such key"),
    ("sms", {"messages": [{"status": "4", "error-text": "Bad Credentials"}]}, "refused"),
    ("own", {"success": False, "message": "no such room"}, "no such room"),
    ("own", {"ok": False, "error": "channel_not_found"}, "channel_not_found"),
    ("own", {"status": "error", "msg": "closed"}, "closed"),
    ("own", {"code": 1, "msg": "signature wrong"}, "1 signature wrong"),
    ("own", {"code": 40300, "message": "无权限"}, "40300"),
    ("own", {"errorCode": "A0401", "data": None}, "A0401"),
    ("own", {"data": {"result": {"err_code": 7}}}, "7"),
    ("own", {"error": {"message": "quiet please"}}, "quiet please"),
    ("own", {"id": "", "errors": ["nobody is subscribed"]}, "refused"),
    ("own", "fail", "fail"),
    ("own", "发送失败：群已解散", "群已解散"),
]


@pytest.mark.parametrize(("channel", "answer", "reason"), REFUSALS)
def test_a_refusal_with_http_200_is_no_delivery(
    database: Database, webhook: Webhook, channel: str, answer: object, reason: str
) -> None:
    channels = {**CHANNELS, "own": webhook.address}
    webhook.answers = [answer] * 2
    said = send_test(database, channels, channel, NOW)
    assert reason in said
    assert TOKEN not in said
    number = _add(database, channel, "正文")
    report = deliver_due(database, channels, AT)
    assert (report.sent, report.waiting) == (0, 1)
    assert _row(database, number).error == said
    # The far side has read it: asked at once, it would say the same.
    assert deliver_due(database, channels, AT + 600).waiting == 0
    webhook.answers = [answer] * 20
    for hour in range(1, 48):
        report = deliver_due(database, channels, AT + hour * 3_600)
        if report.given_up:
            break
    assert _row(database, number).state == "given_up"
    assert _row(database, number).attempts == 5


TAKEN = [
    ("wecom", {"errcode": 0, "errmsg": "ok"}),
    ("ding", {"errcode": 0, "errmsg": "ok"}),
    ("feishu", {"code": 0, "data": {}, "msg": "success"}),
    ("feishu", {"Extra": None, "StatusCode": 0, "StatusMessage": "success"}),
    ("feishu", {"StatusCode": 0, "StatusMessage": "success", "code": 0, "data": {}, "msg": "ok"}),
    ("lark", {"StatusCode": 0, "StatusMessage": "success"}),
    ("schan", {"code": 0, "message": "", "data": {"error": "SUCCESS", "errno": 0}}),
    ("deer", {"code": 0, "content": {"result": ['{"success":"ok"}']}}),
    ("sms", {"message-count": "1", "messages": [{"status": "0", "message-id": "0A"}]}),
    ("own", ""), ("own", "ok"), ("own", "1"), ("own", {}), ("own", []),
    ("own", {"code": 200, "message": "success"}), ("own", {"code": 1, "msg": "Success!"}),
    ("own", {"code": "0000", "errmsg": "完成"}), ("own", {"success": True, "error": None}),
    ("own", {"errcode": 0, "errmsg": "message taken"}), ("own", {"error": False}),
    ("own", {"error": {"code": "SUCCESS", "description": "OK"}}), ("own", {"ret": 0}),
    ("own", {"id": 7, "message": "错误的地址", "title": "失败"}), ("own", {"status": "queued"}),
]  # fmt: skip


@pytest.mark.parametrize(("channel", "answer"), TAKEN)
def test_what_a_service_takes_has_arrived(
    database: Database, webhook: Webhook, channel: str, answer: object
) -> None:
    webhook.answers = [answer]
    assert send_test(database, {**CHANNELS, "own": webhook.address}, channel, NOW) == ""
    assert len(webhook.bodies) == 1


@pytest.mark.parametrize(("channel", "answer"), [
    ("wecom", {"errcode": 45009, "errmsg": "api freq out of limit"}),
    ("ding", {"errcode": 130101, "errmsg": "send too fast, exceed 20 times per minute"}),
    ("feishu", {"code": 9499, "msg": "too many request"}),
    ("feishu", {"code": 11232, "msg": "frequency limited"}),
    ("own", {"success": False, "message": "操作过于频繁，请稍后再试"}),
])  # fmt: skip
def test_a_channel_that_is_asked_too_often_is_left_alone_and_gets_all_later(
    database: Database, webhook: Webhook, channel: str, answer: object
) -> None:
    channels = {**CHANNELS, "own": webhook.address}
    numbers = [_add(database, channel, f"第 {place} 件") for place in range(3)]
    webhook.answers = [answer]
    report = deliver_due(database, channels, AT)
    assert (report.sent, report.waiting, len(webhook.bodies)) == (0, 3, 1)
    # What was put off was not tried.
    assert [_row(database, number).attempts for number in numbers] == [1, 0, 0]
    assert "asks to wait" in _row(database, numbers[0]).error
    yes = {"errcode": 0, "code": 0, "success": True}
    webhook.answers = [yes] * 3
    assert deliver_due(database, channels, AT + 61).sent == 3


def test_an_address_that_sends_the_message_elsewhere_did_not_take_it(
    database: Database, webhook: Webhook
) -> None:
    """After a 302 a POST becomes a GET without its body, which a log-in page answers with 200."""
    webhook.location = f"{webhook.origin}/login"
    said = send_test(database, {"own": webhook.address}, "own", NOW)
    assert "redirects elsewhere" in said
    assert webhook.bodies == []


def test_what_apprise_takes_for_optional_is_still_no_delivery(
    database: Database, webhook: Webhook
) -> None:
    webhook.codes = [500]
    said = send_test(database, {"own": f"{webhook.address}?optional=yes"}, "own", NOW)
    assert "HTTP 500" in said


LONG = "\n\n".join(
    f"警告：第 {number} 件 😀 唐人街失火，共 {number} 篇\n火情：词语：失火\nhttp://a.example/{number}"
    for number in range(200)
)  # fmt: skip


def _texts(webhook: Webhook) -> list[str]:
    """What robots were told, as lines, of title and text."""
    return [_said(body) for body in webhook.bodies]


def _said(body: dict[str, Any]) -> str:
    if body.get("msgtype") == "markdown":
        said: str = body["markdown"].get("content") or body["markdown"]["text"]
        return said.removeprefix("# ").removeprefix("**")
    if body.get("msg_type") == "post":
        post = body["content"]["post"]["zh_cn"]
        rows = ["".join(run["text"] + run.get("href", "") for run in row)
                for row in post["content"]]  # fmt: skip
        return "\n".join([post["title"], *rows])
    told: str = body["text"]["content"] if "text" in body else body["content"]["text"]
    return told


@pytest.mark.parametrize(("channel", "most_bytes"), [
    ("wecom", 4_096), ("text", 2_048), ("ding", 20_000), ("feishu", 20_000), ("lark", 20_000),
])  # fmt: skip
def test_a_long_message_goes_in_numbered_parts_that_fit(
    database: Database, webhook: Webhook, channel: str, most_bytes: int
) -> None:
    number = _add(database, channel, LONG)
    webhook.answers = [{"errcode": 0, "code": 0}] * 100
    assert deliver_due(database, CHANNELS, AT).sent == 1
    texts = _texts(webhook)
    count = len(texts)
    assert count > 1
    for place, said in enumerate(texts, start=1):
        assert said.startswith(f"({place}/{count}) 警告：唐人街失火")
        assert len(said.encode()) <= most_bytes
        # Nothing is cut within a character, and no warning within an address.
        assert "�" not in said
    if channel not in ("wecom", "text"):
        assert max(webhook.sizes) <= most_bytes
    told = "\n".join(said.partition("\n")[2].strip() for said in texts)
    for warning in LONG.split("\n\n"):
        assert all(line in told for line in warning.split("\n"))
    assert told.replace("\r", "").count("http://") == 200
    assert _row(database, number).state == "sent"


def test_a_part_that_was_taken_is_not_sent_again(database: Database, webhook: Webhook) -> None:
    number = _add(database, "wecom", LONG[:4_800])
    yes = {"errcode": 0, "errmsg": "ok"}
    webhook.answers = [yes, {"errcode": 45009, "errmsg": "api freq out of limit"}]
    report = deliver_due(database, CHANNELS, AT)
    assert (report.sent, report.waiting) == (0, 1)
    row = _row(database, number)
    assert row.error.startswith("part 2 of ")
    assert row.sent_chars > 0
    first = _texts(webhook)[0]
    webhook.bodies.clear()
    webhook.answers = [yes] * 20
    assert deliver_due(database, CHANNELS, AT + 61).sent == 1
    again = _texts(webhook)
    assert first not in again
    assert again[0].startswith("(2/")
    with database.engine.connect() as c:
        assert stuck_messages(c) == []


def test_a_retry_that_a_clock_ahead_has_set_is_made(database: Database, webhook: Webhook) -> None:
    _add(database, "own", "正文")
    channels = {"own": webhook.address}
    webhook.codes = [500]
    year = 365 * 86_400.0
    assert deliver_due(database, channels, AT + year).waiting == 1
    assert deliver_due(database, channels, AT).sent == 1


@pytest.mark.parametrize("most", [40, 41, 42, 43, 64, 200])
@pytest.mark.parametrize(
    "body", ["侨" * 500, "👨‍👩‍👧" * 60, "\n" * 300 + "字" + "\n" * 300, "a" * 999]
)
def test_parts_are_the_whole_text_in_order(most: int, body: str) -> None:
    room = Room(most, lambda own: len(own.encode()))
    parts = parts_of("警告：题", body, room)
    assert "".join(part.text for part in parts).replace("\n", "") == body.replace("\n", "")
    assert parts[-1].end == len(body)
    ends = [part.end for part in parts]
    assert ends == sorted(set(ends))
    assert all(len(f"{part.title}\r\n{part.text}".encode()) <= most for part in parts)
    assert all(part.text.strip() for part in parts)


def test_rooms_are_those_of_services() -> None:
    assert room_of("json", 32_768, 32_768) is None
    assert room_of("discord", 2_000, 32_768) == Room(1_800, len)
    ding = room_of("dingtalk", 19_985, 32_768)
    assert ding is not None
    assert ding.measure("侨") == len(json.dumps("侨")) - 2


BLOCKS = "\n\n".join([
    "1. 唐人街失火 [两人伤] *急*\n   3 家媒体 · 首发：侨报\n   http://a.example/1",
    "<@all> #话题\nhttp://b.example/2?a=(1)\nhttps://c.example/3\n见 http://d.example/4",
])  # fmt: skip


def test_wecom_and_dingtalk_are_told_in_markdown_that_nobody_else_writes(
    database: Database, webhook: Webhook
) -> None:
    _add(database, "wecom", BLOCKS)
    _add(database, "ding", BLOCKS)
    webhook.answers = [{"errcode": 0}] * 2
    assert deliver_due(database, CHANNELS, AT).sent == 2
    wecom, ding = (body["markdown"] for body in webhook.bodies)
    assert wecom["content"].split("\n") == [
        "**警告：唐人街失火**",
        "[1. 唐人街失火 ［两人伤］ ＊急＊](http://a.example/1)",
        "3 家媒体 · 首发：侨报",
        "",
        "[＜@all＞ ＃话题](http://b.example/2?a=%281%29)",
        "[c.example](https://c.example/3)",
        "见 http://d.example/4",
    ]
    assert ding["title"] == "警告：唐人街失火"
    title, first = ding["text"].split("\n")[:2]
    assert title == "# 警告：唐人街失火"
    assert first == "[1. 唐人街失火 ［两人伤］ ＊急＊](http://a.example/1)  "


def test_feishu_is_told_in_a_post_with_links(database: Database, webhook: Webhook) -> None:
    _add(database, "feishu", BLOCKS)
    webhook.answers = [{"code": 0}]
    assert deliver_due(database, CHANNELS, AT).sent == 1
    (body,) = webhook.bodies
    post = body["content"]["post"]["zh_cn"]
    assert (body["msg_type"], post["title"]) == ("post", "警告：唐人街失火")
    assert post["content"][0] == [
        {"tag": "a", "text": "1. 唐人街失火 [两人伤] *急*", "href": "http://a.example/1"}
    ]
    assert post["content"][3][0] == {
        "tag": "a", "text": "<@all> #话题", "href": "http://b.example/2?a=(1)",
    }  # fmt: skip
    assert post["content"][-1] == [{"tag": "text", "text": "见 http://d.example/4"}]


@pytest.mark.parametrize("channel", ["wecom", "ding", "feishu"])
def test_a_robot_that_is_away_is_tried_again_and_told_without_its_key(
    database: Database, channel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for plugin in (NotifyWeComBot, NotifyDingTalk, NotifyFeishu):
        monkeypatch.setattr(plugin, "notify_url", f"http://127.0.0.1:{held_port()}/{TOKEN}")
        monkeypatch.setattr(plugin, "request_rate_per_sec", 0)
    number = _add(database, channel, "正文")
    assert deliver_due(database, CHANNELS, AT).waiting == 1
    row = _row(database, number)
    assert row.error
    assert TOKEN not in row.error


def test_who_asks_for_plain_text_gets_it(database: Database, webhook: Webhook) -> None:
    _add(database, "text", BLOCKS)
    webhook.answers = [{"errcode": 0}]
    assert deliver_due(database, CHANNELS, AT).sent == 1
    assert webhook.bodies[0]["msgtype"] == "text"
    assert "[两人伤] *急*" in webhook.bodies[0]["text"]["content"]


@given(st.text(alphabet='侨a \n*[]<>#(){}\\"http://.cn', max_size=3_000))
def test_parts_in_every_form_fit_and_lose_no_sign(body: str) -> None:
    for service in ("wecombot", "dingtalk", "feishu"):
        form = form_of(service, "", None)
        small = replace(form, room=replace(form.room, most=600))
        parts = small.parts("警告", body)
        assert "".join(p.text for p in parts).replace("\n", "") == body.replace("\n", "")
        assert small.size is not None
        assert all(small.size(*small.write(part)) <= 600 for part in parts)
