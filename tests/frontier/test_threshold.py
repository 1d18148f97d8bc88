"""The moving threshold and its tunnels (T9)."""

from __future__ import annotations

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier.threshold import MovingThreshold


def keys(count: int) -> list[bytes]:
    return [number.to_bytes(16, "big") for number in range(count)]


def test_it_goes_down_while_precision_is_high_and_up_while_it_is_low() -> None:
    # Window 4, target .5: moves begin with the fourth page.
    bar = MovingThreshold(0.5, step=0.1, target=0.5, window=4)
    assert [bar.judged(one) for one in (True, True, True)] == [0.5] * 3
    # 4/4, 3/4: down, down. 2/4: stays. 1/4, 0/4: up, up.
    moved = [bar.judged(one) for one in (True, False, False, False, False)]
    assert moved == pytest.approx([0.4, 0.3, 0.3, 0.4, 0.5])
    assert bar.precision == 0.0


def test_it_stays_within_its_bounds() -> None:
    bar = MovingThreshold(0.5, (0.4, 0.6), step=0.15, window=1)
    assert [bar.judged(True) for _ in range(3)] == pytest.approx([0.4] * 3)
    assert [bar.judged(False) for _ in range(3)] == pytest.approx([0.55, 0.6, 0.6])
    still = MovingThreshold(0.5, step=0.0, window=1)
    assert [still.judged(True), still.judged(False)] == [0.5, 0.5]
    assert MovingThreshold(0.5).precision is None


def test_a_share_of_the_low_links_survives_always_the_same_ones() -> None:
    bar = MovingThreshold(0.5, tunnel=0.1)
    through = [key for key in keys(2000) if bar.admits(0.0, key)]
    assert 140 < len(through) < 260
    assert all(MovingThreshold(0.9, tunnel=0.1).is_tunnel(key) for key in through)
    other = MovingThreshold(0.5, tunnel=0.1, seed=1)
    assert [key for key in keys(2000) if other.admits(0.0, key)] != through
    assert all(bar.admits(0.5, key) for key in keys(50))
    assert not any(MovingThreshold(0.5, tunnel=0.0).admits(0.49, key) for key in keys(50))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({"start": 2.0}, "start"), ({"start": 0.5, "bounds": (1.0, 0.0)}, "low"),
     ({"start": 0.5, "step": -1}, "step"), ({"start": 0.5, "target": 1.5}, "target"),
     ({"start": 0.5, "window": 0}, "window"), ({"start": 0.5, "tunnel": float("nan")}, "tunnel"),
     ({"start": 0.5, "seed": -1}, "seed")],
)  # fmt: skip
def test_wrong_numbers_are_named(arguments: dict[str, float], named: str) -> None:
    with pytest.raises(ConfigError, match=f"'{named}' of a moving threshold"):
        MovingThreshold(**arguments)  # type: ignore[arg-type]
