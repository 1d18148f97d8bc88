"""Hubs and authorities of the crawled graph (Kleinberg 1999)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.frontier.strategies.graph.link_graph import LinkGraph, RankingPace
from qiaocrawl.vsm.growing_array import Column

_TOLERANCE = 1e-3
_MAX_ITERATIONS = 20
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
        hub = np.where(self._graph.visited, hub + _REVIVED * hub.max(initial=_REVIVED), 0.0)
        for _ in range(_MAX_ITERATIONS):
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
