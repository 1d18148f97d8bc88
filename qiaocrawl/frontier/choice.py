"""The crawl order an operator names, ready for a crawl."""

from __future__ import annotations

from qiaocrawl.frontier import CrawlTopic, LearningStrategy, Strategy, make_strategy
from qiaocrawl.frontier.learning_order import LearningOrder
from qiaocrawl.frontier.ordering import FrontierOrder
from qiaocrawl.frontier.threshold import moving_threshold
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
    topic = CrawlTopic(runtime.catalogue.pack(scope.topic))
    return _judged_strategy(runtime, scope, topic, name, options)


def chosen_ordering(
    runtime: Runtime, scope: CrawlScope, name: str = USUAL_STRATEGY, options: str = ""
) -> FrontierOrder:
    """The crawl order by the strategy *name*.

    Raises:
        ConfigError: as :func:`chosen_strategy`.
    """
    topic = CrawlTopic(runtime.catalogue.pack(scope.topic))
    strategy = _judged_strategy(runtime, scope, topic, name, options)
    threshold = None
    if runtime.options["QIAO_STOP_BELOW_THRESHOLD"] and scope.queue is Queue.SITE:
        threshold = moving_threshold(strategy, runtime.options["QIAO_THRESHOLD_OPTIONS"])
    if isinstance(strategy, LearningStrategy):
        return LearningOrder(strategy, threshold, runtime, scope, topic)
    return FrontierOrder(strategy, threshold, topic)


def _judged_strategy(
    runtime: Runtime, scope: CrawlScope, topic: CrawlTopic, name: str, options: str
) -> Strategy | LearningStrategy:
    strategy = make_strategy(name, topic, options)
    # Queries bring result pages, which no page scorer judges.
    if scope.queue is not Queue.SEARCH:
        runtime.analysis.judge_pages_for(scope.topic, strategy.page_scorer)
    return strategy
