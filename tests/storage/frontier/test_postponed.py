"""What a guess of discovery put off: closed rows that a plain link or an idle crawl takes up."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection, text

from fresh_schema import make_tables
from qiaocrawl.items import Candidate, LeftOut, Outcome, Queue
from qiaocrawl.reading.summary import outcomes, queue_progress
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.frontier import url_aliases
from qiaocrawl.storage.frontier.enqueue import payload_from, payload_keys
from qiaocrawl.storage.frontier.postponed import (
    count_postponed,
    led_to_stories,
    left_out,
    newest_article,
    take_up,
)
from qiaocrawl.storage.frontier.scope import Scope
from storage_samples import (
    NOW,
    PACK,
    SITE,
    add_topic,
    candidate,
    close,
    enqueue,
    put_article,
    scalar,
    take,
)


def put_off(path: str, reason: str = "pager of the list", **fields: object) -> Candidate:
    return candidate(path, left_out=LeftOut(Outcome.POSTPONED, reason), **fields)


def waiting(c: Connection) -> list[str]:
    return [one.url[-1] for one in take(c)]


def test_what_is_put_off_is_kept_closed_until_a_plain_link_comes(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        assert enqueue(c, [put_off("1", score=5.0, depth=2), candidate("2")]) == 2
        assert waiting(c) == ["2"]
        row = c.execute(text("SELECT state, outcome, reason FROM url WHERE url LIKE '%1'")).one()
        assert tuple(row) == (3, "postponed", "pager of the list")
        assert outcomes(c, PACK.name) == {"postponed": 1, "waiting": 1}
        assert queue_progress(c, "site").known == 1, "what is put off is no work"
        assert not frontier.remaining(c, Scope(Queue.SITE, PACK.name), now=NOW).pending
        enqueue(c, [put_off("1", score=7.0)])
        assert waiting(c) == []
        enqueue(c, [candidate("1", score=0.5, depth=9)])  # a worse score is news all the same
        (again,) = take(c)
        assert (again.url[-1], again.score, again.depth) == ("1", 0.5, 2)
        enqueue(c, [put_off("1", score=9.0)])
        assert close(c, again)
        enqueue(c, [candidate("1", score=9.0)])
        assert waiting(c) == [], "fetched is fetched"


def test_of_two_links_the_plain_one_counts_and_a_deep_crawl_keeps_its_own(
    database: Database,
) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [put_off("1"), candidate("1", score=0.2), put_off("1"), put_off("2")])
        enqueue(c, [candidate("2", queue=Queue.PAGES)])
        assert sorted(waiting(c)) == ["1", "2"], "what search found is still followed deep"
        enqueue(c, [candidate("3", queue=Queue.PAGES, score=0.1)])
        enqueue(c, [put_off("3", score=8.0)])
        (one,) = take(c)
        assert (one.url[-1], one.score) == ("3", 0.1), "it waits anyway, for a deep crawl now"


def test_the_best_of_every_guess_are_taken_up_in_their_scope(database: Database) -> None:
    add_topic(database)
    reasons = {"a": "one guess", "b": "another"}
    rows = [
        put_off(
            f"{name}{n}", reason, score=n - 0.5 * (name == "b"), payload=payload_from({"kept": n})
        )
        for name, reason in reasons.items()
        for n in range(4)
    ]
    with database.engine.begin() as c:
        enqueue(c, [*rows, put_off("elsewhere", host="b.example"), put_off("p", queue=Queue.PAGES)])
        here = Scope(Queue.SITE, PACK.name, frozenset({"a.example"}))
        assert count_postponed(c, here) == {"one guess": 4, "another": 4}
        taken = take_up(c, here, {"one guess": 2, "another": 1}, limit=9)
        assert [one.candidate.url[-2:] for one in taken] == ["a3", "b3", "a2"]
        assert [one.reason for one in taken] == ["one guess", "another", "one guess"]
        leases = take(c)
        assert [one.url[-2:] for one in leases] == ["a3", "b3", "a2"]
        assert leases[0].payload == taken[0].candidate.payload
        assert payload_keys(leases[0].payload) == {"kept": 3, "taken_up": "one guess"}
        assert take_up(c, here, {"one guess": 9, "another": 9}, limit=1)[0].reason == "another"
        assert count_postponed(c, here) == {"one guess": 2, "another": 2}
        assert take_up(c, here, {}, limit=9) == []
        assert sum(count_postponed(c, SITE).values()) == 5


def test_another_spelling_waits_for_the_first_one(database: Database) -> None:
    add_topic(database)
    first, other = candidate("n/"), candidate("n/index.html")
    same = replace(other, left_out=LeftOut(Outcome.ALIAS, f"fetched as {first.url}", first.key))
    with database.engine.begin() as c:
        enqueue(c, [first, same])
        (one,) = take(c)
        assert url_aliases.release_failed(c) == 0, "the first one is in hand"
        assert close(c, one, Outcome.DEAD)
        assert url_aliases.release_failed(c, [first.key]) == 1
        (again,) = take(c)
        assert again.url == other.url
        assert close(c, again)
        lost = replace(same, url="x", key=b"k" * 16, left_out=LeftOut(Outcome.ALIAS, "", b"n" * 16))
        enqueue(c, [lost])
        assert url_aliases.release_failed(c) == 1, "a bound kept the first one out"


def test_what_guesses_left_out_is_listed_by_guess(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [put_off("1"), put_off("2"), put_off("3", "a trap"), candidate("4")])
        told = [(one.outcome, one.guess, one.urls, one.example) for one in left_out(c, most=9)]
        assert told == [
            ("postponed", "pager of the list", 2, "http://a.example/1"),
            ("postponed", "a trap", 1, "http://a.example/3"),
        ]


def test_two_workers_take_up_different_rows(mariadb_url: str) -> None:
    shares = {"pager of the list": 2}
    with Database.open(mariadb_url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            enqueue(c, [put_off(str(n), score=float(n)) for n in range(3)])
        with database.engine.begin() as busy, database.engine.begin() as c:
            assert len(take_up(busy, SITE, shares, limit=9)) == 2
            assert take_up(c, SITE, shares, limit=9) == [], "what another one has in hand"
        with database.engine.begin() as c:
            assert [one.candidate.url[-1] for one in take_up(c, SITE, shares, limit=9)] == ["0"]


def test_a_guess_is_judged_by_the_new_articles_it_hid(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        put_article(c, "old")
        before = newest_article(c)
        keys = {}
        for name, parent in (("list", None), ("page", "list"), ("story", "page"), ("dry", None)):
            up = candidate(parent).key if parent else None
            keys[name] = candidate(name).key
            enqueue(c, [candidate(name, parent=up)])
        assert led_to_stories(c, set(keys.values()), before) == set()
        put_article(c, "story", title="又一则")
        assert led_to_stories(c, {keys["list"], keys["dry"]}, before) == {keys["list"]}
        assert led_to_stories(c, {keys["story"]}, before) == {keys["story"]}
        assert scalar(c, "SELECT COUNT(*) FROM article") == 2
        assert led_to_stories(c, set(keys.values()), newest_article(c)) == set()
