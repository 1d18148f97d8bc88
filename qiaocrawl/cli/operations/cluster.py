"""``--scheduler``: bulk stages on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from qiaocrawl.runtime.bulk import LocalBulk

if TYPE_CHECKING:
    from qiaocrawl.runtime.bulk import Bulk
    from qiaocrawl.runtime.runtime import Runtime

SchedulerAddress = Annotated[
    str,
    typer.Option(
        help="Compute on the Dask cluster of this scheduler, tcp://HOST:PORT (docs/operations.md)."
    ),
]


@contextmanager
def chosen_bulk(runtime: Runtime, scheduler: str) -> Iterator[Bulk]:
    """Where bulk work of *runtime* is done: the cluster of *scheduler*, "" for this machine.

    Raises:
        ConfigError: a wrong address, or Dask is not installed here.
        ClusterError: nobody answers there, it has no worker, or one runs other code.
    """
    if not scheduler:
        yield LocalBulk(lambda: runtime.analysis.slots)
        return
    from qiaocrawl.runtime.cluster import dask_bulk

    seconds = runtime.options["QIAO_EXTRACT_SECONDS"]
    with dask_bulk(scheduler, lambda: runtime.analysis.setup, seconds) as bulk:
        yield bulk
