"""The moving threshold and its tunnels (T9)."""

from __future__ import annotations

import pytest

from frontier_graph import TOPIC, link_to
from learning_samples import AnchorYield, link, visit
from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier import PriorityIndex, make_strategy
from qiaocrawl.frontier.threshold import MovingThreshold, moving_threshold
from qiaocrawl.items import Visit


def keys(count: int) -> list[bytes]:
    return [number.to_bytes(16, "big") for number in range(count)]


def test_it_goes_down_while_precision_is_high_and_up_while_it_is_low() -> None:
    # Window 4, target .5: moves begin with the fourth page.
    bar = MovingThreshold(start=0.5, step=0.1, target=0.5, window=4)
    assert [bar.note_judgement(one) for one in (True, True, True)] == [0.5] * 3
    # 4/4, 3/4: down, down. 2/4: stays. 1/4, 0/4: up, up.
    moved = [bar.note_judgement(one) for one in (True, False, False, False, False)]
    assert moved == pytest.approx([0.4, 0.3, 0.3, 0.4, 0.5])
    assert bar.precision == 0.0


def test_it_stays_within_its_bounds() -> None:
    bar = MovingThreshold(start=0.5, low=0.4, high=0.6, step=0.15, window=1)
    assert [bar.note_judgement(True) for _ in range(3)] == pytest.approx([0.4] * 3)
    assert [bar.note_judgement(False) for _ in range(3)] == pytest.approx([0.55, 0.6, 0.6])
    still = MovingThreshold(start=0.5, step=0.0, window=1)
    assert [still.note_judgement(True), still.note_judgement(False)] == [0.5, 0.5]
    assert MovingThreshold(start=0.5).precision is None


def test_a_share_of_the_low_links_survives_always_the_same_ones() -> None:
    bar = MovingThreshold(start=0.5, tunnel=0.1)
    through = [key for key in keys(2000) if bar.admits(0.0, key)]
    assert 140 < len(through) < 260
    assert all(MovingThreshold(start=0.9, tunnel=0.1).is_tunnel(key) for key in through)
    assert all(bar.admits(0.5, key) for key in keys(50))
    assert not any(MovingThreshold(start=0.5, tunnel=0.0).admits(0.49, key) for key in keys(50))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({"start": 2.0}, "start"), ({"start": 0.5, "low": 1.0, "high": 0.0}, "low"),
     ({"start": 0.5, "step": -1}, "step"), ({"start": 0.5, "target": 1.5}, "target"),
     ({"start": 0.5, "window": 0}, "window"), ({"start": 0.5, "tunnel": float("nan")}, "tunnel"),
 ],
)  # fmt: skip
def test_wrong_numbers_are_named(arguments: dict[str, float], named: str) -> None:
    with pytest.raises(ConfigError, match=f"'{named}' of a moving threshold"):
        MovingThreshold(**arguments)  # type: ignore[arg-type]


def test_low_links_are_left_out_but_for_tunnels() -> None:
    # teh: 1 for 灯塔 in the anchor, else 0; one low link in ten is a tunnel.
    links = [link_to(f"page/{n}", "灯塔" if n == 7 else "渔船") for n in range(2000)]
    page = link_to("start")
    bar = MovingThreshold(start=0.5, step=0.0, tunnel=0.1)
    order = PriorityIndex(make_strategy("teh", TOPIC), bar)
    order.visit(Visit(page.key, page.url, page.host, 0, 0.0, False, 1.0, links))
    waiting = {order.key_of(node) for node in order.waiting.tolist()}
    assert waiting == {links[7].key} | {one.key for one in links if bar.is_tunnel(one.key)}
    assert 140 < len(waiting) < 260
    # The best first: the link that says what it leads to, then the tunnels.
    assert order.key_of(order.best(1)[0]) == links[7].key


def test_low_links_of_an_order_that_learns_wait_but_for_tunnels() -> None:
    # Anchors nobody has seen score .5, those of a page found irrelevant 0.
    bar = MovingThreshold(start=0.4, step=0.0, tunnel=0.3)
    order = PriorityIndex(AnchorYield(), bar)
    links = [link(str(n), "poor") for n in range(1, 200)]
    order.visit(visit("0", *links))
    order.visit(visit("1"))
    allowed = {order.key_of(node) for node in order.best(500)}
    assert allowed == {one.key for one in links[1:] if bar.is_tunnel(one.key)}
    assert 30 < len(allowed) < 90
    assert len(order.waiting) == 198, "the others wait for a lower threshold"


def test_only_scores_in_0_to_1_have_a_threshold() -> None:
    bar = moving_threshold(make_strategy("rw", TOPIC), "start=.25,tunnel=0,step=.02")
    assert bar.value == 0.25
    with pytest.raises(ConfigError, match="scores of strategy 'bfs' do not lie in"):
        moving_threshold(make_strategy("bfs", TOPIC))
    with pytest.raises(ConfigError, match="no option 'tunel'; did you mean 'tunnel'"):
        moving_threshold(make_strategy("rw", TOPIC), "tunel=1")
