"""Which of the leases in hand comes next, and which hosts may be asked."""

from __future__ import annotations

from qiaocrawl.frontier.host_slots import Fetches, HostUse, Limits, ReadyLeases
from qiaocrawl.items import Lease, Queue


def lease(number: int, host: str, score: float) -> Lease:
    return Lease(number, 1, 1, f"http://{host}/{number}", b"%16d" % number, host, Queue.SITE, "t",
                 score, 0, 0)  # fmt: skip


LEASES = [lease(1, "a", 5.0), lease(2, "a", 9.0), lease(3, "b", 7.0), lease(4, "c", 8.0)]


def handed_out(ready: ReadyLeases, *busy: str) -> list[int]:
    found = []
    while (one := ready.next(lambda host: host not in busy)) is not None:
        found.append(one.url_id)
    return found


def test_leases_of_one_host_keep_their_order_where_scores_stay() -> None:
    ready = ReadyLeases()
    ready.add(LEASES)
    assert ready.hosts_with(2) == {"a"}
    assert handed_out(ready, "c") == [3, 1, 2]
    assert [one.url_id for one in ready.all()] == [4]
    assert len(ready) == 1


def test_present_scores_decide_where_they_change() -> None:
    now = {1: 0.1, 2: 0.9, 3: 0.8, 4: 0.2}
    ready = ReadyLeases(lambda one: now[one.url_id])
    ready.add(LEASES)
    now[1] = 0.85
    assert handed_out(ready, "c") == [2, 1, 3]
    assert [one.url_id for one in ready.take_host("c")] == [4]
    assert len(ready) == 0


def test_hosts_are_busy_parked_or_spent() -> None:
    hosts = HostUse(Fetches(2, 8), Limits(pages_per_host=3))
    hosts.note_answer("a")
    for _ in range(2):
        assert hosts.is_free("a")
        hosts.begin("a")
    assert not hosts.is_free("a")
    hosts.end("a")
    assert hosts.is_free("a")
    hosts.begin("a")
    assert (hosts.spent, hosts.pages) == ({"a"}, 3)
    hosts.park("b", 60.0)
    hosts.park("b", 1.0)
    hosts.park("c", -1.0)
    assert hosts.parked_hosts == {"b"}
    assert not hosts.is_free("b")
    assert hosts.is_free("c")


def test_hosts_that_have_not_answered_never_hold_every_slot() -> None:
    hosts = HostUse(Fetches(2, 80), Limits())
    hosts.begin("good.test")
    hosts.note_answer("good.test")
    hosts.end("good.test")
    held = 0
    for number in range(300):
        while hosts.is_free(name := f"silent{number}.test"):
            hosts.begin(name)
            held += 1
    assert held == 30, "one each"
    assert hosts.is_free("good.test")
    hosts.end("silent0.test")
    assert hosts.is_free("silent200.test"), "what is over leaves room"
    one_at_a_time = HostUse(Fetches(1, 1), Limits())
    assert one_at_a_time.is_free("new.test")
