"""Crawl order: strategies score links, the frontier hands out the highest score first.

Each strategy is one file here; :data:`strategies` finds it by name.
"""

from __future__ import annotations

from qiaocrawl.frontier.choosing import make_strategy
from qiaocrawl.frontier.crawl_topic import CrawlTopic
from qiaocrawl.frontier.order import SEED_SCORE, CrawlOrder, NodeState, Visit, scores_of
from qiaocrawl.frontier.strategy import (
    PRUNED,
    FoundLink,
    LearningStrategy,
    Strategy,
    Trainable,
    VisitedPage,
    strategies,
)

__all__ = [
    "PRUNED",
    "SEED_SCORE",
    "CrawlOrder",
    "CrawlTopic",
    "FoundLink",
    "LearningStrategy",
    "NodeState",
    "Strategy",
    "Trainable",
    "Visit",
    "VisitedPage",
    "make_strategy",
    "scores_of",
    "strategies",
]
