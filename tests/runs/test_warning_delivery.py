"""Warnings to a server on loopback: sent once, tried again while it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.news.trends.usual import HolidayCalendar
from qiaocrawl.news.warnings.channels import channel_names, read_channels
from qiaocrawl.news.warnings.delivery import deliver_due, send_test
from qiaocrawl.news.warnings.machine import Moment, step
from qiaocrawl.news.warnings.rules import Rule
from qiaocrawl.news.warnings.signals import SignalArticle, StorySignal
from qiaocrawl.news.warnings.stored import keep_step, last_deliveries, take_due
from qiaocrawl.storage import Database
from webhooks import Webhook, served_webhook

NOW = datetime(2026, 3, 5, 4, tzinfo=UTC)


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    with served_webhook() as server:
        yield server


def _keep_warning(database: Database, *channels: str) -> None:
    article = SignalArticle("http://a.example/1", "唐人街失火", "", "甲报", NOW)
    signal = StorySignal("a", "唐人街失火", (article,))
    rules = [Rule("火情", any_of=("失火",), channels=channels)]
    after, messages = step({}, rules, [signal], Moment(NOW, HolidayCalendar()))
    with database.engine.begin() as c:
        keep_step(c, {}, after, messages, NOW)


def test_a_warning_arrives_once(database: Database, webhook: Webhook, tmp_path: Path) -> None:
    file = tmp_path / "channels.toml"
    file.write_text(f'desk = "{webhook.address}"\n', "utf-8")
    channels = read_channels(str(file))
    _keep_warning(database, "desk", "nowhere")
    now = NOW.timestamp()
    webhook.codes = [500]
    report = deliver_due(database, channels, now)
    assert (report.sent, report.waiting, webhook.bodies) == (0, 2, [])
    report = deliver_due(database, channels, now + 61)
    assert (report.sent, report.waiting) == (1, 1)
    (body,) = webhook.bodies
    assert "唐人街失火" in body["title"]
    assert "火情" in body["message"]
    assert deliver_due(database, channels, now + 62).sent == 0
    for hour in range(1, 60):
        report = deliver_due(database, channels, now + hour * 3_600)
        if report.given_up:
            break
    assert report.given_up == 1
    assert len(webhook.bodies) == 1


def test_wrong_channels_are_named_without_their_addresses(tmp_path: Path) -> None:
    file = tmp_path / "channels.toml"
    file.write_text('good = "json://127.0.0.1/"\nbad = "no-such://pass@x"\nnumber = 3\n', "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_channels(str(file))
    assert "bad, number" in str(caught.value)
    assert "pass" not in str(caught.value)
    assert read_channels("") == {}
    with pytest.raises(ConfigError, match=r"none\.toml"):
        read_channels(str(tmp_path / "none.toml"))


def test_messages_are_taken_one_by_one(database: Database) -> None:
    """One process that sends slowly does not hold up, or repeat, what another could send."""
    _keep_warning(database, "desk", "night")
    with database.engine.begin() as c:
        (first,) = take_due(c, NOW.timestamp(), limit=1)
        (second,) = take_due(c, NOW.timestamp(), limit=1, after=first.id)
        assert first.id != second.id
        assert take_due(c, NOW.timestamp()) == []


def test_a_test_message_is_tried_once_and_kept(database: Database, webhook: Webhook) -> None:
    channels = {"desk": webhook.address}
    assert send_test(database, channels, "desk", NOW) == ""
    (body,) = webhook.bodies
    assert "desk" in body["title"]
    webhook.codes = [500]
    error = send_test(database, channels, "desk", NOW)
    assert error
    assert send_test(database, channels, "nowhere", NOW) != ""
    with database.engine.connect() as c:
        last = last_deliveries(c)
    assert (last["desk"].state, last["desk"].error) == ("given_up", error)
    assert last["nowhere"].state == "given_up"
    # What did not arrive as a test is not tried again.
    report = deliver_due(database, channels, NOW.timestamp() + 10**6)
    assert (report.sent, report.waiting, report.given_up) == (0, 0, 0)


def test_no_part_of_an_address_is_in_the_reason(database: Database) -> None:
    """Nobody listens there; what the library says of it names the server."""
    address = "json://officer:hunter22@127.0.0.1:9/token-of-ours?key=s3cr%40t"
    reason = send_test(database, {"desk": address}, "desk", NOW)
    assert reason
    for secret in ("officer", "hunter22", "127.0.0.1", "token-of-ours", "s3cr%40t", "s3cr@t"):
        assert secret not in reason


def test_names_of_channels_are_read_without_their_addresses(tmp_path: Path) -> None:
    file = tmp_path / "channels.toml"
    file.write_text('good = "json://127.0.0.1/"\nbad = "no-such://pass@x"\n', "utf-8")
    assert channel_names(str(file)) == ("good", "bad")
    assert channel_names("") == ()
