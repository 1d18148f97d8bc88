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
    "海外侨胞",
    "归侨代表",
    "华文学校",
    "侨乡博物馆",
    "商会会长",
    "留学生社团",
    "领事官员",
    "侨联干部",
)
_ACTIONS = (
    "举行座谈",
    "捐赠图书",
    "发布报告",
    "开办讲座",
    "回乡寻根",
    "签署协议",
    "慰问老人",
    "组织义诊",
)
_PLACES = (
    "福州",
    "江门",
    "温州",
    "曼谷",
    "巴黎",
    "悉尼",
    "多伦多",
    "马尼拉",
    "东京",
    "约翰内斯堡",
    "伦敦",
    "槟城",
)
_THINGS = (
    "中文教材",
    "春节晚会",
    "侨批档案",
    "投资项目",
    "法律援助",
    "青年论坛",
    "医疗服务",
    "文化展览",
)


def page_path(number: int) -> str:
    """Path of page *number*; 0 is the start page."""
    return "/" if number == 0 else f"/news/{number % 97}/{number}.html"


WRITTEN = "由脚本写成"
"""What the scripts of a scripted site write, and its sources do not say."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: str


def reply(status: bytes, body: bytes = b"", *headers: str) -> bytes:
    """An answer as it is sent."""
    more = "".join(f"{header}\r\n" for header in headers).encode()
    return (
        b"HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\n%s"
        b"Content-Length: %d\r\n\r\n%s" % (status, more, len(body), body)
    )


@dataclass(frozen=True)
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

    @classmethod
    def newsroom(cls, count: int) -> LocalSite:
        """*count* pages: a home page, lists, and the articles that they link to.

        No article says when it came out: to a watcher each is new, whatever day it is.
        """
        lists = max(count // 25, 1)
        articles = range(1, count - lists)
        pages = {"/": _listing("首页", [(f"/list/{n}/", f"侨务频道{n}") for n in range(lists)])}
        for n in range(lists):
            shown = [(page_path(a), _title(a)) for a in articles if a % lists == n]
            pages[f"/list/{n}/"] = _listing(f"侨务频道{n}", shown)
        pages |= {page_path(n): _page(n, count - lists, count, 8, is_dated=False) for n in articles}
        return cls({path: page.encode() for path, page in pages.items()})

    @classmethod
    def scripted(cls, count: int) -> LocalSite:
        """*count* pages that say nothing before their script has run; the first links to all."""
        links = [(page_path(n), _title(n)) for n in range(1, count)]
        pages = {"/": _listing("首页", links)}
        pages |= {page_path(n): _scripted(n) for n in range(1, count)}
        return cls({path: page.encode() for path, page in pages.items()})

    def answer(self, request: Request) -> bytes:
        """The whole answer to *request*, head and body."""
        body = self.pages.get(request.path)
        return reply(b"200 OK" if body is not None else b"404 Not Found", body or b"")

    def urls(self) -> list[str]:
        """All addresses, the start page first."""
        return [f"http://{HOST}{path}" for path in self.pages]


def _page(number: int, count: int, children: int, paragraphs: int, *, is_dated: bool = True) -> str:
    rng = random.Random(number)
    date = f"2026-0{number % 9 + 1}-1{number % 10} " if is_dated else ""
    below = range(number * children + 1, min(number * children + children + 1, count))
    parent = (number - 1) // children if number else 0
    links = "".join(f'<li><a href="{page_path(n)}">{_title(n)}</a></li>' for n in below)
    nav = "".join(f'<a href="{page_path(n % count)}">频道{n}</a>' for n in range(1, 24))
    body = "".join(f"<p>{_paragraph(rng)}</p>\n" for _ in range(paragraphs))
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{_title(number)}</title>'
        f"</head><body><div class=nav>{nav}</div>\n<h1>{_title(number)}</h1>\n"
        f"<p class=info>{date}来源：基准网</p>\n"
        f"<div class=body>\n{body}</div>\n<ul>{links}</ul>"
        f'<a href="{page_path(parent)}">上一级</a><div>版权所有 基准网</div></body></html>'
    )


def _listing(title: str, links: list[tuple[str, str]]) -> str:
    items = "".join(f'<li><a href="{path}">{text}</a></li>' for path, text in links)
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}_基准网</title></head>'
        f"<body><ul>{items}</ul><div>版权所有 基准网</div></body></html>"
    )


def _scripted(number: int) -> str:
    rng = random.Random(number)
    first, last = WRITTEN[:2], WRITTEN[2:]
    text = "".join(f"<p>{first}' + '{last}：{_paragraph(rng)}</p>" for _ in range(6))
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{_title(number)}</title></head>'
        f"<body><div id=app></div><script>document.getElementById('app').innerHTML = "
        f"'<h1>{_title(number)}</h1><div>{text}</div>'</script>"
        "</body></html>"
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

    def __init__(self, site: LocalSite, hits: Counter[str], delay_seconds: float) -> None:
        self._site, self._hits, self._delay = site, hits, delay_seconds
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (request := self._next_request()) is not None:
            posted = "" if request.method == "GET" else f"{request.method} "
            self._hits[posted + request.path] += 1
            if self._delay:
                asyncio.get_running_loop().call_later(self._delay, self._answer, request)
            else:
                self._answer(request)

    def _next_request(self) -> Request | None:
        head, end, rest = self._buffer.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", 0))
        if not end or len(rest) < length:
            return None
        self._buffer = rest[length:]
        method, path, _ = first.split(" ", 2)
        return Request(method, path, headers, rest[:length].decode("latin-1"))

    def _answer(self, request: Request) -> None:
        assert self._transport is not None
        self._transport.write(self._site.answer(request))


def _serve(site: LocalSite, delay_seconds: float, pipe: Connection) -> None:
    async def run() -> None:
        hits: Counter[str] = Counter()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: _Protocol(site, hits, delay_seconds), "127.0.0.1", 0
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
        hits: dict[str, int] = self._pipe.recv()
        return hits


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
