"""The browser's only way to the network: a proxy on loopback that leads to allowed addresses.

Scripts of a page may ask for any address, follow redirects, open sockets, or name a host whose
address changes between two look-ups. A check of URLs before they are sent sees none of that, so
the browser is told to send everything here and to resolve no name itself. A name is resolved
once, every address of it is judged, and the connection goes to exactly such an address
(faults F-S1, F-S2); of a proxy the operator set for a page, only the target is judged (F-S6).
"""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypedDict
from urllib.parse import unquote, urlsplit

from scrapy.exceptions import CannotResolveHostError

from qiaocrawl.crawl.network.address_guard import AddressGuard
from qiaocrawl.errors import AddressRefusedError, ProxyError, RenderError
from qiaocrawl.fetch.addresses import DEFAULT_PORTS, Origin

_DEMO_SUFFIX = ".test"
_HEAD_BYTES = 64 * 1024
_CHUNK_BYTES = 64 * 1024
MAX_CONNECTION_BYTES = 32 * 1024 * 1024
"""What one connection may bring: scripts of news sites are a hundredth of it **(ours)**."""
# A silent connection is closed, so that a page cannot hold sockets open for ever.
_IDLE_SECONDS = 30.0
_CONNECT_SECONDS = 15.0
_DROPPED = ("proxy-", "connection:", "keep-alive:")

_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class ProxySettings(TypedDict):
    """A proxy as Playwright takes it."""

    server: str
    username: str
    password: str


@dataclass(frozen=True, slots=True)
class Upstream:
    """A proxy the operator set: where it is, and the header that opens it ("" for none)."""

    host: str
    port: int
    is_tls: bool
    authorization: str = ""

    @classmethod
    def parse(cls, url: str, authorization: str = "") -> Upstream:
        """Read ``http://USER:PASSWORD@HOST:PORT``; *authorization* wins over what stands in it.

        Raises:
            RenderError: another scheme, such as socks5; the message does not show credentials.
        """
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
            raise RenderError(
                f"a rendered page cannot go through a {parts.scheme!r} proxy (http and https can)"
            )
        if parts.username and not authorization:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            authorization = "Basic " + base64.b64encode(pair.encode()).decode()
        port = parts.port or DEFAULT_PORTS[parts.scheme]
        return cls(parts.hostname, port, parts.scheme == "https", authorization)


class BrowserProxy:
    """Listens on loopback, one port for direct connections and one for each upstream proxy.

    A password, new for each run, keeps other processes of this machine out.

    Args:
        demo: ``host:port`` of the demo web, where hosts under ``.test`` live; "" for none.
        refused: called with the host of each refused request.
    """

    def __init__(
        self, guard: AddressGuard, *, demo: str = "", refused: Callable[[str], None]
    ) -> None:
        self._guard = guard
        self._demo = demo
        self._refused = refused
        self._password = secrets.token_urlsafe(24)
        pair = base64.b64encode(f"browser:{self._password}".encode()).decode()
        self._authorization = f"Basic {pair}"
        self._servers: dict[Upstream | None, asyncio.Server] = {}
        self._opening = asyncio.Lock()

    async def settings(self, upstream: Upstream | None = None) -> ProxySettings:
        """The browser's proxy settings, for connections through *upstream* or direct ones."""
        # A lock: two pages that come at once must share a port.
        async with self._opening:
            if upstream not in self._servers:
                self._servers[upstream] = await self._listen(upstream)
        port = self._servers[upstream].sockets[0].getsockname()[1]
        return {
            "server": f"http://127.0.0.1:{port}",
            "username": "browser",
            "password": self._password,
        }

    async def _listen(self, upstream: Upstream | None) -> asyncio.Server:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._serve((reader, writer), upstream)

        # Port 0: the system chooses a free one.
        return await asyncio.start_server(serve, "127.0.0.1", 0, limit=_HEAD_BYTES)

    async def close(self) -> None:
        """Stop listening."""
        for server in self._servers.values():
            server.close()
        self._servers.clear()

    # --- one connection -----------------------------------------------------------------

    async def _serve(self, browser: _Streams, upstream: Upstream | None) -> None:
        reader, writer = browser
        try:
            async with asyncio.timeout(_IDLE_SECONDS):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            await self._answer(head, browser, upstream)
        except AddressRefusedError as error:
            self._refused(str(error))
            await _say(writer, "403 Forbidden")
        except (OSError, TimeoutError):
            await _say(writer, "502 Bad Gateway")
        except (ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await _say(writer, "400 Bad Request")
        finally:
            writer.close()

    async def _answer(self, head: str, browser: _Streams, upstream: Upstream | None) -> None:
        # Leaves out the empty line that ends the head.
        first, *lines = head[:-4].split("\r\n")
        method, target, version = first.split(" ")
        # Any process of this machine can reach the port; only the browser knows the password.
        if not _has(lines, "proxy-authorization", self._authorization):
            await _say(
                browser[1],
                "407 Proxy Authentication Required",
                'Proxy-Authenticate: Basic realm="qiaocrawl"\r\n',
            )
            return
        if method == "CONNECT":
            await self._tunnel(target, browser, upstream)
            return
        parts = urlsplit(target)
        if parts.scheme != "http":
            raise AddressRefusedError(f"scheme {parts.scheme!r} is not http or https")
        origin = Origin.of(target)
        # These concern our own connection only; the site must not see the proxy's password.
        kept = [line for line in lines if not line.lower().startswith(_DROPPED)]
        if upstream is not None and upstream.authorization:
            kept.append(f"Proxy-Authorization: {upstream.authorization}")
        # A proxy expects the whole address, a server only the path.
        asked = target if upstream else parts._replace(scheme="", netloc="").geturl() or "/"
        server = await self._connect(origin, upstream)
        # One request a connection, so that the end of an answer need not be recognised.
        request = "\r\n".join([f"{method} {asked} {version}", *kept, "Connection: close"])
        server[1].write(request.encode("latin-1") + b"\r\n\r\n")
        await _exchange(browser, server, _length(lines))

    async def _tunnel(self, target: str, browser: _Streams, upstream: Upstream | None) -> None:
        server = await self._connect(Origin.of(f"https://{target}"), upstream)
        if upstream is not None:
            opened = f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n"
            if upstream.authorization:
                opened += f"Proxy-Authorization: {upstream.authorization}\r\n"
            server[1].write(opened.encode("latin-1") + b"\r\n")
            async with asyncio.timeout(_CONNECT_SECONDS):
                head = await server[0].readuntil(b"\r\n\r\n")
            # "HTTP/1.1 200 OK": the second word.
            if head.split(b" ", 2)[1:2] != [b"200"]:
                server[1].close()
                raise OSError("the proxy opens no tunnel")
        browser[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await _pipe_both(browser, server)

    async def _connect(self, origin: Origin, upstream: Upstream | None) -> _Streams:
        addresses = await self._addresses(origin, upstream)
        error: OSError | None = None
        # Each address was judged: a name with one bad address does not get here.
        for address, at in addresses:
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    return await asyncio.open_connection(
                        address,
                        at,
                        limit=_HEAD_BYTES,
                        **_tls(upstream),
                    )
            except OSError as failed:
                error = failed
        raise error or OSError(f"{origin.host!r} has no address")

    async def _addresses(self, origin: Origin, upstream: Upstream | None) -> list[tuple[str, int]]:
        """Where to connect for *origin*.

        Raises:
            AddressRefusedError: it leads inside.
            OSError: it has no address.
        """
        if self._demo and origin.host.endswith(_DEMO_SUFFIX):
            demo = urlsplit(f"//{self._demo}")
            return [(demo.hostname or "", demo.port or 80)]
        # The demo's hosts exist in no name service, so they are looked up before the guard.
        try:
            await self._guard.check(origin, by_proxy=upstream is not None)
            to = upstream or origin
            addresses = await self._guard.to_connect(to.host, to.port)
        except (CannotResolveHostError, ProxyError) as error:
            raise OSError(str(error)) from error
        return [(address, to.port) for address in addresses]


def _tls(upstream: Upstream | None) -> dict[str, Any]:
    if upstream is None or not upstream.is_tls:
        return {}
    return {"ssl": True, "server_hostname": upstream.host}


# --- streams --------------------------------------------------------------------------------


def _has(lines: list[str], name: str, value: str) -> bool:
    for line in lines:
        key, _, given = line.partition(":")
        if key.strip().lower() == name:
            # compare_digest: the time taken must not tell how much of a guess is right.
            return secrets.compare_digest(given.strip().encode(), value.encode())
    return False


def _length(lines: list[str]) -> int:
    """Bytes of a request's body.

    Raises:
        ValueError: the head does not say how many.
    """
    sizes = [
        # Two lengths, or a length and chunks: what one side reads as a body the other reads as a
        # second request (request smuggling).
        line.partition(":")[2].strip()
        for line in lines
        if line.lower().startswith("content-length:")
    ]
    if any(line.lower().startswith("transfer-encoding:") for line in lines) or len(sizes) > 1:
        raise ValueError("a body of unknown length")
    return int(sizes[0]) if sizes else 0


async def _say(writer: asyncio.StreamWriter, status: str, headers: str = "") -> None:
    with suppress(OSError):
        writer.write(
            f"HTTP/1.1 {status}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n".encode()
        )
        await writer.drain()


async def _exchange(browser: _Streams, server: _Streams, body_bytes: int) -> None:
    """One request, its head being sent, and its answer; the connection serves no other one."""
    try:
        await _pipe(browser[0], server[1], body_bytes)
        async with asyncio.timeout(_IDLE_SECONDS):
            head = (await server[0].readuntil(b"\r\n\r\n")).decode("latin-1")
        lines = head[:-4].split("\r\n")
        kept = [line for line in lines if not line.lower().startswith(_DROPPED)]
        answer = "\r\n".join([*kept, "Connection: close"])
        browser[1].write(answer.encode("latin-1") + b"\r\n\r\n")
        await _pipe(server[0], browser[1], MAX_CONNECTION_BYTES)
    finally:
        server[1].close()


async def _pipe_both(one: _Streams, other: _Streams) -> None:
    ways = [
        asyncio.ensure_future(_pipe(one[0], other[1], MAX_CONNECTION_BYTES)),
        asyncio.ensure_future(_pipe(other[0], one[1], MAX_CONNECTION_BYTES)),
    ]
    try:
        # TLS closes both directions together, so the first end is the end.
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        other[1].close()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int) -> None:
    """Forward up to *most* bytes; ends with the stream, or when it is silent for too long."""
    left = most
    with suppress(OSError, TimeoutError):
        while left > 0:
            # Per read, not in total: a large file may take longer than a minute.
            async with asyncio.timeout(_IDLE_SECONDS):
                chunk = await reader.read(min(left, _CHUNK_BYTES))
            if not chunk:
                return
            writer.write(chunk)
            await writer.drain()
            left -= len(chunk)
