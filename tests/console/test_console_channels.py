"""Channels of warnings in a form: entered, kept encrypted, tested, told the truth of, sent to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from apprise.plugins.dingtalk import NotifyDingTalk
from apprise.plugins.email.base import NotifyEmail
from apprise.plugins.feishu import NotifyFeishu
from apprise.plugins.wecombot import NotifyWeComBot
from playwright.sync_api import Dialog
from sqlalchemy import text

from console_browser import chromium, new_context, served
from console_client import Desk, visible
from mail_servers import MailServer, served_mail
from qiaocrawl.cli.session import rotate
from qiaocrawl.console.keepers import MessageKeeper
from qiaocrawl.console.security import credentials
from qiaocrawl.fetch.sessions.vault import Vault, new_key
from qiaocrawl.news.pushes import stored_pushes
from qiaocrawl.news.warnings.channels import all_channels, kept_channels
from qiaocrawl.news.warnings.rules import Rule
from told_stories import make_stories, warn_of_stories
from webhooks import Webhook, served_webhook

TOKEN = "8f14e45fceea167a5a36dedd4bea2543"
ROBOTS = {
    "wecom": f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={TOKEN}",
    "dingtalk": f"https://oapi.dingtalk.com/robot/send?access_token={TOKEN}",
    "feishu": f"https://open.feishu.cn/open-apis/bot/v2/hook/{TOKEN}",
}
YES = {
    "wecom": {"errcode": 0, "errmsg": "ok"},
    "dingtalk": {"errcode": 0, "errmsg": "ok"},
    "feishu": {"code": 0, "msg": "success"},
}
NO = {
    "wecom": ({"errcode": 93000, "errmsg": "invalid webhook url"}, "93000 invalid webhook url"),
    "dingtalk": ({"errcode": 310000, "errmsg": "关键词不匹配"}, "310000 关键词不匹配"),
    "feishu": ({"code": 19024, "msg": "Key Words Not Found"}, "19024 Key Words Not Found"),
}


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Webhook]:
    """The far side of all chats, on loopback; nothing waits between two requests."""
    with served_webhook() as server:
        for plugin in (NotifyWeComBot, NotifyDingTalk, NotifyFeishu):
            monkeypatch.setattr(plugin, "notify_url", f"{server.origin}/")
            monkeypatch.setattr(plugin, "request_rate_per_sec", 0)
        # What an administrator enters leads inside only where the machine's operator says so.
        monkeypatch.setenv("QIAO_ALLOW_ADDRESSES", server.origin)
        yield server


@pytest.fixture
def mail(monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    """A mail server; nothing waits between two messages."""
    monkeypatch.setattr(NotifyEmail, "request_rate_per_sec", 0)
    with served_mail() as server:
        yield server


@pytest.fixture
def office(sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A console with a key, without files of rules or channels, used by an administrator."""
    monkeypatch.setenv("QIAO_SECRET_KEY", new_key())
    for name in ("QIAO_WARNING_CHANNELS", "QIAO_WARNING_RULES"):
        monkeypatch.delenv(name, raising=False)
    sqlite_desk.log_in_as("administrator")
    return sqlite_desk


def _enter(desk: Desk, kind: str, name: str, **fields: str) -> None:
    sent = desk.post("/warnings/channels", kind=kind, name=name, **fields)
    assert sent.status_code == 303, visible(sent.text)


def _tested(desk: Desk, name: str) -> str:
    """What the page says after a test."""
    sent = desk.post("/warnings/channels/test", channel=name)
    assert sent.status_code == 303
    return visible(desk.get("/warnings/channels").text)


@pytest.mark.parametrize("kind", ROBOTS)
def test_a_robot_is_pasted_and_its_test_tells_what_the_far_side_said(
    office: Desk, webhook: Webhook, kind: str
) -> None:
    assert "Nobody is told of warnings yet" in visible(office.get("/warnings/channels").text)
    _enter(office, kind, "值班群", address=ROBOTS[kind], secret="")
    webhook.answers = [YES[kind], NO[kind][0]]
    words = _tested(office, "值班群")
    assert "the far side says that it took it" in words
    assert "值班群" in str(webhook.bodies[0])
    # Refused with a status of 200.
    words = _tested(office, "值班群")
    assert "The test did not arrive" in words
    assert words.count(NO[kind][1]) == 2, "in the notice, and beside the channel"
    assert len(webhook.bodies) == 2, "each test is sent once"
    for path in ("/warnings/channels", "/warnings/channels/change?name=值班群", "/people/changes"):
        assert TOKEN not in office.get(path).text
    with office.database.engine.connect() as c:
        rows = c.execute(text("SELECT secret FROM warning_channel")).all()
        stored = c.execute(text('SELECT "before", "after" FROM audit_entry')).all()
    assert TOKEN not in str(rows) + str(stored)


def test_a_mail_server_is_asked_once_and_its_refusals_are_told(
    office: Desk, mail: MailServer, caplog: pytest.LogCaptureFixture
) -> None:
    fields = {"to": "wang@office.test", "user": "desk@office.test", "password": "geheim-4711"}
    _enter(office, "mail", "王处长", server=f"smtp://{mail.place}", **fields)
    words = _tested(office, "王处长")
    assert "The test was sent. A mail server does not say whether it is read" in words
    assert "王处长 E-mail" in words
    (message,) = mail.messages
    assert "wang@office.test" in message
    mail.refusals = {"RCPT": "550 5.1.1 no such mailbox"}
    assert "no such mailbox" in _tested(office, "王处长")
    mail.refusals = {"AUTH": "535 5.7.8 authentication failed"}
    words = _tested(office, "王处长")
    assert "535" in words
    assert "authentication failed" in words
    assert len(mail.messages) == 1
    assert "geheim" not in words + caplog.text


def test_what_is_not_right_is_told_beside_its_field(office: Desk) -> None:
    wrong = [
        ("wecom", {"name": "", "address": ROBOTS["wecom"]}, "Give it a name"),
        ("wecom", {"name": "x", "address": ""}, "Address of the robot (webhook) is missing"),
        ("wecom", {"name": "x", "address": "https://example.cn/"}, "in which key= stands"),
        ("feishu", {"name": "x", "address": "https://open.feishu.cn/"}, "in which /hook/ stands"),
        ("dingtalk", {"name": "x", "address": ROBOTS["dingtalk"], "secret": "S C"},
         "begins with SEC"),
        ("webhook", {"name": "x", "address": "ftp://example.cn/"}, "begins with https://"),
        ("webhook", {"name": "x", "address": "http://[::1"}, "begins with https://"),
        ("webhook", {"name": "x", "address": "http://10.0.0.7/hook"}, "no public address"),
        ("other", {"name": "x", "address": "nothing://"}, "no address that apprise knows"),
        ("mail", {"name": "x", "to": "王", "user": "a@b.cn", "password": "p", "server": "s"},
         "Write one e-mail address"),
        ("mail", {"name": "x", "to": "a@b.cn, c@d.cn", "user": "a@b.cn", "password": "p",
                  "server": "s"}, "Write one e-mail address"),
        ("mail", {"name": "x", "to": "a@b.cn", "user": "a@b.cn", "password": "p", "server": "s/x"},
         "Write the name of the server"),
    ]  # fmt: skip
    for kind, fields, said in wrong:
        answer = office.post("/warnings/channels", kind=kind, **fields)
        assert answer.status_code == 400, fields
        assert said in visible(answer.text), fields
        if fields.get("address"):
            assert f'value="{fields["address"]}"' in answer.text, "nothing that was typed is lost"
    assert office.post("/warnings/channels", kind="fax", name="x").status_code == 400
    with office.database.reading() as c:
        assert kept_channels(c) == {}


def test_only_administrators_enter_and_test_channels(office: Desk) -> None:
    _enter(office, "wecom", "值班群", address=ROBOTS["wecom"])
    twice = office.post("/warnings/channels", kind="wecom", name="值班群", address=ROBOTS["wecom"])
    assert "There is a channel" in visible(twice.text)
    office.log_in_as("editor")
    page = office.get("/warnings/channels").text
    assert "<form" not in page.split("<main", 1)[1]
    assert office.get("/warnings/channels/new").status_code == 403
    for path in ("", "/test", "/drop"):
        assert office.post(f"/warnings/channels{path}", channel="值班群").status_code == 403
    # Rules may name it.
    assert 'value="值班群" checked' in office.get("/warnings/rules/new").text


def test_a_channel_is_changed_and_taken_away(office: Desk, webhook: Webhook) -> None:
    _enter(office, "webhook", "平台", address=f"{webhook.origin}/old?room=7")
    address = f"{webhook.origin}/new"
    assert (
        "What it was is shown to nobody" in office.get("/warnings/channels/change?name=平台").text
    )
    sent = office.post(
        "/warnings/channels", kind="webhook", name="平台", known="yes", address=address
    )
    assert sent.status_code == 303
    with office.database.reading() as c:
        keys = _keys()
        assert all_channels(c, "", keys) == {"平台": f"entered+json://{address[7:]}"}
    assert office.get("/warnings/channels/change?name=没有").status_code == 404
    assert office.post("/warnings/channels/drop", channel="平台").status_code == 303
    assert "平台" not in visible(office.get("/warnings/channels").text)
    assert office.post("/warnings/channels/drop", channel="平台").status_code == 404


def _keys() -> str:
    from qiaocrawl.options import Options

    return str(Options.from_environment()["QIAO_SECRET_KEY"])


def test_another_key_opens_no_address_and_rotating_keeps_them(
    office: Desk, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = _keys(), new_key()
    _enter(office, "webhook", "平台", address=f"{webhook.origin}/x")
    monkeypatch.setenv("QIAO_SECRET_KEY", new)
    words = _tested(office, "平台")
    assert "cannot be opened" in words
    assert webhook.bodies == []
    monkeypatch.setenv("QIAO_SECRET_KEY", f"{new},{old}")
    rotate(str(office.database.url))
    monkeypatch.setenv("QIAO_SECRET_KEY", new)
    assert "the far side says that it took it" in _tested(office, "平台")
    monkeypatch.delenv("QIAO_SECRET_KEY")
    page = visible(office.get("/warnings/channels/new").text)
    assert "this machine has no key for that yet" in page


def test_the_console_sends_what_waits_once_and_leaves_what_it_does_not_know(
    office: Desk, webhook: Webhook, tmp_path: Path
) -> None:
    make_stories(str(office.database.url))
    _enter(office, "feishu", "值班群", address=ROBOTS["feishu"])
    warn_of_stories(
        str(office.database.url),
        Rule("火情", "warning", any_of=("失火",), channels=("值班群", "别处的")),
    )
    keeper = MessageKeeper(office.database)
    # The far side is out of order first: tried again later, and not before.
    webhook.codes = [503]
    keeper.look()
    assert webhook.bodies == []
    keeper.look()
    assert webhook.bodies == []
    with office.database.engine.begin() as c:
        c.execute(text("UPDATE warning_message SET next_at = 0"))
    webhook.answers = [YES["feishu"]]
    keeper.look()
    keeper.look()
    assert len(webhook.bodies) == 1
    with office.database.engine.connect() as c:
        rows = c.execute(text("SELECT channel, state, attempts FROM warning_message")).all()
    assert sorted(map(tuple, rows)) == [("值班群", "sent", 2), ("别处的", "waiting", 0)]
    words = visible(office.get("/warnings").text)
    assert "值班群: sent" in words
    assert "别处的: waits to be sent" in words


def test_a_secret_of_another_channel_does_not_open(office: Desk, webhook: Webhook) -> None:
    _enter(office, "webhook", "一", address=f"{webhook.origin}/one")
    _enter(office, "webhook", "二", address=f"{webhook.origin}/two")
    with office.database.engine.begin() as c:
        c.execute(text("UPDATE warning_channel SET secret = (SELECT secret FROM warning_channel w "
                       "WHERE w.name = '一') WHERE name = '二'"))  # fmt: skip
    with office.database.reading() as c:
        assert all_channels(c, "", _keys())["二"] == ""
    assert Vault.from_option(_keys())


@pytest.mark.chromium
def test_a_channel_is_deleted_by_who_says_that_it_is_meant(office: Desk) -> None:
    _enter(office, "wecom", "值班群", address=ROBOTS["wecom"])
    secret = office.client.cookies[credentials.SESSION]
    with served(str(office.database.url)) as base, chromium() as browser:
        context = new_context(browser)
        context.add_cookies([{"name": credentials.SESSION, "value": secret, "url": base}])
        page = context.new_page()
        page.goto(f"{base}/warnings/channels")
        asked: list[str] = []

        def refuse(dialog: Dialog) -> None:
            asked.append(dialog.message)
            dialog.dismiss()

        page.once("dialog", refuse)
        page.get_by_role("button", name="Delete").click()
        assert asked == ["Delete the channel 值班群 and its address?"]
        page.once("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Delete").click()
        page.get_by_text("Nobody is told of warnings yet").wait_for()
    with office.database.reading() as c:
        assert kept_channels(c) == {}


def test_a_channel_gets_the_digest_at_its_hour_and_one_at_once_to_try(
    office: Desk, webhook: Webhook
) -> None:
    _enter(office, "wecom", "值班群", address=ROBOTS["wecom"])
    page = visible(office.get("/warnings/channels/pushes?name=值班群").text)
    assert "no round has ended yet" in page, "the digest as it would be now, and why it is empty"
    wrong = office.post("/warnings/channels/pushes", channel="值班群", digest="yes", at="早上")
    assert wrong.status_code == 400
    assert "such as 7:30; this is" in visible(wrong.text)
    sent = office.post(
        "/warnings/channels/pushes", channel="值班群", digest="yes", at="7：30", alarms="yes"
    )
    assert sent.status_code == 303, visible(sent.text)
    with office.database.engine.connect() as c:
        push = stored_pushes(c)["值班群"]
    assert (push.digest_minute, push.with_alarms, push.only_workdays) == (450, True, False)
    page = visible(office.get("/warnings/channels").text)
    assert "digest at 07:30 · what needs a hand" in page
    webhook.answers = [YES["wecom"], NO["wecom"][0]]
    for words in ("was not refused", NO["wecom"][1]):
        assert office.post("/warnings/channels/digest", channel="值班群").status_code == 303
        assert words in visible(office.get("/warnings/channels/pushes?name=值班群").text)
    assert "no round has ended yet" in str(webhook.bodies[0])
    assert office.get("/warnings/channels/pushes?name=没有").status_code == 404
    # Gone with the channel.
    assert office.post("/warnings/channels/drop", channel="值班群").status_code == 303
    with office.database.engine.connect() as c:
        assert stored_pushes(c) == {}
