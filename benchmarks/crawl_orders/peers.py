"""Other ways to order a crawl, made again for the benchmark only, beside the product's own.

They are like what they are named after, not the same: what their papers and programs do with
a link, on our pages, words and page judgements.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from benchmarks.crawl_orders.peer import Features, Linear, LinkWords, Peer
from benchmarks.crawl_orders.prototype import Prototype
from benchmarks.crawl_orders.tasks import Task
from qiaocrawl.frontier import FoundLink, LearningStrategy, VisitedPage
from qiaocrawl.frontier.strategies.strategy import CrawlTopic
from qiaocrawl.urls import url_key

_FAR = 99.0


class Random(Peer):
    """Any waiting page next: the floor."""

    name = "random"
    rescore_pages = 1 << 30

    def __init__(self, topic: CrawlTopic, task: Task) -> None:
        super().__init__(topic, task)
        self._drawn: dict[int, float] = {}

    def rescore(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """A number of each node's own."""
        return np.array([self._drawn.setdefault(int(n), self.random.random()) for n in nodes])


class Oracle(Peer):
    """Knows labels and links: the nearest to an unfetched relevant page next. The ceiling."""

    name = "oracle"
    rescore_pages = 10

    def __init__(self, topic: CrawlTopic, task: Task) -> None:
        super().__init__(topic, task)
        self._left = set(task.reachable)
        self._numbers: dict[int, int] = {}
        self._into: dict[int, list[int]] = defaultdict(list)
        for number in task.reachable:
            for linked, _ in task.collection.pages[number].links:
                self._into[linked].append(number)
        self._distances = self._measured()

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """By the distances as they were measured last."""
        self._left.discard(self.task.numbers[url_key(page.url)])
        for found_link in links:
            self._numbers[found_link.node] = self.task.numbers[found_link.link.key]
        return [-self._distances.get(self._numbers[found_link.node], _FAR) for found_link in links]

    def rescore(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Minus the number of links to the nearest page to find."""
        self._distances = self._measured()
        return np.array([-self._distances.get(self._numbers[int(n)], _FAR) for n in nodes])

    def _measured(self) -> dict[int, float]:
        distances = dict.fromkeys(sorted(self.task.targets & self._left), 0.0)
        waiting = deque(distances)
        while waiting:
            number = waiting.popleft()
            for parent in self._into[number]:
                if parent in self._left and parent not in distances:
                    distances[parent] = distances[number] + 1
                    waiting.append(parent)
        return distances


# --- learners -------------------------------------------------------------------------------


class LikeAche(LinkWords):
    """Like ACHE: parents' relevance first, then naive Bayes over the links' words, every 100
    pages anew (Barbosa & Freire, WWW 2007; github.com/VIDA-NYU/ache)."""

    name = "like_ache"
    rescore_pages = 100
    _alpha = 0.1
    _size = 1 << 16

    def __init__(self, topic: CrawlTopic, task: Task) -> None:
        super().__init__(topic, task)
        self._counts = np.zeros((2, self._size))
        self._pages = [0, 0]
        self._weights: NDArray[np.float64] | None = None
        self._first: dict[int, float] = {}

    def learn(self, page: VisitedPage, nodes: NDArray[np.int64]) -> None:
        """Count the words of links to relevant and to other pages."""
        words = self.features.get(page.node)
        if words is not None:
            self._pages[page.relevant] += 1
            self._counts[int(page.relevant)][words % self._size] += 1
        for node in nodes:
            value = page.relevance + (self.random.random() if page.relevant else 0.0)
            self._first[int(node)] = max(value, self._first.get(int(node), 0.0))

    def rescore(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log odds by the counts; as the parents are, while too little is known."""
        if sum(self._pages) % self.rescore_pages == 0 and min(self._pages) >= 3:
            share = self._counts + self._alpha
            self._weights = np.diff(np.log(share / share.sum(1, keepdims=True)), axis=0)[0]
        if self._weights is None:
            return np.array([self._first[int(node)] for node in nodes])
        return np.array(
            [self._weights[self.features[int(node)] % self._size].sum() for node in nodes]
        )


class _OnlineWords(LinkWords):
    """A linear model of the words of links, told of every page, and of earlier ones again."""

    replays = 6

    def __init__(self, topic: CrawlTopic, task: Task) -> None:
        super().__init__(topic, task)
        self.model = Linear()
        self._past: tuple[list[tuple[Features, float]], ...] = ([], [])

    def learn(self, page: VisitedPage, nodes: NDArray[np.int64]) -> None:
        """Towards :meth:`wanted`, with as many pages of either kind of those before."""
        places = self.features.get(page.node)
        if places is None:
            return
        wanted = self.wanted(page, nodes)
        self._past[wanted > 0.5].append((places, wanted))
        self._step(places, wanted)
        for past in self._past:
            for _ in range(self.replays // 2 if past else 0):
                self._step(*self.random.choice(past))

    def wanted(self, page: VisitedPage, nodes: NDArray[np.int64]) -> float:
        """What the link to *page* was worth."""
        return float(page.relevant)

    def guess(self, node: int) -> float:
        """What the link to *node* may be worth."""
        places = self.features[node]
        return self.model.predict(*_with_constant(places))

    def _step(self, places: Features, wanted: float) -> None:
        self.model.learn(*_with_constant(places), wanted)


def _with_constant(places: Features) -> tuple[Features, NDArray[np.float64]]:
    values = np.full(len(places) + 1, 1.0 / math.sqrt(1 + len(places)))
    values[0] = 1.0
    return np.concatenate(([0], places)), values


class LikeAnthelion(_OnlineWords):
    """Like Anthelion: an online classifier of links times the yield of their hosts, some of
    them by chance (Meusel, Mika & Blanco, CIKM 2014)."""

    name = "like_anthelion"
    _chance = 0.05

    def rescore(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Probability x (relevant + 0.5) / (fetched + 1) of the host, one in twenty by chance."""
        return np.array([
            self.random.random() * 2 if self.random.random() < self._chance
            else self.guess(node) * self._yield(self.hosts[node])
            for node in map(int, nodes)
        ])  # fmt: skip

    def _yield(self, host: str) -> float:
        return (self.host_relevant[host] + 0.5) / (self.host_pages[host] + 1.0)


class LikeDeepDeep(_OnlineWords):
    """Like deep-deep: Q-learning with a linear model of the link's words, discount 0.4, some
    links by chance (github.com/TeamHG-Memex/deep-deep)."""

    name = "like_deepdeep"
    places = "aux"
    replays = 12
    _discount, _chance = 0.4, 0.05

    def wanted(self, page: VisitedPage, nodes: NDArray[np.int64]) -> float:
        """The page's own worth, or what its best link promises, discounted."""
        best = max((self.guess(int(node)) for node in nodes), default=0.0)
        return max(float(page.relevant), self._discount * best)

    def rescore(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The model's guess; chance adds to one in twenty."""
        return np.array(
            [
                self.guess(int(node)) + (self.random.random() < self._chance) * self.random.random()
                for node in nodes
            ]
        )


PeerFactory = Callable[[CrawlTopic, Task], LearningStrategy]

PEERS: Mapping[str, PeerFactory] = MappingProxyType(
    {peer.name: peer for peer in (Random, Oracle, LikeAche, LikeAnthelion, LikeDeepDeep, Prototype)}
)
"""By name. Only the oracle looks at the labels of its task."""
