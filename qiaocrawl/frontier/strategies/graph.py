"""The crawled graph, and ranks that flow along its links: PageRank's iteration, HITS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.frontier.strategies.strategy import largest_first
from qiaocrawl.vsm.growing_array import Column

# --- The part of the web a crawl has seen: weighted links between pages, as arrays ----------------

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


class LinkGraph:
    """Weighted links between numbered nodes; those of one page lie side by side.

    ``nodes`` is one more than the highest number ever named, ``links`` how many are held, those
    of earlier visits of a page included: they weigh nothing any more.
    """

    def __init__(self) -> None:
        self.nodes = 0
        self.links = 0
        self._source = Column(np.int32)
        self._target = Column(np.int32)
        self._weight = Column(np.float64)
        self._first = Column(np.int64, -1)
        self._count = Column(np.int32)

    def name(self, highest: int) -> None:
        """Nodes up to *highest* exist."""
        if highest >= self.nodes:
            self.nodes = highest + 1
            self._first.reserve(self.nodes)
            self._count.reserve(self.nodes)

    def add_page(self, page: int, targets: Sequence[int], weights: Sequence[float]) -> Ints:
        """The links of *page*, in place of those it had; returns *targets* as an array.

        Weights are 0 or more.
        """
        target_nodes = np.asarray(targets, np.int32)
        self.name(max(page, int(target_nodes.max(initial=-1))))
        if self._first.data[page] >= 0:
            # Set to 0, not removed: to close the gap would move all links behind it.
            old = self._first.data[page]
            self._weight.data[old : old + self._count.data[page]] = 0.0
        start, end = self.links, self.links + len(target_nodes)
        self._source.reserve(end)[start:end] = page
        self._target.reserve(end)[start:end] = target_nodes
        self._weight.reserve(end)[start:end] = weights
        self._first.data[page], self._count.data[page] = start, len(target_nodes)
        self.links = end
        return target_nodes

    def arrays(self) -> tuple[Ints, Ints, Floats]:
        """Source, target and weight of every link, each of shape (links,); views."""
        size = self.links
        return self._source.data[:size], self._target.data[:size], self._weight.data[:size]

    @property
    def is_visited(self) -> NDArray[np.bool_]:
        """Whether the links of a node are known, of shape (nodes,)."""
        return np.asarray(self._first.data[: self.nodes] >= 0)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        columns = (self._source, self._target, self._weight, self._first, self._count)
        return sum(column.nbytes for column in columns)


class RankingPace:
    """When to rank again, so that all rankings of a crawl cost about as much as ten of the last.

    The cost of a ranking grows with the graph, so it is made each time the crawl has grown by a
    tenth to a fifth: after 1, 2, 4, 8 … pages, the step a power of two so that it need not be
    known at which page counting began. **(ours)**
    """

    def __init__(self) -> None:
        self._pages = 0

    def next_step(self) -> int:
        """One more page is known: the number of pages after which to rank."""
        self._pages += 1
        tenths = self._pages // 10
        return 1 << tenths.bit_length() if tenths else 1


DAMPING = 0.85
"""Of Brin and Page (1998)."""
# Iterations end when the ranks change by less than this share of their sum.
_TOLERANCE = 1e-3
_MAX_ITERATIONS = 40


class RankFlow:
    """``rank(a) = (1-d)·jump(a) + d·Σ_i rank(i)·w(i→a) / Σ_b w(i→b)`` over pages seen so far.

    Pages not fetched yet have no links, so what would flow on from them is lost. Spread by the
    jump it would change all ranks by one factor, which changes no order. A new page's rank is
    passed on one step at once, so that its links have a score; :meth:`converge` does the rest,
    starting from the present ranks.

    Args:
        damping: d, in [0, 1).
        jump: of a node nothing else is known of, 0 or more.
    """

    def __init__(self, damping: float, jump: float) -> None:
        self._damping = damping
        self._graph = LinkGraph()
        self._jump = Column(np.float64, jump)
        self._rank = Column(np.float64, (1.0 - damping) * jump)
        self._pace = RankingPace()
        self._settled = True

    def name(self, node: int) -> None:
        """*node* exists."""
        self._graph.name(node)
        self._jump.reserve(self._graph.nodes)
        self._rank.reserve(self._graph.nodes)

    def add_page(
        self, page: int, jump: float, targets: Sequence[int], weights: Sequence[float]
    ) -> tuple[NDArray[np.float64], int]:
        """A fetched page with the links it has; their weights are 0 or more.

        Returns:
            The ranks of *targets* as they are now, and the pages after which to settle.
        """
        target_nodes = self._graph.add_page(page, targets, weights)
        self.name(page)
        rank, jumps = self._rank.data, self._jump.data
        # Only the difference: the rank that came along links stays.
        rank[page] += (1.0 - self._damping) * (jump - jumps[page])
        jumps[page] = jump
        self._settled = False
        # A page whose links all weigh 0 passes nothing on.
        total = float(np.sum(weights))
        if total > 0:
            share = self._damping * rank[page] / total
            np.add.at(rank, target_nodes, share * np.asarray(weights))
        return rank[target_nodes], self._pace.next_step()

    def converge(self) -> None:
        """Iterate until the ranks hold still; nothing to do if no page came since."""
        if self._settled:
            return
        self._settled = True
        size = self._graph.nodes
        source, target, weight = self._graph.arrays()
        leaving = np.bincount(source, weight, size)
        # A page may have links that all weigh 0, as after a second visit: no division by 0.
        share = self._damping * weight / np.where(leaving > 0, leaving, 1.0)[source]
        given = (1.0 - self._damping) * self._jump.data[:size]
        rank = self._rank.data[:size]
        for _ in range(_MAX_ITERATIONS):
            last, rank = rank, given + np.bincount(target, rank[source] * share, size)
            if np.abs(rank - last).sum() <= _TOLERANCE * rank.sum():
                break
        self._rank.data[:size] = rank

    def ranks(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The ranks of *nodes* now."""
        return np.asarray(self._rank.data[nodes], np.float64)

    def parts(self, node: int) -> dict[str, float]:
        """The rank of *node* by where it comes from, the larger part first."""
        self.name(node)
        given = (1.0 - self._damping) * float(self._jump.data[node])
        parts = {"along links": float(self._rank.data[node]) - given, "by itself": given}
        return largest_first(parts)


# --- Hubs and authorities of the crawled graph (Kleinberg 1999) -----------------------------------

_MAX_HITS_ITERATIONS = 20
# Share of the best hub that every hub starts with: otherwise a part of the graph that once had no
# authority would never get any, even after joining the others.
_REVIVED = 1e-3


class Authorities:
    """``authority(a) = Σ_i w(i→a)·hub(i)``, ``hub(i) = Σ_a w(i→a)·authority(a)``, best one 1.

    Kleinberg leaves out links within one host; a crawl of one site would be left with none,
    so all links count **(ours)**. A new page's hub value is passed on to its links at once;
    :meth:`converge` does the rest, starting from the present values.
    """

    def __init__(self) -> None:
        self._graph = LinkGraph()
        self._authority = Column(np.float64)
        self._hub = Column(np.float64)
        # What the values were divided by to make the best of them 1.
        self._hub_scale = self._authority_scale = 1.0
        self._pace = RankingPace()
        self._settled = True

    def name(self, node: int) -> None:
        """*node* exists."""
        self._graph.name(node)
        self._authority.reserve(self._graph.nodes)
        self._hub.reserve(self._graph.nodes)

    def add_page(
        self, page: int, targets: Sequence[int], weights: Sequence[float]
    ) -> tuple[NDArray[np.float64], int]:
        """A fetched page with the links it has; their weights are 0 or more.

        Returns:
            The authorities of *targets* as they are now, and the pages after which to settle.
        """
        target_nodes = self._graph.add_page(page, targets, weights)
        self.name(page)
        heavy = np.asarray(weights, np.float64)
        authority = self._authority.data
        # Divided by the scale of the last iteration, so that it can be compared with the
        # values there are.
        hub = (float(heavy @ authority[target_nodes]) + _REVIVED) / self._hub_scale
        self._hub.data[page] = hub
        self._settled = False
        # add.at: a page may link to one target several times, which += by index would count once.
        np.add.at(authority, target_nodes, heavy * hub / self._authority_scale)
        return authority[target_nodes], self._pace.next_step()

    def converge(self) -> None:
        """Iterate until the authorities hold still; nothing to do if no page came since."""
        if self._settled:
            return
        self._settled = True
        size = self._graph.nodes
        source, target, weight = self._graph.arrays()
        authority, hub = self._authority.data[:size], self._hub.data[:size]
        hub = np.where(self._graph.is_visited, hub + _REVIVED * hub.max(initial=_REVIVED), 0.0)
        for _ in range(_MAX_HITS_ITERATIONS):
            last = authority
            authority = np.bincount(target, weight * hub[source], size)
            # All 0 before the first link: nothing to scale.
            self._authority_scale = authority.max(initial=0.0) or 1.0
            authority = authority / self._authority_scale
            hub = np.bincount(source, weight * authority[target], size)
            self._hub_scale = hub.max(initial=0.0) or 1.0
            hub = hub / self._hub_scale
            if np.abs(authority - last).sum() <= _TOLERANCE * authority.sum():
                break
        self._authority.data[:size], self._hub.data[:size] = authority, hub

    def of(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The authorities of *nodes* now, about [0, 1]."""
        return np.asarray(self._authority.data[nodes], np.float64)

    def hub_of(self, node: int) -> float:
        """The hub value of *node* now, about [0, 1]; 0 for what is not fetched."""
        self.name(node)
        return float(self._hub.data[node])
