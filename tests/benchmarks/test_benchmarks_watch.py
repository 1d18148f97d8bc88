"""The simulated year: a world as it is described, and results that can be believed."""

from __future__ import annotations

import numpy as np

from benchmarks.watching.run import Contender, run_year
from benchmarks.watching.world import draw_world
from qiaocrawl.revisit import Tuning

HOURS = 42 * 24


def test_the_world_has_nights_weekends_and_dead_pages() -> None:
    world = draw_world(60, 5, HOURS)
    again = draw_world(60, 5, HOURS)
    assert np.array_equal(world.keys, again.keys), "the same seed, the same world"
    assert (np.diff(world.keys) >= 0).all()
    local = (world.published.astype(int) + 8) % 24
    by_hour = np.bincount(local, minlength=24)
    assert by_hour[9:18].mean() > 3 * by_hour[0:5].mean()
    on_page = np.bincount((world.keys // 1e5).astype(int), minlength=60)
    assert (on_page == 0).any(), "some are dead"
    assert (on_page[world.group == 0] > 0).all(), "home pages live"


def test_budgets_are_kept_and_more_visits_find_more() -> None:
    world = draw_world(60, 5, HOURS)
    poor = run_year(world, Contender("ours", Tuning()), 60, 5, HOURS)
    rich = run_year(world, Contender("ours", Tuning()), 600, 5, HOURS)
    plain = run_year(world, Contender("uniform", Tuning("cho", "uniform")), 60, 5, HOURS)
    for one in (poor, rich, plain):
        assert 0 < one.visits_a_day <= one.budget_a_day
        assert one.within_hour <= one.within_day <= 1
    assert rich.within_hour > poor.within_hour > plain.within_hour
    assert rich.mean_age_hours < poor.mean_age_hours
