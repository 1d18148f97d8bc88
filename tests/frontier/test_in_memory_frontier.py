"""The order in memory beside what is committed and in hand; what is new in the log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from learning_samples import SITE, AnchorYield, link, visit
from qiaocrawl.frontier import in_memory_frontier as keeping
from qiaocrawl.frontier.in_memory_frontier import Chosen, InMemoryFrontier
from qiaocrawl.frontier.order_feed import LOOK_BACK_SECONDS, VisitReader
from qiaocrawl.items import SEED_SCORE, Candidate, LeftOut, Link, Outcome, Payload, Queue
from qiaocrawl.runtime.follow_links import seed_candidate
from qiaocrawl.storage.frontier.visit_log import PendingUrl


@pytest.fixture
def front() -> InMemoryFrontier:
    return InMemoryFrontier(AnchorYield(), lambda host: host.endswith("a.test"))


@pytest.fixture(autouse=True)
def _scored_anew_with_every_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "REST", 0.0)


def choose(front: InMemoryFrontier, limit: int = 10, *, per_host: int = 10, now: float = 0.0,
           busy: Iterable[str] = ()) -> list[str]:  # fmt: skip
    found: Chosen = front.choose(limit, per_host=per_host, busy_hosts=frozenset(busy), now=now)
    names = {link(str(n), host=host).key: f"{n}" for n in range(20) for host in (SITE, "b.a.test")}
    return [names.get(one.key, "?") for one in found.choices]


def row(number: int, score: float = 0.0, host: str = SITE) -> PendingUrl:
    one = link(str(number), host=host)
    return PendingUrl(number, one.key, one.url, host, 1, score, "")


def candidate(one: Link, **fields: object) -> Candidate:
    return Candidate(one.url, one.key, one.host, Queue.SITE, "t", **fields)  # type: ignore[arg-type]


def test_what_a_page_brought_is_not_chosen_before_it_is_committed(front: InMemoryFrontier) -> None:
    page = visit("0", link("1", "a"), link("2", "b"))
    front.visit(page)
    front.hold(page.key, [link("1").key], [candidate(link("3"), score=0.4)])
    assert choose(front) == ["2"], "the row of 2 was there before"
    front.note_stored(page.key)
    front.note_closed(page.key)
    assert choose(front) == ["1", "3"]
    assert choose(front) == []


def test_a_worker_with_a_share_of_the_hosts_chooses_among_those(front: InMemoryFrontier) -> None:
    theirs = "b.a.test"
    page = visit("0", link("1", "a"), link("2", "b", host=theirs), link("3", "c", host=theirs))
    front.visit(page)

    def chosen(own: frozenset[str], busy: frozenset[str] = frozenset()) -> int:
        return len(front.choose(9, per_host=9, busy_hosts=busy, now=0.0, own_hosts=own).choices)

    assert chosen(frozenset()) == 0
    assert chosen(frozenset({SITE, theirs}), frozenset({SITE, theirs})) == 0
    assert chosen(frozenset({theirs})) == 2
    assert chosen(frozenset({SITE})) == 1


def test_what_a_refused_page_brought_waits_when_it_is_brought_again(
    front: InMemoryFrontier,
) -> None:
    page = visit("0", link("1", "a"), link("2", "b"))
    for key in (page.key, link("9").key):
        front.visit(replace(page, key=key))
        front.hold(key, [link("1").key, link("2").key], [candidate(link("3"), score=0.4)])
        front.note_closed(key)
        assert choose(front) == [], "nothing of it has a row"
    front.visit(page)
    front.hold(page.key, [link("1").key, link("2").key], [candidate(link("3"), score=0.4)])
    front.note_stored(page.key)
    front.note_closed(page.key)
    assert choose(front) == ["1", "2", "3"]


def test_the_best_hosts_share_a_choice_and_a_busy_one_is_passed(front: InMemoryFrontier) -> None:
    front.visit(visit("good", link("x", "a")))
    front.visit(visit("x", relevance=0.9))
    front.visit(visit("0", *(link(str(n), "a") for n in range(1, 5)),
                       *(link(str(n), host="b.a.test") for n in range(5, 9))))  # fmt: skip
    found = front.choose(3, per_host=2, busy_hosts=(), now=0.0)
    assert [one.score for one in found.choices] == [0.9, 0.9, 0.5]
    assert [(one.place, one.waiting) for one in found.choices] == [(1, 8), (1, 8), (5, 8)]
    assert found.choices[0].parts == {"yield of anchor": 0.9}
    assert choose(front, busy=["b.a.test"]) == ["3", "4"]
    assert choose(front, 2) == ["6", "7"]


def test_what_comes_back_waits_again_when_its_time_has_come(front: InMemoryFrontier) -> None:
    front.visit(visit("0", *(link(str(n)) for n in range(1, 5))))
    assert choose(front) == ["1", "2", "3", "4"]
    front.note_unleased({link("1").key: 50.0}, [link("2").key])
    front.wait_until(link("3").key, 0.0)
    assert choose(front, now=40.0) == ["3"]
    assert choose(front, now=60.0) == ["1"]


def test_waiting_rows_and_the_order_agree_in_the_end(front: InMemoryFrontier) -> None:
    front.visit(visit("0", *(link(str(n)) for n in range(1, 5))))
    (in_hand,) = choose(front, 1)
    front.begin_reading()
    # 2 waits, 3 and 4 do not; 7 comes from elsewhere, 8 is out of bounds, 0 was let wait again.
    rows = [row(0), row(2), row(7), row(8, host="www.b.test"), row(int(in_hand))]
    assert front.found_waiting(rows)
    late = visit("9", link("10"))
    front.visit(late)
    front.hold(late.key, [link("10").key])
    front.note_stored(late.key)
    front.end_reading(complete=True)
    assert sorted(choose(front)) == ["0", "10", "2", "7"]


def test_no_more_rows_are_taken_than_there_is_room_for(
    front: InMemoryFrontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "MAX_WAITING", 3)
    front.visit(visit("0", link("1")))
    front.begin_reading()
    assert not front.found_waiting([row(n) for n in range(2, 9)])
    front.end_reading(complete=False)
    assert choose(front) == ["1", "2", "3"], "what was known before stays"


def test_start_pages_come_first_also_the_second_time(front: InMemoryFrontier) -> None:
    front.visit(visit("1", link("2", "a")))
    start = seed_candidate(link("1").url, Queue.SITE, "t", refetch=True)
    front.note_enqueued([start])
    found = front.choose(5, per_host=5, busy_hosts=(), now=0.0)
    assert [one.score for one in found.choices] == [SEED_SCORE, 0.5]
    front.note_enqueued([start])
    assert choose(front) == [], "it is in hand"


def test_a_pruned_link_waits_when_a_better_one_leads_there(front: InMemoryFrontier) -> None:
    assert front.visit(visit("0", link("1", "never")))[0] == -float("inf")
    assert choose(front) == []
    front.visit(visit("2", link("1", "a")))
    assert choose(front) == ["1"]


def test_what_was_put_off_waits_when_it_is_taken_up(front: InMemoryFrontier) -> None:
    front.visit(visit("0", link("1", "a")))
    put_off = candidate(link("2"), left_out=LeftOut(Outcome.POSTPONED, "a pager"))
    front.hold(link("0").key, [], [put_off])
    front.note_closed(link("0").key)
    assert choose(front) == ["1"]
    again = candidate(link("2"), score=0.3, payload=Payload(taken_up="a pager"))
    front.note_enqueued([again])
    assert choose(front) == ["2"]
    front.note_enqueued([again])
    assert choose(front) == [], "it is in hand"
    front.note_closed(link("2").key)
    front.note_enqueued([again])
    assert choose(front) == ["2"], "put off once more and taken up once more"


def test_rows_that_come_to_light_late_are_read_once() -> None:
    reader = VisitReader(token=7, start=10)
    for _ in range(2):
        assert reader.unread_numbers([(11, 1), (13, 2), (14, 7)], now=0.0) == [11, 13], (
            "not taken in yet"
        )
    reader.have_read([11, 13], now=0.0)
    assert reader.unread_numbers([(11, 1), (12, 1), (13, 2), (14, 7)], now=5.0) == [12]
    reader.have_read([12], now=5.0)
    reader.forget_old(now=6.0)
    assert (reader.floor, reader.newest) == (10, 14)
    assert reader.unread_numbers([(15, 1)], now=100.0) == [15]
    reader.have_read([15], now=100.0)
    reader.forget_old(now=LOOK_BACK_SECONDS + 4.0)
    assert reader.floor == 14, "all but the last are old"
    assert reader.unread_numbers([(9, 1), (14, 7), (15, 1), (16, 1)], now=200.0) == [16]


def test_what_a_redirect_leads_to_is_judged_by_the_links_that_led_there(
    front: InMemoryFrontier,
) -> None:
    front.visit(visit("0", link("1", "a"), link("2", "a")))
    assert choose(front, 1) == ["1"]
    target = link("3")
    front.note_closed(link("1").key)
    front.note_enqueued([candidate(target, parent=link("1").key, payload=Payload(hops=1))])
    assert choose(front, 1) == ["3"], "it has the place of what redirects there"
    front.visit(visit("3", relevance=0.75))
    front.visit(visit("4", link("5", "a")))
    assert front.score_of(link("5").key) == 0.75

    told_again = InMemoryFrontier(AnchorYield(), lambda host: True)
    told_again.visit(visit("0", link("1", "a"), link("2", "a")))
    told_again.visit(visit("3", relevance=0.75), via=link("1").key)
    assert choose(told_again, 1) == ["2"]
    assert told_again.score_of(link("2").key) == 0.75
    assert choose(told_again) == []
