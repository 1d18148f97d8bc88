"""The waiting URLs of one crawl in memory, best first: every URL a node with a score.

The same code orders a crawl and a simulation. The database stays the truth about what is
waiting; this is the view of one process, which may hear of other processes' pages as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import IntEnum
from typing import overload

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.frontier.strategies.strategy import (
    FoundLink,
    LearningStrategy,
    Strategy,
    VisitedPage,
)
from qiaocrawl.frontier.threshold import MovingThreshold
from qiaocrawl.items import SEED_SCORE, Link, Visit
from qiaocrawl.vsm.growing_array import Column


class NodeState(IntEnum):
    """Where a URL stands in this process's view."""

    PRUNED = 0
    """Every link to it was left out."""
    WAITING = 1
    TAKEN = 2
    """Handed out, or closed."""


class PriorityIndex:
    """The waiting URLs of one crawl, best first.

    Nodes are numbered in the order of discovery, so among equal scores the older comes first.

    Args:
        strategy: what scores.
        threshold: nodes below it are not handed out, but for tunnels (T9); those of a strategy
            whose scores never change are left out for good.
    """

    def __init__(
        self, strategy: Strategy | LearningStrategy, threshold: MovingThreshold | None = None
    ) -> None:
        self.strategy = strategy
        self._threshold = threshold
        self._tunnels = Column(np.bool_)
        self._learner = strategy if isinstance(strategy, LearningStrategy) else None
        self._nodes: dict[bytes, int] = {}
        self._keys: list[bytes] = []
        self._hosts: dict[str, int] = {}
        self._host_names: list[str] = []
        self._host_of = Column(np.int32)
        self._score = Column(np.float64, -np.inf)
        # The score of waiting nodes, -inf for all others: finding the best needs no second array.
        self._open = Column(np.float64, -np.inf)
        self._state = Column(np.int8)
        self._unscored_visits = 0
        self.scores_anew = True
        """Whether visits trigger a rescoring; off while a log is replayed."""

    def __len__(self) -> int:
        """How many URLs are known."""
        return len(self._keys)

    def node_of(self, key: bytes) -> int | None:
        """The node of *key*; None if it is unknown."""
        return self._nodes.get(key)

    def key_of(self, node: int) -> bytes:
        """The key of *node*."""
        return self._keys[node]

    def host_of(self, node: int) -> str:
        """The host of *node*."""
        return self._host_names[int(self._host_of.data[node])]

    def score_of(self, node: int) -> float:
        """The present score of *node*."""
        return float(self._score.data[node])

    def state_of(self, node: int) -> NodeState:
        """Where *node* stands."""
        return NodeState(int(self._state.data[node]))

    @property
    def waiting(self) -> NDArray[np.int64]:
        """The waiting nodes, oldest first."""
        return np.flatnonzero(self._state.data[: len(self)] == NodeState.WAITING)

    # --- what comes to light ----------------------------------------------------------------

    def add(self, key: bytes, url: str, host: str, depth: int, score: float = SEED_SCORE) -> int:
        """Let a URL wait that no visited page led to; returns its node."""
        node = self._node(key, host)
        if self._learner is not None:
            self._learner.add_node(node, url, host, depth)
        self._raise(node, score)
        return node

    def visit(self, visit: Visit) -> list[float]:
        """Learn from a fetched page, and score and queue its links.

        Returns:
            The score of every link, in order; a higher one of the same URL may be known.
        """
        node = self._node(visit.key, visit.host)
        # Before its links are scored: a page that links to itself must not wait again.
        self.close(node)
        page = VisitedPage(
            visit.url, visit.host, visit.depth, visit.relevance, visit.relevant, visit.at, node
        )
        # Nodes are made for all links, also for those left out: another page may link to them.
        count, known = len(visit.links), self._nodes
        links = [
            FoundLink(
                link,
                position,
                count,
                known[link.key] if link.key in known else self._node(link.key, link.host),
            )
            for position, link in enumerate(visit.links)
        ]
        scores = list(self.strategy.score(page, links))
        if self._threshold is not None and self._learner is None:
            scores = self._threshold.prune(visit, scores)
        elif self._threshold is not None:
            self._threshold.note_judgement(visit.relevant)
        if self._learner is not None:
            self._enter_scores(links, scores)
        else:
            for link, score in zip(links, scores, strict=True):
                self._raise(link.node, score)
        self._unscored_visits += 1
        if (
            self._learner is not None
            and self.scores_anew
            and self._unscored_visits >= self._learner.rescore_pages
        ):
            self.rescore()
        return scores

    def readdress(self, node: int, key: bytes, host: str) -> None:
        """*node* turned out to stand at another URL, by a redirect: all links to it lead there.

        Nothing happens where *key* is known already.
        """
        if key not in self._nodes:
            self._nodes[key] = node
            self._keys[node] = key
            self._host_of.data[node] = self._host_number(host)

    def rescore(self) -> None:
        """Ask the strategy for the scores of all waiting nodes; nothing where it never changes."""
        self._unscored_visits = 0
        if self._learner is None:
            return
        nodes = self.waiting
        # Start pages and the like wait in their own right and keep their score.
        nodes = nodes[self._score.data[nodes] < SEED_SCORE]
        if len(nodes):
            scores = self._learner.rescore(nodes)
            self._score.data[nodes] = scores
            self._open.data[nodes] = scores

    # --- what is next -------------------------------------------------------------------------

    def best(
        self,
        limit: int,
        *,
        per_host: int = 0,
        busy_hosts: Collection[str] = (),
        own_hosts: Collection[str] | None = None,
    ) -> list[int]:
        """Up to *limit* waiting nodes, best first, none of *busy_hosts*.

        Args:
            per_host: most of one host; 0 = no limit.
            own_hosts: those nodes may be of; None for all.
        """
        size = len(self)
        scores = self._open.data[:size]
        if self._threshold is not None:
            admitted = (scores >= self._threshold.value) | self._tunnels.data[:size]
            scores = np.where(admitted, scores, -np.inf)
        if busy_hosts:
            scores = np.where(self._is_on(busy_hosts), -np.inf, scores)
        if own_hosts is not None:
            scores = np.where(self._is_on(own_hosts), scores, -np.inf)
        # The common question of a simulation, without a sort.
        if limit == 1:
            return _finite_nodes([int(scores.argmax())] if size else [], scores)
        # With a limit per host any node may be needed, since those before it may be of full hosts.
        ranked = _rank(scores, limit if not per_host else size)
        nodes: list[int] = []
        taken: dict[int, int] = {}
        for node in _finite_nodes(ranked, scores):
            host = int(self._host_of.data[node])
            if per_host and taken.get(host, 0) >= per_host:
                continue
            taken[host] = taken.get(host, 0) + 1
            nodes.append(node)
            if len(nodes) == limit:
                break
        return nodes

    def _is_on(self, hosts: Collection[str]) -> NDArray[np.bool_]:
        """By node, whether it is on one of *hosts*."""
        # Hosts are compared as numbers, in one array operation: strings would be a loop in Python.
        numbers = [self._hosts[host] for host in hosts if host in self._hosts]
        return np.isin(self._host_of.data[: len(self)], numbers)

    def place_of(self, node: int) -> tuple[int, int]:
        """(place, how many wait) of a waiting *node*; the best is 1."""
        scores = self._open.data[: len(self)]
        ahead, waiting = scores > scores[node], scores > -np.inf
        return int(np.count_nonzero(ahead)) + 1, int(np.count_nonzero(waiting))

    def take(self, nodes: Iterable[int]) -> None:
        """Hand out *nodes*: they no longer wait."""
        for node in nodes:
            self.close(node)

    def close(self, node: int) -> None:
        """*node* is fetched, or will not be."""
        self._state.data[node] = NodeState.TAKEN
        self._open.data[node] = -np.inf

    def put_back(self, node: int) -> None:
        """*node* was handed out and waits again, with the score it had."""
        self._state.data[node] = NodeState.WAITING
        self._open.data[node] = self._score.data[node]

    def unlink(self, node: int) -> None:
        """The page that led to *node* does not count: it waits once another leads there."""
        self._state.data[node] = NodeState.PRUNED
        self._score.data[node] = self._open.data[node] = -np.inf

    # --- inside ---------------------------------------------------------------------------------

    def _node(self, key: bytes, host: str) -> int:
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = len(self._keys)
            self._keys.append(key)
            size = node + 1
            for column in (self._score, self._open, self._state):
                column.reserve(size)
            self._host_of.reserve(size)[node] = self._host_number(host)
            if self._threshold is not None:
                self._tunnels.reserve(size)[node] = self._threshold.is_tunnel(key)
        return node

    def _host_number(self, host: str) -> int:
        number = self._hosts.get(host)
        if number is None:
            number = self._hosts[host] = len(self._hosts)
            self._host_names.append(host)
        return number

    def _raise(self, node: int, score: float) -> None:
        """Of several scores of one URL the highest counts."""
        # -inf is PRUNED: a strategy leaves the link out, and another page may still let it wait.
        if score == -np.inf or self._state.data[node] == NodeState.TAKEN:
            return
        if score > self._score.data[node]:
            self._score.data[node] = self._open.data[node] = score
            self._state.data[node] = NodeState.WAITING

    def _enter_scores(self, found: Sequence[FoundLink], scores: Sequence[float]) -> None:
        """Scores of a strategy that remembers: they take all links to a URL into account."""
        if not found:
            return
        nodes = np.array([link.node for link in found])
        values = np.asarray(scores, np.float64)
        state, score = self._state.data, self._score.data
        # Taken nodes are in hand or done; start pages keep their rank before all others.
        free = (state[nodes] != NodeState.TAKEN) & (score[nodes] < SEED_SCORE)
        nodes, values = nodes[free], values[free]
        # Unlike _raise, a score may fall or become PRUNED: the strategy has seen every link to it.
        state[nodes] = np.where(values > -np.inf, NodeState.WAITING, NodeState.PRUNED)
        score[nodes] = values
        self._open.data[nodes] = values


def scores_of(strategy: Strategy | LearningStrategy, visit: Visit) -> Sequence[float]:
    """The scores of a page's links by a strategy that remembers nothing."""
    page = VisitedPage(
        visit.url, visit.host, visit.depth, visit.relevance, visit.relevant, visit.at
    )
    return strategy.score(page, _FoundLinks(visit.links))


class _FoundLinks(Sequence[FoundLink]):
    """*links* as a strategy sees them, made when it looks: breadth first only counts them."""

    def __init__(self, links: Sequence[Link]) -> None:
        self._links = links

    def __len__(self) -> int:
        return len(self._links)

    @overload
    def __getitem__(self, place: int) -> FoundLink: ...
    @overload
    def __getitem__(self, place: slice) -> list[FoundLink]: ...
    def __getitem__(self, place: int | slice) -> FoundLink | list[FoundLink]:
        if isinstance(place, slice):
            return list(self)[place]
        at = range(len(self._links))[place]
        return FoundLink(self._links[at], at, len(self._links))

    def __iter__(self) -> Iterator[FoundLink]:
        count = len(self._links)
        for place, link in enumerate(self._links):
            yield FoundLink(link, place, count)


def _rank(scores: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """The places of the *most* highest of *scores*, highest first, earlier first among equals."""
    if most < len(scores):
        best = np.argpartition(-scores, most)[:most]
        # argpartition picks any of equal scores; the older ones must win.
        best = np.flatnonzero(scores >= scores[best].min())
    else:
        best = np.arange(len(scores))
    return best[np.argsort(-scores[best], kind="stable")]


def _finite_nodes(
    ranked: Sequence[int] | NDArray[np.int64], scores: NDArray[np.float64]
) -> list[int]:
    return [int(node) for node in ranked if scores[node] > -np.inf]
