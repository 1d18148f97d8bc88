"""Serves the sites of the soak from a process of its own, with all they do to a crawler.

One port for all hosts (QIAO_DEMO). No more than a set number of answers a second, so that the
soak leaves the machine to others.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from urllib.parse import parse_qs, urlsplit

from benchmarks.soaking.world import ASKED, ENGINE_HOST, World

_HANG_SECONDS = 60.0
_DRIP_SECONDS = 1.0
_PER_PAGE = 20
_CAPTCHA = (
    "<html><head><title>安全验证</title></head><body><form action=/verify>"
    "<p>您的访问过于频繁，请输入验证码后继续访问</p><img src=/captcha.png><input name=code>"
    "</form></body></html>"
).encode()
_MISSING = (
    "<html><head><title>页面不存在</title></head><body><p>抱歉，您访问的页面不存在或已被删除。"
    '</p><a href="/">返回首页</a></body></html>'
).encode()


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, and how it is sent: plainly, cut, never, or drop by drop."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    manner: str = "plain"
    declared_bytes: int | None = None


@dataclass
class Farm:
    """The answers of all hosts; *frozen_at* ends all changes and all misbehaviour."""

    world: World
    frozen_at: float | None = None
    answered: Counter[str] = field(default_factory=Counter)

    def now(self) -> float:
        """Seconds since the farm began."""
        return time.time() - self.world.began if self.frozen_at is None else self.frozen_at

    def reply(self, host: str, target: str) -> Reply:
        """What *host* answers now."""
        at = self.now()
        path = urlsplit(target).path
        if host == ENGINE_HOST:
            return self._engine(target, at)
        if host not in self.world.articles:
            return Reply(status=404)
        bad = None if self.frozen_at is not None else self._bad(host, at)
        kind = self.world.kind(host)
        self.answered[kind if bad else "honestly"] += 1
        if bad:
            return bad
        page = self.world.page(host, path, at)
        if page is not None:
            return Reply(page)
        return self._lie(kind, path) or Reply(b"<h1>404 Not Found</h1>", 404)

    def _bad(self, host: str, at: float) -> Reply | None:
        """The answer of a host that breaks or blocks, when it does."""
        kind = self.world.kind(host)
        now_and_then = {
            "errors": Reply(b"<h1>500</h1>", 500),
            "hangs": Reply(manner="hang"),
            "drops": Reply(manner="drop"),
            "slow": Reply(_MISSING * 2, manner="drip"),
        }
        for_a_while = {
            "dead": Reply(manner="drop"),
            "forbidden": Reply(b"<h1>403 Forbidden</h1>", 403),
            "too_many": Reply(b"too many", 429, (("Retry-After", "5"),)),
            "captcha": Reply(_CAPTCHA),
        }
        if kind in now_and_then:
            return now_and_then[kind] if random.random() < 0.3 else None
        return for_a_while.get(kind) if self.world.misbehaves(host, at) else None

    def _lie(self, kind: str, path: str) -> Reply | None:
        """The answer of a host that lies, to addresses that only it has."""
        match kind, path.split("/")[1]:
            case "soft_404", _:
                return Reply(_MISSING)
            case "length", "length":
                short = len(_MISSING) + (500 if path.endswith("1.html") else -100)
                return Reply(_MISSING, declared_bytes=short)
            case "trap", "calendar":
                return Reply(_calendar(path))
            case "header_flood", "flood":
                flood = tuple((f"X-Flood-{n}", "x" * 40) for n in range(5000))
                return Reply(_MISSING, headers=flood)
            case "redirects", "round":
                last = path.rsplit("/", 1)[1]
                return Reply(b"", 302, (("Location", f"/round/{int(last) % 3 + 1}"),))
            case "bomb", "bomb":
                return Reply(_bomb(), headers=(("Content-Encoding", "gzip"),))
        return None

    def _engine(self, target: str, at: float) -> Reply:
        fields = parse_qs(urlsplit(target).query)
        words, number = fields.get("q", [""])[0], int(fields.get("page", ["1"])[0])
        if self.frozen_at is None and (mood := random.random()) < 0.08:
            return Reply(_CAPTCHA) if mood < 0.05 else Reply(b"error", 500)
        hits = [one for one in self.world.searchable(at) if words in one.title]
        shown = hits[(number - 1) * _PER_PAGE : number * _PER_PAGE]
        items = "".join(
            f'<li class="hit"><a href="{one.url}">{one.title}</a>'
            f"<p>{one.title}，{one.host}报道</p></li>"
            for one in shown
        )
        more = f'<a class="next" href="/s?q={words}&page={number + 1}">下一页</a>'
        return Reply(
            (
                f'<html><head><meta charset="utf-8"><title>{words}_搜</title></head><body>'
                f'<div class="total">约{len(hits)}条结果</div><ul>{items}</ul>'
                f"{'' if items else '<p class=none>没有找到</p>'}"
                f"{more if number * _PER_PAGE < len(hits) else ''}</body></html>"
            ).encode()
        )


ENGINE_DEFINITION = f'''
name = "soak"
title = "搜 (soak)"
kind = "scraped"
format = "html"
url = "http://{ENGINE_HOST}/s?q={{query}}&page={{page}}"
total = "div.total"

[paging]
max_pages = 50

[hits]
each = "li.hit"
link = "a::attr(href)"
title = "a"
snippet = "p"

[[signals.blocked]]
in = "title"
words = ["安全验证"]

[[signals.empty]]
in = "select"
path = "p.none"

[[signals.next]]
in = "select"
path = "a.next"

[check]
term = "{ASKED[0]}"
word = "侨"
'''
"""The definition file of the farm's engine."""


def _calendar(path: str) -> bytes:
    """A page of a calendar without an end: the days after it and ever more of them."""
    base = path.rstrip("/")
    links = "".join(f'<li><a href="{base}/{n}/">{n}日活动</a></li>' for n in (1, 2))
    return f"<html><head><title>活动日历</title></head><body>{links}</body></html>".encode()


def _bomb() -> bytes:
    return gzip.compress(bytes(20 << 20), 9)


class _Protocol(asyncio.Protocol):
    """Enough HTTP/1.1 with keep-alive, and every way of breaking it."""

    def __init__(self, farm: Farm, pace: Pace) -> None:
        self._farm, self._pace = farm, pace
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
            target = lines[0].split(" ")[1]
            hosts = [one[5:].strip() for one in lines if one.lower().startswith("host:")]
            host = hosts[0].partition(":")[0] if hosts else ""
            asyncio.get_running_loop().call_later(
                self._pace.wait_seconds(), self._answer, host, target
            )

    def _answer(self, host: str, target: str) -> None:
        if self._transport is None:
            return
        reply = self._farm.reply(host, target)
        if reply.manner == "drop":
            self._transport.abort()
            return
        if reply.manner == "hang":
            loop = asyncio.get_running_loop()
            loop.call_later(_HANG_SECONDS, self._transport.abort)
            return
        head, body = _head(reply), reply.body
        if reply.manner == "drip":
            self._transport.write(head)
            self._drip(body)
            return
        self._transport.write(head + body)
        if reply.declared_bytes is not None:
            self._transport.close()

    def _drip(self, body: bytes) -> None:
        if self._transport is None or not body:
            return
        self._transport.write(body[:20])
        asyncio.get_running_loop().call_later(_DRIP_SECONDS, self._drip, body[20:])


def _head(reply: Reply) -> bytes:
    length = len(reply.body) if reply.declared_bytes is None else reply.declared_bytes
    headers = [("Content-Type", "text/html; charset=utf-8"), *reply.headers]
    lines = [f"HTTP/1.1 {reply.status} .", *(f"{name}: {value}" for name, value in headers),
             f"Content-Length: {length}", "", ""]  # fmt: skip
    return "\r\n".join(lines).encode("latin-1")


@dataclass
class Pace:
    """Spreads answers so that no second sees more than *per_second* of them."""

    per_second: float
    _next: float = 0.0

    def wait_seconds(self) -> float:
        """How long the next answer waits for its turn."""
        now = time.monotonic()
        self._next = max(self._next, now) + 1 / self.per_second
        return self._next - now


def _serve(farm: Farm, pace: Pace, pipe: Connection) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Protocol(farm, pace), "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        loop.add_reader(pipe.fileno(), lambda: _obey(pipe, farm))
        await server.serve_forever()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())


def _obey(pipe: Connection, farm: Farm) -> None:
    try:
        asked = pipe.recv()
    except EOFError:
        raise SystemExit from None
    if asked == "freeze":
        farm.frozen_at = farm.now()
    pipe.send((farm.now(), dict(farm.answered)))


@dataclass(frozen=True, slots=True)
class ServedFarm:
    """A running farm: where it listens, what it is."""

    world: World
    origin: str
    pid: int
    _pipe: Connection

    def freeze(self) -> float:
        """End all changes and misbehaviour; returns the moment in seconds since the start."""
        self._pipe.send("freeze")
        moment: float = self._pipe.recv()[0]
        return moment

    def answered(self) -> dict[str, int]:
        """Answers by what they were: honest, or a kind of misbehaviour."""
        self._pipe.send("answered")
        counts: dict[str, int] = self._pipe.recv()[1]
        return counts


@contextlib.contextmanager
def serving(world: World, per_second: float) -> Iterator[ServedFarm]:
    """Serve *world* from a process of its own until the block ends."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=_serve, args=(Farm(world), Pace(per_second), theirs), daemon=True
    )
    process.start()
    assert process.pid is not None
    try:
        yield ServedFarm(world, f"127.0.0.1:{ours.recv()}", process.pid, ours)
    finally:
        process.terminate()
        process.join()
