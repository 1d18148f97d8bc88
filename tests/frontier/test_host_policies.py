"""Hosts go to collectors by each policy, and move when loads differ too much."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier.host_policies import (
    POLICIES,
    SHARED,
    Collector,
    PickK,
    assign_hosts,
    balancing_moves,
    entry_turns,
    make_policy,
    refresh_capacities,
)
from qiaocrawl.options import Options


def _fleet(*capacities: float) -> list[Collector]:
    return [Collector(token, capacity=capacity) for token, capacity in enumerate(capacities)]


def _shares(policy: str, fleet: list[Collector], hosts: int) -> list[int]:
    owners = assign_hosts(range(hosts), fleet, POLICIES[policy], random.Random(7))
    counts = Counter(owners.values())
    assert [collector.hosts for collector in fleet] == [counts[c.token] for c in fleet]
    return [collector.hosts for collector in fleet]


@pytest.mark.parametrize("name", POLICIES)
def test_every_host_goes_to_exactly_one_collector(name: str) -> None:
    fleet = _fleet(1, 2, 3)
    owners = assign_hosts(range(60), fleet, POLICIES[name], random.Random(1))
    assert owners.keys() == set(range(60))
    assert set(owners.values()) == {0, 1, 2}
    assert assign_hosts(range(60), [], POLICIES[name], random.Random(1)) == {}


def test_rounds_follow_weights_only_where_they_are_weighted() -> None:
    assert _shares("round_robin", _fleet(1, 2, 3), 12) == [4, 4, 4]
    assert _shares("weighted_round_robin", _fleet(1, 2, 3), 12) == [2, 4, 6]
    # Spread over the round, not one block after another.
    fleet = _fleet(1, 3)
    owners = assign_hosts(range(8), fleet, POLICIES["weighted_round_robin"], random.Random(1))
    assert [sum(owners[h] == 1 for h in part) for part in (range(4), range(4, 8))] == [3, 3]


def test_a_round_goes_on_where_another_collector_left_it() -> None:
    fleet = _fleet(1, 1, 1)
    _shares("round_robin", fleet, 4)
    read_again = [Collector(c.token, turns=c.turns) for c in fleet]
    owners = assign_hosts([9], read_again, POLICIES["round_robin"], random.Random(1))
    assert owners == {9: 1}


def test_a_newcomer_is_not_given_everything() -> None:
    fleet = _fleet(1, 1)
    _shares("round_robin", fleet, 20)
    newcomer = Collector(2, turns=entry_turns(fleet))
    owners = assign_hosts(range(9), [*fleet, newcomer], POLICIES["round_robin"], random.Random(1))
    assert Counter(owners.values()) == {0: 3, 1: 3, 2: 3}


def test_chance_follows_capacity() -> None:
    low, high = _shares("random", _fleet(1, 3), 4000)
    # Four standard deviations of a binomial.
    assert abs(low - 1000) < 4 * (4000 * 0.25 * 0.75) ** 0.5


def test_load_is_seen_against_capacity() -> None:
    fleet = _fleet(1, 1, 2)
    fleet[0].hosts = 6
    owners = assign_hosts(range(12), fleet, POLICIES["least_load"], random.Random(1))
    assert Counter(owners.values()) == {1: 4, 2: 8}


def test_two_choices_are_much_more_even_than_one() -> None:
    rng = random.Random(3)
    one, two = _fleet(*[1] * 64), _fleet(*[1] * 64)
    assign_hosts(range(640), one, PickK(1), rng)
    assign_hosts(range(640), two, PickK(2), rng)
    everyone = _fleet(*[1] * 64)
    assign_hosts(range(640), everyone, PickK(64), rng)
    highest = [max(c.hosts for c in fleet) for fleet in (one, two, everyone)]
    # The mean is 10. One choice is about 2 sqrt(10 ln 64) = 13 above it, two log2 ln 64 = 2.
    assert highest[0] > highest[1] > highest[2] == 10
    assert highest[1] <= 13


def test_slow_collectors_count_for_less_but_not_for_nothing() -> None:
    fleet = [Collector(1, 2.0, 0.5), Collector(2, 2.0, 1.0), Collector(3, 1.0, 500.0), Collector(4)]
    refresh_capacities(fleet)
    assert [c.capacity for c in fleet] == [2.0, 1.0, 0.125, 1.0]


def _balanced(*hosts: int, capacities: tuple[float, ...] = ()) -> tuple[list[int], int]:
    fleet = _fleet(*(capacities or [1.0] * len(hosts)))
    numbers = iter(range(10**6))
    owned = {}
    for collector, count in zip(fleet, hosts, strict=True):
        collector.hosts = count
        owned[collector.token] = [next(numbers) for _ in range(count)]
    moves = balancing_moves(owned, fleet)
    for host, to in moves.items():
        assert host not in owned[to]
    return [c.hosts for c in fleet], len(moves)


def test_an_idle_collector_takes_over_and_small_differences_stay() -> None:
    assert _balanced(10, 8, 9) == ([10, 8, 9], 0)
    after, moves = _balanced(10, 10, 10, 0)
    assert sum(after) == 30
    assert min(after) >= 5
    assert moves <= 8
    # One host cannot be shared.
    assert _balanced(1, 0) == ([1, 0], 0)
    assert _balanced(2, 0) == ([1, 1], 1)
    assert _balanced(0, 0) == ([0, 0], 0)
    assert _balanced(5) == ([5], 0)


def test_a_slow_collector_sheds_load() -> None:
    (slow, fast), _moves = _balanced(10, 10, capacities=(0.25, 1.0))
    assert slow <= 6
    assert slow + fast == 20


def test_policies_are_named() -> None:
    assert make_policy(SHARED) is None
    assert make_policy("pick2") is POLICIES["pick2"]
    with pytest.raises(ConfigError, match="nearest.*shared, round_robin"):
        make_policy("nearest")


def test_any_number_may_be_picked_from() -> None:
    fleet = [Collector(token, hosts=hosts) for token, hosts in ((1, 9), (2, 5), (3, 0))]
    whole = make_policy("pick3")
    assert whole is not None
    draws = {whole.choose(fleet, random.Random(seed)).token for seed in range(30)}
    assert draws == {3}, "all of them is the least loaded"
    alone = make_policy("pick1")
    assert alone is not None
    assert {alone.choose(fleet, random.Random(seed)).token for seed in range(30)} == {1, 2, 3}
    for name in ("pick0", "pick", "pick-2", "pick99999"):
        with pytest.raises(ConfigError, match="must be one of"):
            make_policy(name)
        with pytest.raises(ConfigError, match="QIAO_HOST_POLICY must be one of .*pickK"):
            Options({"QIAO_HOST_POLICY": name})
    assert Options({"QIAO_HOST_POLICY": "pick12"})["QIAO_HOST_POLICY"] == "pick12"
