"""Programs are told of what is new: signed, once each, given up in sight, lost over nothing."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from sqlalchemy import select

from crawl_starter import started_code
from qiaocrawl.console.openapi import document
from qiaocrawl.console.pages.api import OPERATIONS
from qiaocrawl.news.stories.analyse import analyse_stories
from qiaocrawl.news.warnings import guarded, signed
from qiaocrawl.news.warnings.delivery import DeliveryReport, deliver_due, send_test
from qiaocrawl.news.warnings.hooks import (
    Hook,
    keep_hook,
    queue_new,
    resume_hook,
    stored_hooks,
)
from qiaocrawl.news.warnings.signed import (
    DATA,
    is_signed_address,
    new_secret,
    signature,
    signed_address,
    split_address,
)
from qiaocrawl.news.warnings.stored import count_states
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.schema import warning_message
from storage_samples import child_environment
from title_samples import made, runtime_on
from told_stories import store_on_topic

SECRET = new_secret()
CHANNEL = "程序"
FIRE = "马德里华人仓库失火 两名青田籍侨胞受伤"
# What the specification of Standard Webhooks has as an example.
KNOWN = (
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "1614265330",
    b'{"test": 2432232314}',
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
)


class Program(ThreadingHTTPServer):
    """A program that checks signatures.

    Attributes:
        codes: what it answers, one after the other; 200 when none is left.
        got: id and body of each message whose signature was right.
        drips: it sends a byte of its answer now and then, and never the end.
        stalls: it answers nothing until :attr:`freed` is set.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.codes: list[int] = []
        self.location = ""
        self.got: list[tuple[str, dict[str, Any]]] = []
        self.asked = 0
        self.drips = self.stalls = False
        self.freed, self.came = Event(), Event()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def address(self) -> str:
        return signed_address(f"{self.origin}/hook?a=b", SECRET)


class _Handler(BaseHTTPRequestHandler):
    server: Program

    def do_POST(self) -> None:
        self.server.asked += 1
        body = self.rfile.read(int(self.headers["Content-Length"]))
        names = ("webhook-id", "webhook-timestamp", "webhook-signature")
        own, timestamp, given = (self.headers[name] for name in names)
        assert self.path == "/hook?a=b"
        assert signature(SECRET, own, timestamp, body) == given
        assert abs(int(timestamp) - datetime.now(UTC).timestamp()) < 86_400 * 30
        self.server.came.set()
        if self.server.stalls:
            self.server.freed.wait()
        if self.server.drips:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not self.server.freed.wait(0.01):
                try:
                    self.wfile.write(b"x: y\r\n")
                except OSError:
                    return
        code = self.server.codes.pop(0) if self.server.codes else 200
        if code == 200:
            self.server.got.append((own, json.loads(body)))
        self.send_response(code)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing at the terminal."""


@contextmanager
def served() -> Iterator[Program]:
    with Program() as server:
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server
        server.freed.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    with served() as server:
        monkeypatch.setenv("QIAO_ALLOW_ADDRESSES", server.origin)
        yield server


@pytest.fixture
def runtime(database_url: str) -> Iterator[Runtime]:
    made(database_url)
    with runtime_on(database_url) as opened:
        yield opened


def _put(runtime: Runtime, title: str, host: str, hours_ago: float = 1.0) -> None:
    at = datetime.now(UTC) - timedelta(hours=hours_ago)
    store_on_topic(runtime, host, [(host, at, title, f"{title}。消息来自当地侨团。")])


def _keep(runtime: Runtime, **what: Any) -> None:
    with runtime.database.engine.begin() as c:
        keep_hook(c, Hook(CHANNEL, **what))


def _queue(runtime: Runtime, after: timedelta = timedelta()) -> int:
    return queue_new(runtime.database, datetime.now(UTC) + after)


def _deliver(runtime: Runtime, program: Program, hours: float = 0.0) -> DeliveryReport:
    at = datetime.now(UTC) + timedelta(hours=hours)
    return deliver_due(runtime.database, {CHANNEL: program.address}, at.timestamp())


def _counts(runtime: Runtime) -> dict[str, int]:
    with runtime.database.reading() as c:
        return count_states(c, CHANNEL, DATA)


def _stopped(runtime: Runtime) -> str:
    with runtime.database.reading() as c:
        return stored_hooks(c)[CHANNEL].stopped


def test_the_signature_is_that_of_the_specification() -> None:
    *given, expected = KNOWN
    assert signature(*given) == expected


def test_an_address_holds_the_secret_and_nothing_else_changes() -> None:
    secret = "whsec_" + "+/" * 16
    address = signed_address("https://a.example:8443/x/y?z=1&s=%20", secret)
    assert split_address(address) == ("https://a.example:8443/x/y?z=1&s=%20", secret)
    assert is_signed_address(address)
    for wrong in ("json://a.example", "signed+ftp://a@b", "signed+https://a.example/",
                  "signed+https://no!base64@a.example/"):  # fmt: skip
        assert not is_signed_address(wrong)


def test_each_article_on_topic_and_each_event_is_told_once(
    runtime: Runtime, program: Program
) -> None:
    before = datetime.now(UTC) - timedelta(hours=1)
    told = "马来西亚槟城一所华文小学日前迎来百年校庆，三百名校友回校。"
    store_on_topic(runtime, "old", [("old.example", before, "槟城华文小学迎百年校庆", told)])
    _keep(runtime, with_articles=True, event_outlets=2)
    assert _queue(runtime) == 0, "what was there before is not new"
    _put(runtime, FIRE, "a.example", 0)
    assert _queue(runtime) == 1
    _put(runtime, FIRE, "b.example", 0)
    analyse_stories(runtime, lambda number: True)
    # The second article and the event that two outlets have.
    assert [_queue(runtime) for _ in range(3)] == [2, 0, 0]
    assert _queue(runtime, timedelta(days=3)) == 0
    assert _deliver(runtime, program).sent == 3
    assert _deliver(runtime, program, 100).sent == 0
    got = [body for _id, body in program.got]
    assert [one["type"] for one in got] == ["article.new", "article.new", "event.new"]
    assert len({own for own, _body in program.got}) == 3
    described = document(OPERATIONS, "")["components"]
    for one, record in zip(got, ("Article", "Article", "Event"), strict=True):
        schema = {"$ref": f"#/components/schemas/{record}", "components": described}
        Draft202012Validator(schema).validate(one["data"])
    assert got[2]["data"]["outlets"] == ["a.example", "b.example"]


def test_only_what_is_chosen_is_told(runtime: Runtime) -> None:
    _keep(runtime, topic="none", with_articles=True, event_outlets=1)
    _put(runtime, FIRE, "a.example")
    analyse_stories(runtime, lambda number: True)
    assert _queue(runtime) == 0
    _keep(runtime, event_outlets=2)
    assert _queue(runtime) == 0, "one outlet has it"
    _keep(runtime)
    with runtime.database.reading() as c:
        assert stored_hooks(c) == {}


def test_what_is_stored_late_is_told_and_what_changes_is_not(runtime: Runtime) -> None:
    _keep(runtime, with_articles=True)
    _put(runtime, FIRE, "a.example")
    assert _queue(runtime) == 1
    with runtime.database.engine.begin() as c:
        c.exec_driver_sql("UPDATE warning_hook SET looked_to = '2026-01-01'")
    assert _queue(runtime) == 0, "its message is there"


@pytest.mark.parametrize("code", [500, 429, 503])
def test_a_busy_program_is_told_later_and_others_wait_with_it(
    runtime: Runtime, program: Program, code: int
) -> None:
    _keep(runtime, with_articles=True)
    for host in ("a.example", "b.example", "c.example"):
        _put(runtime, f"{FIRE} {host}", host)
    _queue(runtime)
    program.codes.append(code)
    report = _deliver(runtime, program)
    assert (report.sent, report.waiting, program.asked) == (0, 3, 1)
    assert _deliver(runtime, program, 0.02).sent == 3


def test_one_that_is_gone_is_told_nothing_until_somebody_looks(
    runtime: Runtime, program: Program
) -> None:
    _keep(runtime, with_articles=True)
    for host in ("a.example", "b.example"):
        _put(runtime, f"{FIRE} {host}", host)
    _queue(runtime)
    program.codes.append(410)
    assert _deliver(runtime, program).given_up == 1
    assert "410" in _stopped(runtime)
    assert _counts(runtime) == {"given_up": 2}
    _put(runtime, f"{FIRE} c.example", "c.example")
    assert _queue(runtime) == 0
    assert _deliver(runtime, program, 100).sent == 0
    assert program.asked == 1
    with runtime.database.engine.begin() as c:
        assert resume_hook(c, CHANNEL, datetime.now(UTC)) == 2
    # Nothing was lost meanwhile.
    assert _queue(runtime) == 1
    assert _deliver(runtime, program, 0.02).sent == 3


def test_one_that_refuses_or_answers_nothing_is_given_up_in_the_end(
    runtime: Runtime, program: Program
) -> None:
    _keep(runtime, with_articles=True)
    _put(runtime, FIRE, "a.example")
    _queue(runtime)
    program.codes += [403] * 5
    for attempt in range(5):
        assert _stopped(runtime) == "", attempt
        _deliver(runtime, program, attempt * 10)
    assert _stopped(runtime) == "refused: HTTP 403"


def test_redirects_are_not_followed(runtime: Runtime, program: Program) -> None:
    with served() as other:
        program.codes.append(308)
        program.location = f"{other.origin}/hook?a=b"
        error = _test(runtime, program.address)
        assert "redirects elsewhere" in error
        assert other.asked == 0


def _test(runtime: Runtime, address: str) -> str:
    return send_test(runtime.database, {CHANNEL: address}, CHANNEL, datetime.now(UTC))


def test_a_test_tells_the_truth(
    runtime: Runtime, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _test(runtime, program.address) == ""
    ((_own, told),) = program.got
    assert told["type"] == "message"
    assert "test" in told["data"]["text"]
    program.codes.append(404)
    assert _test(runtime, program.address) == "refused: HTTP 404"
    with socket.create_server(("127.0.0.1", 0)) as shut:
        port = shut.getsockname()[1]
    monkeypatch.setenv("QIAO_ALLOW_ADDRESSES", f"127.0.0.1:{port}")
    nobody = signed_address(f"http://127.0.0.1:{port}/", SECRET)
    error = _test(runtime, nobody)
    assert "cannot be reached" in error
    assert SECRET not in error


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"])
def test_private_addresses_are_refused_unless_they_are_named(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    with served() as program:
        monkeypatch.setenv("QIAO_ALLOW_ADDRESSES", "http://127.0.0.1:1")
        address = signed_address(f"http://{host}:{program.server_port}/hook?a=b", SECRET)
        assert "no public address" in _test(runtime, address)
        assert program.asked == 0


def test_a_public_name_that_leads_inside_is_refused(
    runtime: Runtime, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", program.server_port))]
    monkeypatch.setattr(guarded.socket, "getaddrinfo", lambda *_asked, **_named: inside)
    address = signed_address(f"http://public.example:{program.server_port}/hook?a=b", SECRET)
    assert "no public address" in _test(runtime, address)
    assert program.asked == 0


@pytest.mark.parametrize("way", ["stalls", "drips"])
def test_one_that_does_not_end_its_answer_holds_nobody_up(
    runtime: Runtime, program: Program, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(signed, "SECONDS", 0.5)
    setattr(program, way, True)
    assert _test(runtime, program.address) == "no answer in 0.5 s"


def test_texts_that_were_sent_go_after_a_month_and_are_not_told_again(
    runtime: Runtime, program: Program
) -> None:
    _keep(runtime, with_articles=True)
    _put(runtime, FIRE, "a.example")
    _queue(runtime)
    _deliver(runtime, program)
    assert _queue(runtime, timedelta(days=45)) == 0
    with runtime.database.reading() as c:
        row = c.execute(select(warning_message.c.body, warning_message.c.state)).one()
    assert (row.body, row.state) == ("", "sent")
    with runtime.database.engine.begin() as c:
        c.exec_driver_sql("UPDATE warning_hook SET looked_to = '2026-01-01'")
    assert _queue(runtime, timedelta(days=45)) == 0


_CHILD = """
import sys
from datetime import UTC, datetime
from qiaocrawl.news.warnings.delivery import deliver_due
from qiaocrawl.news.warnings.hooks import queue_new
from qiaocrawl.storage import Database
url, address = sys.argv[1:]
with Database.open(url) as database:
    queue_new(database, datetime.now(UTC))
    deliver_due(database, {"程序": address}, datetime.now(UTC).timestamp())
"""


def test_a_process_that_is_killed_loses_no_message(
    runtime: Runtime, program: Program, database_url: str
) -> None:
    _keep(runtime, with_articles=True)
    hosts = ("a.example", "b.example", "c.example")
    for host in hosts:
        _put(runtime, f"{FIRE} {host}", host)
    program.stalls = True
    allowed = {**child_environment(), "QIAO_ALLOW_ADDRESSES": program.origin}
    with started_code(_CHILD, database_url, program.address, environment=allowed) as (child, _said):
        assert program.came.wait(120)
        child.send_signal(signal.SIGKILL)
        assert child.wait(20) == -signal.SIGKILL
    program.stalls = False
    program.freed.set()
    assert _queue(runtime) == 0, "all were kept before the first was sent"
    # The one that was in hand is tried again when its claim has run out, under the same id.
    assert _deliver(runtime, program, 0.2).sent == len(hosts)
    with runtime.database.reading() as c:
        ids = {f"msg_{own}" for own in c.execute(select(warning_message.c.message_id)).scalars()}
    assert {own for own, _body in program.got} == ids
    assert len(ids) == len(hosts)
