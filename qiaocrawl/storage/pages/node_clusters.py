"""What crawls have taught the method ``cluster``: one row, locked by who adds to it."""

from __future__ import annotations

import logging
from datetime import datetime

from sqlalchemy import Connection, select, update

from qiaocrawl.extract.published.cluster import ClusterState, IncrementalClusters, Training
from qiaocrawl.storage.schema import node_clusters
from qiaocrawl.storage.sql import upsert
from qiaocrawl.storage.values import epoch_time, to_stored_time
from qiaocrawl.text.zstd import zstd

logger = logging.getLogger(__name__)

_ONLY = 1
_BEGIN = upsert(
    "node_clusters",
    {
        "id": ":id",
        "model": "''",
        "pages": "0",
        "clusterings": "0",
        "joined": ":nothing",
        "waiting": ":nothing",
        "updated_at": ":now",
    },
    key="id",
)


def load_clusters(c: Connection) -> ClusterState:
    """What was learnt so far; nothing where it cannot be read, which is logged."""
    return _load(c, lock=False)


def lock_clusters(c: Connection) -> ClusterState:
    """The same; others that would add to it wait until the transaction ends."""
    nothing = zstd.compress(b"")
    _BEGIN.run(c, {"id": _ONLY, "nothing": nothing, "now": epoch_time(0)})
    return _load(c, lock=True)


def save_clusters(c: Connection, state: ClusterState, *, now: datetime) -> None:
    """Store *state* in place of what :func:`lock_clusters` gave."""
    c.execute(
        update(node_clusters)
        .where(node_clusters.c.id == _ONLY)
        .values(
            model=state.model,
            pages=state.pages,
            clusterings=state.clusterings,
            joined=zstd.compress(state.joined),
            waiting=zstd.compress(state.waiting),
            updated_at=to_stored_time(now),
        )
    )


def _load(c: Connection, *, lock: bool) -> ClusterState:
    statement = select(node_clusters).where(node_clusters.c.id == _ONLY)
    row = c.execute(statement.with_for_update() if lock else statement).first()
    if row is None:
        return ClusterState()
    try:
        state = ClusterState(
            row.model,
            row.pages,
            row.clusterings,
            zstd.decompress(row.joined),
            zstd.decompress(row.waiting),
        )
        IncrementalClusters.of_state(state, Training())
    except (ValueError, RecursionError, zstd.ZstdError) as error:
        logger.warning("what crawls taught the method cluster is learnt anew: %s", error)
        return ClusterState()
    return state
