"""What the pages of a crawl teach the method ``cluster``: its buffer of nodes goes on filling (U5).

Pages travel to the writer a few dozen at a time, which takes what is stored, adds them, clusters
anew where that is due, and stores the result in the same transaction: workers on one database learn
together, and nothing is known that is not committed. What a crash loses is at most those few dozen.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import numpy as np
from sqlalchemy import Connection

from qiaocrawl.extract.published.cluster import ClusterState, IncrementalClusters, Training
from qiaocrawl.extract.published.cluster_model import FEATURES
from qiaocrawl.items import PageAnalysis
from qiaocrawl.storage import Reader
from qiaocrawl.storage.pages.node_clusters import load_clusters, lock_clusters, save_clusters
from qiaocrawl.storage.writer import in_loop

_PAGES_BETWEEN_SAVES = 50
# Four full buffers: clustering them anew takes some seconds, in the transaction that stores pages.
TRAINING = Training(most_samples=20_000)


class NodeLearning:
    """The learning of one run; not thread-safe but for what it hands to the writer."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._pages: list[bytes] = []
        self._state: ClusterState | None = None

    async def model(self) -> str:
        """What pages are read by: the text of a model's file; "" before the first clustering."""
        if self._state is None:
            self._state = await in_loop(self._reader.submit(load_clusters))
        return self._state.model

    def model_now(self) -> str:
        """The same, without an event loop."""
        if self._state is None:
            self._state = self._reader.run(load_clusters)
        return self._state.model

    def observe(self, analysis: PageAnalysis) -> None:
        """Learn from a page whose analysis was stored."""
        if analysis.samples:
            self._pages.append(analysis.samples)

    def due(self) -> Callable[[Connection], None] | None:
        """An operation that stores what is new, when there is enough of it."""
        return self.saving() if len(self._pages) >= _PAGES_BETWEEN_SAVES else None

    def saving(self) -> Callable[[Connection], None]:
        """An operation that stores what is new; it may be played again."""
        pages, self._pages = self._pages, []
        return partial(self._save, pages=pages)

    def _save(self, c: Connection, pages: list[bytes]) -> None:
        clusters = IncrementalClusters.of_state(lock_clusters(c), TRAINING)
        for samples in pages:
            clusters.add(np.frombuffer(samples).reshape(-1, len(FEATURES)))
        state = clusters.state()
        save_clusters(c, state, now=datetime.now(UTC))
        self._state = state

    def numbers(self) -> dict[str, int]:
        """Figures for the run's record: of all crawls of the database so far."""
        state = self._state or ClusterState()
        return {
            "qiaocrawl/cluster/pages": state.pages,
            "qiaocrawl/cluster/clusterings": state.clusterings,
            "qiaocrawl/cluster/nodes_waiting": len(state.waiting) // (8 * len(FEATURES)),
        }
