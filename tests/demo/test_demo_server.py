"""The demo web over real HTTP."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPResponse, RemoteDisconnected

import pytest

from qiaocrawl.demo.model import DemoPage, Kind
from qiaocrawl.demo.server import DemoServer
from qiaocrawl.demo.web import build_web

PORTAL = "www.huaqiaobao.test"


def ask(
    server: DemoServer, host: str, target: str, method: str = "GET"
) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection(server.address)
    connection.request(method, target, headers={"Host": host})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def exchange(server: DemoServer, *chunks: bytes) -> bytes:
    """Everything the server answers to *chunks*, until it closes."""
    address, port = server.address.split(":")
    with socket.create_connection((address, int(port))) as connection:
        for chunk in chunks:
            connection.sendall(chunk)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer


def test_it_serves_the_bytes_of_the_web(demo_server: DemoServer) -> None:
    pages = list(demo_server.web.pages.items())
    connection = HTTPConnection(demo_server.address)
    for (host, path), page in pages[::9]:
        if page.drop:
            continue
        connection.request("GET", path, headers={"Host": host})
        response = connection.getresponse()
        assert response.status == page.status
        assert response.read() == page.body
        assert dict(page.headers).items() <= dict(response.getheaders()).items()
    connection.close()


def test_head_says_the_length_and_sends_no_body(demo_server: DemoServer) -> None:
    _, body = ask(demo_server, PORTAL, "/")
    response, nothing = ask(demo_server, PORTAL, "/", "HEAD")
    assert nothing == b""
    assert int(response.getheader("Content-Length") or 0) == len(body) > 0


def test_unknown_paths_hosts_and_methods(demo_server: DemoServer) -> None:
    assert ask(demo_server, PORTAL, "/nothing")[0].status == 404
    assert ask(demo_server, "nobody.test", "/")[0].status == 421
    assert ask(demo_server, PORTAL, "/", "DELETE")[0].status == 405


def test_redirects_have_a_location(demo_server: DemoServer) -> None:
    response, body = ask(demo_server, PORTAL, "/jump/1.html")
    assert (response.status, body) == (302, b"")
    assert response.getheader("Location") == "/jump/2.html"


def test_a_dropped_connection(demo_server: DemoServer) -> None:
    dropped = [key for key, page in demo_server.web.pages.items() if page.drop]
    with pytest.raises((RemoteDisconnected, ConnectionResetError)):
        ask(demo_server, *dropped[0])
    assert ask(demo_server, PORTAL, "/")[0].status == 200


def test_requests_in_one_packet_are_answered_in_order(demo_server: DemoServer) -> None:
    first = b"GET /jump/1.html HTTP/1.1\r\nHost: www.huaqiaobao.test\r\n\r\n"
    last = b"GET /nothing HTTP/1.1\r\nHost: www.huaqiaobao.test\r\nConnection: close\r\n\r\n"
    answer = exchange(demo_server, first + last)
    assert answer.index(b"302 Found") < answer.index(b"404 Not Found")


def test_a_request_in_many_packets(demo_server: DemoServer) -> None:
    request = b"GET / HTTP/1.1\r\nHost: www.huaqiaobao.test\r\nConnection: close\r\n\r\n"
    answer = exchange(demo_server, *(bytes([byte]) for byte in request))
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")


def test_the_body_of_a_form_is_read_past(demo_server: DemoServer) -> None:
    form = (
        b"POST /member/login.php HTTP/1.1\r\nHost: bbs.tangrenjie.test\r\n"
        b"Content-Length: 9\r\n\r\nusername=" + b"GET / HTTP/1.1\r\n"
        b"Host: bbs.tangrenjie.test\r\nConnection: close\r\n\r\n"
    )
    assert exchange(demo_server, form).count(b"HTTP/1.1 200 OK") == 2


@pytest.mark.parametrize("request_bytes", [b"nonsense\r\n\r\n", b"A" * 70_000])
def test_nonsense_is_refused(demo_server: DemoServer, request_bytes: bytes) -> None:
    assert exchange(demo_server, request_bytes).startswith(b"HTTP/1.1 400 ")


def test_an_http_1_0_client_is_let_go(demo_server: DemoServer) -> None:
    answer = exchange(demo_server, b"GET / HTTP/1.0\r\nHost: www.huaqiaobao.test\r\n\r\n")
    assert b"Connection: close" in answer


def test_requests_are_counted_and_logged_with_their_times(demo_server: DemoServer) -> None:
    for target in ("/", "/nothing"):
        ask(demo_server, PORTAL, target)
    ask(demo_server, "www.mnqw.test", "/")
    assert demo_server.hits == {PORTAL: 2, "www.mnqw.test": 1}
    assert [(one.target, one.status) for one in demo_server.log] == [
        ("/", 200), ("/nothing", 404), ("/", 200),
    ]  # fmt: skip
    times = [one.at_seconds for one in demo_server.log]
    assert times == sorted(times)


def test_engines_answer_for_their_hosts(demo_server: DemoServer) -> None:
    class Echo:
        host = "echo.test"

        def respond(self, target: str, headers: Mapping[str, str]) -> DemoPage:
            return DemoPage(200, (), f"{target} {headers['user-agent']}".encode())

    demo_server.web.add_engines([Echo()])
    connection = HTTPConnection(demo_server.address)
    connection.request("GET", "/s?q=1", headers={"Host": "echo.test:80", "User-Agent": "me"})
    assert connection.getresponse().read() == b"/s?q=1 me"
    connection.close()


def test_two_servers_cannot_share_a_port(demo_server: DemoServer) -> None:
    port = int(demo_server.address.rpartition(":")[2])
    with pytest.raises(OSError, match="address already in use"):
        DemoServer(demo_server.web, port=port).start()


def test_stopping_twice_and_before_starting_is_no_error() -> None:
    server = DemoServer(build_web(scale=0.05))
    server.stop()
    server.start()
    server.stop()
    server.stop()
    with pytest.raises(ConnectionRefusedError):
        ask(server, PORTAL, "/")


def test_pictures_are_served(demo_server: DemoServer) -> None:
    response, body = ask(demo_server, "tu.shijie.test", "/img/t.jpg")
    assert response.getheader("Content-Type") == "image/png"
    assert body.startswith(b"\x89PNG")


def test_the_login_form_is_served(demo_server: DemoServer) -> None:
    walls = [gold for gold in demo_server.web.gold() if gold.kind is Kind.LOGIN_WALL]
    host, path = walls[0].url.removeprefix("http://").split("/", 1)
    location = ask(demo_server, host, f"/{path}")[0].getheader("Location") or ""
    assert b'type="password"' in ask(demo_server, host, location)[1]
