"""Makes a strategy by name, with options written as text: ``rwb`` and ``c=.2,d=.5``."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, cast

from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.strategy import (
    LearningStrategy,
    Strategy,
    StrategyFactory,
    strategies,
)


def make_strategy(name: str, topic: CrawlTopic, options: str = "") -> Strategy | LearningStrategy:
    """The strategy called *name* for a crawl of *topic*.

    Args:
        options: ``name=value``, joined by commas; "" keeps every default.

    Raises:
        ConfigError: an unknown strategy or option, or a value that is out of its bounds.
    """
    factory = strategies.get(name)
    made = cast(Callable[..., Strategy | LearningStrategy], factory)
    return made(topic, **strategy_options(factory, options))


def strategy_options(factory: StrategyFactory, text: str) -> dict[str, float | str]:
    """The options written in *text*, as keyword arguments of *factory*.

    Values are numbers, but for the few options whose default is a word.

    Raises:
        ConfigError: what is no ``name=value``, a name the strategy does not have, one that
            comes twice, or a number that is none (or no whole one where the default is).
    """
    defaults = option_defaults(factory)
    options: dict[str, float | str] = {}
    # Empty pieces, such as after a trailing comma, are allowed.
    for piece in filter(None, map(str.strip, text.split(","))):
        name, equals, written = map(str.strip, piece.partition("="))
        if not equals:
            raise ConfigError(f"strategy options are written NAME=VALUE,…, got {piece!r}")
        if name not in defaults:
            raise ConfigError(_unknown(factory, name, defaults))
        if name in options:
            raise ConfigError(f"strategy option {name!r} is given twice")
        default = defaults[name]
        options[name] = written if isinstance(default, str) else _number(name, written, default)
    return options


def option_defaults(factory: StrategyFactory) -> dict[str, float | str]:
    """The options a strategy has, by name, with their defaults."""
    parameters = inspect.signature(cast(Callable[..., Any], factory)).parameters.values()
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        # Parameters with defaults of other types are not options: they cannot be written as text.
        and isinstance(parameter.default, int | float | str)
    }


def _unknown(factory: StrategyFactory, name: str, defaults: dict[str, float | str]) -> str:
    strategy = getattr(factory, "name", "")
    if not defaults:
        return f"strategy {strategy!r} has no options, got {name!r}"
    close = get_close_matches(name, defaults, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    allowed = ", ".join(f"{option}={default}" for option, default in defaults.items())
    return f"strategy {strategy!r} has no option {name!r}{hint} (there are: {allowed})"


def _number(name: str, written: str, default: float) -> float:
    # The type comes from the default: "replays=8" is a whole number, "c=.2" is not.
    whole = isinstance(default, int)
    try:
        value = int(written) if whole else float(written)
    except ValueError:
        value = math.nan
    # float() reads "nan" and "inf" as well.
    if not math.isfinite(value):
        kind = "a whole number" if whole else "a number"
        raise ConfigError(f"strategy option {name!r} must be {kind}, got {written!r}")
    return value
