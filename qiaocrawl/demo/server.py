"""Serves the demo web over HTTP/1.1 on loopback; the Host header says which site is meant."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from qiaocrawl.demo.model import DemoPage
from qiaocrawl.demo.web import DemoWeb

_MAX_HEAD_BYTES = 65_536
# Requests whose times are remembered.
_MAX_LOG = 200_000

_READ_METHODS = ("GET", "HEAD", "POST")
_BAD_REQUEST = DemoPage(400, (("Content-Type", "text/plain"),), b"bad request\n")
_NOT_ALLOWED = DemoPage(405, (("Allow", ", ".join(_READ_METHODS)),), b"")


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One request as it was answered. ``at_seconds`` is on the monotonic clock."""

    at_seconds: float
    host: str
    target: str
    status: int


class DemoServer:
    """One HTTP server for all hosts of a demo web.

    ``hits`` counts requests by host and ``log`` holds them with their times, for tests of
    politeness. A server starts once.

    Args:
        web: what to serve.
        address: the address to listen on.
        port: 0 takes a free one.
    """

    def __init__(self, web: DemoWeb, address: str = "127.0.0.1", port: int = 0) -> None:
        self.web = web
        self.hits: Counter[str] = Counter()
        self.log: deque[LoggedRequest] = deque(maxlen=_MAX_LOG)
        self._address = address
        self._port = port
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._started = threading.Event()
        self._failure: OSError | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> tuple[str, int]:
        """Serve in a thread of its own; returns the address and port.

        Raises:
            OSError: the port is taken.
        """
        self._thread = threading.Thread(target=self._run, name="demo-web", daemon=True)
        self._thread.start()
        self._started.wait()
        if self._failure is not None:
            raise self._failure
        return self._address, self._port

    def stop(self) -> None:
        """Stop serving and wait for the thread; does nothing before :meth:`start`."""
        loop = self._loop
        if loop is not None and self._stopping is not None:
            loop.call_soon_threadsafe(self._stopping.set)
        if self._thread is not None:
            self._thread.join()

    def __enter__(self) -> DemoServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def address(self) -> str:
        """``host:port``, as QIAO_DEMO wants it; the port is known once the server listens."""
        return f"{self._address}:{self._port}"

    async def serve_forever(self) -> None:
        """Serve until cancelled or stopped.

        Raises:
            OSError: the port is taken.
        """
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        connections: set[_Connection] = set()
        server = await self._loop.create_server(
            lambda: _Connection(self, connections), self._address, self._port
        )
        self._port = server.sockets[0].getsockname()[1]
        self._started.set()
        try:
            await self._stopping.wait()
        finally:
            self._loop = None
            server.close()
            for connection in list(connections):
                connection.close()
            await server.wait_closed()

    def answer(self, method: str, target: str, headers: Mapping[str, str]) -> DemoPage:
        """The answer to one request; counted and logged. Header names come in lower case."""
        host = headers.get("host", "").lower().partition(":")[0]
        if method not in _READ_METHODS:
            page = _NOT_ALLOWED
        else:
            page = self.web.respond(host, target, headers)
        self.hits[host] += 1
        self.log.append(LoggedRequest(time.monotonic(), host, target, page.status))
        return page

    def _run(self) -> None:
        try:
            asyncio.run(self.serve_forever())
        except OSError as error:
            self._failure = error
        finally:
            self._started.set()


class _Connection(asyncio.Protocol):
    """One keep-alive connection; answers requests in the order they come."""

    def __init__(self, server: DemoServer, connections: set[_Connection]) -> None:
        self._server = server
        self._connections = connections
        self._unread = b""
        self._skip_bytes = 0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        self._transport = None

    def close(self) -> None:
        """Cut the connection."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._unread += data
        while self._transport is not None and not self._transport.is_closing():
            skipped = min(self._skip_bytes, len(self._unread))
            self._unread = self._unread[skipped:]
            self._skip_bytes -= skipped
            head, end, rest = self._unread.partition(b"\r\n\r\n")
            if not end or self._skip_bytes:
                break
            self._unread = rest
            self._handle(head.decode("latin-1"))
        if len(self._unread) > _MAX_HEAD_BYTES:
            self._send(_BAD_REQUEST, head_only=False, keep=False)

    def _handle(self, head: str) -> None:
        first, *lines = head.split("\r\n")
        words = first.split(" ")
        if len(words) != 3:
            self._send(_BAD_REQUEST, head_only=False, keep=False)
            return
        method, target, version = words
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        # A form's fields are read past: the answer depends on the address only.
        length = headers.get("content-length", "0")
        self._skip_bytes = int(length) if length.isascii() and length.isdigit() else 0
        page = self._server.answer(method, target, headers)
        keep = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
        self._send(page, head_only=method == "HEAD", keep=keep)

    def _send(self, page: DemoPage, *, head_only: bool, keep: bool) -> None:
        if self._transport is None:
            return
        if page.drop:
            self._transport.abort()
            return
        self._transport.write(_response(page, head_only=head_only, keep=keep))
        if not keep:
            self._transport.close()


def _response(page: DemoPage, *, head_only: bool, keep: bool) -> bytes:
    try:
        reason = HTTPStatus(page.status).phrase
    except ValueError:
        reason = "Unknown"
    lines = [f"HTTP/1.1 {page.status} {reason}"]
    lines += [f"{name}: {value}" for name, value in page.headers]
    lines += [f"Content-Length: {len(page.body)}", "Server: demo"]
    lines.append(f"Connection: {'keep-alive' if keep else 'close'}")
    head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
    return head if head_only else head + page.body
