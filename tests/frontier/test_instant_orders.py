"""Orders whose scores are no work: no thread is kept for them, and the same comes out."""

from __future__ import annotations

import asyncio
import threading

import pytest

from qiaocrawl.frontier import CrawlTopic, make_strategy
from qiaocrawl.frontier.crawl_order import CrawlOrder
from qiaocrawl.frontier.priority_index import scores_of
from qiaocrawl.frontier.strategies.strategy import FoundLink, VisitedPage
from qiaocrawl.items import Lease, Outcome, PageAnalysis, Queue, Visit
from qiaocrawl.runtime.follow_links import FollowPolicy, link_to
from qiaocrawl.topic.pack import TopicPack

_TOPIC = CrawlTopic(TopicPack("t", "", "", 0.1, (), (), ()))
_LINKS = tuple(link_to(f"http://a.example/{number}") for number in range(5))
_LEASE = Lease(
    1, 1, 1, "http://a.example/", b"k" * 16, "a.example", Queue.SITE, "t", 1.0, 0, 0
)  # fmt: skip
_VISIT = Visit(b"k" * 16, "http://a.example/", "a.example", 0, 0.0, False, 1.0, _LINKS)


@pytest.mark.parametrize("name", ["bfs", "dfs"])
def test_scores_are_those_of_links_made_beforehand(name: str) -> None:
    strategy = make_strategy(name, _TOPIC, "")
    page = VisitedPage("http://a.example/", "a.example", 0, 0.0, False, 1.0)
    made = [FoundLink(link, place, 5) for place, link in enumerate(_LINKS)]
    assert list(scores_of(strategy, _VISIT)) == list(strategy.score(page, made))


@pytest.mark.parametrize(("name", "threads"), [("bfs", 0), ("dfs", 0), ("url_structure", 1)])
def test_no_thread_is_started_for_them(name: str, threads: int) -> None:
    asyncio.run(_followed(name, threads))


async def _followed(name: str, threads: int) -> None:
    order = CrawlOrder(make_strategy(name, _TOPIC, ""))
    analysis = PageAnalysis(Outcome.LIST, None, _LINKS, "utf-8")
    policy = FollowPolicy(frozenset({"a.example"}))
    page = await order.follow(_LEASE, analysis, policy)
    assert [candidate.url for candidate in page.selection.candidates] == [one.url for one in _LINKS]
    began = [one for one in threading.enumerate() if one.name.startswith("qiaocrawl-order")]
    await order.close()
    assert len(began) == threads


def test_what_nobody_waits_for_is_done_before_the_next_question(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asyncio.run(_asked_after_others())
    assert "the crawl order failed" in caplog.text


async def _asked_after_others() -> None:
    order = CrawlOrder(make_strategy("url_structure", _TOPIC, ""))
    done: list[str] = []

    def fail() -> None:
        raise ValueError("of one that nobody waits for")

    order.soon(lambda: done.append("first"))
    order.soon(fail)
    order.soon(lambda: done.append("second"))
    # No thread was woken for these.
    assert done == []
    assert await order.run(lambda: list(done)) == ["first", "second"]
    await order.close()
