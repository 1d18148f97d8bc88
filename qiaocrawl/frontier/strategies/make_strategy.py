"""Makes a strategy by name, with options written as text: ``rwb`` and ``c=.2,d=.5``."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.strategy import LearningStrategy, Strategy, strategies
from qiaocrawl.options.kinds import option_defaults, plugin_options


def make_strategy(name: str, topic: CrawlTopic, options: str = "") -> Strategy | LearningStrategy:
    """The strategy called *name* for a crawl of *topic*.

    Args:
        options: ``name=value``, joined by commas; "" keeps every default.

    Raises:
        ConfigError: an unknown strategy or option, or a value that is out of its bounds.
    """
    factory = cast(Callable[..., Strategy | LearningStrategy], strategies.get(name))
    return factory(topic, **plugin_options(f"strategy {name!r}", option_defaults(factory), options))
