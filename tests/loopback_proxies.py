"""Real proxies on loopback: absolute URLs and CONNECT, with or without a login."""

from __future__ import annotations

import base64
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

_BLOCK = 65536


@dataclass
class Asked:
    """One request a proxy got: its first line and header lines."""

    line: str
    headers: dict[str, str]


@dataclass
class LoopbackProxy:
    """A proxy that sends everything to one origin, whatever host is named.

    Attributes:
        login: ``user:password`` it asks for; "" for none.
        status: what it answers instead of asking; 0 to ask.
        location: where that answer leads.
    """

    origin: str
    login: str = ""
    status: int = 0
    location: str = ""
    asked: list[Asked] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        """What goes into a list of proxies."""
        login = f"{self.login}@" if self.login else ""
        return f"http://{login}127.0.0.1:{self.port}"

    @property
    def targets(self) -> list[str]:
        """Where it was asked to go, in order."""
        return [one.line.split()[1] for one in self.asked]

    def serve(self, listener: socket.socket) -> None:
        """Take connections until the listener is closed."""
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._handle, args=(client,), daemon=True).start()

    def _handle(self, client: socket.socket) -> None:
        with closing(client):
            try:
                self._answer(client)
            except OSError:
                """Clients that hang up are part of the tests."""

    def _answer(self, client: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            more = client.recv(_BLOCK)
            if not more:
                return
            head += more
        first, *lines = head.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip()
                   for name, _, value in (line.partition(":") for line in lines)}
        self.asked.append(Asked(first, headers))
        wanted = "Basic " + base64.b64encode(self.login.encode()).decode()
        if self.login and headers.get("proxy-authorization") != wanted:
            # Some say back what they were told.
            told = headers.get("proxy-authorization", "")
            client.sendall(f"HTTP/1.1 407 No {told}\r\nContent-Length: 0\r\n\r\n".encode())
            return
        if self.status:
            head = f"HTTP/1.1 {self.status} No\r\nContent-Length: 0\r\n"
            head += f"Location: {self.location}\r\n" if self.location else ""
            client.sendall(f"{head}\r\n".encode())
            return
        host, _, port = self.origin.rpartition(":")
        with closing(socket.create_connection((host, int(port)), 10)) as server:
            if first.startswith("CONNECT "):
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                server.sendall(self._forwarded(first, lines))
            _pump(client, server)

    @staticmethod
    def _forwarded(first: str, lines: list[str]) -> bytes:
        method, url, version = first.split()
        path = "/" + url.split("/", 3)[3]
        kept = [line for line in lines
                if not line.lower().startswith(("proxy-authorization:", "connection:"))]
        head = "\r\n".join((f"{method} {path} {version}", *kept, "Connection: close"))
        return head.encode("latin-1") + b"\r\n\r\n"


def _pump(client: socket.socket, server: socket.socket) -> None:
    other = {client: server, server: client}
    while True:
        ready, _, _ = select.select([client, server], [], [], 20)
        if not ready:
            return
        for one in ready:
            data = one.recv(_BLOCK)
            if not data:
                return
            other[one].sendall(data)


@contextmanager
def loopback_proxy(
    origin: str, login: str = "", status: int = 0, location: str = ""
) -> Iterator[LoopbackProxy]:
    """A proxy that serves until the block ends."""
    proxy = LoopbackProxy(origin, login, status, location)
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        proxy.port = listener.getsockname()[1]
        threading.Thread(target=proxy.serve, args=(listener,), daemon=True).start()
        yield proxy
        listener.shutdown(socket.SHUT_RDWR)


def dead_port() -> int:
    """A port of this machine where nobody listens."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port: int = listener.getsockname()[1]
        return port
