"""Crawl order: strategies score links, the frontier hands out the highest score first.

Each strategy is one file; :data:`strategies` finds it by name.
"""

from __future__ import annotations

from qiaocrawl.frontier.priority_index import NodeState, PriorityIndex, scores_of
from qiaocrawl.frontier.strategies.strategy import (
    CrawlTopic,
    FoundLink,
    LearningStrategy,
    Strategy,
    Trainable,
    VisitedPage,
    make_strategy,
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
