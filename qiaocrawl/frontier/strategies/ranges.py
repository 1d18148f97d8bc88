"""Options of strategies: numbers within bounds, or an error that names what is allowed."""

from __future__ import annotations

import math

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.options import kinds as plugin_options


def within(strategy: str, option: str, value: float, low: float, high: float) -> float:
    """*value*, if it lies in [*low*, *high*].

    Raises:
        ConfigError: it does not, or is no finite number.
    """
    return plugin_options.within(f"strategy {strategy!r}", option, value, low, high)


def together_at_most_one(strategy: str, **weights: float) -> None:
    """Refuse *weights* outside [0, 1] or with a sum above 1.

    Raises:
        ConfigError: one of them, or their sum, is out of bounds.
    """
    for option, value in weights.items():
        within(strategy, option, value, 0.0, 1.0)
    total = math.fsum(weights.values())
    # A sum such as .1 + .2 + .7 may exceed 1 by rounding.
    if total > 1.0 + 1e-9:
        names = " + ".join(weights)
        raise ConfigError(
            _(
                "strategy {strategy!r} needs {names} <= 1, got {total:g}",
                strategy=strategy,
                names=names,
                total=total,
            )
        )
