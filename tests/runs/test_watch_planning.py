"""Plans of watched pages: budget, failures, first visits, contradictory options."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.options import Options
from qiaocrawl.revisit.policies import wait_factor
from qiaocrawl.runs.watch.planning import (
    Seen,
    WatchSettings,
    after_failure,
    after_visit,
    correct_due_time,
    plan_pages,
)
from qiaocrawl.storage.sites.watched import WatchedPage

NOW = 1_790_000_000.0
SETTINGS = WatchSettings.of(Options({}))


def page(number: int, **changes: object) -> WatchedPage:
    one = WatchedPage(number, bytes(16), f"http://h{number}.test/", f"h{number}.test", 3, "home",
                      "", 4.0, since=NOW, next_at=NOW)  # fmt: skip
    return replace(one, **changes)  # type: ignore[arg-type]


def test_a_page_that_brings_something_is_visited_more_often() -> None:
    busy, still = page(1), page(2)
    for hour in range(0, 400, 4):
        at = NOW + 3600 * hour
        busy = after_visit(busy, Seen(at, 3, True, digest=bytes([hour % 250] * 16)), None, SETTINGS)
        still = after_visit(still, Seen(at), None, SETTINGS)
    assert (busy.visits, busy.changes, busy.news) == (100, 99, 297), "the first visit is no news"
    assert (still.changes, still.news) == (0, 0)
    planned = plan_pages([busy, still], {}, SETTINGS, 0.0).pages
    assert planned[0].wait_hours < planned[1].wait_hours / 4
    assert planned[0].wait_hours >= SETTINGS.shortest_hours * 0.99
    assert planned[1].wait_hours <= SETTINGS.longest_hours * 1.01


def test_a_hot_list_is_looked_at_again_soon_from_the_first_look_on() -> None:
    waits = {}
    for kind in ("board", "home"):
        seen = after_visit(page(1, kind=kind), Seen(NOW, 0, True), None, SETTINGS)
        waits[kind] = (seen.next_at - NOW) / 3600
    assert waits["board"] <= 2 * SETTINGS.shortest_hours
    assert waits["home"] > 2 * SETTINGS.shortest_hours


def test_failures_double_the_wait_and_a_page_ends_them() -> None:
    one, waits = page(1, wait_hours=2.0, last_at=NOW), []
    for _ in range(10):
        one = after_failure(one, NOW, SETTINGS)
        waits.append((one.next_at - NOW) / 3600)
    assert waits[:3] == [4.0, 8.0, 16.0]
    assert max(waits) <= 4 * SETTINGS.longest_hours
    assert plan_pages([one], {}, SETTINGS, 0.0).pages[0].next_at == one.next_at
    assert after_visit(one, Seen(NOW + 60), None, SETTINGS).failures == 0


def test_the_first_page_after_failures_is_no_news() -> None:
    failed = after_failure(page(1), NOW, SETTINGS)
    assert failed.last_at is None
    assert failed.next_at > NOW
    assert plan_pages([failed], {}, SETTINGS, 0.0).pages[0].next_at == failed.next_at
    seen = after_visit(failed, Seen(NOW + 60, 80, True, digest=bytes(16)), None, SETTINGS)
    straight = after_visit(page(1), Seen(NOW + 60, 80, True, digest=bytes(16)), None, SETTINGS)
    assert seen == straight


def test_a_clock_that_was_ahead_does_not_end_watching() -> None:
    later = NOW + 10 * 365 * 86_400
    seen = after_visit(page(1, last_at=NOW), Seen(later, 3, True), None, SETTINGS)
    failed = after_failure(page(2, last_at=NOW), later, SETTINGS)
    for one in (seen, failed, page(3, last_at=later, next_at=NOW)):
        planned = plan_pages([correct_due_time(one, NOW, SETTINGS)], {}, SETTINGS, 0.0).pages[0]
        assert planned.next_at <= NOW
        again = after_visit(one, Seen(NOW), None, SETTINGS)
        assert (again.last_at, again.failures) == (NOW, 0)
        assert NOW < again.next_at < NOW + 6 * 3600 * SETTINGS.longest_hours
    good = page(4, last_at=NOW - 3600, next_at=NOW + 3600)
    assert correct_due_time(good, NOW, SETTINGS) is good


def test_options_that_contradict_each_other_are_errors() -> None:
    with pytest.raises(ConfigError, match="QIAO_WATCH_SHORTEST_MINUTES 600 is more"):
        replace(SETTINGS, shortest_hours=10.0, longest_hours=5.0).check()
    with pytest.raises(ConfigError, match="unknown revisit policy 'bothe'"):
        replace(SETTINGS, policy="bothe").check()
    with pytest.raises(ConfigError, match="QIAO_WATCH_ARTICLE_HOURS must be ascending"):
        Options({"QIAO_WATCH_ARTICLE_HOURS": "6,1"})
    assert Options({"QIAO_WATCH_ARTICLE_HOURS": ""})["QIAO_WATCH_ARTICLE_HOURS"] == ()


def test_weights_of_groups_and_pages_are_the_operators() -> None:
    settings = WatchSettings.of(
        Options({"QIAO_WATCH_WEIGHTS": "home=8", "QIAO_WATCH_POLICY": "fixed"})
    )
    weights = settings.weight_of
    # A home page with the shipped weight has that of its group; one of its own keeps it.
    assert [weights("home", 4.0), weights("home", 1.0), weights("list", 2.0)] == [8.0, 1.0, 2.0]
    seen = {"last_at": NOW, "wait_hours": 1.0}
    heavy, light = page(1, **seen), page(2, weight=2.0, **seen)
    settings = replace(settings, daily=16, longest_hours=1_000.0)
    planned = plan_pages([heavy, light], {}, settings, 0.0).pages
    # By weight alone: 8 to 2.
    assert planned[1].wait_hours == pytest.approx(4 * planned[0].wait_hours)
    for wrong in ("homes=1", "home=0", "home=101"):
        with pytest.raises(ConfigError, match="QIAO_WATCH_WEIGHTS"):
            WatchSettings.of(Options({"QIAO_WATCH_WEIGHTS": wrong}))


def test_purely_random_visits_wait_as_drawn() -> None:
    settings = WatchSettings.of(
        Options({"QIAO_WATCH_POLICY": "purely_random", "QIAO_WATCH_ESTIMATOR": "cho"})
    )
    seen = after_visit(page(1, wait_hours=4.0), Seen(NOW), None, settings)
    drawn = 4 * wait_factor("purely_random", bytes(16), 1)
    assert seen.wait_hours == 4.0
    assert seen.next_at == pytest.approx(NOW + 3600 * max(drawn, 0.25), abs=1)
