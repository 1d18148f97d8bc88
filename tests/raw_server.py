"""A server that sends what a test's function writes, byte for byte, on loopback."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Send = Callable[[socket.socket], None]
"""Writes an answer to a connection; closing it is the server's work."""
Choose = Callable[[str, str], Send]
"""From host (without port) and path of a request to its answer."""


def answer(body: bytes, *headers: str, status: str = "200 OK", length: bool = True) -> bytes:
    """A plain answer; without *length* it says nothing of its end."""
    lines = [f"HTTP/1.1 {status}", "Connection: close", *headers]
    if not any(line.lower().startswith("content-type") for line in headers):
        lines.append("Content-Type: text/html; charset=utf-8")
    if length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def whole(data: bytes) -> Send:
    """Sends *data* and ends."""
    return lambda connection: connection.sendall(data)


class RawServer:
    """Answers each connection's first request in a thread of its own."""

    def __init__(self, choose: Choose, at: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        self._choose = choose
        self.asked: list[tuple[str, str]] = []
        self.ended = threading.Event()
        self._socket = socket.create_server(at, backlog=200)
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def origin(self) -> str:
        """host:port."""
        return "{}:{}".format(*self._socket.getsockname())

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            try:
                request = b""
                while b"\r\n\r\n" not in request:
                    if not (more := connection.recv(65536)):
                        return
                    request += more
                head = request.decode("latin-1").split("\r\n")
                path = head[0].split(" ")[1]
                host = next(line[5:].strip() for line in head if line.lower().startswith("host:"))
                self.asked.append((host, path))
                self._choose(host, path)(connection)
            except OSError:
                return

    def close(self) -> None:
        """Stop listening, and let slow answers end."""
        self.ended.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@contextmanager
def raw_server(
    choose: Choose, at: tuple[str, int] = ("127.0.0.1", 0)
) -> Iterator[RawServer]:
    """Serve *at* a loopback address, port 0 = any, until the block ends."""
    server = RawServer(choose, at)
    try:
        yield server
    finally:
        server.close()
