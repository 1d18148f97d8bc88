"""The part of the web a crawl has seen: weighted links between pages, as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.vsm.growing_array import Column

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
    def visited(self) -> NDArray[np.bool_]:
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
