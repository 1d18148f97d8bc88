"""Parts around the browser that need none: slots, its proxy, contexts, memory."""

from __future__ import annotations

import asyncio
import base64
import os
import socket
from importlib import import_module
from types import ModuleType
from urllib.parse import urlsplit

import pytest
from scrapy import Request

from crawling import Answer, local_server
from qiaocrawl.crawl.browser.proxy import BrowserProxy, ProxySettings, Upstream
from qiaocrawl.crawl.network.address_guard import AddressGuard
from qiaocrawl.errors import RenderError
from qiaocrawl.fetch.addresses import Allowance, is_public_address


@pytest.fixture
def contexts() -> ModuleType:
    """Imported when a test asks: it takes two seconds of each process that collects tests."""
    return import_module("qiaocrawl.crawl.browser.contexts")


def test_who_is_alone_waits_for_the_others_and_keeps_new_ones_out(contexts: ModuleType) -> None:
    async def play() -> list[str]:
        slots, said = contexts.PageSlots(2), []
        leave = asyncio.Event()

        async def sit(name: str) -> None:
            async with slots.acquire():
                said.append(name)
                await leave.wait()

        async def alone() -> None:
            async with slots.acquire_exclusive():
                said.append("alone")

        tasks = [asyncio.ensure_future(sit(name)) for name in "ab"]
        await asyncio.sleep(0)
        tasks.append(asyncio.ensure_future(alone()))
        await asyncio.sleep(0)
        tasks.append(asyncio.ensure_future(sit("late")))
        await asyncio.sleep(0.01)
        leave.set()
        await asyncio.gather(*tasks)
        return said

    assert asyncio.run(play()) == ["a", "b", "alone", "late"]


async def ask(proxy: BrowserProxy, head: str, upstream: Upstream | None = None) -> str:
    """What the proxy says to a request; ``AUTH`` stands for the right password."""
    told = await proxy.settings(upstream)
    pair = base64.b64encode(f"{told['username']}:{told['password']}".encode()).decode()
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(told["server"]).port)
    writer.write(head.replace("AUTH", f"Proxy-Authorization: Basic {pair}\r\n").encode())
    said = await reader.read()
    writer.close()
    return said.decode()


@pytest.mark.parametrize("target", [
    "127.0.0.1:PORT", "localhost:PORT", "[::1]:PORT", "2130706433:PORT", "0x7f.1:PORT",
    "169.254.169.254:80", "10.1.2.3:80", "[::ffff:127.0.0.1]:PORT", "[64:ff9b::7f00:1]:PORT",
])  # fmt: skip
@pytest.mark.parametrize("method", ["CONNECT", "GET"])
def test_private_targets_are_refused(target: str, method: str) -> None:
    refused: list[str] = []

    async def play(port: str) -> str:
        proxy = BrowserProxy(AddressGuard(Allowance()), refused=refused.append)
        at = target.replace("PORT", port)
        asked = at if method == "CONNECT" else f"http://{at}/"
        said = await ask(proxy, f"{method} {asked} HTTP/1.1\r\nAUTH\r\n")
        await proxy.close()
        return said

    with local_server(lambda host, path: Answer(b"secret")) as inside:
        said = asyncio.run(play(inside.origin.rpartition(":")[2]))
        assert not inside.log
    assert said.startswith("HTTP/1.1 403")
    assert len(refused) == 1


def test_a_name_of_a_private_address_is_refused() -> None:
    name, refused = socket.gethostname(), list[str]()
    try:
        addresses = {str(found[4][0]) for found in socket.getaddrinfo(name, 80)}
    except OSError:
        pytest.skip("this machine does not know its own name")
    if all(map(is_public_address, addresses)):
        pytest.skip("this machine's name leads to a public address")

    async def play() -> str:
        proxy = BrowserProxy(AddressGuard(Allowance()), refused=refused.append)
        said = await ask(proxy, f"GET http://{name}/ HTTP/1.1\r\nAUTH\r\n")
        await proxy.close()
        return said

    assert asyncio.run(play()).startswith("HTTP/1.1 403")
    assert refused[0].startswith(f"{name!r} resolves to ")


def test_allowed_origins_the_demo_web_and_no_one_without_the_password() -> None:
    with local_server(lambda host, path: Answer(f"{host}{path}".encode())) as server:

        async def play() -> list[str]:
            proxy = BrowserProxy(
                AddressGuard(Allowance.parse([server.origin])),
                demo=server.origin,
                refused=lambda _: None,
            )
            url = f"http://{server.origin}/a"
            said = [
                await ask(proxy, f"GET {url} HTTP/1.1\r\nHost: {server.origin}\r\nAUTH\r\n"),
                await ask(proxy, "GET http://w.test/b HTTP/1.1\r\nHost: w.test\r\nAUTH\r\n"),
                await ask(proxy, f"GET {url} HTTP/1.1\r\n\r\n"),
                await ask(proxy, "nonsense\r\n\r\n"),
                await ask(proxy, "GET ftp://www.x.test/ HTTP/1.1\r\nAUTH\r\n"),
            ]
            await proxy.close()
            return said

        said = asyncio.run(play())
        assert [hit.path for hit in server.log] == ["/a", "/b"]
        assert not any("Proxy-Authorization" in hit.headers for hit in server.log)
    assert said[0].endswith(f"{server.origin}/a")
    assert "Connection: close" in said[0]
    assert said[1].endswith("w.test/b")
    assert [one.split(" ")[1] for one in said[2:]] == ["407", "400", "403"]


@pytest.mark.parametrize(("url", "expected"), [
    ("http://u:p%40@proxy.example:8080", Upstream("proxy.example", 8080, False,
                                                  "Basic dTpwQA==")),
    ("https://proxy.example", Upstream("proxy.example", 443, True)),
    ("proxy.example:3128", Upstream("proxy.example", 3128, False)),
])  # fmt: skip
def test_upstream_proxies(url: str, expected: Upstream) -> None:
    assert Upstream.parse(url) == expected


def test_an_upstream_that_cannot_be_used_is_refused_without_its_password() -> None:
    with pytest.raises(RenderError, match="'socks5' proxy") as caught:
        Upstream.parse("socks5://user:secret@proxy.example:1080")
    assert "secret" not in str(caught.value)


def test_contexts_are_shared_by_like_requests_only(contexts: ModuleType) -> None:
    proxy: ProxySettings = {"server": "http://127.0.0.1:1", "username": "u", "password": "p"}
    other: ProxySettings = {**proxy, "server": "http://127.0.0.1:2"}

    def named(proxy: ProxySettings, **changes: object) -> str:
        request = Request("http://a.test/", **changes)  # type: ignore[arg-type]
        return str(contexts.context_of(request, proxy)[0])

    names = [
        named(proxy), named(other), named(proxy, headers={"User-Agent": "x"}),
        named(proxy, meta={"cookiejar": "b"}), named(proxy, meta={"playwright_context": "login"}),
    ]  # fmt: skip
    assert len(set(names)) == 5
    assert named(proxy) == names[0]
    kwargs = {"storage_state": "state.json", "user_agent": "own"}
    request = Request(
        "http://a.test/", headers={"User-Agent": "x"}, meta={"playwright_context_kwargs": kwargs}
    )
    told = contexts.context_of(request, proxy)[1]
    assert (told["storage_state"], told["user_agent"]) == ("state.json", "own")
    assert told["proxy"] == proxy


def test_memory_of_a_process_without_a_browser(contexts: ModuleType) -> None:
    assert contexts.browser_mib(os.getpid()) == 0.0
    assert os.getpid() in contexts.children_by_parent()[os.getppid()]
