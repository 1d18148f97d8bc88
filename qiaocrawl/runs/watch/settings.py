"""The options of watching."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.options.kinds import plugin_options, within
from qiaocrawl.revisit import Bounds, Tuning, estimators, policies
from qiaocrawl.storage.sites.watched import MAX_PAGE_WEIGHT

GROUP_WEIGHTS: Mapping[str, float] = {
    "feed": 5.0, "rolling": 5.0, "home": 4.0, "channel": 3.0, "list": 2.0,
}  # fmt: skip
"""E1's groups with the weights of the crawl order ``weight_model``; feeds as rolling news."""


def group_weights(text: str) -> Mapping[str, float]:
    """The weights of all groups, those written in *text* (``rolling=8,home=2``) as they say.

    Raises:
        ConfigError: an unknown group, or a weight outside (0, 100].
    """
    what = "QIAO_WATCH_WEIGHTS"
    given = plugin_options(what, GROUP_WEIGHTS, text)
    own = {group: within(what, group, float(weight), 0.01, MAX_PAGE_WEIGHT)
           for group, weight in given.items()}  # fmt: skip
    return {**GROUP_WEIGHTS, **own}


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """The options of a round.

    Attributes:
        daily, daily_of_host: requests a day (UTC) at most, in all and of one host.
        shortest_hours, longest_hours: between two visits of a page.
        pages_per_host: watched at most.
        steps_hours: when articles are looked at again, after they came out; () = never.
        estimator, policy: names, see :mod:`qiaocrawl.revisit`.
        weights: of groups of pages, see :data:`GROUP_WEIGHTS`.
    """

    daily: int
    daily_of_host: int
    shortest_hours: float
    longest_hours: float
    pages_per_host: int
    steps_hours: tuple[float, ...]
    estimator: str
    policy: str
    weights: Mapping[str, float] = field(default_factory=lambda: GROUP_WEIGHTS)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> WatchSettings:
        """Those of *options*."""
        return cls(
            daily=options["QIAO_WATCH_DAILY_REQUESTS"],
            daily_of_host=options["QIAO_WATCH_DAILY_REQUESTS_PER_HOST"],
            shortest_hours=options["QIAO_WATCH_SHORTEST_MINUTES"] / 60,
            longest_hours=options["QIAO_WATCH_LONGEST_HOURS"],
            pages_per_host=options["QIAO_WATCH_PAGES_PER_HOST"],
            steps_hours=options["QIAO_WATCH_ARTICLE_HOURS"],
            estimator=options["QIAO_WATCH_ESTIMATOR"],
            policy=options["QIAO_WATCH_POLICY"],
            weights=group_weights(options["QIAO_WATCH_WEIGHTS"]),
        )

    def weight_of(self, kind: str, stored: float) -> float:
        """The weight of a page of a group; *stored* with it counts where an operator set it."""
        is_own = stored != GROUP_WEIGHTS.get(kind)
        return stored if is_own else self.weights.get(kind, stored)

    @property
    def longest_step_seconds(self) -> float:
        """How far off the next look at an article can be, an hour more."""
        return 3_600.0 * (max(self.steps_hours, default=0.0) + 1)

    def check(self) -> None:
        """Raise for names that do not exist and limits that contradict each other.

        Raises:
            ConfigError: the message names them.
        """
        estimators.get(self.estimator)
        policies.get(self.policy)
        if self.shortest_hours > self.longest_hours:
            raise ConfigError(
                _(
                    "QIAO_WATCH_SHORTEST_MINUTES {minutes:g} is more than QIAO_WATCH_LONGEST_HOURS "
                    "{hours:g} hours",
                    minutes=60 * self.shortest_hours,
                    hours=self.longest_hours,
                )
            )

    def most(self, limit: int, spent: int, usual: int) -> int:
        """The day's *limit*, or *spent* plus the run's *usual* limit (0 = none) if that is less."""
        # The limit counts what was spent today, the usual one this run alone.
        return min(limit, spent + usual) if usual else limit

    def tuning(self, visits_per_hour: float) -> Tuning:
        """How visits are planned when all pages together may cost so many an hour."""
        return Tuning(
            estimator=self.estimator, policy=self.policy,
            bounds=Bounds(visits_per_hour, self.shortest_hours, self.longest_hours),
        )  # fmt: skip
