"""A name that says one thing when it is checked and another one afterwards (F-S2).

127.0.0.2 stands for the public internet here, 127.0.0.1 is inside.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.settings import Settings
from twisted.internet import reactor as _reactor

from crawling import article, crawl, import_pack, outcomes, pack
from held_ports import held_port
from qiaocrawl.crawl.network import address_guard as names_module
from qiaocrawl.crawl.network.address_guard import (
    AddressGuard,
    GuardedResolver,
    Names,
    address_guard_of,
)
from qiaocrawl.errors import AddressRefusedError
from qiaocrawl.fetch.addresses import Allowance, Origin
from raw_server import Send, answer, raw_server, whole

PUBLIC, INSIDE = "127.0.0.2", "127.0.0.1"
PATHS = ("/", "/a.html", "/b.html")


def serve(host: str, path: str) -> Send:
    if path not in PATHS:
        return whole(answer(b"", status="404 Not Found"))
    return whole(answer(article(f"侨乡新闻{path}", links=PATHS[1:])))


def rebinding_crawl(
    folder: Path, fresh_seconds: str
) -> tuple[dict[str, str], list[str], list[str]]:
    """Outcomes by path, what the server inside was asked, and all lookups of the name."""
    url, lookups = f"sqlite:///{folder / 'q.db'}", folder / "lookups"
    import_pack(url, pack("rebind.example"))
    # One that is free on one address may be taken on the other.
    port = held_port()
    with raw_server(serve, (PUBLIC, port)), raw_server(serve, (INSIDE, port)) as inside:
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            f"start=http://rebind.example:{port}/",
            "-s",
            "DOWNLOAD_DELAY=0",
            folder=folder,
            PUBLIC_OF_TEST=PUBLIC,
            FRESH_SECONDS_OF_TEST=fresh_seconds,
            LOOKUPS_OF_TEST=str(lookups),
            NAMES_OF_TEST=json.dumps({"rebind.example": [[PUBLIC], [INSIDE]]}),
        )
        asked = [path for _, path in inside.asked]
    # A start page that may not be fetched is no success.
    assert done.returncode == ("start page not fetched" in done.log), done.log
    found = {where.partition(str(port))[2]: outcome for where, outcome in outcomes(url).items()}
    return found, asked, lookups.read_text().split()


def test_a_crawl_hears_a_name_once_and_connects_where_it_was_checked(tmp_path: Path) -> None:
    found, asked_inside, lookups = rebinding_crawl(tmp_path, "600")
    assert lookups == ["rebind.example"]
    assert asked_inside == []
    assert set(found) == set(PATHS)
    assert set(found.values()) <= {"article", "list"}


def test_a_name_that_leads_inside_by_now_is_refused(tmp_path: Path) -> None:
    # robots.txt was asked of the public address, then the answer ran out.
    found, asked_inside, _ = rebinding_crawl(tmp_path, "0")
    assert asked_inside == []
    assert found == {"/": "refused"}


def test_the_gates_of_a_process_hear_one_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrapy makes the name service with the process, before there is a crawler."""
    answers = [["93.184.216.34"], [INSIDE]]
    monkeypatch.setattr(names_module, "look_up", lambda host: answers.pop(0))
    process, crawler = CrawlerProcess(Settings()), Crawler(Spider, Settings())
    connected: list[str] = []

    async def check_then_connect() -> None:
        resolver = GuardedResolver.from_crawler(process, _reactor)  # type: ignore[arg-type]
        await address_guard_of(crawler).check(Origin.of("http://one.rebind.example/"))
        connected.extend(await resolver._addresses_of("one.rebind.example", 80))

    asyncio.run(check_then_connect())
    assert connected == ["93.184.216.34"]
    assert answers == [[INSIDE]], "it was looked up once"


def test_what_was_checked_holds_while_its_request_waits_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = [["93.184.216.34"], [INSIDE]]
    clock = [1000.0]
    monkeypatch.setattr(names_module.time, "monotonic", lambda: clock[0])
    guard = AddressGuard(Allowance(), names=Names(lambda host: answers.pop(0)))

    async def play() -> None:
        await guard.check(Origin.of("http://rebind.example/"))
        clock[0] += 700
        assert await guard.to_connect("rebind.example", 80) == ("93.184.216.34",)
        assert len(answers) == 1
        with pytest.raises(AddressRefusedError, match="no public address"):
            await guard.check(Origin.of("http://rebind.example/"))
        with pytest.raises(AddressRefusedError, match="no public address"):
            await guard.to_connect("rebind.example", 80)

    asyncio.run(play())
