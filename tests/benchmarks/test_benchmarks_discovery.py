"""The benchmark of discovery: what it counts, when it refuses, and that its peer crawls."""

from __future__ import annotations

import time
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from rich.console import Console

from benchmarks.discovery import (
    ENTRANCES,
    PEERS,
    CountingWeb,
    measure,
    measured,
    peer_run,
    runs,
)
from qiaocrawl.demo.model import ARTICLE_KINDS
from qiaocrawl.demo.web import DemoWeb, build_web


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return build_web(scale=0.05)


def test_clients_are_refused_after_25_requests_and_served_again(
    web: DemoWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.discovery._REFUSING_SECONDS", 0.2)
    counting = CountingWeb(web, refuses=True)
    host, other = list(web.sites)[:2]
    served = [counting.respond(host, "/").gold is not None for _ in range(25)]
    assert all(served)
    assert counting.respond(host, "/").gold is None
    assert counting.respond(other, "/").gold is not None
    assert (counting.requests, counting.refusals) == (27, 1)
    time.sleep(0.25)
    assert counting.respond(host, "/").gold is not None
    assert len(counting.given) == 2


def test_what_was_given_counts(web: DemoWeb) -> None:
    on_topic = [
        gold
        for gold in web.gold()
        if gold.kind in ARTICLE_KINDS and gold.on_topic and gold.robots_allowed
    ]

    def run(origin: str, folder: Path) -> None:
        for gold in on_topic[:3]:
            host, _, path = gold.url.removeprefix("http://").partition("/")
            urlopen(Request(f"http://{origin}/{path}", headers={"Host": host})).read()

    row, found = measure(web, "three", run, refuses=False)
    assert found == {gold.url for gold in on_topic[:3]}
    assert (row.requests, row.requests_per_page) == (3, 1.0)
    assert row.found == pytest.approx(3 / len(on_topic))


def test_plain_scrapy_crawls_and_loses_pages_to_refusals(web: DemoWeb) -> None:
    free, hindered = measured(web, {"plain Scrapy": peer_run("")}, Console(quiet=True))
    assert free.found > 0.2
    assert hindered.refusals > 0
    assert hindered.lost is not None


def test_every_spider_is_an_entrance() -> None:
    spiders = {stage[0] for entrance in ENTRANCES.values() for stage in entrance.stages}
    assert spiders == {"search", "pages", "site", "watch"}
    assert {*ENTRANCES, *PEERS} == set(runs())
