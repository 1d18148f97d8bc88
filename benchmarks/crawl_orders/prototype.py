"""The throw-away prototype that the issue's figures were measured with, made again."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.crawl_orders.peer import Features, Linear, LinkWords, place_of, words_of_url
from benchmarks.crawl_orders.tasks import Task
from qiaocrawl.frontier import FoundLink, VisitedPage
from qiaocrawl.frontier.strategies.strategy import CrawlTopic


class Prototype(LinkWords):
    """Like the throw-away prototype of this project: online logistic regression of words, host,
    path and yields, with delayed credit (0.6 of the best link) and the yield of hubs (0.3)."""

    name = "prototype"
    places = "aux"
    _credit, _hubs, _base, _parents = 0.6, 0.3, 0.1, 6
    _prior = (-2.5, 4.0, 1.5, 1.5, 2.0, 0.8, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    """Of the numbers: constant, similarity of anchor, context and URL, best and mean parent,
    links to it, nearness to a relevant page, yields of path, host and siblings, place, depth."""

    def __init__(self, topic: CrawlTopic, task: Task) -> None:
        super().__init__(topic, task)
        self.model = Linear()
        self.model.weights[: len(self._prior)] = self._prior
        self._similar: dict[int, list[float]] = {}
        self._ways: dict[int, list[int]] = defaultdict(list)
        self._paths: dict[int, str] = {}
        self._steps: dict[int, tuple[int, int]] = {}
        self._worth: dict[int, float] = {}
        self._yields: dict[object, list[int]] = defaultdict(lambda: [0, 0])
        self._seen = (list[_Case](), list[_Case]())

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """Note who links where, count yields, learn, then score the links."""
        self._worth[page.node] = page.relevance
        case = self._case(page.node) if page.node in self._ways else None
        depth, away = self._steps.get(page.node, (0, 0))
        step = depth + 1, 1 if page.relevant else away + 1
        for found in links:
            known = self._steps.get(found.node, step)
            self._steps[found.node] = min(known[0], step[0]), min(known[1], step[1])
            self._note(page.node, found)
        self._count(page)
        scores = super().score(page, links)
        if case is not None:
            wanted = max(float(page.relevant), self._credit * max(scores, default=0.0))
            self._seen[wanted > 0.5].append((case[0], case[1], wanted))
            for past in ([(case[0], case[1], wanted)], *self._seen):
                for _ in range(1 if len(past) == 1 else 3 if past else 0):
                    self.model.learn(*self.random.choice(past))
        return scores

    def learn(self, page: VisitedPage, nodes: NDArray[np.int64]) -> None:
        """Done in :meth:`score`, which knows what the links promise."""

    def rescore(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Probability, and what pages of such a path have led to."""
        return np.array(
            [
                self.model.predict(*self._case(node)) + self._hubs * self._hub_yield(node)
                for node in map(int, nodes)
            ]
        )

    def _note(self, parent: int, found: FoundLink) -> None:
        link, node = found.link, found.node
        alike = self.topic.similarity
        place = -found.position / max(1, found.links_on_page)
        now = [alike(f"{link.anchor} {link.title}"), alike(link.context),
               alike(words_of_url(link.url)), place]  # fmt: skip
        known = self._similar.get(node, now)
        self._similar[node] = [max(pair) for pair in zip(known, now, strict=True)]
        self._ways[node].append(parent)
        self._paths[node] = _path_of(link.url)

    def _count(self, page: VisitedPage) -> None:
        ways, path = self._ways.get(page.node, ()), self._paths.get(page.node, "")
        for key in (("path", path), *(("page", parent) for parent in ways)):
            self._yields[key][0] += 1
            self._yields[key][1] += page.relevant
        self._yields["hub", path][0] += 1
        if page.relevant and ways:
            self._yields["hub", self._paths.get(ways[0], "")][1] += 1

    def _hub_yield(self, node: int) -> float:
        fetched, led = self._yields["hub", self._paths[node]]
        return min(1.5, (led + 0.3) / (fetched + 1))

    def _case(self, node: int) -> tuple[Features, NDArray[np.float64]]:
        words = self.features[node]
        host, path = self.hosts[node], self._paths[node]
        parents = self._ways[node]
        worth = [self._worth.get(parent, 0.0) for parent in parents]
        depth, away = self._steps[node]
        anchor, context, url, place = self._similar[node]
        fetched, good = self._yields["path", path]
        sisters = (self._yields["page", parent] for parent in parents[-self._parents :])
        numbers = (
            1.0, anchor, context, url, max(worth), sum(worth) / len(worth),
            0.3 * math.log1p(len(parents)), math.exp(-0.3 * away),
            (good + self._base) / (fetched + 1),
            (self.host_relevant[host] + self._base) / (self.host_pages[host] + 1),
            max((right + self._base) / (seen + 1) for seen, right in sisters),
            -place, 1 / (1 + depth),
        )  # fmt: skip
        more = np.concatenate((words, [place_of("h", host), place_of("p", path)]))
        places = np.concatenate((np.arange(len(numbers)), more))
        return places, np.concatenate((numbers, np.full(len(more), (1 + len(more)) ** -0.5)))


_Case = tuple[Features, NDArray[np.float64], float]


@lru_cache(1 << 14)
def _path_of(url: str) -> str:
    """Host and folders of *url*, numbers alike."""
    return re.sub(r"\d+", "#", url.partition("://")[2].rpartition("/")[0])[:80]
