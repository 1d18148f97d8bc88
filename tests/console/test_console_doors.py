"""What strangers can do before anybody is known: bounded bodies, guesses, half-sent requests."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from console_client import Desk, visible
from qiaocrawl.console.app import FIRST_NAME, first_administrator
from qiaocrawl.console.forms import MOST_KEPT, MOST_OF_USER, Uploads
from qiaocrawl.console.page import MAX_FORM_BYTES, MAX_STRANGER_BYTES
from qiaocrawl.console.security import credentials, gate
from qiaocrawl.console.security.connections import bounded_protocol
from qiaocrawl.console.security.gate import BodyLimit
from qiaocrawl.errors import ConfigError
from qiaocrawl.storage import Database, audit_log, people
from storage_samples import PACK, add_topic

_FORM = {"content-type": "application/x-www-form-urlencoded"}


def _body(total: int, taken: list[int]) -> Iterator[bytes]:
    """*total* bytes of ``&``; *taken* tells how many the console took."""
    for _number in range(total // 8192):
        taken.append(8192)
        yield b"&" * 8192


def test_a_stranger_sends_no_more_than_a_log_in(sqlite_desk: Desk) -> None:
    for path in ("/log-in", "/preferences"):
        answer = sqlite_desk.client.post(
            path, content=b"&" * (MAX_STRANGER_BYTES + 1), headers=_FORM
        )
        assert answer.status_code == 413
        assert "16 KB" in visible(answer.text)
        # Also where the length is not announced.
        answer = sqlite_desk.client.post(path, content=_body(10**6, []), headers=_FORM)
        assert answer.status_code == 413
    # Any other form of a stranger is not read at all, however large.
    answer = sqlite_desk.client.post("/topics/import", content=b"&" * 10**6, headers=_FORM)
    assert answer.status_code == 401


def test_forms_are_read_when_their_sender_is_known(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    form_of = credentials.form_of

    async def noted(request: Request):  # type: ignore[no-untyped-def]
        read.append(request.url.path)
        return await form_of(request)

    monkeypatch.setattr(credentials, "form_of", noted)
    add_topic(sqlite_desk.database)
    path = f"/topics/{PACK.name}/terms"
    assert sqlite_desk.post(path, text="侨").status_code == 401
    sqlite_desk.log_in_as("reader")
    assert sqlite_desk.post(path, text="侨").status_code == 403
    assert read == []
    sqlite_desk.log_in_as("editor")
    forged = sqlite_desk.client.post(path, data={"text": "侨", "csrf_token": "x"})
    assert (forged.status_code, read) == (403, [path])
    # A page of files takes so much of files, and of nothing else.
    for into in (path, f"/topics/{PACK.name}/samples/import"):
        large = sqlite_desk.client.post(into, content=b"&" * (MAX_FORM_BYTES + 1), headers=_FORM)
        assert (large.status_code, "2 MB" in large.text) == (413, True), into


@pytest.fixture
def alice(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A console with a user; what a hash costs is not what is tried here."""
    with desk.database.engine.begin() as c:
        people.add_user(c, audit_log.Actor("test"), "alice", "hash of alice", "reader")
        c.exec_driver_sql("UPDATE console_user SET must_change = 0")
    monkeypatch.setattr(credentials, "is_right", lambda stored, given: given == "right password")
    return desk


@contextmanager
def _from(desk: Desk, address: str) -> Iterator[Callable[[str], int]]:
    """Tries of a browser at *address*, without cookies."""
    transport = desk.client._transport
    before = transport.client  # type: ignore[attr-defined]
    transport.client = (address, 50_000)  # type: ignore[attr-defined]

    def tried(password: str) -> int:
        desk.get("/log-in")
        return desk.post("/log-in", name="alice", password=password).status_code

    try:
        yield tried
    finally:
        transport.client = before  # type: ignore[attr-defined]


def test_one_network_does_not_lock_everybody_out(alice: Desk) -> None:
    with _from(alice, "2001:db8::1") as tried:
        assert tried("right password") == 303
    known = alice.client.cookies[credentials.BROWSER]
    alice.client.cookies.clear()
    # 60 guesses from as many addresses of one /64: one address, of which five are looked at.
    codes = []
    for number in range(60):
        with _from(alice, f"2001:db8:0:1::{number:x}") as tried:
            codes.append(tried("guess"))
    assert codes.count(403) == people.MAX_FAILURES_OF_PAIR
    with _from(alice, "2001:db8:0:2::1") as tried:
        assert tried("right password") == 303
    alice.client.cookies.clear()

    # Ten networks lock the name for strangers, not for the browser that was here before.
    for network in range(16):
        with _from(alice, f"2001:db8:1:{network:x}::1") as tried:
            for _number in range(people.MAX_FAILURES_OF_PAIR):
                tried("guess")
            alice.client.cookies.clear()
    with _from(alice, "2001:db8:0:2::1") as tried:
        assert tried("right password") == 429
        alice.client.cookies.set(credentials.BROWSER, known)
        assert tried("right password") == 303
        alice.client.cookies.clear()
        # Who has the cookie guesses as seldom as anybody.
        alice.client.cookies.set(credentials.BROWSER, known)
        codes = [tried(f"guess {number}") for number in range(10)]
        assert codes == [403] * 5 + [429] * 5
        # One that was made up, or another user's, is none.
        for made_up in ("a.b", known[:-1] + "x", "", "." * 300):
            alice.client.cookies.clear()
            alice.client.cookies.set(credentials.BROWSER, made_up)
            assert tried("right password") == 429


def test_addresses_are_counted_by_their_network() -> None:
    for address, counted in (
        ("2001:db8::1", "2001:db8::/64"), ("2001:db8:0:0:ffff::9", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"), ("::ffff:192.0.2.7", "192.0.2.7"),
        ("192.0.2.7", "192.0.2.7"), ("fe80::1%eth0", "fe80::/64"), ("", ""), ("test", "test"),
    ):  # fmt: skip
        assert people.counted_address(address) == counted


def test_nobody_throws_another_ones_file_away(sqlite_desk: Desk) -> None:
    uploads = Uploads()
    first = uploads.keep("a", b"1", "alice", "t")
    others = [uploads.keep("b", b"1", "bob", "t") for _number in range(3 * MOST_OF_USER)]
    assert uploads.find(first, "alice") is not None
    assert [uploads.find(key, "bob") is not None for key in others].count(True) == MOST_OF_USER
    for number in range(MOST_KEPT - MOST_OF_USER - 1):
        uploads.keep("c", b"1", f"user {number}", "t")
    with pytest.raises(ConfigError, match="too many files"):
        uploads.keep("d", b"1", "dora", "t")
    # Of one's own the oldest goes.
    assert uploads.keep("e", b"1", "bob", "t")
    assert uploads.find(first, "alice") is not None


def test_two_consoles_at_once_make_one_administrator(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = people.count_users
    both = threading.Barrier(2)
    asked = threading.local()

    def at_once(c):  # type: ignore[no-untyped-def]
        found = counted(c)
        # Both have seen an empty database before either makes a user.
        if not getattr(asked, "before", False):
            asked.before = True
            both.wait()
        return found

    monkeypatch.setattr(people, "count_users", at_once)
    results: list[str | BaseException] = []

    def started() -> None:
        try:
            with Database.open(database_url) as own:
                results.append(first_administrator(own))
        except BaseException as error:
            results.append(error)

    threads = [threading.Thread(target=started) for _number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(bool, results)) == [False, True], results
    with database.reading() as c:
        assert [user.name for user in people.list_users(c)] == [FIRST_NAME]


# --- Connections --------------------------------------------------------------------------------


async def _answer(request: Request) -> Response:
    return PlainTextResponse(f"{len(await request.body())}")


def _refused(_request: Request, error: Exception) -> Response:
    return PlainTextResponse(type(error).__name__, 408)


@contextmanager
def _serving(**bounds: float) -> Iterator[int]:
    """A server on loopback with *bounds* for its connections; gives its port."""
    app = Starlette(
        routes=[Route("/", _answer, methods=["GET", "POST"])],
        middleware=[Middleware(BodyLimit, most_bytes=10**6, refused=_refused)],
    )
    config = uvicorn.Config(
        app,
        log_level="critical",
        http=bounded_protocol(**bounds),
        lifespan="off",  # type: ignore[arg-type]
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def _connected(port: int, sent: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.sendall(sent)
    return connection


def _all(connection: socket.socket) -> bytes:
    """What comes until the server closes."""
    received = b""
    # A connection that is closed before all was read of it is reset.
    with suppress(ConnectionResetError):
        while piece := connection.recv(65_536):
            received += piece
    return received


def test_half_a_head_is_not_waited_for_for_ever() -> None:
    with _serving(header_seconds=0.2) as port:
        for half in (b"", b"GET / HTTP/1.1\r\nHost: a\r\n", b"POST / HT"):
            with _connected(port, half) as connection:
                assert _all(connection) == b""
        # The next request of a connection that is kept, too.
        with _connected(port, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n") as connection:
            received = b""
            while not received.endswith(b"\r\n\r\n0"):
                received += connection.recv(65_536)
            connection.sendall(b"GET / HT")
            assert _all(connection) == b""


def test_of_many_half_requests_the_oldest_goes() -> None:
    with _serving(most_incomplete=20) as port:
        held = [_connected(port, b"GET / HTTP/1.1\r\n") for _number in range(60)]
        with _connected(port, b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") as new:
            assert b"200 OK" in _all(new)
        # 40 of them were closed, whatever they hoped for.
        for connection in held[:40]:
            with connection:
                assert _all(connection) == b""
        for connection in held[41:]:
            connection.close()
        held[40].close()


def test_half_a_body_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "SILENCE_SECONDS", 0.2)
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n"
    with _serving() as port:
        with _connected(port, head + b"12345") as connection:
            answer = _all(connection)
            assert (b"408" in answer, b"TooSlowError" in answer) == (True, True)
        with _connected(port, head.replace(b"Host: a", b"Host: a\r\nConnection: close")
                        + b"1234567890") as connection:  # fmt: skip
            assert _all(connection).endswith(b"\r\n\r\n10")


def test_the_refusal_of_a_large_body_arrives() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n"
    with _serving() as port, _connected(port, head) as connection:
        # All of it is sent before the answer is looked at, as browsers do.
        connection.sendall(b"&" * 8_000_000)
        received = b""
        while not received.endswith(b"TooLargeError"):
            piece = connection.recv(65_536)
            assert piece, "closed without an answer"
            received += piece
        assert b" 408 " in received


def test_who_takes_nothing_of_an_answer_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "SILENCE_SECONDS", 0.05)
    ended: list[Exception] = []

    async def sends(scope, receive, send):  # type: ignore[no-untyped-def]
        try:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        except Exception as error:
            ended.append(error)
            raise

    async def never_taken(_message: object) -> None:
        await asyncio.Event().wait()

    async def whole() -> dict[str, object]:
        return {"type": "http.request"}

    scope = {"type": "http", "headers": []}
    # It comes to an end, and without a traceback.
    asyncio.run(BodyLimit(sends, 10, _refused)(scope, whole, never_taken))  # type: ignore[arg-type]
    assert [type(error) for error in ended] == [gate.TooSlowError]
