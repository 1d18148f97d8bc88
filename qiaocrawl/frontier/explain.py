"""Explains, outside of a crawl, what the score of a URL is made of."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from qiaocrawl.errors import ConfigError, ModelError
from qiaocrawl.frontier import CrawlTopic, LearningStrategy, Strategy, Trainable, make_strategy
from qiaocrawl.frontier.crawl_order import CrawlOrder, explain_score
from qiaocrawl.frontier.in_memory_frontier import InMemoryFrontier
from qiaocrawl.frontier.learning_order import LearningOrder
from qiaocrawl.frontier.threshold import moving_threshold
from qiaocrawl.items import Queue, Standing
from qiaocrawl.runtime.crawl_rows import CrawlScope
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.frontier import visit_log
from qiaocrawl.storage.frontier.scope import Scope
from qiaocrawl.storage.frontier.visit_log import ModelName
from qiaocrawl.storage.topics.topics import load_pack
from qiaocrawl.storage.url_history import UrlHistory, last_arguments

# Few, since each visit comes with all its links.
_AT_A_TIME = 500
_ROWS_AT_A_TIME = 5_000


def strategy_of_last_run(c: Connection, found: UrlHistory) -> Strategy | LearningStrategy | None:
    """The crawl order of the last run that could fetch *found*; None when that is not known."""
    asked = last_arguments(c, found.topic, found.queue.value)
    name = asked.get("strategy")
    if not isinstance(name, str):
        return None
    try:
        topic = CrawlTopic(load_pack(c, found.topic))
        # As given on the command line: "c=.2,d=.5".
        return make_strategy(name, topic, str(asked.get("strategy_options", "")))
    except ConfigError:
        return None  # of another version of the program


def standing_of(
    c: Connection, found: UrlHistory, parent_id: int | None, most_visits: int
) -> Standing | None:
    """Score and rank of a URL that waits or was left out; the order is rebuilt for it.

    Args:
        parent_id: row id of the page its link was found on.
        most_visits: of the log that a learning order is made from.

    Returns:
        None where the order of the last run is not known.
    """
    strategy = strategy_of_last_run(c, found)
    if strategy is None:
        return None
    if isinstance(strategy, LearningStrategy):
        return _learned_standing(c, strategy, found, most_visits)
    scope = Scope(found.queue, found.topic)
    # Strategies that remember nothing store their scores, so the database alone knows the place.
    place, among = visit_log.place_of(c, scope, found.id, found.score)
    parts = {} if parent_id is None else _parts(c, strategy, found, parent_id)
    return Standing(strategy.name, found.score, place, among, parts)


def _parts(
    c: Connection, strategy: Strategy, found: UrlHistory, parent_id: int
) -> Mapping[str, float]:
    """The parts of the score the link on the parent gave it; {} where that is not in the log."""
    row = visit_log.last_visit_of(c, parent_id)
    # The candidates of a search run are queries: no page links to them.
    if row is None or found.queue is Queue.SEARCH:
        return {}
    visit = row.visit()
    places = [place for place, link in enumerate(visit.links) if link.key == found.key]
    return explain_score(strategy, visit, places[0]) if places else {}


def _learned_standing(
    c: Connection, strategy: LearningStrategy, found: UrlHistory, most_visits: int
) -> Standing | None:
    in_memory = remade_order(c, strategy, Scope(found.queue, found.topic), most_visits)
    index = in_memory.index
    node = index.node_of(found.key)
    if node is None:
        return None
    place, among = index.place_of(node)
    return Standing(strategy.name, index.score_of(node), place, among, strategy.explain_node(node))


def remade_order(
    c: Connection, strategy: LearningStrategy, scope: Scope, most_visits: int
) -> InMemoryFrontier:
    """The order as a crawl of *scope* would make it now from model, log and waiting rows."""
    # A crawl's own limits are not stored, so every host of its rows counts.
    in_memory = InMemoryFrontier(strategy, lambda host: True)
    upto = _load_model(c, strategy, scope)
    # The steps OrderFeed.begin takes in a crawl, without a thread in between.
    in_memory.begin_telling()
    after = visit_log.start_of_newest_visits(c, scope, most_visits)
    while heads := visit_log.visit_heads_since(c, scope, after, _AT_A_TIME):
        for row in visit_log.load_visits(c, [seq for seq, _ in heads]):
            if isinstance(strategy, Trainable):
                # Visits the model has already learnt from only rebuild the graph; they must not
                # teach it twice.
                strategy.replaying = row.seq <= upto
            in_memory.visit(row.visit(), row.via)
        after = heads[-1][0]
    in_memory.begin_reading()
    last, room = 0, True
    while room and (rows := visit_log.waiting_after(c, scope, last, _ROWS_AT_A_TIME)):
        room = in_memory.found_waiting(rows)
        last = rows[-1].id
    in_memory.end_reading(complete=room)
    return in_memory


def _load_model(c: Connection, strategy: LearningStrategy, scope: Scope) -> int:
    """Load the newest model that can be read; returns up to where in the log it has learnt."""
    if not isinstance(strategy, Trainable):
        return 0
    for model in visit_log.stored_models(c, ModelName(scope.topic, strategy.name)):
        try:
            strategy.load(model.unpack())
        except ModelError:
            # Damaged: the version before may still serve.
            continue
        return model.upto
    return 0


# --- The crawl order an operator names, ready for a crawl -----------------------------------------

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


def chosen_order(
    runtime: Runtime, scope: CrawlScope, name: str = USUAL_STRATEGY, options: str = ""
) -> CrawlOrder:
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
    return CrawlOrder(strategy, threshold, topic)


def _judged_strategy(
    runtime: Runtime, scope: CrawlScope, topic: CrawlTopic, name: str, options: str
) -> Strategy | LearningStrategy:
    strategy = make_strategy(name, topic, options)
    # Queries bring result pages, which no page scorer judges.
    if scope.queue is not Queue.SEARCH:
        runtime.analysis.judge_pages_for(scope.topic, strategy.page_scorer)
    return strategy
