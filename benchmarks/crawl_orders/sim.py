"""A crawl of a stored collection without network: the crawl's own order and strategies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.crawl_orders.tasks import Judgements, Task, judgements
from qiaocrawl.frontier import PriorityIndex, strategies
from qiaocrawl.frontier.strategies.strategy import CrawlTopic, LearningStrategy, Strategy
from qiaocrawl.items import Visit
from qiaocrawl.relevance import page_scorers

CURVE_POINTS = 200
MARKS = (0.10, 0.25, 0.50)
PREFERRED_SCORERS = ("blend", "vsm_breadth")
"""The operator's choice where a strategy leaves it open: the first that is registered."""


@dataclass(frozen=True, slots=True)
class Figures:
    """How soon the relevant pages came.

    Attributes:
        auc: mean recall over the crawl, a step a fetch after the start pages; up to 1.
        recall: after 10, 25 and 50 % of the reachable pages.
        harvest_10: relevant pages found per fetch in the first 10 %.
    """

    auc: float
    recall: tuple[float, float, float]
    harvest_10: float

    def row(self) -> dict[str, float]:
        """By the names that are written to JSON."""
        names = ("recall_10", "recall_25", "recall_50")
        return {"auc": self.auc, **dict(zip(names, self.recall, strict=True)),
                "harvest_10": self.harvest_10}  # fmt: skip


def simulate(
    task: Task,
    strategy: Strategy | LearningStrategy,
    judged: Judgements,
) -> list[int]:
    """Crawl *task*, one fetch a second; the numbers of the pages in the order of fetches."""
    order, depths = PriorityIndex(strategy), dict.fromkeys(task.starts, 0)
    for number in task.starts:
        page = task.collection.pages[number]
        order.add(page.key, page.url, page.host, 0)
    fetched: list[int] = []
    while nodes := order.best(1):
        order.take(nodes)
        number = task.numbers[order.key_of(nodes[0])]
        page, depth = task.collection.pages[number], depths[number]
        for linked, _ in page.links:
            depths.setdefault(linked, depth + 1)
        order.visit(Visit(
            key=page.key, url=page.url, host=page.host, depth=depth,
            relevance=float(judged.scores[number]), relevant=bool(judged.relevant[number]),
            at=float(len(fetched)), links=[link for _, link in page.links],
        ))  # fmt: skip
        fetched.append(number)
    return fetched


def run(task: Task, name: str, scorer: str = "") -> list[int]:
    """Crawl *task* with the registered strategy called *name*.

    Args:
        scorer: page scorer where the strategy leaves it open; "" = the product's default.

    Raises:
        ConfigError: no strategy or scorer is called that.
    """
    strategy = strategies.get(name)(CrawlTopic(task.pack))
    return simulate(task, strategy, judgements(task, scorer_of(strategy, scorer)))


def scorer_of(strategy: Strategy | LearningStrategy, chosen: str = "") -> str:
    """The page scorer whose judgement *strategy* gets."""
    names = page_scorers.names()
    default = next(name for name in PREFERRED_SCORERS if name in names)
    return strategy.page_scorer or chosen or default


def found_after(task: Task, fetched: Sequence[int]) -> NDArray[np.int64]:
    """Targets found after each of the steps of a whole crawl; constant after its end."""
    starts = frozenset(task.starts)
    hits = np.array([number in task.targets for number in fetched if number not in starts], bool)
    counts = np.full(task.steps, hits.sum(), np.int64)
    counts[: len(hits)] = np.cumsum(hits)
    return counts


def figures(task: Task, fetched: Sequence[int]) -> Figures:
    """The figures of one crawl."""
    counts = found_after(task, fetched)
    recall = counts / len(task.targets)
    places = [max(1, round(share * task.steps)) for share in MARKS]
    ten, quarter, half = (float(recall[place - 1]) for place in places)
    harvest = float(counts[places[0] - 1] / places[0])
    return Figures(float(recall.mean()), (ten, quarter, half), harvest)


def curve(task: Task, fetched: Sequence[int]) -> list[tuple[float, float, float]]:
    """(share of the reachable pages fetched, recall, precision) at up to 200 places."""
    counts = found_after(task, fetched)
    points = min(CURVE_POINTS, len(counts))
    places = np.unique(np.linspace(1, len(counts), points).round().astype(int))
    return [(place / len(counts), float(counts[place - 1] / len(task.targets)),
             float(counts[place - 1] / place)) for place in places.tolist()]  # fmt: skip
