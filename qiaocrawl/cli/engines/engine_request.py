"""One guarded HTTP request to a search engine, without a crawl around it.

Redirects are not followed (where one leads is an answer), proxies of the environment are not
used, and the address connected to is the one that was checked.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import zlib
from dataclasses import dataclass
from typing import cast
from urllib.parse import quote, urlsplit

from qiaocrawl.errors import AddressRefusedError
from qiaocrawl.fetch.addresses import Allowance, Origin, is_public_address
from qiaocrawl.fetch.user_agent import default_user_agent
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.search.request import EngineRequest

_TIMEOUT_SECONDS = 20.0
_MAX_BODY_BYTES = 4 * 1024 * 1024
_DEMO_SUFFIX = ".test"
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class EngineReply:
    """What came back: header names as sent, the body unpacked and at most 4 MiB of it."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def send(request: EngineRequest, options: Options) -> EngineReply:
    """Ask an engine once.

    Raises:
        AddressRefusedError: its host is a private address nobody allowed.
        OSError: it cannot be reached, or does not answer in time.
        http.client.HTTPException: what it sends is no HTTP.
    """
    parts = urlsplit(request.url)
    connection = _connection(parts.scheme, parts.hostname or "", _address(request.url, options))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    # What a definition's own text holds beside the encoded words of the query.
    target = quote(target, safe="%/?&=+:,;@!$'()*~[]|-._")
    headers = {
        "Host": parts.netloc, "User-Agent": default_user_agent(),
        "Accept-Encoding": "gzip, deflate", "Connection": "close", **dict(request.headers),
    }  # fmt: skip
    try:
        connection.request(request.method, target, request.body or None, headers)
        response = connection.getresponse()
        raw = response.read(_MAX_BODY_BYTES)
        encoding = response.getheader("Content-Encoding", "")
        return EngineReply(response.status, tuple(response.getheaders()), _unpacked(raw, encoding))
    finally:
        connection.close()


def _address(url: str, options: Options) -> tuple[str, int]:
    """The checked address and port to connect to; demo hosts live on the demo's server."""
    scheme, host, port = _origin(url)
    demo: str = options["QIAO_DEMO"]
    if demo and host.endswith(_DEMO_SUFFIX):
        parts = urlsplit(f"//{demo}")
        return parts.hostname or "", parts.port or _PORTS["http"]
    allowance = Allowance.parse(options["QIAO_ALLOW_ADDRESSES"])
    is_own = _origin(options["QIAO_SEARXNG_URL"]) == (scheme, host, port)
    resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [cast("str", entry[4][0]) for entry in resolved]
    # One private address among public ones is one too many.
    if not is_own and not allowance.permits(Origin.of(url)):
        for address in addresses:
            if not is_public_address(address):
                raise AddressRefusedError(
                    _(
                        "{host}:{port} leads to {address}, which is no public address; "
                        "QIAO_ALLOW_ADDRESSES can name it",
                        host=host,
                        port=port,
                        address=address,
                    )
                )
    return addresses[0], port


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)


def _connection(scheme: str, host: str, address: tuple[str, int]) -> http.client.HTTPConnection:
    class Checked(http.client.HTTPConnection):
        def connect(self) -> None:
            self.sock = socket.create_connection(address, _TIMEOUT_SECONDS)
            if scheme == "https":
                context = ssl.create_default_context()
                self.sock = context.wrap_socket(self.sock, server_hostname=host)

    return Checked(host, timeout=_TIMEOUT_SECONDS)


def _unpacked(raw: bytes, encoding: str) -> bytes:
    name = encoding.strip().lower()
    if name not in ("gzip", "deflate"):
        return raw
    # 47: gzip or zlib, whichever the bytes begin as.
    try:
        return zlib.decompressobj(47).decompress(raw, _MAX_BODY_BYTES)
    except zlib.error:
        return raw
