"""The crawl order an operator names, ready for a crawl."""

from __future__ import annotations

from qiaocrawl.frontier import CrawlTopic, LearningStrategy, Strategy, make_strategy
from qiaocrawl.frontier.learning_order import LearningOrder
from qiaocrawl.frontier.ordering import FrontierOrder
from qiaocrawl.items import Queue
from qiaocrawl.runtime import CrawlScope, Runtime

USUAL_STRATEGY = "bfs"


def chosen_strategy(
    runtime: Runtime, scope: CrawlScope, name: str = USUAL_STRATEGY, options: str = ""
) -> Strategy | LearningStrategy:
    """The strategy *name*; pages will be judged as it wants. Called before the workers start.

    Raises:
        ConfigError: there is no such strategy, or one of its options is wrong.
    """
    strategy = make_strategy(name, CrawlTopic(runtime.catalogue.pack(scope.topic)), options)
    # Queries bring result pages, which no page scorer judges.
    if scope.queue is not Queue.SEARCH:
        runtime.analysis.judge_pages_for(scope.topic, strategy.page_scorer)
    return strategy


def chosen_ordering(
    runtime: Runtime, scope: CrawlScope, name: str = USUAL_STRATEGY, options: str = ""
) -> FrontierOrder:
    """The crawl order by the strategy *name*.

    Raises:
        ConfigError: as :func:`chosen_strategy`.
    """
    strategy = chosen_strategy(runtime, scope, name, options)
    if isinstance(strategy, LearningStrategy):
        return LearningOrder(strategy, runtime, scope)
    return FrontierOrder(strategy)
