"""Hosts that hurt who asks them, and good ones: each has a loopback address of its own.

Good hosts and hostile ones are served by two processes, so that a flood costs the good ones no
more than the machine's share. What was asked is kept with its time by the monotonic clock.
"""

from __future__ import annotations

import gzip
import multiprocessing
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

import brotli

from benchmarks.local_site import LocalSite

Send = Callable[[socket.socket, str], None]
"""Writes an answer to a connection that asked for a path; closing it is the server's work."""
_DRIP_SECONDS = 0.5
_PAGE = b"<html><title>%s</title><p>...</p></html>"


def head(*lines: str, status: str = "200 OK", kind: str = "text/html") -> bytes:
    """The head of an answer that closes its connection."""
    every = (f"HTTP/1.1 {status}", "Connection: close", f"Content-Type: {kind}", *lines)
    return "\r\n".join(every).encode("latin-1") + b"\r\n\r\n"


def answer(body: bytes, *lines: str, status: str = "200 OK", kind: str = "text/html") -> bytes:
    """A whole answer."""
    return head(f"Content-Length: {len(body)}", *lines, status=status, kind=kind) + body


def whole(data: bytes) -> Send:
    """Sends *data* and ends."""
    return lambda connection, path: connection.sendall(data)


def endless(begin: bytes, more: bytes) -> Send:
    """Sends *begin*, then *more* until it is cut."""
    block = more * max(1, 65536 // len(more))

    def send(connection: socket.socket, path: str) -> None:
        connection.sendall(begin)
        while True:
            connection.sendall(block)

    return send


def dripping(begin: bytes) -> Send:
    """Sends *begin*, then a byte twice a second; b"" says nothing at all."""

    def send(connection: socket.socket, path: str) -> None:
        connection.sendall(begin)
        while True:
            time.sleep(_DRIP_SECONDS)
            if begin:
                connection.sendall(b"a")

    return send


def reset(begin: bytes) -> Send:
    """Sends *begin*, then ends as a crash does."""

    def send(connection: socket.socket, path: str) -> None:
        connection.sendall(begin)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return send


def _number(path: str) -> int:
    digits = "".join(one for one in path if one.isdigit())
    return int(digits or 0)


def redirecting(connection: socket.socket, path: str) -> None:
    """Every page leads to the next one, without end."""
    connection.sendall(answer(b"", f"Location: /r{_number(path) + 1}", status="302 Found"))


def refreshing(connection: socket.socket, path: str) -> None:
    """As redirecting, by a page's own words."""
    tag = b'<meta http-equiv="refresh" content="0; url=/m%d">' % (_number(path) + 1)
    connection.sendall(answer(b"<html><head>" + tag + b"</head><p>...</p></html>"))


def sitemaps(connection: socket.socket, path: str) -> None:
    """An index of fifty indexes of fifty indexes…; a last level lists pages."""
    level = path.count("-") if path.startswith("/sitemap") else -1
    if level < 0:
        connection.sendall(answer(_PAGE % path.encode()))
        return
    host, port = connection.getsockname()
    kind, item = ("sitemapindex", "sitemap") if level < 3 else ("urlset", "url")
    base = path.removesuffix(".xml") if level < 3 else "/page" + path.removesuffix(".xml")
    names = (f"http://{host}:{port}{base}-{n}.xml" for n in range(50))
    listed = "".join(f"<{item}><loc>{name}</loc></{item}>" for name in names)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    body = f'<{kind} xmlns="{space}">{listed}</{kind}>'.encode()
    connection.sendall(answer(body, kind="text/xml"))


_CHUNKED = head("Transfer-Encoding: chunked")
_OK = b"HTTP/1.1 200 OK\r\n"
_BOMB_BYTES = 300_000_000
HOSTILE: Mapping[str, Send] = {
    "silent": dripping(b""),
    "dripping head": dripping(_OK + b"X-A: "),
    "dripping body": dripping(head()),
    "endless 100 Continue": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "endless 103 with headers": endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    "100,000 headers": whole(_OK + b"".join(b"X-%d: a\r\n" % n for n in range(100_000)) + b"\r\n"),
    "endless headers": endless(_OK, b"X-A: " + b"a" * 1000 + b"\r\n"),
    "endless header line": endless(_OK + b"X-A: ", b"a" * 1000),
    "900 cookies": whole(
        answer(_PAGE % b"a", *(f"Set-Cookie: n{n}={'a' * 200}" for n in range(900)))
    ),
    "endless chunks": endless(_CHUNKED, b"8000\r\n" + b"x" * 0x8000 + b"\r\n"),
    "giant chunk": endless(_CHUNKED + b"7fffffff\r\n", b"x" * 1000),
    "chunks of one byte": endless(_CHUNKED, b"1\r\nx\r\n"),
    "chunks with extensions": endless(_CHUNKED, b"1;" + b"a" * 900 + b"\r\nx\r\n"),
    "endless trailers": endless(_CHUNKED + b"0\r\n", b"X-A: a\r\n"),
    "bytes after the end": endless(answer(_PAGE % b"a"), b"x" * 1000),
    "gzip bomb": whole(answer(gzip.compress(b"\0" * _BOMB_BYTES, 9), "Content-Encoding: gzip")),
    "gzip bomb twice": whole(
        answer(gzip.compress(gzip.compress(b"\0" * _BOMB_BYTES, 9)), "Content-Encoding: gzip, gzip")
    ),
    "brotli bomb": whole(
        answer(brotli.compress(b"\0" * _BOMB_BYTES, quality=1), "Content-Encoding: br")
    ),
    "reset": reset(b""),
    "reset in a body": reset(head("Content-Length: 100000") + b"x" * 1000),
    "endless redirects": redirecting,
    "endless refreshes": refreshing,
    "tree of sitemaps": sitemaps,
}
"""What a host sends for any path but robots.txt, which it has not."""
HOSTILE_ROBOTS: Mapping[str, Send] = {
    "silent robots.txt": dripping(b""),
    "dripping robots.txt": dripping(head(kind="text/plain")),
    "endless robots.txt": endless(head(kind="text/plain"), b"Disallow: /x\r\n"),
    "endless 100 for robots.txt": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
}
"""What a host sends for robots.txt, and for anything else."""
KINDS = (*HOSTILE, *HOSTILE_ROBOTS)
_NO_ROBOTS = answer(b"", status="404 Not Found", kind="text/plain")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request a host saw: host as host:port, and seconds of the monotonic clock."""

    host: str
    path: str
    at: float


class _Hosts:
    """Serves hosts in threads, one a connection; lives in a process of its own."""

    def __init__(self, first: str, senders: list[Send]) -> None:
        self._asked: list[Asked] = []
        net, _, number = first.rpartition(".")
        self._sockets = [
            socket.create_server((f"{net}.{int(number) + n}", 0), backlog=200)
            for n in range(len(senders))
        ]
        for listening, send in zip(self._sockets, senders, strict=True):
            threading.Thread(target=self._serve, args=(listening, send), daemon=True).start()

    def names(self) -> list[str]:
        """host:port of each."""
        return ["{}:{}".format(*one.getsockname()) for one in self._sockets]

    def take(self) -> list[Asked]:
        """What was asked since the last call."""
        asked, self._asked = self._asked, []
        return asked

    def _serve(self, listening: socket.socket, send: Send) -> None:
        while True:
            connection, _ = listening.accept()
            threading.Thread(target=self._answer, args=(connection, send), daemon=True).start()

    def _answer(self, connection: socket.socket, send: Send) -> None:
        with connection:
            try:
                request = b""
                while b"\r\n\r\n" not in request:
                    if not (more := connection.recv(65536)):
                        return
                    request += more
                path = request.split(b" ", 2)[1].decode("latin-1")
                host = "{}:{}".format(*connection.getsockname())
                self._asked.append(Asked(host, path, time.monotonic()))
                send(connection, path)
            except OSError:
                return


def _hostile(number: int) -> Send:
    kind = KINDS[number % len(KINDS)]
    if kind in HOSTILE_ROBOTS:
        return HOSTILE_ROBOTS[kind]

    def send(connection: socket.socket, path: str) -> None:
        if path == "/robots.txt":
            connection.sendall(_NO_ROBOTS)
        else:
            HOSTILE[kind](connection, path)

    return send


def _good(site: LocalSite) -> Send:
    def send(connection: socket.socket, path: str) -> None:
        body = site.pages.get(path)
        connection.sendall(_NO_ROBOTS if body is None else answer(body))

    return send


def _run(hosts: _Hosts, door: Connection) -> None:
    door.send(hosts.names())
    while door.recv():
        door.send(hosts.take())


def _run_good(count: int, pages: int, door: Connection) -> None:
    _run(_Hosts("127.0.2.1", [_good(LocalSite.build(pages))] * count), door)


def _run_hostile(count: int, door: Connection) -> None:
    _run(_Hosts("127.0.3.1", [_hostile(n) for n in range(count)]), door)


@dataclass
class ServedHosts:
    """Hosts that are being served by another process."""

    names: list[str]
    _door: Connection

    def take(self) -> list[Asked]:
        """What they were asked since the last call."""
        self._door.send(True)
        asked: list[Asked] = self._door.recv()
        return asked


@contextmanager
def serving_hosts(run: Callable[..., None], *arguments: int) -> Iterator[ServedHosts]:
    """Run *run* in a process of its own until the block ends."""
    door, other = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=run, args=(*arguments, other), daemon=True
    )
    process.start()
    try:
        yield ServedHosts(door.recv(), door)
    finally:
        process.kill()
        process.join()


def good_hosts(count: int, pages: int) -> AbstractContextManager[ServedHosts]:
    """*count* hosts of *pages* article pages each, as a context."""
    return serving_hosts(_run_good, count, pages)


def hostile_hosts(count: int) -> AbstractContextManager[ServedHosts]:
    """*count* hosts of all kinds in turn, as a context."""
    return serving_hosts(_run_hostile, count)
