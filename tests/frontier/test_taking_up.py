"""Rounds in which what a guess put off is tried: how many of each reason, and until when."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import text

from fresh_schema import make_tables
from qiaocrawl.discovery.rules import LinkRules, UrlSourceOptions
from qiaocrawl.discovery.static_traps import UrlLimits
from qiaocrawl.discovery.trap_watch import TrapWatch
from qiaocrawl.frontier import CrawlTopic, strategies
from qiaocrawl.frontier.crawl_order import CrawlOrder
from qiaocrawl.frontier.host_slots import FOREVER, Fetches, HostUse, Limits
from qiaocrawl.frontier.postponed import TakingUp
from qiaocrawl.items import LeftOut, Outcome, Queue
from qiaocrawl.options import Options
from qiaocrawl.runtime.follow_links import FollowPolicy
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database
from qiaocrawl.storage.frontier import Scope
from storage_samples import PACK, add_topic, analysed, articles, candidate, close, enqueue, take

HOSTS = ("a.example", "b.example")
ROWS = Scope(Queue.SITE, PACK.name, frozenset(HOSTS))


class Rounds:
    """What is put off on SQLite, and a run that takes it up."""

    def __init__(self, url: str) -> None:
        self.runtime = Runtime(Options.from_environment({"QIAO_DATABASE_URL": url}))
        self.order = CrawlOrder(strategies.get("bfs")(CrawlTopic(PACK)))  # type: ignore[arg-type]
        self.taking_up = TakingUp(self.runtime, self.order)

    def put_off(self, reason: str, number: int, *, host: str = HOSTS[0], most: str = "x") -> None:
        guess = LeftOut(Outcome.POSTPONED, reason)
        paths = [f"{most}{place:03}" for place in range(number)]
        with self.runtime.database.engine.begin() as c:
            enqueue(c, [candidate(path, host=host, left_out=guess) for path in paths])

    def round(self, *, pages: int = 0, spent: Sequence[str] = (), good: int = 0) -> int | None:
        """How many URLs wait after a round, *good* of which then lead to an article; None: over."""
        hosts = HostUse(Fetches(1, 8), Limits(spent={"c.example": pages}))
        for host in spent:
            hosts.park(host, FOREVER)
        if not asyncio.run(self.taking_up.next_round(ROWS, hosts)):
            return None
        with self.runtime.database.engine.begin() as c:
            leases = take(c, 1_000)
            for place, lease in enumerate(leases):
                close(c, lease, Outcome.ARTICLE if place < good else Outcome.LIST)
                if place < good:
                    page = analysed(lease.url, title=f"第{lease.url_id}篇")
                    assert page.article is not None
                    articles.save_article(c, lease.url_id, page.article, page, anchor="", now=0.0)
            return len(leases)


@pytest.fixture
def rounds(tmp_path: Path) -> Iterator[Rounds]:
    url = f"sqlite:///{tmp_path}/q.db"
    with Database.open(url) as database:
        make_tables(database)
        add_topic(database)
    made = Rounds(url)
    yield made
    made.runtime.close()


def test_every_reason_is_tried_by_itself(rounds: Rounds) -> None:
    rounds.put_off("pager of a", 40, most="a")
    rounds.put_off("feeds of a", 3, most="b")
    assert [rounds.round() for _ in range(4)] == [4 + 3, 8, 16, None]
    assert rounds.taking_up.numbers() == {
        "qiaocrawl/postponed/taken_up": 31, "qiaocrawl/postponed/left": 12,
    }  # fmt: skip


def test_one_new_article_proves_a_guess_wrong_and_doubles_its_share(rounds: Rounds) -> None:
    rounds.put_off("pager of a", 60)
    assert [rounds.round(good=1) for _ in range(4)] == [4, 8, 16, 32]
    assert rounds.round() is None, "none is left"


def test_after_an_article_the_guess_has_as_many_fruitless_tries_as_before(rounds: Rounds) -> None:
    rounds.put_off("pager of a", 200)
    tried = [rounds.round(), rounds.round(good=1)]
    while (number := rounds.round()) is not None:
        tried.append(number)
    assert tried[:3] == [4, 8, 16]
    assert sum(tried[2:]) >= 28
    assert rounds.taking_up.left == 200 - sum(tried) > 0


def test_a_guess_is_tried_on_while_that_is_little_beside_the_run(rounds: Rounds) -> None:
    rounds.put_off("pager of a", 100)
    for _ in range(3):
        rounds.round()
    assert rounds.round(pages=280) is None, "28 in vain are a tenth"
    assert rounds.round(pages=281) == 28


def test_what_was_put_off_on_spent_hosts_stays(rounds: Rounds) -> None:
    rounds.put_off("pager", 2, host=HOSTS[0])
    rounds.put_off("pager", 3, host=HOSTS[1])
    assert rounds.round(spent=[HOSTS[1]]) == 2
    assert rounds.round(spent=[HOSTS[1]]) is None
    assert rounds.round() == 3


def test_an_article_that_was_there_before_the_round_proves_nothing(rounds: Rounds) -> None:
    rounds.put_off("pager of a", 50)
    page = analysed("http://a.example/old")
    assert page.article is not None
    with rounds.runtime.database.engine.begin() as c:
        url_id = c.execute(text("SELECT MIN(id) FROM url")).scalar_one()
        articles.save_article(c, url_id, page.article, page, anchor="", now=0.0)
    assert [rounds.round() for _ in range(4)] == [4, 8, 16, None]


def test_urls_beyond_the_operators_bounds_are_no_guess_and_never_tried(rounds: Rounds) -> None:
    rules = LinkRules(UrlSourceOptions(), TrapWatch(UrlLimits()))
    within = FollowPolicy(frozenset(HOSTS), rules=rules)
    rounds.taking_up = TakingUp(rounds.runtime, rounds.order, within)
    rounds.put_off(f"trap: {HOSTS[0]}/(path too deep)", 9)
    assert rounds.round() is None
    rounds.put_off("pager of a", 2, most="p")
    assert rounds.round() == 2
    assert rounds.taking_up.left == 9


def test_urls_of_a_trap_that_no_rule_knows_any_more_all_wait_again(rounds: Rounds) -> None:
    rules = LinkRules(UrlSourceOptions(), TrapWatch(UrlLimits()))
    within = FollowPolicy(frozenset(HOSTS), rules=rules)
    rounds.taking_up = TakingUp(rounds.runtime, rounds.order, within)
    rounds.put_off(f"trap: {HOSTS[0]}/x/… (40 pages fetched, 0 of them told a story)", 40)
    assert rounds.round() == 40
