"""The moving threshold and tunnels (T9): the lowest score that is still fetched."""

from __future__ import annotations

from collections import deque

from qiaocrawl.frontier.strategies.ranges import bounded
from qiaocrawl.frontier.strategies.url_random import draws


class MovingThreshold:
    """A threshold that falls while many fetched pages are relevant and rises while few are.

    After each page, once a window of pages is judged: with the precision of the last *window*
    pages above *target* it goes down by *step*, below it up, within its *bounds*. A link
    below it survives with probability *tunnel*; which ones is drawn from the URL's key, so a
    crawl that is repeated lets the same ones through. Step, window and target are **(ours)**.

    Args:
        start: the bar at first, within its bounds, on the scale of the scores.
        bounds: the lowest and the highest it may be.
        step: how far it moves after a page, 0 or more; 0 keeps it where it is.
        target: the precision in [0, 1] that is aimed at.
        window: pages the precision is measured over, 1 or more.
        tunnel: probability in [0, 1].
        seed: other links survive with another one; 0 to 2^32 - 1.

    Raises:
        ConfigError: a number out of these bounds.
    """

    def __init__(
        self,
        start: float,
        bounds: tuple[float, float] = (0.0, 1.0),
        *,
        step: float = 0.01,
        target: float = 0.3,
        window: int = 50,
        tunnel: float = 0.05,
        seed: int = 0,
    ) -> None:
        self._low, self._high = bounds
        _bounded("low", self._low, float("-inf"), self._high)
        self._step = _bounded("step", step, 0.0, self._high - self._low)
        self._target = _bounded("target", target, 0.0, 1.0)
        self._tunnel = _bounded("tunnel", tunnel, 0.0, 1.0)
        self._seed = int(_bounded("seed", seed, 0, 2**32 - 1))
        size = int(_bounded("window", window, 1, 1_000_000))
        self._last: deque[bool] = deque(maxlen=size)
        self._relevant = 0
        self.value = _bounded("start", start, self._low, self._high)

    @property
    def precision(self) -> float | None:
        """Share of relevant pages among the last ones; None before the first."""
        return self._relevant / len(self._last) if self._last else None

    def judged(self, relevant: bool) -> float:
        """A page was fetched and found *relevant* or not; returns the bar from now on."""
        # The oldest is about to fall out of the deque; its share leaves with it.
        if len(self._last) == self._last.maxlen:
            self._relevant -= self._last[0]
        self._last.append(relevant)
        self._relevant += relevant
        precision = self.precision
        # Not before a window is full: the precision of a few pages says little.
        if len(self._last) == self._last.maxlen and precision is not None:
            # -1, 0 or 1: too much relevant lowers the bar, too little raises it.
            way = (precision < self._target) - (precision > self._target)
            self.value = min(self._high, max(self._low, self.value + way * self._step))
        return self.value

    def admits(self, score: float, key: bytes) -> bool:
        """Whether a link of this *score* is to be fetched; *key* is that of its URL."""
        return score >= self.value or self.is_tunnel(key)

    def is_tunnel(self, key: bytes) -> bool:
        """Whether the URL of *key* survives however low its score is."""
        return draws(key, self._seed)[0] < self._tunnel


def _bounded(name: str, value: float, low: float, high: float) -> float:
    return bounded(f"{name!r} of a moving threshold", value, low, high)
