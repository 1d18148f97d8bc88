"""Offering and leasing: order, fairness, fencing, replay."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from sqlalchemy import text

from qiaocrawl.errors import StorageError
from qiaocrawl.frontier.completion import CompleteLease, LeaseEnd, retry_lease
from qiaocrawl.items import Outcome, Queue
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.frontier import Scope
from qiaocrawl.storage.frontier.enqueue import MAX_URL_CHARS, payload_from, payload_keys
from qiaocrawl.storage.pages.raw_pages import store_page
from storage_samples import (
    NOW,
    PACK,
    SITE,
    add_topic,
    candidate,
    close,
    counts,
    enqueue,
    fetched,
    scalar,
    take,
)


def test_best_score_first_then_oldest(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("low", score=-3.0)])
        enqueue(c, [candidate("tie1", score=1.0)])
        enqueue(c, [candidate("tie2", score=1.0), candidate("high", score=2.5)])
        paths = [lease.url.rsplit("/", 1)[1] for lease in take(c)]
    assert paths == ["high", "tie1", "tie2", "low"]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_links_of_a_page_with_equal_scores_keep_its_order(database: Database) -> None:
    add_topic(database)
    paths = [f"p{n}" for n in range(30)]
    with database.engine.begin() as c:
        enqueue(c, [candidate(path) for path in paths])
        assert [lease.url.rsplit("/", 1)[1] for lease in take(c, 30)] == paths


def test_a_batch_is_shared_between_hosts_and_passes_busy_ones(database: Database) -> None:
    add_topic(database)
    many = [candidate(str(n), host=f"h{h}.example", score=float(100 - h))
            for h in range(5) for n in range(20)]  # fmt: skip
    with database.engine.begin() as c:
        assert enqueue(c, many) == 100
        leases = take(c, 12, per_host=4, busy_hosts={"h0.example"})
        by_host = Counter(lease.host for lease in leases)
    assert by_host == {"h1.example": 4, "h2.example": 4, "h3.example": 4}


def test_a_batch_is_full_although_the_best_host_is_small(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("a", host="one.example", score=9.0)])
        enqueue(c, [candidate(str(n), host="big.example", score=n / 10) for n in range(30)])
        enqueue(c, [candidate("mid", host="mid.example", score=2.0)])
        leases = take(c, 6, per_host=4)
    assert [lease.score for lease in leases] == [9.0, 2.9, 2.8, 2.7, 2.6, 2.0]


def test_more_hosts_than_a_window_are_all_reached(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("x", host=f"w{n}.example") for n in range(450)])
        seen: set[str] = set()
        while leases := take(c, 64, per_host=2):
            assert not seen & {lease.host for lease in leases}
            seen |= {lease.host for lease in leases}
    assert len(seen) == 450


def test_scope_limits_queue_topic_and_hosts(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1"), candidate("2", host="b.example"),
                  candidate("3", queue=Queue.PAGES)])  # fmt: skip
        some = Scope(Queue.SITE, PACK.name, frozenset({"b.example", "never.example"}))
        assert [lease.host for lease in take(c, scope=some)] == ["b.example"]
        assert frontier.remaining(c, some, now=NOW) == frontier.Remaining(0, 1, None)
        assert [lease.url for lease in take(c)] == ["http://a.example/1"]
        with pytest.raises(StorageError, match="'nothing'"):
            take(c, scope=Scope(Queue.SITE, "nothing"))


def test_what_waits_is_not_leased_before_its_time(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1", score=5.0), candidate("2", score=1.0)])
        first, second = take(c)
        assert frontier.retry(c, first, reason="503", not_before=NOW + 30, max_failures=3, now=NOW)
        assert close(c, second)
        assert take(c, now=NOW + 29) == []
        left = frontier.remaining(c, SITE, now=NOW)
        assert (left.pending, left.leased, left.next_due) == (1, 0, NOW + 30)
        (again,) = take(c, now=NOW + 30)
    assert (again.url_id, again.failures, again.attempt) == (first.url_id, 1, 2)


def test_giving_up_after_the_last_failure(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        for _ in range(3):
            (lease,) = take(c)
            frontier.retry(c, lease, reason="timeout", not_before=0, max_failures=3, now=NOW)
        row = c.execute(text("SELECT state, outcome, reason, failures FROM url")).one()
        assert tuple(row) == (4, Outcome.UNREACHABLE, "timeout", 3)
        assert frontier.remaining(c, SITE, now=NOW) == frontier.Remaining(0, 0, None)


def test_a_second_offer_raises_the_score_and_lessens_the_depth(database: Database) -> None:
    add_topic(database)
    add_topic(database, PACK.__class__("other", "o", "", 0.1, (), (), ()))
    with database.engine.begin() as c:
        assert enqueue(c, [candidate("1", score=1.0, depth=5)]) == 1
        assert enqueue(c, [candidate("1", score=0.5, depth=2), candidate("1", score=3.0)]) == 0
        assert enqueue(c, [candidate("1", score=2.0, depth=9, topic="other")]) == 0
        (lease,) = take(c, scope=Scope(Queue.SITE, "other"))
        assert (lease.score, lease.depth) == (3.0, 0)
        assert counts(c)["url"] == 1


def test_a_crawled_site_keeps_its_pages(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1"), candidate("2", queue=Queue.PAGES)])
        enqueue(c, [candidate("1", queue=Queue.PAGES, score=2.0), candidate("2")])
        assert {lease.url[-1] for lease in take(c)} == {"1", "2"}


def test_done_rows_come_back_only_when_rearmed(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1", payload=payload_from({"a": 1}))])
        (lease,) = take(c)
        enqueue(c, [candidate("1", refetch=True)])  # leased rows are left alone
        assert close(c, lease)
        enqueue(c, [candidate("1", score=8.0)])
        assert take(c) == []
        newer = payload_from({"b": "侨"})
        assert enqueue(c, [candidate("1", refetch=True, score=4.0, payload=newer)]) == 0
        (again,) = take(c)
        assert (again.score, again.payload, again.attempt) == (4.0, newer, 1)


def test_list_pages_are_rearmed_by_age(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("list"), candidate("article")])
        for lease in take(c):
            assert store_page(c, lease, fetched(lease), now=NOW)
            close(c, lease, Outcome.LIST if lease.url.endswith("list") else Outcome.ARTICLE)
        read = fetched(lease).fetched_at.timestamp()
        assert frontier.reschedule_lists(c, SITE, read_before=read, now=NOW) == 0
        assert frontier.reschedule_lists(c, SITE, read_before=read + 1, now=NOW) == 1
        assert [lease.url for lease in take(c)] == ["http://a.example/list"]


def test_offering_three_times_changes_nothing(database: Database) -> None:
    add_topic(database)
    many = [candidate(str(n), score=n / 7, anchor="锚") for n in range(40)]
    with database.engine.begin() as c:
        assert enqueue(c, many) == 40
    # Other connections, which remember nothing, at other times.
    for later in (10.0, 20.0):
        with database.engine.connect() as c, c.begin():
            c.invalidate()
            c.rollback()
        with database.engine.begin() as c:
            before = counts(c)
            assert enqueue(c, many[::-1], now=NOW + later) == 0
            assert counts(c) == before
            assert scalar(c, "SELECT COUNT(DISTINCT discovered_at) FROM url") == 1


def test_a_rolled_back_offer_is_offered_again(database: Database) -> None:
    """What a connection remembers must not outlive a rollback."""
    add_topic(database)
    with database.engine.connect() as c:
        with c.begin() as transaction:
            enqueue(c, [candidate("1", host="new.example")])
            transaction.rollback()
        with c.begin():
            assert enqueue(c, [candidate("1", host="new.example")]) == 1
            assert len(take(c)) == 1


def test_every_write_of_a_lost_lease_is_refused(database: Database) -> None:
    """A worker that was away while its row went to another changes nothing (F-Q2)."""
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (zombie,) = take(c, token=7)
        recovery = frontier.recover(c, SITE, now=NOW + 61, all_dead=False)
        assert recovery == frontier.Recovery(requeued=1, resumed=0, set_aside=0)
        (owner,) = take(c, token=8, now=NOW + 61)
        assert not frontier.is_mine(c, zombie)
        assert frontier.is_mine(c, owner)
        assert not close(c, zombie)
        assert store_page(c, zombie, fetched(zombie), now=NOW) is None
        assert not frontier.retry(c, zombie, reason="", not_before=0, max_failures=3, now=NOW)
        assert frontier.release(c, [zombie], now=NOW) == 0
        assert frontier.renew(c, 7, [zombie.url_id], lease_seconds=60, now=NOW) == 0
        assert close(c, owner)
        assert counts(c)["page_source"] == 0


def test_a_recovered_lease_is_refused_even_before_somebody_else_has_it(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (zombie,) = take(c)
        frontier.recover(c, SITE, now=NOW, all_dead=True)
        assert not close(c, zombie)
        assert not frontier.retry(c, zombie, reason="", not_before=0, max_failures=3, now=NOW)


def test_closing_and_retrying_may_be_replayed(database: Database) -> None:
    """A commit may arrive although its answer did not; the replay must not say "lost"."""
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1"), candidate("2")])
        one, two = take(c)
        for _ in range(3):
            assert close(c, one)
            assert frontier.retry(c, two, reason="x", not_before=0, max_failures=2, now=NOW)
        assert not close(c, one, Outcome.DEAD)
        assert scalar(c, "SELECT SUM(failures) FROM url") == 1


def test_what_was_committed_once_is_not_written_twice(database: Database) -> None:
    """The answer to a commit got lost: the same operations are played again."""
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1"), candidate("2")])
        one, two = take(c)
    written: list[str] = []
    closes = CompleteLease(one, LeaseEnd(Outcome.LIST), lambda c: written.append("page"))
    tries = retry_lease(two, "503", 30.0, 3, lambda c: written.append("error"))
    for _ in range(2):
        with database.engine.begin() as c:
            assert closes(c)
            assert tries(c)
    assert written == ["page", "error"]


def test_a_clock_that_was_set_back_makes_nobody_wait_for_the_dead(database: Database) -> None:
    """F-X2: who is alive renews, who is not loses the rows after one lease."""
    add_topic(database)
    ahead = NOW + 10 * 86_400
    with database.engine.begin() as c:
        enqueue(c, [candidate("1"), candidate("2")])
        (alive,) = take(c, 1, token=7, now=ahead)
        take(c, 1, token=8, now=ahead)
        for now, requeued in ((NOW, 0), (NOW + 59, 0), (NOW + 61, 1)):
            frontier.renew(c, 7, [alive.url_id], lease_seconds=60, now=now)
            found = frontier.recover(c, SITE, now=now, all_dead=False, lease_seconds=60)
            assert found.requeued == requeued
        assert close(c, alive)
        assert len(take(c, token=9, now=NOW + 61)) == 1


def test_renewing_keeps_leases_alive(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1"), candidate("2")])
        (mine,) = take(c, 1, token=5)
        take(c, 1, token=6)
        both = [1, 2]
        assert mine.url_id in both
        assert frontier.renew(c, 5, both, lease_seconds=60, now=NOW + 50) == 1
        assert frontier.renew(c, 5, [], lease_seconds=60, now=NOW + 50) == 0
        assert frontier.recover(c, SITE, now=NOW + 100, all_dead=False).requeued == 1
        (again,) = take(c, token=9, now=NOW + 100)
        assert again.attempt == 2


def test_released_leases_cost_nothing(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1"), candidate("2")])
        leases = take(c)
        store_page(c, leases[0], fetched(leases[0]), now=NOW)
        assert frontier.release(c, leases, now=NOW) == 2
        assert scalar(c, "SELECT SUM(attempts) + SUM(crashes) FROM url") == 0
        stored, plain = take(c, token=2)
        assert (stored.url_id, stored.stored) == (leases[0].url_id, True)
        assert not plain.stored


def test_a_page_that_kills_its_worker_is_set_aside_after_three_tries_alone(
    database: Database,
) -> None:
    """F-F8: the first death only makes it a suspect; those under the mark count."""
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (lease,) = take(c)
        assert not lease.crashes
        assert store_page(c, lease, fetched(lease), now=NOW)
        for _ in range(3):
            recovery = frontier.recover(c, SITE, now=NOW, all_dead=True)
            assert (recovery.resumed, recovery.set_aside) == (1, 0)
            (lease,) = take(c, busy_hosts={"a.example"})
            assert lease.stored
            assert lease.crashes
            frontier.mark(c, lease)
        recovery = frontier.recover(c, SITE, now=NOW, all_dead=True)
        assert (recovery.resumed, recovery.set_aside) == (0, 1)
        assert take(c) == []
        row = c.execute(text("SELECT state, outcome, crashes FROM url")).one()
        assert tuple(row) == (5, Outcome.POISON, 4)
        enqueue(c, [candidate("1", refetch=True)])
        assert take(c) == []


@pytest.mark.parametrize("stored", [False, True])
def test_deaths_of_workers_that_only_had_the_page_prove_nothing(
    database: Database, stored: bool
) -> None:
    """Thirty kills shortly after opening must not cost a crawl its start page."""
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        for _ in range(2 * frontier.MAX_ATTEMPTS):
            (lease,) = take(c)
            if stored and not lease.stored:
                store_page(c, lease, fetched(lease), now=NOW)
            assert frontier.recover(c, SITE, now=NOW, all_dead=True).set_aside == 0
        (lease,) = take(c)
        assert lease.crashes == 1, "a suspect, and no more"
        assert close(c, lease)


def test_a_mark_that_is_taken_away_counts_nothing(database: Database) -> None:
    """Given back, tried again, unmarked: whoever does so has outlived the page."""
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (lease,) = take(c)
        store_page(c, lease, fetched(lease), now=NOW)
        frontier.recover(c, SITE, now=NOW, all_dead=True)
        for _ in range(5):
            (lease,) = take(c)
            frontier.mark(c, lease)
            frontier.mark(c, lease)  # a commit may be replayed
            frontier.release(c, [lease], now=NOW)
        (lease,) = take(c)
        frontier.mark(c, lease)
        frontier.unmark(c, lease)
        frontier.recover(c, SITE, now=NOW, all_dead=True)
        (lease,) = take(c)
        frontier.mark(c, lease)
        frontier.retry(c, lease, reason="x", not_before=0, max_failures=9, now=NOW)
        (lease,) = take(c)
        assert lease.crashes == 1


def test_a_lost_lease_marks_nothing(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (zombie,) = take(c)
        frontier.recover(c, SITE, now=NOW, all_dead=True)
        take(c, token=2)
        frontier.mark(c, zombie)
        assert scalar(c, "SELECT crashes FROM url") == 0


def test_an_expired_stored_page_is_taken_without_recovery_as_a_suspect(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (lease,) = take(c)
        store_page(c, lease, fetched(lease), now=NOW)
        assert take(c, token=2, now=NOW + 59) == []
        (again,) = take(c, token=2, now=NOW + 60)
        assert again.stored
        assert again.crashes == 1


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, 1e300])
def test_odd_scores_are_ordered(database: Database, score: float) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("odd", score=score), candidate("1", score=1.0)])
        first = take(c)[0].url.rsplit("/", 1)[1]
    assert first == ("odd" if score > 1 else "1")


def test_an_over_long_url_is_kept_but_not_fetched(database: Database) -> None:
    add_topic(database)
    long = candidate("x" * MAX_URL_CHARS)
    fits = candidate("y" * 8000)
    with database.engine.begin() as c:
        assert enqueue(c, [long, fits]) == 2
        assert [lease.url for lease in take(c)] == [fits.url]
        outcome = c.execute(text("SELECT outcome FROM url WHERE state = 5")).scalar_one()
    assert outcome == Outcome.REFUSED


def test_keys_are_bytes_not_collated_text(database: Database) -> None:
    """F-D6: case, trailing space, accents and emoji make different URLs."""
    add_topic(database)
    paths = ["A", "a", "p", "p ", "😀", "😁", "é", "e", "e\u0301", "%C3%A9"]
    with database.engine.begin() as c:
        assert enqueue(c, [candidate(path) for path in paths]) == len(paths)
        assert {lease.url.rsplit("/", 1)[1] for lease in take(c, 20)} == set(paths)


def test_payload_and_anchor_come_back(database: Database) -> None:
    add_topic(database)
    payload = {"engine": "sogou", "页": [1, None, {"😀": "𠮷"}], "nul": "\0", "lone": "\ud83d"}
    with database.engine.begin() as c:
        anchor = "锚\0\udfff" + "长" * 900
        enqueue(c, [candidate("1", payload=payload_from(payload), anchor=anchor)])
        (lease,) = take(c)
    assert payload_keys(lease.payload) == {**payload, "nul": "\ufffd", "lone": "\ufffd"}
    assert lease.anchor.startswith("锚\ufffd\ufffd长")
    assert len(lease.anchor) == 500


def test_offering_for_an_unknown_topic_is_an_error(database: Database) -> None:
    with database.engine.begin() as c, pytest.raises(StorageError, match="'qiaoqing'"):
        enqueue(c, [candidate("1")])
