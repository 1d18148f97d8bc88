"""What other ways to order a crawl are made of: remembered words of links, a linear model."""

from __future__ import annotations

import math
import random
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import ClassVar
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from benchmarks.crawl_orders.tasks import Task
from qiaocrawl.frontier import FoundLink, VisitedPage
from qiaocrawl.frontier.strategies.strategy import CrawlTopic

Features = NDArray[np.int64]
"""Places in a table of weights."""

_SIZE, _NUMBERS = 1 << 18, 32
_NO_WORD = re.compile(r"[\W\d_]+")
_SEED = 7


class Peer:
    """What all have in common: they remember links and are asked anew now and then."""

    name: ClassVar[str]
    page_scorer: ClassVar[str] = ""
    rescore_pages = 25

    def __init__(self, topic: CrawlTopic, task: Task) -> None:
        self.topic = topic
        self.task = task
        self.random = random.Random(_SEED)

    def add_node(self, node: int, url: str, host: str, depth: int) -> None:
        """Start pages tell nothing."""

    def explain_node(self, node: int) -> Mapping[str, float]:
        """Nothing: nobody asks a peer why."""
        return {}

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """As :meth:`rescored`."""
        return [float(one) for one in self.rescore(np.array([link.node for link in links], int))]

    def rescore(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """A number for every node."""
        raise NotImplementedError


class LinkWords(Peer):
    """Remembers the words of every link: anchor and title, around it, and of its URL."""

    places: ClassVar[str] = "aucx"
    """Whose words count: anchor, URL, context; x keeps them apart by place."""

    def __init__(self, topic: CrawlTopic, task: Task) -> None:
        super().__init__(topic, task)
        self.features: dict[int, Features] = {}
        self.hosts: dict[int, str] = {}
        self.host_pages: Counter[str] = Counter()
        self.host_relevant: Counter[str] = Counter()

    def score(self, page: VisitedPage, links: Sequence[FoundLink]) -> Sequence[float]:
        """Learn from *page*, then score its links."""
        self.host_pages[page.host] += 1
        self.host_relevant[page.host] += page.relevant
        for found_link in links:
            if found_link.node not in self.features:
                self.features[found_link.node] = self._features(found_link)
                self.hosts[found_link.node] = found_link.link.host
        nodes = np.array([found_link.node for found_link in links], np.int64)
        self.learn(page, nodes)
        return [float(one) for one in self.rescore(nodes)]

    def learn(self, page: VisitedPage, nodes: NDArray[np.int64]) -> None:
        """What *page* says of the link that led to it; *nodes* are its own links."""
        raise NotImplementedError

    def _features(self, found: FoundLink) -> Features:
        link = found.link
        texts = {"a": f"{link.anchor} {link.title}", "u": words_of_url(link.url),
                 "c": link.context}  # fmt: skip
        return np.array(sorted({
            place_of(place, word)
            for place, text in texts.items() if place in self.places
            for word in self.topic.words_of(text)
        }), np.int64)  # fmt: skip


@lru_cache(1 << 16)
def place_of(kind: str, word: str) -> int:
    """Where the weight of *word* in a place of that kind stands; never among the first 32."""
    # The first places belong to numbers.
    return _NUMBERS + zlib.crc32(f"{kind} {word}".encode()) % (_SIZE - _NUMBERS)


@lru_cache(1 << 14)
def words_of_url(url: str) -> str:
    """The words of path and query of *url*."""
    return _NO_WORD.sub(" ", unquote(url.partition("://")[2].partition("/")[2]))


class Linear:
    """Logistic regression in the course of the crawl, steps by AdaGrad."""

    def __init__(self, size: int = _SIZE, rate: float = 0.125) -> None:
        self.weights = np.zeros(size)
        self._squares = np.full(size, 0.01)
        self._rate = rate

    def predict(self, places: Features, values: NDArray[np.float64]) -> float:
        """A probability."""
        product = float(self.weights[places] @ values)
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, product))))

    def learn(self, places: Features, values: NDArray[np.float64], wanted: float) -> None:
        """One step towards *wanted* in [0, 1]."""
        slope = (self.predict(places, values) - wanted) * values
        self._squares[places] += slope * slope
        self.weights[places] -= self._rate * slope / np.sqrt(self._squares[places])
