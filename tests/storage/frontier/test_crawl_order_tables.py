"""What the crawl order keeps: chosen leases, pruned URLs, visits, decisions, models."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from sqlalchemy import text

from fresh_schema import make_tables
from qiaocrawl.errors import ModelError
from qiaocrawl.items import Lease, LeftOut, Link, Outcome, Queue, Visit
from qiaocrawl.reading.summary import outcomes, queue_progress
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.frontier import visit_log
from qiaocrawl.storage.frontier.lease import Decision, decision_of, save_decisions
from qiaocrawl.storage.frontier.scope import Scope
from qiaocrawl.storage.frontier.visit_log import ModelName
from qiaocrawl.urls import host_of
from qiaocrawl.urls import url_key as real_key
from storage_samples import (
    NOW,
    PACK,
    SITE,
    add_topic,
    candidate,
    close,
    enqueue,
    scalar,
    take,
    url_key,
)


def key_of(path: str, host: str = "a.example") -> bytes:
    return url_key(f"http://{host}/{path}")


def chosen(
    c: object, scores: dict[bytes, float], token: int = 1, scope: Scope = SITE, now: float = NOW
) -> frontier.KeyLeases:
    return frontier.lease_keys(
        c,
        scope,
        scores,
        token=token,
        lease_seconds=60.0,
        now=now,  # type: ignore[arg-type]
    )


# --- leasing what an order chose -------------------------------------------------------------


def test_exactly_the_chosen_rows_are_leased_in_their_order(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate(str(n), score=float(n)) for n in range(6)])
        enqueue(c, [candidate("other", queue=Queue.PAGES)])
        assert [one.url[-1] for one in take(c, 1)] == ["5"]
        retried = take(c, 1)[0]
        frontier.retry(c, retried, reason="", not_before=NOW + 9, max_failures=3, now=NOW)
        scores = {
            key_of("1"): 0.9,
            key_of("5"): 0.8,
            key_of("4"): 0.7,
            key_of("3"): 0.6,
            key_of("other"): 0.5,
            key_of("never offered"): 0.4,
        }
        found = chosen(c, scores)
        assert [(one.url[-1], one.score) for one in found.leases] == [("1", 0.9), ("3", 0.6)]
        assert found.later == {key_of("4"): NOW + 9}
        assert found.gone == {key_of("5"), key_of("other"), key_of("never offered")}
        assert scalar(c, "SELECT score FROM url WHERE id = :id", id=found.leases[0].url_id) == 0.9
        assert close(c, found.leases[0])
        assert {one.url[-1] for one in take(c)} == {"2", "0"}


def test_only_stored_pages_of_dead_workers_are_taken_over(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("stored"), candidate("waits")])
        c.execute(text("UPDATE url SET state = 2 WHERE url LIKE '%stored'"))
        found = frontier.lease_stored(c, SITE, token=3, lease_seconds=60.0, now=NOW, limit=10)
        assert [(one.url[-6:], one.stored) for one in found] == [("stored", True)]


def test_hosts_out_of_scope_are_left_waiting(database: Database) -> None:
    add_topic(database)
    here = Scope(Queue.SITE, PACK.name, frozenset({"a.example"}))
    with database.engine.begin() as c:
        enqueue(c, [candidate("x"), candidate("x", host="b.example")])
        found = chosen(c, {key_of("x", "b.example"): 2.0, key_of("x"): 1.0}, scope=here)
        assert [one.host for one in found.leases] == ["a.example"]
        assert list(found.later) == [key_of("x", "b.example")]


def test_a_row_in_anothers_hand_is_not_waited_for_nor_given_up(mariadb_url: str) -> None:
    with Database.open(mariadb_url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            enqueue(c, [candidate("1"), candidate("2")])
        with database.engine.begin() as busy, database.engine.begin() as c:
            assert len(chosen(busy, {key_of("1"): 1.0}, token=8).leases) == 1
            found = chosen(c, {key_of("1"): 1.0, key_of("2"): 0.5}, token=9)
            assert [one.url[-1] for one in found.leases] == ["2"]
            assert found.later == {key_of("1"): NOW}
        with database.engine.begin() as c:
            assert chosen(c, {key_of("1"): 1.0}, token=9).gone == {key_of("1")}


# --- pruned ---------------------------------------------------------------------------------------


def test_what_is_pruned_is_kept_closed_until_a_better_link_comes(database: Database) -> None:
    add_topic(database)
    why = LeftOut(Outcome.PRUNED, "rw: similarity 0.1 below 0.3")
    left = candidate("1", score=-math.inf, left_out=why)
    with database.engine.begin() as c:
        assert enqueue(c, [left, candidate("2")]) == 2
        assert [one.url[-1] for one in take(c)] == ["2"]
        row = c.execute(text("SELECT state, outcome, reason FROM url WHERE url LIKE '%1'")).one()
        assert tuple(row) == (3, "pruned", "rw: similarity 0.1 below 0.3")
        assert outcomes(c, PACK.name) == {"pruned": 1, "waiting": 1}
        assert queue_progress(c, "site").known == 1, "what is left out is no work"
        assert enqueue(c, [left]) == 0
        assert frontier.remaining(c, SITE, now=NOW).pending == 0
        assert enqueue(c, [candidate("1", score=0.4, depth=7, parent=b"p" * 16)]) == 0
        (again,) = take(c)
        assert (again.score, again.depth) == (0.4, 7)
        assert scalar(c, "SELECT parent_key FROM url WHERE id = :id", id=again.url_id) == b"p" * 16
        enqueue(c, [left])
        assert close(c, again)
        enqueue(c, [left, candidate("1", score=9.0)])
        assert take(c) == [], "fetched is fetched"


def test_of_two_links_the_one_that_is_not_pruned_counts(database: Database) -> None:
    add_topic(database)
    left = candidate("1", score=-math.inf, left_out=LeftOut(Outcome.PRUNED, "left out"))
    with database.engine.begin() as c:
        enqueue(c, [left, candidate("1", score=0.2), left])
        (one,) = take(c)
        assert one.score == 0.2
        enqueue(c, [left])  # in hand: nothing changes
        assert close(c, one, Outcome.LIST)


# --- the waiting rows -----------------------------------------------------------------------------


def test_waiting_rows_are_read_in_batches_and_keep_new_scores(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate(str(n), score=float(n), anchor="锚") for n in range(5)])
        first = take(c, 1)[0]
        page = visit_log.waiting_after(c, SITE, 0, 3)
        rest = visit_log.waiting_after(c, SITE, page[-1].id, 3)
        assert sorted(one.url[-1] for one in [*page, *rest]) == ["0", "1", "2", "3"]
        assert page[0].anchor == "锚"
        visit_log.keep_scores(c, SITE, [(key_of("1"), 8.0), (first.key, 9.0)])
        (best,) = take(c, 1)
        assert (best.url[-1], best.score) == ("1", 8.0)
        three = next(one for one in [*page, *rest] if one.url.endswith("2"))
        assert visit_log.place_of(c, SITE, three.id, 2.0) == (2, 3)


# --- the log of visits ----------------------------------------------------------------------------


def visit_of(lease: Lease, *links: Link) -> Visit:
    return Visit(lease.key, lease.url, lease.host, 2, 0.75, True, NOW + 0.125, links)


def link(url: str, **fields: object) -> Link:
    return Link(url, real_key(url), host_of(url), **fields)  # type: ignore[arg-type]


def test_visits_come_back_as_they_were_and_once(database: Database) -> None:
    add_topic(database)
    links = (
        link(
            "http://a.example/侨?x=1",
            anchor="侨\U00020bb7",
            context="…",
            title="t",
            nofollow=True,
            region="li ul.nav",
        ),
        link("http://b.example/", tag="area"),
    )
    with database.engine.begin() as c:
        enqueue(c, [candidate("1"), candidate("2"), candidate("3", queue=Queue.PAGES)])
        for lease in [*take(c), *take(c, scope=Scope(Queue.PAGES, PACK.name))]:
            for _ in range(2):  # a transaction that is played again
                visit_log.append_visit(
                    c, lease, visit_of(lease, *links), visit_log.pack_links(links)
                )
        heads = visit_log.visit_heads_since(c, SITE, 0, 10)
        assert [token for _, token in heads] == [1, 1]
        seqs = [seq for seq, _ in heads]
        one, two = visit_log.load_visits(c, seqs[::-1])
        assert [one.seq, two.seq] == seqs
        assert one.visit() == replace(visit_of(lease, *links), key=one.page.key, url=one.page.url)
        assert [x.host for x in two.visit(lambda host: host == "b.example").links] == ["b.example"]
        assert visit_log.start_of_newest_visits(c, SITE, 1) == seqs[0]
        assert visit_log.start_of_newest_visits(c, SITE, 9) == 0
        assert visit_log.visit_heads_since(c, SITE, seqs[0], 10) == [(seqs[1], 1)]
        last = visit_log.last_visit_of(c, lease.url_id)
        assert last is not None
        assert last.page.relevance == 0.75
        assert visit_log.last_visit_of(c, 99) is None


@pytest.mark.parametrize("packed", [b"", b"junk", visit_log.pack_links(())[:-2]])
def test_damaged_links_are_none(packed: bytes) -> None:
    assert visit_log.unpack_links(packed) == ()


# --- decisions and models -------------------------------------------------------------------------


def test_the_last_decision_stands(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1")])
        (lease,) = take(c)
        decision = Decision("adaptive", 0.5, NOW, 1, 30, {"锚 anchor": 0.25, "bound": -math.inf})
        save_decisions(c, [(lease.url_id, Decision("bfs", math.inf, NOW - 1))])
        assert decision_of(c, lease.url_id) == Decision("bfs", 1e300, NOW - 1)
        save_decisions(c, [(lease.url_id, decision)])
        assert decision_of(c, lease.url_id) == decision
        assert decision_of(c, 99) is None


def test_the_newest_models_are_kept_and_damage_is_noticed(database: Database) -> None:
    add_topic(database)
    site, topic = ModelName(PACK.name, "s", "a.example"), ModelName(PACK.name, "s")
    with database.engine.begin() as c:
        for pages in range(1, 6):
            visit_log.save_model(c, site, b"model %d" % pages, pages=pages, upto=7, now=NOW)
        visit_log.save_model(c, topic, b"whole", pages=9, upto=8, now=NOW)
        found = visit_log.stored_models(c, site)
        assert [one.unpack() for one in found] == [b"model 5", b"model 4", b"model 3", b"whole"]
        assert (found[0].pages, found[0].upto, found[0].host) == (5, 7, "a.example")
        assert [one.unpack() for one in visit_log.stored_models(c, topic)] == [b"whole"]
        assert visit_log.stored_models(c, ModelName(PACK.name, "other")) == []
        for damaged in (
            replace(found[0], packed=b"junk"),
            replace(found[0], digest=b"0" * 16),
            replace(found[0], format=9),
        ):
            with pytest.raises(ModelError, match="version"):
                damaged.unpack()
