"""Which hosts may be asked now, and which of the leases in hand comes first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.frontier.host_slots import FOREVER, Fetches, HostUse, Limits, ReadyLeases
from qiaocrawl.items import Lease, Queue


def lease(number: int, host: str = "a", score: float = 0.0) -> Lease:
    return Lease(number, 7, 1, f"http://{host}/{number}", bytes([number] * 16), host, Queue.SITE,
                 "t", score, 1, 0)  # fmt: skip


def everywhere(host: str) -> bool:
    return True


def taken(ready: ReadyLeases) -> list[int]:
    """All leases in the order they are handed out."""
    numbers = []
    while (one := ready.next(everywhere)) is not None:
        numbers.append(one.url_id)
    return numbers


def test_the_best_lease_of_the_hosts_that_are_free_comes_first() -> None:
    ready = ReadyLeases()
    ready.add([lease(1, "a", 5.0), lease(2, "a", 3.0), lease(3, "b", 4.0)])
    assert taken(ready) == [1, 3, 2]
    ready.add([lease(1, "a", 5.0), lease(3, "b", 4.0)])
    found = ready.next(lambda host: host == "b")
    assert found is not None
    assert found.url_id == 3
    assert ready.next(lambda host: False) is None


def test_leases_of_a_host_are_handed_out_in_the_order_they_came_in() -> None:
    ready = ReadyLeases()
    ready.add([lease(1, score=1.0), lease(2, score=9.0)])
    assert taken(ready) == [1, 2]


def test_where_scores_change_the_present_score_of_every_lease_counts() -> None:
    scores = {1: 0.1, 2: 0.9}
    ready = ReadyLeases(lambda one: scores[one.url_id])
    ready.add([lease(1), lease(2)])
    assert taken(ready) == [2, 1]
    ready.add([lease(1), lease(2)])
    scores[1] = 1.0
    assert taken(ready) == [1, 2]


def test_the_leases_of_a_host_can_be_taken_together() -> None:
    ready = ReadyLeases()
    ready.add([lease(1, "a"), lease(2, "b"), lease(3, "a")])
    assert [one.url_id for one in ready.take_host("a")] == [1, 3]
    assert ready.take_host("a") == []
    assert (len(ready), [one.url_id for one in ready.all()]) == (1, [2])


def test_hosts_that_hold_enough_leases_are_named() -> None:
    ready = ReadyLeases()
    ready.add([lease(1, "a"), lease(2, "a"), lease(3, "b")])
    assert ready.hosts_with(2) == {"a"}
    assert ready.hosts_with(1) == {"a", "b"}


leases = st.lists(st.tuples(st.sampled_from("abc"), st.floats(-9, 9)), max_size=12)


@given(leases)
def test_every_lease_is_handed_out_once(rows: list[tuple[str, float]]) -> None:
    ready = ReadyLeases()
    ready.add(lease(number, host, score) for number, (host, score) in enumerate(rows))
    assert sorted(taken(ready)) == list(range(len(rows)))
    assert len(ready) == 0


# --- hosts -------------------------------------------------------------------------------------


def hosts(per_host: int = 2, at_once: int = 8, **limits: int) -> HostUse:
    return HostUse(Fetches(per_host, at_once), Limits(**limits))


def test_a_host_that_has_not_answered_gets_one_request_at_a_time() -> None:
    use = hosts(per_host=2)
    use.begin("a")
    assert not use.is_free("a")
    use.note_answer("a")
    assert use.is_free("a")
    use.begin("a")
    assert not use.is_free("a"), "two at most"
    use.end("a")
    assert use.is_free("a")


def test_hosts_that_never_answer_leave_room_for_others() -> None:
    use = hosts(at_once=8)
    for host in "abc":
        assert use.is_free(host)
        use.begin(host)
    assert not use.is_free("d"), "three eighths of eight"
    use.note_answer("a")
    assert use.is_free("d")


def test_one_unknown_host_is_asked_however_few_fetches_there_are() -> None:
    assert hosts(at_once=1).is_free("a")


def test_a_longer_pause_is_not_cut_by_a_shorter_one() -> None:
    use = hosts()
    use.park("a", 3_600.0)
    use.park("a", 1.0)
    assert use.next_rest is not None
    host, seconds = use.next_rest
    assert (host, use.is_free("a")) == ("a", False)
    assert seconds > 3_500


def test_of_hosts_that_rest_the_one_whose_rest_ends_first_is_told() -> None:
    use = hosts()
    for host, seconds in (("a", 90.0), ("b", 60.0), ("c", FOREVER)):
        use.park(host, seconds)
    assert use.next_rest is not None
    assert use.next_rest[0] == "b"
    assert use.parked_hosts == {"a", "b"}
    assert use.given_up == {"c"}


def test_a_pause_that_is_over_is_forgotten() -> None:
    use = hosts()
    use.park("a", 0.0)
    assert use.is_free("a")
    assert (use.parked_hosts, use.next_rest) == (set(), None)


def test_a_host_at_its_limit_of_pages_is_spent() -> None:
    use = hosts(pages_per_host=2)
    for _ in range(2):
        assert "a" not in use.spent
        use.begin("a")
        use.end("a")
    assert use.spent == {"a"}
    assert use.why_spent == "limit_pages_per_host"
    assert use.pages == 2


def test_pages_of_earlier_runs_count_where_the_limits_say_so() -> None:
    use = HostUse(Fetches(1, 8), Limits(pages_per_host=3, spent={"a": 3, "b": 1}))
    assert (use.spent, use.pages) == ({"a"}, 4)


def test_whether_anything_is_under_way() -> None:
    use = hosts()
    assert not use.is_asking
    use.begin("a")
    assert use.is_asking
    use.end("a")
    assert not use.is_asking


@pytest.mark.parametrize(
    ("pages", "seconds", "reason"),
    [
        (9, 59.9, ""),
        (10, 0.0, "limit_pages"),
        (9, 60.0, "limit_seconds"),
        (99, 99.0, "limit_pages"),
    ],
)
def test_why_a_run_stops_on_its_own(pages: int, seconds: float, reason: str) -> None:
    assert Limits(pages=10, seconds=60.0).why_reached(pages, seconds) == reason
    assert Limits().why_reached(pages, seconds) == ""


@given(st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=30), st.integers(1, 4))
def test_no_host_gets_more_requests_at_a_time_than_it_may(
    steps: list[tuple[str, bool]], per_host: int
) -> None:
    use, under_way, answered = hosts(per_host, 100), {"a": 0, "b": 0}, set[str]()
    for host, begins in steps:
        if begins and use.is_free(host):
            use.begin(host)
            under_way[host] += 1
            assert under_way[host] <= (per_host if host in answered else 1)
        elif not begins and under_way[host]:
            use.note_answer(host)
            answered.add(host)
            use.end(host)
            under_way[host] -= 1
    assert use.is_asking is any(under_way.values())
