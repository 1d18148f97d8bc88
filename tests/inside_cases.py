"""Addresses nobody may be led to, ways to lead there, and a listener that counts who came."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SHARED = Path(__file__).resolve().parent.parent.parent / "shared/data/external/ours/ssrf_cases.json"

# Written down from RFC 6890, 5735, 6052, 4291 and what URL parsers make of numbers.
# {port} is that of a listener on this machine.
LIVE = [
    "http://127.0.0.1:{port}/s", "http://127.255.0.1:{port}/s", "http://localhost:{port}/s",
    "http://LocalHost.:{port}/s", "http://127.1:{port}/s", "http://0:{port}/s",
    "http://0.0.0.0:{port}/s", "http://2130706433:{port}/s", "http://0x7f000001:{port}/s",
    "http://0x7f.1:{port}/s", "http://0177.0.0.01:{port}/s", "http://[::1]:{port}/s",
    "http://[::ffff:127.0.0.1]:{port}/s", "http://[::]:{port}/s", "http://①②⑦.⓪.⓪.①:{port}/s",
    "http://127。0。0。1:{port}/s", "http://loc\u00adalhost:{port}/s",
    "http://public.example@127.0.0.1:{port}/s", "http://127.0.0.1:{port}\\@public.example/s",
    "http://inside.example:{port}/s", "http://mixed.example:{port}/s",
    "http://mapped.example:{port}/s", "https://127.0.0.1:{port}/s",
]
INSIDE = [
    "http://10.1.2.3/", "http://172.16.0.1/", "http://192.168.1.1/admin", "http://169.254.169.254/",
    "http://100.64.0.1/", "http://198.18.0.1/", "http://224.0.0.1/", "http://255.255.255.255/",
    "http://[fe80::1]/", "http://[fc00::1]/", "http://[fec0::1]/", "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/", "http://[ff02::1]/", "http://127.0.0.1:22/",
    "http://127.0.0.1:6379/", "http://metadata.google.internal/",
    "file:///etc/hostname", "ftp://127.0.0.1/x", "data:text/html,x", "gopher://127.0.0.1:6379/_x",
]  # fmt: skip
OUTSIDE = ["http://172.32.0.1/", "http://11.0.0.0/", "http://128.0.0.0/", "http://1.1.1.1/",
           "http://[2606:4700:4700::1111]/", "http://public.example/"]

NAMES = {
    "inside.example": ["127.0.0.1"],
    "mixed.example": ["93.184.216.34", "10.0.0.5"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
    "public.example": ["93.184.216.34"],
    "example.com": ["93.184.216.34"],
}
"""What the name service of these tests says; other names do not exist."""


def inside_cases(port: int) -> list[str]:
    """All URLs that must be refused: our own, and the shared ones where they are at hand.

    What really leads to a public host is left out: it must not be asked from a test.
    """
    cases = [*LIVE, *INSIDE]
    if SHARED.is_file():
        shared = json.loads(SHARED.read_text("utf-8"))
        cases += [case["url"] for key in ("must_block_live", "must_block") for case in shared[key]]
    return [one.replace("{port}", str(port)) for one in cases if "#@" not in one]


def marked(url: str, entrance: str, number: int) -> str:
    """*url* with a query of its own, so that every entrance proposes a URL of its own."""
    return f"{url}?via={entrance}-{number}"


class Listener:
    """Accepts on every address of this machine, answers, and counts."""

    def __init__(self) -> None:
        self.hits: list[str] = []
        both = socket.has_dualstack_ipv6()
        self._socket = socket.create_server(
            ("", 0), family=socket.AF_INET6 if both else socket.AF_INET, dualstack_ipv6=both
        )
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(2)
                try:
                    self.hits.append(connection.recv(200).decode("latin-1"))
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")
                except OSError:
                    self.hits.append("?")

    def close(self) -> None:
        """Stop listening."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@contextmanager
def listening() -> Iterator[Listener]:
    """A listener until the block ends."""
    listener = Listener()
    try:
        yield listener
    finally:
        listener.close()
