"""A local site of any number of article pages, served by a process of its own.

The pages form a tree: page n links to ``children`` pages further down, to its parent and
to the start page, inside a navigation, a body of several paragraphs and a footer. The same
number of pages always gives the same bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection

HOST = "www.benchmark.test"

_SUBJECTS = (
    "海外侨胞", "归侨代表", "华文学校", "侨乡博物馆",
    "商会会长", "留学生社团", "领事官员", "侨联干部",
)
_ACTIONS = (
    "举行座谈", "捐赠图书", "发布报告", "开办讲座",
    "回乡寻根", "签署协议", "慰问老人", "组织义诊",
)
_PLACES = (
    "福州", "江门", "温州", "曼谷",
    "巴黎", "悉尼", "多伦多", "马尼拉",
    "东京", "约翰内斯堡", "伦敦", "槟城",
)
_THINGS = (
    "中文教材", "春节晚会", "侨批档案", "投资项目",
    "法律援助", "青年论坛", "医疗服务", "文化展览",
)


def page_path(number: int) -> str:
    """Path of page *number*; 0 is the start page."""
    return "/" if number == 0 else f"/news/{number % 97}/{number}.html"


@dataclass(frozen=True, slots=True)
class LocalSite:
    """The pages of one site by path."""

    pages: dict[str, bytes]

    @classmethod
    def build(cls, count: int, *, children: int = 8, body_paragraphs: int = 14) -> LocalSite:
        """Build *count* pages of about 7 KB."""
        return cls(
            {
                page_path(n): _page(n, count, children, body_paragraphs).encode()
                for n in range(count)
            }
        )

    def urls(self) -> list[str]:
        """All addresses, the start page first."""
        return [f"http://{HOST}{path}" for path in self.pages]


def _page(number: int, count: int, children: int, paragraphs: int) -> str:
    rng = random.Random(number)
    below = range(number * children + 1, min(number * children + children + 1, count))
    parent = (number - 1) // children if number else 0
    links = "".join(f'<li><a href="{page_path(n)}">{_title(n)}</a></li>' for n in below)
    nav = "".join(f'<a href="{page_path(n % count)}">频道{n}</a>' for n in range(1, 24))
    body = "".join(f"<p>{_paragraph(rng)}</p>\n" for _ in range(paragraphs))
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{_title(number)}</title>'
        f"</head><body><div class=nav>{nav}</div>\n<h1>{_title(number)}</h1>\n"
        f"<p class=info>2026-0{number % 9 + 1}-1{number % 10} 来源：基准网</p>\n"
        f"<div class=body>\n{body}</div>\n<ul>{links}</ul>"
        f'<a href="{page_path(parent)}">上一级</a><div>版权所有 基准网</div></body></html>'
    )


def _title(number: int) -> str:
    rng = random.Random(number * 7919)
    return (
        f"{rng.choice(_PLACES)}{rng.choice(_SUBJECTS)}{rng.choice(_ACTIONS)}"
        f"聚焦{rng.choice(_THINGS)}第{number}期"
    )


def _paragraph(rng: random.Random) -> str:
    return "".join(
        f"{rng.choice(_PLACES)}的{rng.choice(_SUBJECTS)}日前{rng.choice(_ACTIONS)}，"
        f"内容涉及{rng.choice(_THINGS)}和{rng.choice(_THINGS)}，共有{rng.randint(20, 900)}人参加。"
        for _ in range(4)
    )


class _Protocol(asyncio.Protocol):
    """Just enough HTTP/1.1 with keep-alive for one client on loopback."""

    def __init__(self, pages: dict[str, bytes], hits: Counter[str], delay_seconds: float) -> None:
        self._pages, self._hits, self._delay = pages, hits, delay_seconds
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            head, self._buffer = self._buffer.split(b"\r\n\r\n", 1)
            path = head.split(b" ", 2)[1].decode("latin-1")
            self._hits[path] += 1
            if self._delay:
                asyncio.get_running_loop().call_later(self._delay, self._answer, path)
            else:
                self._answer(path)

    def _answer(self, path: str) -> None:
        assert self._transport is not None
        body = self._pages.get(path)
        status = b"200 OK" if body is not None else b"404 Not Found"
        body = body or b""
        self._transport.write(
            b"HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (status, len(body), body)
        )


def _serve(site: LocalSite, delay_seconds: float, pipe: Connection) -> None:
    async def run() -> None:
        hits: Counter[str] = Counter()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: _Protocol(site.pages, hits, delay_seconds), "127.0.0.1", 0
        )
        pipe.send(server.sockets[0].getsockname()[1])
        loop.add_reader(pipe.fileno(), lambda: _reply(pipe, hits))
        await server.serve_forever()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())


def _reply(pipe: Connection, hits: Counter[str]) -> None:
    try:
        question = pipe.recv()
    except EOFError:
        raise SystemExit from None
    pipe.send(dict(hits))
    if question == "reset":
        hits.clear()


@dataclass(frozen=True, slots=True)
class ServedSite:
    """A running site: where it listens, and what it was asked for."""

    site: LocalSite
    origin: str
    _pipe: Connection

    def hits(self, *, reset: bool = False) -> dict[str, int]:
        """Requests by path since the start or the last reset."""
        self._pipe.send("reset" if reset else "hits")
        found: dict[str, int] = self._pipe.recv()
        return found


@contextlib.contextmanager
def serving(site: LocalSite, *, delay_seconds: float = 0.0) -> Iterator[ServedSite]:
    """Serve *site* from a process of its own until the block ends."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=_serve, args=(site, delay_seconds, theirs), daemon=True
    )
    process.start()
    try:
        port = ours.recv()
        yield ServedSite(site, f"127.0.0.1:{port}", ours)
    finally:
        process.terminate()
        process.join()
