"""Crawl order: strategies score links, the frontier hands out the highest score first.

Each strategy is one file; :data:`strategies` finds it by name.
"""

from __future__ import annotations

from qiaocrawl.frontier.order import NodeState, PriorityIndex, scores_of
from qiaocrawl.frontier.strategies.crawl_topic import CrawlTopic
from qiaocrawl.frontier.strategies.make_strategy import make_strategy
from qiaocrawl.frontier.strategies.strategy import (
    FoundLink,
    LearningStrategy,
    Strategy,
    Trainable,
    VisitedPage,
    strategies,
)

__all__ = [
    "PriorityIndex",
    "CrawlTopic",
    "FoundLink",
    "LearningStrategy",
    "NodeState",
    "Strategy",
    "Trainable",
    "VisitedPage",
    "make_strategy",
    "scores_of",
    "strategies",
]
