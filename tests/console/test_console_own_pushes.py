"""What somebody chose to be told themselves: by mail or their own robot, of their topics."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from apprise.plugins.wecombot import NotifyWeComBot
from sqlalchemy import select, text

from console_client import Desk, visible
from mail_servers import MailServer, served_mail
from qiaocrawl.fetch.sessions.vault import Vault, new_key
from qiaocrawl.jobs.topic_changes import delete_topic, rename_topic
from qiaocrawl.news.pushes import queue_due
from qiaocrawl.news.trends.usual import default_calendar
from qiaocrawl.news.warnings.delivery import deliver_due
from qiaocrawl.news.warnings.machine import Moment, step
from qiaocrawl.news.warnings.persons import (
    PersonPush,
    every_channel,
    keep_person_push,
    listeners_of,
    mail_by,
    push_of_person,
    reseal_persons,
    seal_own,
)
from qiaocrawl.news.warnings.rules import QuietHours, Rule
from qiaocrawl.news.warnings.signals import SignalArticle, StorySignal
from qiaocrawl.storage import audit_log, people
from qiaocrawl.storage.schema import person_push, warning_message
from qiaocrawl.text.zones import SHANGHAI
from storage_samples import PACK, add_topic
from webhooks import Webhook, served_webhook

TOKEN = "8f14e45fceea167a5a36dedd4bea2543"
ROBOT = f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={TOKEN}"


@pytest.fixture
def mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    """A mail server, and the office's channel by it."""
    with served_mail() as server:
        query = urlencode({"mode": "insecure", "from": "desk@office.test", "to": "chief@x.test"})
        file = tmp_path / "channels.toml"
        address = f"mailto://desk:pass@{server.place}/?{query}"
        file.write_text(f'post = "{address}"\n', "utf-8")
        monkeypatch.setenv("QIAO_WARNING_CHANNELS", str(file))
        yield server


@pytest.fixture
def desk(sqlite_desk: Desk, mail: MailServer, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A reader at a console with a key and a topic."""
    monkeypatch.setenv("QIAO_SECRET_KEY", new_key())
    add_topic(sqlite_desk.database)
    sqlite_desk.log_in_as("reader")
    return sqlite_desk


@pytest.fixture
def robot(monkeypatch: pytest.MonkeyPatch) -> Iterator[Webhook]:
    """WeCom, on loopback."""
    with served_webhook() as server:
        monkeypatch.setattr(NotifyWeComBot, "notify_url", f"{server.origin}/")
        monkeypatch.setattr(NotifyWeComBot, "request_rate_per_sec", 0)
        yield server


def _own(desk: Desk) -> PersonPush:
    with desk.database.engine.connect() as c:
        user = people.find_user(c, "reader")
        assert user is not None
        push = push_of_person(c, user.id)
    assert push is not None
    return push


def _channels(desk: Desk, keys: str) -> Any:
    with desk.database.engine.connect() as c:
        return every_channel(c, "", keys)


def test_mail_goes_by_the_offices_mailbox_to_that_person_alone(
    desk: Desk, mail: MailServer
) -> None:
    page = desk.get("/account/pushes")
    assert page.status_code == 200
    answer = desk.post("/account/pushes", kind="mail", address="li@x.test", least="urgent")
    assert answer.status_code == 303
    answer = desk.post("/account/pushes/test")
    assert answer.status_code == 303
    (message,) = mail.messages
    assert [line for line in mail.asked if line.startswith("RCPT")] == ["RCPT TO:<li@x.test>"] or (
        "li@x.test" in str(mail.asked)
    )
    assert "chief@x.test" not in message + str(mail.asked)
    assert "The test was sent" in visible(desk.get("/account/pushes").text)


def test_the_address_is_kept_sealed_and_shown_to_nobody(desk: Desk) -> None:
    desk.post("/account/pushes", kind="wecom", address=ROBOT, least="", digest="yes", at="7:30")
    with desk.database.engine.connect() as c:
        assert TOKEN.encode() not in c.execute(select(person_push.c.secret)).scalar_one()
        entries = audit_log.entries(c, limit=1)
    assert entries[0].action == "person.pushes"
    assert json.loads(entries[0].after)["digest"] == "07:30"
    assert TOKEN not in str(entries)
    page = desk.get("/account/pushes").text
    assert TOKEN not in page
    # Another choice with nothing written keeps the address.
    assert (
        desk.post("/account/pushes", kind="wecom", least="notice", topic=PACK.name).status_code
        == 303
    )
    own = _own(desk)
    assert (own.least, own.topics, own.digest_minute) == ("notice", (PACK.name,), None)
    desk.log_in_as("administrator")
    assert TOKEN not in desk.get("/warnings/channels").text
    assert "reader" not in visible(desk.get("/account/pushes").text)


@pytest.mark.parametrize(
    ("given", "status", "words"),
    [
        ({"kind": "mail", "address": "nobody"}, 400, "Write one e-mail address"),
        ({"kind": "mail", "address": "a@x.test,b@x.test"}, 400, "Write one e-mail address"),
        ({"kind": "mail", "address": ""}, 400, "Write one e-mail address"),
        ({"kind": "wecom", "address": "https://elsewhere.test/x"}, 400, "in which key= stands"),
        ({"kind": "webhook", "address": "http://127.0.0.1:22/"}, 400, "The request is wrong"),
        ({"kind": "other", "address": "json://10.0.0.1/"}, 400, "The request is wrong"),
        ({"kind": "mail", "address": "a@x.test", "digest": "yes", "at": "25"}, 400, "such as 7:30"),
        ({"kind": "mail", "address": "a@x.test", "begin": "22:00"}, 400, "such as 7:30"),
        ({"kind": "mail", "address": "a@x.test", "least": "all"}, 400, "The request is wrong"),
    ],
)
def test_what_cannot_be_is_said(desk: Desk, given: dict[str, str], status: int, words: str) -> None:
    answer = desk.post("/account/pushes", **{"least": "", **given})
    assert (answer.status_code, words in visible(answer.text)) == (status, True)
    with desk.database.engine.connect() as c:
        assert c.execute(select(person_push)).all() == []


def test_without_a_key_nothing_is_kept(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QIAO_SECRET_KEY")
    assert "no key for that yet" in visible(desk.get("/account/pushes").text)
    answer = desk.post("/account/pushes", kind="mail", address="a@x.test", least="")
    assert answer.status_code == 400
    assert "QIAO_SECRET_KEY" in visible(answer.text)


def test_a_digest_comes_at_the_minute_of_each_person(
    desk: Desk, robot: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = new_key()
    monkeypatch.setenv("QIAO_SECRET_KEY", keys)
    desk.post("/account/pushes", kind="wecom", address=ROBOT, least="", digest="yes", at="7:30")
    day = datetime.now(SHANGHAI).replace(hour=7, minute=0, second=0) + timedelta(days=1)
    calendar = default_calendar()
    assert queue_due(desk.database, day.astimezone(UTC), calendar) == 0
    later = day.replace(minute=31).astimezone(UTC)
    assert queue_due(desk.database, later, calendar) == 1
    assert queue_due(desk.database, later, calendar) == 0
    robot.answers = [{"errcode": 0}]
    report = deliver_due(desk.database, _channels(desk, keys), later.timestamp(), only_known=True)
    assert report.sent == 1
    assert "**News of the morning" in robot.bodies[0]["markdown"]["content"]
    # Who may not log in any more is told nothing, not even what waited.
    assert queue_due(desk.database, later + timedelta(days=1), calendar) == 1
    with desk.database.engine.begin() as c:
        c.execute(text("UPDATE console_user SET disabled_at = created_at WHERE name = 'reader'"))
    assert queue_due(desk.database, later + timedelta(days=2), calendar) == 0
    with desk.database.engine.connect() as c:
        states = c.execute(select(warning_message.c.state)).scalars()
        assert list(states) == ["sent"]


def test_nothing_more_comes_after_that_was_chosen(desk: Desk) -> None:
    desk.post("/account/pushes", kind="mail", address="li@x.test", least="notice")
    assert desk.post("/account/pushes/drop").status_code == 303
    with desk.database.engine.connect() as c:
        assert listeners_of(c) == ()
        assert c.execute(select(person_push)).all() == []
    assert desk.post("/account/pushes/test").status_code == 404
    assert desk.post("/account/pushes/drop").status_code == 404


def test_a_new_key_opens_what_an_old_one_closed(desk: Desk) -> None:
    old, new = new_key(), new_key()
    with desk.database.engine.begin() as c:
        user = people.find_user(c, "reader")
        assert user is not None
        push = PersonPush(user.id, user.name, "wecom", begun_at=datetime.now(UTC))
        keep_person_push(c, push, seal_own(Vault.from_option(old), user.id, f"wecombot://{TOKEN}/"))
        assert reseal_persons(c, Vault.from_option(f"{new},{old}")) == 1
    assert _channels(desk, new) == {push.channel: f"wecombot://{TOKEN}/"}
    # One that no key opens is told so when it is sent, not before.
    assert _channels(desk, new_key()) == {push.channel: ""}


# --- Warnings: which of them, and when ------------------------------------------------------------

NOON = datetime(2026, 3, 5, 4, tzinfo=UTC)
NIGHT = datetime(2026, 3, 5, 15, tzinfo=UTC)


def _signal(*topics: str) -> StorySignal:
    article = SignalArticle(
        "http://a.example/1", "失火", "失火", "甲", NOON, 1, frozenset(topics), "unsure"
    )
    return StorySignal("1", "失火", (article,))


def _told(push: PersonPush, rule: Rule, now: datetime, *topics: str) -> list[str]:
    assert push.listener is not None
    office = QuietHours(22 * 60, 7 * 60, passes=None)
    moment = Moment(now, default_calendar(), office, (push.listener,))
    _after, messages = step({}, [rule], [_signal(*topics)], moment)
    return [message.channel for message in messages]


@pytest.mark.parametrize(
    ("least", "topics", "rule", "expected"),
    [
        ("urgent", (), Rule("火", severity="warning", channels=()), False),
        ("warning", (), Rule("火", severity="warning", channels=()), True),
        ("notice", ("qiao",), Rule("火", severity="urgent", channels=()), True),
        ("notice", ("other",), Rule("火", severity="urgent", channels=()), False),
        ("notice", ("qiao",), Rule("火", topic="qiao", severity="urgent", channels=()), True),
    ],
)
def test_a_person_is_told_of_the_severities_and_topics_they_chose(
    least: Any, topics: tuple[str, ...], rule: Rule, expected: bool
) -> None:
    push = PersonPush(3, "王五", "mail", least=least, topics=topics)
    assert _told(push, rule, NOON, "qiao") == (["@3 王五"] if expected else [])


def test_quiet_hours_of_their_own_take_the_place_of_the_offices() -> None:
    rule = Rule("火", severity="urgent", channels=())
    push = PersonPush(3, "王五", "mail", least="notice")
    assert _told(push, rule, NIGHT) == []
    for quiet, expected in (
        (QuietHours(22 * 60, 7 * 60, passes="urgent"), True),
        (QuietHours(1 * 60, 2 * 60, passes=None), True),
        (QuietHours(20 * 60, 2 * 60, passes=None), False),
    ):
        own = PersonPush(3, "王五", "mail", least="notice", quiet=quiet)
        assert bool(_told(own, rule, NIGHT)) is expected, quiet


def test_who_left_is_not_told_what_was_kept_for_them() -> None:
    listener = PersonPush(3, "王五", "mail", least="notice").listener
    assert listener is not None
    rule = Rule("火", severity="warning", channels=())
    quiet = Moment(NIGHT, default_calendar(), QuietHours(22 * 60, 7 * 60), (listener,))
    warnings, messages = step({}, [rule], [_signal()], quiet)
    assert messages == []
    morning = Moment(NIGHT + timedelta(hours=12), default_calendar())
    assert step(warnings, [rule], [], morning)[1] == []
    assert len(step(warnings, [rule], [], Moment(morning.now, morning.calendar, QuietHours(),
                                                 (listener,)))[1]) == 1  # fmt: skip


def test_mail_leaves_the_offices_receivers_out() -> None:
    carrier = "mailtos://u:p@h.test:465/chief@x.test/?to=a@x.test&cc=b@x.test&smtp=s.test&mode=ssl"
    made = mail_by(carrier, "li@x.test")
    assert made == "mailtos://u:p@h.test:465/?smtp=s.test&mode=ssl&to=li%40x.test"
    assert mail_by("json://h.test/", "li@x.test") == ""


def test_messages_to_persons_are_not_told_of_to_others(desk: Desk) -> None:
    desk.post("/account/pushes", kind="mail", address="li@x.test", least="notice")
    desk.post("/account/pushes/test")
    with desk.database.engine.connect() as c:
        assert c.execute(select(warning_message.c.channel)).scalar_one().startswith("@")
        assert people.find_user(c, "reader") is not None
    desk.log_in_as("administrator")
    assert "@" not in visible(desk.get("/warnings/channels").text)


def test_a_topic_that_is_renamed_or_deleted_stays_chosen_or_goes(desk: Desk) -> None:
    desk.post("/account/pushes", kind="mail", address="li@x.test", least="notice", topic=PACK.name)
    with desk.database.engine.begin() as c:
        rename_topic(c, PACK.name, "qiaowu")
    assert _own(desk).topics == ("qiaowu",)
    with desk.database.engine.begin() as c:
        delete_topic(c, "qiaowu")
    assert _own(desk).topics == ()
