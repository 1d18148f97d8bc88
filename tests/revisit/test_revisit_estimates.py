"""Change rates and weeks, from visits whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.revisit import (
    HISTORY_BYTES,
    Rhythms,
    Schedule,
    Tuning,
    VisitHistory,
    estimators,
    learnt_shapes,
    next_recheck,
)


def visited(
    rate: float, visits: int, hours: float, *, steady: bool = True, seed: int = 1
) -> VisitHistory:
    """A page of *rate* new links an hour, visited every *hours*, or now and then."""
    rng = np.random.default_rng(seed)
    memory = VisitHistory.empty(1)
    for _ in range(visits):
        gap = np.array([hours if steady else rng.exponential(hours) + 0.01])
        news = rng.poisson(rate * gap).astype(float)
        memory.add(np.array([0]), hours=gap, busy=gap, news=news, changed=(news > 0) * 1.0,
                   fading_hours=1e6)  # fmt: skip
    return memory


@pytest.mark.parametrize("name", ["cho", "count", "rhythm"])
@pytest.mark.parametrize("rate", [0.02, 0.3, 1.0])
def test_rates_are_found(name: str, rate: float) -> None:
    memory = visited(rate, 400, 1.0)
    found = estimators.get(name)(memory, np.array([0.1]))
    assert found[0] == pytest.approx(rate, rel=0.35)


def test_the_bias_of_changes_seen_late_is_corrected() -> None:
    # Cho & Garcia-Molina 2003: at two changes an interval the plain ratio sees less than one.
    memory = visited(2.0, 600, 1.0)
    plain = memory.column("changes")[0] / memory.column("hours")[0]
    assert plain < 1
    assert estimators.get("cho")(memory, np.array([0.1]))[0] == pytest.approx(2.0, rel=0.2)


def test_irregular_intervals_by_maximum_likelihood() -> None:
    found = [estimators.get("likelihood")(visited(0.5, 40, 2.0, steady=False, seed=seed),
                                          np.array([0.1]))[0] for seed in range(60)]  # fmt: skip
    assert np.median(found) == pytest.approx(0.5, rel=0.3)


def test_a_page_never_visited_has_the_rate_of_its_like() -> None:
    for name in ("cho", "likelihood", "count", "rhythm"):
        assert estimators.get(name)(VisitHistory.empty(1), np.array([0.3]))[0] == 0.3


def test_memories_survive_packing_and_damage() -> None:
    memory = visited(0.5, 30, 2.0)
    row = memory.pack(0)
    assert len(row) == HISTORY_BYTES
    again = VisitHistory.unpack([row, b"", b"\xff" * HISTORY_BYTES])
    assert np.allclose(again.table[0], memory.table[0], rtol=1e-6)
    assert not again.table[1:].any()


def test_busy_time_runs_with_the_week_and_back() -> None:
    rng = np.random.default_rng(2)
    rhythms = Rhythms(rng.random((4, 168)))
    site, start = np.arange(4), 480_000 + 500 * rng.random(4)
    for wanted in (0.01, 5.0, 168.0, 1000.3):
        end = rhythms.after(site, start, np.full(4, wanted))
        assert rhythms.busy(site, end) - rhythms.busy(site, start) == pytest.approx(wanted)
    flat = Rhythms.flat(1)
    assert flat.after(np.zeros(1, int), np.array([7.25]), np.array([3.0])) == pytest.approx(10.25)
    week = rhythms.busy(site, start + 168) - rhythms.busy(site, start)
    assert week == pytest.approx(168.0)


def test_a_week_is_learnt_and_little_evidence_changes_little() -> None:
    counts = np.zeros((3, 168))
    counts[0, 40:48], counts[1, 100] = 500.0, 1.0
    shapes = learnt_shapes(counts)
    assert shapes.mean(axis=1) == pytest.approx(1.0)
    assert shapes[0, 44] > 10 > 2 * shapes[0, 10]
    assert shapes[1] == pytest.approx(shapes[2], abs=0.6), "one article makes no week"


def test_articles_are_looked_at_on_a_decaying_schedule() -> None:
    steps = (1.0, 6.0, 24.0, 72.0)
    looks, now = [], 100.0
    while (due := next_recheck(100.0, now, steps)) is not None:
        looks.append(due - 100.0)
        now = due
    assert looks == [1.0, 6.0, 24.0, 72.0]
    assert next_recheck(100.0, 105.0, steps) == 124.0, "a look just before the step stands for it"
    assert next_recheck(100.0, 100.0 + 72.0, steps) is None
    assert next_recheck(0.0, 0.0, ()) is None


def test_the_interval_halves_and_grows_by_half() -> None:
    schedule = Schedule(
        Tuning("halved", "proportional"), VisitHistory.empty(2), Rhythms.flat(1),
        site=np.zeros(2, int), group=np.zeros(2, int), weights=np.ones(2),
        last=np.full(2, 1000.0),
    )  # fmt: skip
    schedule.observe(np.arange(2), 1024.0, np.array([3.0, 0.0]), np.array([1.0, 0.0]))
    assert list(schedule.memory.column("interval")) == [12.0, 36.0]


def test_unknown_names_are_errors() -> None:
    with pytest.raises(ConfigError, match="unknown estimator of change 'cha'"):
        estimators.get("cha")
