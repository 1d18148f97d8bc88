"""Ranks that flow along links: the iteration PageRank and IPageRank share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.frontier.strategies.graph.link_graph import LinkGraph, RankingPace
from qiaocrawl.frontier.strategies.strategy import largest_first
from qiaocrawl.vsm.growing_array import Column

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
