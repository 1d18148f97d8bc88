"""A strategy that learns in a real crawl: its log, its models, several workers, sudden ends."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest
from sqlalchemy import text

from crawling import import_pack, outcomes, pack, rows
from learning_samples import SITE, AnchorYield, link
from qiaocrawl.items import Visit
from qiaocrawl.storage import Database
from qiaocrawl.storage.frontier import visit_log
from qiaocrawl.storage.frontier.visit_log import ModelName
from small_crawl import TOPIC, WEB, SmallCrawl, Web, crawl_all

GOOD = [str(n) for n in range(2, 40, 2)]


def end_leases(url: str) -> None:
    """What a dead worker held may be taken back, without the time that takes."""
    with Database.open(url) as database, database.engine.begin() as c:
        c.execute(text("UPDATE url SET lease_until = 0 WHERE lease_until IS NOT NULL"))


def good_share(fetched: list[str], pages: int) -> float:
    return sum(path in GOOD for path in fetched[:pages]) / pages


def test_what_was_learnt_decides_what_is_fetched_next(database_url: str) -> None:
    import_pack(database_url, pack(SITE))
    crawl = crawl_all(database_url, WEB)
    assert sorted(crawl.fetched) == sorted(WEB)
    assert good_share(crawl.fetched, 16) > 0.7, crawl.fetched
    assert set(outcomes(database_url).values()) == {"list"}
    assert rows(database_url, "SELECT COUNT(*), COUNT(DISTINCT url_id) FROM visit") == [(40, 40)]
    decided = rows(database_url, "SELECT strategy, place, waiting, parts FROM decision"
                                 " WHERE place IS NOT NULL")  # fmt: skip
    assert len(decided) >= 39, "all but the start page at most"
    assert all("yield of anchor" in str(parts) for *_, parts in decided)


def test_links_like_one_that_led_to_no_page_are_worth_less(database_url: str) -> None:
    import_pack(database_url, pack(SITE))

    async def scores() -> tuple[float | None, float | None]:
        crawl = SmallCrawl(database_url, WEB)
        await crawl.run(most=1)
        like_it, dead = link("3", "bad"), link("1", "bad")
        before = crawl.order.in_memory.score_of(like_it.key)
        crawl.order.brought_nothing(Visit(dead.key, dead.url, dead.host, 1, 0.0, False, 0.0))
        await crawl.close()
        return before, crawl.order.in_memory.score_of(like_it.key)

    assert asyncio.run(scores()) == (0.5, 0.0)


def test_after_a_kill_the_order_is_made_again_and_nothing_is_lost(database_url: str) -> None:
    import_pack(database_url, pack(SITE))

    async def first() -> SmallCrawl:
        crawl = SmallCrawl(database_url, WEB)
        await crawl.run(most=15)
        await crawl.die()
        return crawl

    killed = asyncio.run(first())
    end_leases(database_url)
    again = crawl_all(database_url, WEB)
    both = killed.fetched + again.fetched
    assert sorted(both) == sorted(WEB), "each page once"
    strategy = again.strategy
    assert isinstance(strategy, AnchorYield)
    told = [f"http://{SITE}/{path}" for path in killed.fetched]
    assert strategy.order_of_pages[:15] == told, "in the order they were fetched in"
    assert again.fetched[0] in GOOD, "the evidence is there from the start"


# What is put off: two guesses, one of which hides pages that plain links lead to as well.
PUT_OFF: Web = {
    "0": (0.0, [*((str(n), "later") for n in range(1, 41)), ("50", "good")]),
    **{str(n): (0.0, []) for n in range(1, 41)},
    "50": (1.0, [("51", "good"), ("7", "good"), ("52", "other later")]),
    "51": (1.0, []),
    "52": (0.0, [("53", "good"), ("52", "other later")]),
    "53": (0.0, []),
}


def test_what_is_put_off_comes_last_until_the_guess_has_held(database_url: str) -> None:
    import_pack(database_url, pack(SITE))
    crawl = crawl_all(database_url, PUT_OFF)
    assert sorted(crawl.fetched[:4]) == ["0", "50", "51", "7"], "plain links come first"
    assert {"52", "53"} < set(crawl.fetched)
    assert len(set(crawl.fetched)) == len(crawl.fetched) == 6 + 4 + 8 + 16
    assert list(outcomes(database_url).values()).count("postponed") == 39 - 28
    assert crawl.numbers["qiaocrawl/postponed/taken_up"] == 29
    assert crawl.numbers["qiaocrawl/postponed/left"] == 11
    again = crawl_all(database_url, PUT_OFF)
    assert len(again.fetched) == 11, "another run tries the guess anew"


# A pager of empty lists: each names the next only, and the twelfth leads to a story.
THIN_PAGER: Web = {
    "0": (0.0, [("1", "later")]),
    **{str(n): (0.0, [(str(n + 1), "later")]) for n in range(1, 12)},
    "12": (0.0, [("13", "good")]),
    "13": (1.0, []),
}


def test_a_guess_that_offers_one_url_at_a_time_is_tried_as_often_as_another(
    database_url: str,
) -> None:
    import_pack(database_url, pack(SITE))
    crawl = crawl_all(database_url, THIN_PAGER)
    assert sorted(crawl.fetched) == sorted(THIN_PAGER)


def test_a_guess_goes_on_in_vain_while_that_is_little_beside_the_run(database_url: str) -> None:
    import_pack(database_url, pack(SITE))
    web: Web = {
        "0": (0.0, [*((str(n), "plain") for n in range(1, 401)), ("500", "later")]),
        **{str(n): (0.0, []) for n in range(1, 401)},
        **{str(n): (0.0, [(str(n + 1), "later")]) for n in range(500, 560)},
        "560": (0.0, []),
    }
    crawl = crawl_all(database_url, web)
    in_vain = [path for path in crawl.fetched if int(path) >= 500]
    # A tenth of the 401 plain pages and of what was tried itself.
    assert 40 <= len(in_vain) <= 46


def test_a_limit_leaves_what_is_put_off_and_a_kill_loses_nothing(database_url: str) -> None:
    import_pack(database_url, pack(SITE))

    async def part(most: int) -> SmallCrawl:
        crawl = SmallCrawl(database_url, PUT_OFF)
        await crawl.run(most=most)
        await crawl.die()
        return crawl

    first = asyncio.run(part(3))
    assert list(outcomes(database_url).values()).count("postponed") >= 39
    end_leases(database_url)
    second = asyncio.run(part(4))
    end_leases(database_url)
    third = crawl_all(database_url, PUT_OFF)
    fetched = first.fetched + second.fetched + third.fetched
    assert len(fetched) == len(set(fetched)), "each page once"
    left = list(outcomes(database_url).values()).count("postponed")
    assert len(fetched) + left == len(PUT_OFF)
    assert left < 39 - 20


async def _to_the_end(crawl: SmallCrawl) -> None:
    await crawl.run()
    await crawl.close()


def test_two_workers_take_up_what_is_put_off(mariadb_url: str) -> None:
    import_pack(mariadb_url, pack(SITE))

    async def both() -> list[str]:
        crawls = [SmallCrawl(mariadb_url, PUT_OFF), SmallCrawl(mariadb_url, PUT_OFF)]
        # Each closes when it is done, as a process does: open, it would lease what the other takes
        # up after that, and nobody would fetch it.
        await asyncio.gather(*(_to_the_end(one) for one in crawls))
        return [path for one in crawls for path in one.fetched]

    fetched = asyncio.run(both())
    assert len(fetched) == len(set(fetched)), "each page once"
    assert len(fetched) >= 6 + 28


def test_two_workers_share_one_database_and_what_they_learn(mariadb_url: str) -> None:
    import_pack(mariadb_url, pack(SITE))

    async def both() -> tuple[SmallCrawl, SmallCrawl]:
        one, two = SmallCrawl(mariadb_url, WEB), SmallCrawl(mariadb_url, WEB)
        await asyncio.gather(one.run(), two.run())
        await one.close()
        await two.close()
        return one, two

    one, two = asyncio.run(both())
    assert sorted(one.fetched + two.fetched) == sorted(WEB), "each page once"
    assert one.fetched
    assert two.fetched
    for worker in (one, two):
        assert isinstance(worker.strategy, AnchorYield)
        assert len(worker.strategy.order_of_pages) >= 39, "it heard of the other's pages"


def test_what_waits_in_the_database_alone_is_fetched_in_the_end(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(SITE))
    web: Web = {"0": (0.0, [("1", "good")]), "1": (1.0, []), "hidden": (0.0, [])}

    async def run() -> SmallCrawl:
        crawl = SmallCrawl(url, web)

        def add_a_row(lease: object) -> None:
            with Database.open(url) as database, database.engine.begin() as c:
                one = link("hidden")
                c.execute(text(
                    "INSERT OR IGNORE INTO url (key, url, host_id, queue, topic_id, state, score,"
                    " depth, anchor, context, payload, discovered_at, not_before, attempts,"
                    " failures, crashes) SELECT :key, :url, host_id, queue, topic_id, 0, 0.1, 1,"
                    " '', '', '', discovered_at, 0, 0, 0, 0 FROM url WHERE url LIKE '%/0'"
                ), {"key": one.key, "url": one.url})  # fmt: skip

        await crawl.run(on_page=add_a_row)
        await crawl.close()
        return crawl

    assert asyncio.run(run()).fetched == ["0", "1", "hidden"]


def test_a_model_is_kept_and_loaded_and_learns_nothing_twice(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(SITE))
    first = crawl_all(url, WEB)
    assert isinstance(first.strategy, AnchorYield)
    taught = {anchor: len(found) for anchor, found in first.strategy.taught.items()}
    second = crawl_all(url, WEB)
    assert isinstance(second.strategy, AnchorYield)
    assert {anchor: len(found) for anchor, found in second.strategy.taught.items()} == taught
    assert second.fetched == []
    assert rows(url, "SELECT host, pages FROM order_model") == [(SITE, 40)]


def test_a_damaged_model_is_told_of_and_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(SITE))
    with Database.open(url) as database, database.engine.begin() as c:
        name = ModelName(TOPIC, "anchor_yield", SITE)
        visit_log.save_model(c, name, b'{"anchor_yield": 1, "taught": {"good": [1.0]}}',
                                pages=1, upto=0, now=1.0)  # fmt: skip
        visit_log.save_model(c, name, b"another's", pages=9, upto=9, now=2.0)
    with caplog.at_level(logging.WARNING):
        crawl = crawl_all(url, {"0": (0.0, [])})
    assert "cannot be read" in caplog.text
    assert crawl.worker.numbers()["qiaocrawl/order/models_damaged"] == 1
    assert isinstance(crawl.strategy, AnchorYield)
    assert crawl.strategy.taught["good"] == [1.0], "the version before serves"


def test_a_run_may_end_where_only_poor_links_wait(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(SITE))
    web: Web = {str(n): (0.0, [(str(n + 1), "bad"), (str(n + 2), "bad")]) for n in range(200)}
    crawl = crawl_all(url, web, QIAO_STOP_BELOW_THRESHOLD="on")
    assert crawl.worker.stop_reason == "below_threshold"
    assert len(crawl.fetched) < 150
    assert rows(url, "SELECT COUNT(*) FROM url WHERE state = 0") != [(0,)]
