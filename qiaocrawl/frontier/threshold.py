"""The moving threshold and tunnels (T9): the lowest score that is still fetched."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier.strategies.simple import draws
from qiaocrawl.frontier.strategies.strategy import LearningStrategy, Strategy
from qiaocrawl.items import PRUNED, SEED_SCORE, Visit
from qiaocrawl.language import _
from qiaocrawl.options.kinds import option_defaults, plugin_options, within

_WHAT = "a moving threshold"
# Other draws than those of RWB, so that its tunnels do not decide over these.
_SEED = 9


class MovingThreshold:
    """A threshold that falls while many fetched pages are relevant and rises while few are.

    After each page, once a window of pages is judged: with the precision of the last *window*
    pages above *target* it goes down by *step*, below it up, from *low* to *high*. A link
    below it survives with probability *tunnel*; which ones is drawn from the URL's key, so a
    crawl that is repeated lets the same ones through. Step, window and target are **(ours)**.

    Args:
        start: the threshold at first, on the scale of the scores.
        low, high: the least and the most it may be.
        step: how far it moves after a page, 0 or more; 0 keeps it where it is.
        target: the precision in [0, 1] that is aimed at.
        window: pages the precision is measured over, 1 or more.
        tunnel: probability in [0, 1].

    Raises:
        ConfigError: a number out of these bounds.
    """

    def __init__(
        self,
        *,
        start: float = 0.0,
        low: float = 0.0,
        high: float = 1.0,
        step: float = 0.01,
        target: float = 0.3,
        window: int = 50,
        tunnel: float = 0.05,
    ) -> None:
        self._low, self._high = within(_WHAT, "low", low, float("-inf"), high), high
        self._step = within(_WHAT, "step", step, 0.0, high - low)
        self._target = within(_WHAT, "target", target, 0.0, 1.0)
        self._tunnel = within(_WHAT, "tunnel", tunnel, 0.0, 1.0)
        size = int(within(_WHAT, "window", window, 1, 1_000_000))
        self._last: deque[bool] = deque(maxlen=size)
        self._relevant = 0
        self.value = within(_WHAT, "start", start, low, high)

    @property
    def precision(self) -> float | None:
        """Share of relevant pages among the last ones; None before the first."""
        return self._relevant / len(self._last) if self._last else None

    def note_judgement(self, relevant: bool) -> float:
        """A page was fetched and found *relevant* or not; returns the threshold from now on."""
        # The oldest is about to fall out of the deque; its share leaves with it.
        if len(self._last) == self._last.maxlen:
            self._relevant -= self._last[0]
        self._last.append(relevant)
        self._relevant += relevant
        precision = self.precision
        # Not before a window is full: the precision of a few pages says little.
        if len(self._last) == self._last.maxlen and precision is not None:
            # -1, 0 or 1: too much relevant lowers the threshold, too little raises it.
            way = (precision < self._target) - (precision > self._target)
            self.value = min(self._high, max(self._low, self.value + way * self._step))
        return self.value

    def admits(self, score: float, key: bytes) -> bool:
        """Whether a link of this *score* is to be fetched; *key* is that of its URL."""
        return score >= self.value or self.is_tunnel(key)

    def is_tunnel(self, key: bytes) -> bool:
        """Whether the URL of *key* survives however low its score is."""
        return draws(key, _SEED)[0] < self._tunnel

    def prune(self, visit: Visit, scores: Sequence[float]) -> list[float]:
        """*scores* of the links of *visit*, PRUNED for those that are not to be fetched.

        For strategies whose scores stay as they are; the page moves the threshold first.
        """
        self.note_judgement(visit.relevant)
        return [
            score if score >= SEED_SCORE or self.admits(score, link.key) else PRUNED
            for link, score in zip(visit.links, scores, strict=True)
        ]


def moving_threshold(strategy: Strategy | LearningStrategy, options: str = "") -> MovingThreshold:
    """A moving threshold for the scores of *strategy*.

    Args:
        options: ``name=value``, joined by commas; "" keeps every default.

    Raises:
        ConfigError: an unknown option, a number out of bounds, or scores on a scale of their
            own, such as ranks, for which a threshold would mean nothing.
    """
    if not getattr(strategy, "unit_scores", False):
        raise ConfigError(
            _(
                "QIAO_STOP_BELOW_THRESHOLD: scores of strategy {strategy!r} do not lie in [0, 1]",
                strategy=strategy.name,
            )
        )
    given: dict[str, float | str] = plugin_options(_WHAT, option_defaults(MovingThreshold), options)
    return MovingThreshold(**given)  # type: ignore[arg-type]
