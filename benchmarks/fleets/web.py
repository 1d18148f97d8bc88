"""Many small hosts on one loopback port, which keep a record of who asked them what, and when.

Half of what links say leads to another host, and a part of each host is linked from another one
only: a collector that drops such links misses it.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

FORBIDDEN = "/private.html"
"""The page of every host that robots.txt forbids, and that its home page links to."""
_LATENCY_SECONDS = 0.03
_PARAGRAPHS = 8
_PRIORITY = -10
_WORDS = (
    "侨胞",
    "归侨",
    "华文教育",
    "商会",
    "领事",
    "座谈",
    "寻根",
    "捐赠",
    "展览",
    "义诊",
    "侨乡",
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A request as it came: seconds of the monotonic clock, host, path, and who asked."""

    at: float
    host: str
    path: str
    agent: str


@dataclass(frozen=True, slots=True)
class FleetWeb:
    """*hosts* hosts with *articles* articles each, a third more that only others link to.

    Their robots.txt asks for *delay_seconds* between requests, and forbids :data:`FORBIDDEN`.
    """

    hosts: int
    articles: int
    delay_seconds: float

    @property
    def pages(self) -> int:
        """How many there are: a home page a host, and the articles."""
        return self.hosts * (1 + self.articles + self.articles // 3)

    @property
    def starts(self) -> list[str]:
        """Home pages of a quarter of the hosts; links lead to the others."""
        return [f"http://{_host(number)}/" for number in range(max(self.hosts // 4, 1))]

    def page(self, host: str, path: str) -> bytes | None:
        """What stands there."""
        number = int(host[1:].partition(".")[0])
        word, _, last = path.removesuffix(".html").rpartition("/")
        if path == "/robots.txt":
            return (
                f"User-agent: *\nCrawl-delay: {self.delay_seconds}\nDisallow: {FORBIDDEN}".encode()
            )
        if path == "/":
            links = [FORBIDDEN, *(f"/news/{n}.html" for n in range(self.articles))]
            next_hosts = range(number * 3 + self.hosts // 4, number * 3 + self.hosts // 4 + 3)
            links += [f"http://{_host(n)}/" for n in next_hosts if n < self.hosts]
            return _written(host, path, links)
        if word == "/news" and int(last) < self.articles:
            elsewhere = f"http://{_host((number + 1) % self.hosts)}/only/{last}.html"
            return _written(host, path, [elsewhere] if int(last) < self.articles // 3 else [])
        is_there = word == "/only" and int(last) < self.articles // 3
        return _written(host, path, []) if is_there else None


def _host(number: int) -> str:
    return f"h{number}.fleet.test"


def _written(host: str, path: str, links: list[str]) -> bytes:
    rng = random.Random(f"{host} {path}")
    title = "".join(rng.choices(_WORDS, k=4)) + f"第{rng.randrange(9999)}期"
    body = "".join(f"<p>{''.join(rng.choices(_WORDS, k=40))}。</p>\n" for _ in range(_PARAGRAPHS))
    items = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    text = f"<div>2026-03-0{rng.randrange(1, 9)} 来源：{host}</div>{body}" if path != "/" else ""
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body><h1>{title}</h1>{text}<ul>{items}</ul></body></html>"
    ).encode()


@dataclass(slots=True)
class _Manners:
    """How the web answers now: slowly to some, and pages not at all until it opens."""

    hits: list[Hit] = field(default_factory=list)
    slow: dict[str, float] = field(default_factory=dict)
    is_open: asyncio.Event = field(default_factory=asyncio.Event)

    def latency_seconds(self, hit: Hit) -> float:
        return next(
            (seconds for agent, seconds in self.slow.items() if agent in hit.agent),
            _LATENCY_SECONDS,
        )


class _Protocol(asyncio.Protocol):
    """Enough HTTP/1.1 with keep-alive; a request counts when its head is here."""

    def __init__(self, web: FleetWeb, manners: _Manners) -> None:
        self._web, self._manners = web, manners
        self._tasks: set[asyncio.Task[None]] = set()
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            head, self._buffer = self._buffer.split(b"\r\n\r\n", 1)
            lines = head.decode("latin-1").split("\r\n")
            fields = dict(line.lower().split(": ", 1) for line in lines[1:])
            hit = Hit(time.monotonic(), fields["host"], lines[0].split(" ")[1],
                      fields.get("user-agent", ""))  # fmt: skip
            self._manners.hits.append(hit)
            task = asyncio.get_running_loop().create_task(self._answer(hit))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, hit: Hit) -> None:
        await asyncio.sleep(self._manners.latency_seconds(hit))
        if hit.path != "/robots.txt":
            await self._manners.is_open.wait()
        if self._transport is not None:
            body = self._web.page(hit.host, hit.path)
            status = b"404 Not Found" if body is None else b"200 OK"
            self._transport.write(
                b"HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (status, len(body or b""), body or b"")
            )


def _serve(web: FleetWeb, pipe: Connection, is_open: bool) -> None:
    # Before all others: a request that is noted late looks too close to the next one.
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, _PRIORITY)

    async def run() -> None:
        manners = _Manners()
        if is_open:
            manners.is_open.set()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Protocol(web, manners), "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        loop.add_reader(pipe.fileno(), _obey, pipe, manners)
        await server.serve_forever()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())


def _obey(pipe: Connection, manners: _Manners) -> None:
    """Do what the benchmark asks for, and hand over what came since."""
    try:
        order, *values = pipe.recv()
    except EOFError:
        raise SystemExit from None
    if order == "open":
        manners.is_open.set()
    elif order == "slow":
        agent, seconds = values
        manners.slow[agent] = seconds
    pipe.send(manners.hits)
    manners.hits.clear()


class ServedWeb:
    """A web that is being served at *origin*."""

    def __init__(self, web: FleetWeb, origin: str, pipe: Connection) -> None:
        self.web, self.origin = web, origin
        self.hits: list[Hit] = []
        self._pipe = pipe

    def look(self) -> list[Hit]:
        """All requests so far, in order."""
        return self._ask("hits")

    def open(self) -> None:
        """Answer requests for pages from now on."""
        self._ask("open")

    def slow_down(self, agent: str, seconds: float) -> None:
        """Answer whoever has *agent* in his User-Agent after so many seconds."""
        self._ask("slow", agent, seconds)

    def _ask(self, *order: str | float) -> list[Hit]:
        self._pipe.send(order)
        self.hits += self._pipe.recv()
        return self.hits


@contextlib.contextmanager
def serving(web: FleetWeb, *, is_open: bool = True) -> Iterator[ServedWeb]:
    """Serve *web* from a process of its own until the block ends.

    Args:
        is_open: False = requests for pages wait until :meth:`ServedWeb.open`.
    """
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=_serve, args=(web, theirs, is_open), daemon=True
    )
    process.start()
    try:
        yield ServedWeb(web, f"127.0.0.1:{ours.recv()}", ours)
    finally:
        process.terminate()
        process.join()
