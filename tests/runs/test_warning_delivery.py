"""Warnings to a server on loopback: sent once, tried again while it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from qiaocrawl.analysis.trends import HolidayCalendar
from qiaocrawl.analysis.warnings import Moment, Rule, StoryArticle, StorySignal, step
from qiaocrawl.errors import ConfigError
from qiaocrawl.runs.warn.channels import read_channels
from qiaocrawl.runs.warn.delivery import deliver_due
from qiaocrawl.storage import Database
from qiaocrawl.storage.analysis.warnings import keep_step, take_due

NOW = datetime(2026, 3, 5, 4, tzinfo=UTC)


class Webhook(ThreadingHTTPServer):
    """What it was sent, and the status codes it answers with, one after the other."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.codes: list[int] = []
        self.bodies: list[dict[str, str]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Webhook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        code = self.server.codes.pop(0) if self.server.codes else 200
        if code == 200:
            self.server.bodies.append(json.loads(body))
        self.send_response(code)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing at the terminal."""


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    with Webhook() as server:
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _keep_warning(database: Database, *channels: str) -> None:
    article = StoryArticle("http://a.example/1", "唐人街失火", "", "甲报", NOW)
    signal = StorySignal("a", "唐人街失火", (article,))
    rules = [Rule("火情", any_of=("失火",), channels=channels)]
    after, messages = step({}, rules, [signal], Moment(NOW, HolidayCalendar()))
    with database.engine.begin() as c:
        keep_step(c, {}, after, messages, NOW)


def test_a_warning_arrives_once(database: Database, webhook: Webhook, tmp_path: Path) -> None:
    file = tmp_path / "channels.toml"
    file.write_text(f'desk = "json://127.0.0.1:{webhook.server_port}/secret"\n', "utf-8")
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
