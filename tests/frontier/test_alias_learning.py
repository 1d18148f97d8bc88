"""What a run learns of other addresses of pages, what it does with it, and what it keeps."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crawling import import_pack, pack
from fresh_schema import make_tables
from qiaocrawl.frontier.aliases import AliasLearning
from qiaocrawl.items import NO_PAYLOAD, Candidate, Lease, Outcome, PageAnalysis, Payload, Queue
from qiaocrawl.runtime.follow_links import FollowPolicy, link_to, seed_candidate
from qiaocrawl.storage import Database, Reader, Writer, frontier
from qiaocrawl.urls.aliases import LEAST_AGREED

SITES = FollowPolicy(frozenset({"www.a.test"}))
TOPIC = "qiaoqing"
NOW = 1_800_000_000.0


def lease(url: str, payload: Payload = NO_PAYLOAD, *, stored: bool = False) -> Lease:
    link = link_to(url)
    return Lease(
        1,
        1,
        1,
        link.url,
        link.key,
        link.host,
        Queue.SITE,
        TOPIC,
        2.0,
        3,
        0,
        "here",
        payload,
        stored,
    )


def article(declares: str = "", outcome: Outcome = Outcome.ARTICLE) -> PageAnalysis:
    return PageAnalysis(outcome, None, (), "utf-8", canonical_url=declares)


@contextmanager
def learning(
    database: Database, *, is_on: bool = True, taught: bool = True
) -> Iterator[AliasLearning]:
    """A run's learning that knows that m.a.test has the pages of https://www.a.test."""
    reader, writer = Reader(database), Writer(database)
    try:
        one = AliasLearning(reader, writer, None, {"QIAO_URL_ALIASES": is_on})
        asyncio.run(one.load())
        for n in range(LEAST_AGREED if taught else 0):
            one.observe(lease(f"http://m.a.test/{n}"), article(f"https://www.a.test/{n}"))
        yield one
    finally:
        writer.close()
        reader.close()


@pytest.fixture
def taught(tmp_path: Path) -> Iterator[AliasLearning]:
    with Database.open(f"sqlite:///{tmp_path / 'q.db'}") as database:
        make_tables(database)
        with learning(database) as one:
            yield one


def preferred(one: AliasLearning, n: int = 9) -> str:
    return one.rules.apply(f"http://m.a.test/{n}").removesuffix(f"/{n}")


def leases_of(database: Database) -> list[Lease]:
    scope = frontier.Scope(Queue.SITE, TOPIC)
    with database.engine.begin() as c:
        return frontier.lease(c, scope, token=1, limit=9, per_host=9, lease_seconds=60.0, now=NOW)


def test_leases_with_a_preferred_version_are_not_fetched(database_url: str) -> None:
    import_pack(database_url, pack("www.a.test"))
    urls = ["http://m.a.test/7", "http://m.b.test/7", "https://www.a.test/8"]
    proposed = [Candidate(link.url, link.key, link.host, Queue.SITE, TOPIC, score=4.0, depth=3)
                for link in map(link_to, urls)]  # fmt: skip
    with Database.open(database_url) as database, learning(database) as one:
        with database.engine.begin() as c:
            frontier.enqueue(c, proposed, run_id=None, now=NOW)
        leases = leases_of(database)
        assert {left.url for left in asyncio.run(one.to_fetch(leases, SITES))[0]} == set(urls[1:])
        assert one.numbers() == {
            "qiaocrawl/urls/aliased": 1, "qiaocrawl/urls/aliases_in_vain": 0,
            "qiaocrawl/urls/alias_rules": 2,
        }  # fmt: skip
        (instead,) = leases_of(database)
    assert (instead.url, instead.score, instead.depth) == ("https://www.a.test/7", 4.0, 3)
    assert instead.payload == Payload(alias_of=urls[0])


@pytest.mark.parametrize(
    "one",
    [
        lease("http://m.a.test/9", stored=True),
        lease("http://m.a.test/9", Payload(part_of="00")),
        lease("http://m.a.test/9", {"hops": 1}),
        lease("http://m.a.test/9", Payload(as_is="dead")),
        lease("http://m.b.test/9"),
    ],
)
def test_what_was_proposed_for_its_very_address_is_fetched(
    one: Lease, taught: AliasLearning
) -> None:
    assert asyncio.run(taught.to_fetch([one], None)) == ([one], [])


def test_no_rule_leads_out_of_the_crawl(taught: AliasLearning) -> None:
    mobile = lease("http://m.a.test/9")
    only = FollowPolicy(frozenset({"m.a.test"}))
    assert asyncio.run(taught.to_fetch([mobile], only)) == ([mobile], [])


def test_start_pages_are_fetched_as_written(taught: AliasLearning) -> None:
    seed = seed_candidate("http://m.a.test/start", Queue.SITE, TOPIC, refetch=True)
    start = lease(seed.url, seed.payload)
    assert asyncio.run(taught.to_fetch([start], None)) == ([start], [])
    taught.learn_end(start, Outcome.ARTICLE)
    assert preferred(taught) == "https://www.a.test", "and say nothing about the rules"


def test_lists_teach_nothing(taught: AliasLearning) -> None:
    for n in range(60):
        page = lease(f"http://m.a.test/list/{n}")
        taught.observe(page, article("http://m.a.test/", Outcome.LIST))
    assert preferred(taught) == "https://www.a.test"


def test_a_dead_preferred_version_takes_the_rule_back(taught: AliasLearning) -> None:
    original = "http://m.a.test/7"
    taught.learn_end(lease("https://www.a.test/7", Payload(alias_of=original)), Outcome.DEAD)
    assert preferred(taught) == "http://m.a.test"
    # What the page itself declares does not speak for the rule again.
    again = lease(original, Payload(as_is="dead"))
    taught.observe(again, article("https://www.a.test/7"))
    taught.learn_end(again, Outcome.ARTICLE)
    assert preferred(taught) == "http://m.a.test"
    assert taught.numbers()["qiaocrawl/urls/aliases_in_vain"] == 1


def test_a_page_that_is_gone_everywhere_is_not_the_rules_fault(taught: AliasLearning) -> None:
    taught.learn_end(
        lease("https://www.a.test/7", Payload(alias_of="http://m.a.test/7")), Outcome.DEAD
    )
    taught.learn_end(lease("http://m.a.test/7", Payload(as_is="dead")), Outcome.DEAD)
    assert preferred(taught) == "https://www.a.test"


def test_an_original_that_is_there_speaks_against_the_rule(taught: AliasLearning) -> None:
    # The preferred version was known to be dead before: it was not proposed for this one.
    taught.learn_end(lease("http://m.a.test/7", Payload(as_is="dead")), Outcome.ARTICLE)
    assert preferred(taught) == "http://m.a.test"


def test_a_redirect_back_takes_the_rule_back(taught: AliasLearning) -> None:
    taught.note_redirect("https://www.a.test/7", "http://m.a.test/7")
    assert preferred(taught) == "http://m.a.test"


def test_what_is_learnt_is_kept(database: Database) -> None:
    with learning(database) as one:
        closed = lease("http://b.test/1")
        assert one.learn_end(closed, Outcome.REDIRECT) is None
        for n in range(60):
            one.note_redirect(f"http://b.test/{n}", f"https://b.test/{n}")
        save = one.learn_end(closed, Outcome.REDIRECT)
        assert save is not None
        assert one.learn_end(closed, Outcome.REDIRECT) is None
        with database.engine.begin() as c:
            save(c)
            save(c)  # a transaction may be played again
    with learning(database, taught=False) as other:
        assert other.rules.rules() == one.rules.rules()
        assert preferred(other) == "https://www.a.test"
    with learning(database, is_on=False) as off:
        off.observe(lease("http://c.test/1"), article("https://c.test/1"))
        off.note_redirect("http://c.test/2", "https://c.test/2")
        off.learn_end(lease("https://c.test/2", Payload(alias_of="http://c.test/2")), Outcome.DEAD)
        mobile = lease("http://m.a.test/9")
        assert asyncio.run(off.to_fetch([mobile], None)) == ([mobile], [])
        assert off.rules.rules() == []
