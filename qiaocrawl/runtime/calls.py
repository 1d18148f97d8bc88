"""Functions called in worker processes of this machine, as many at once as there are of them.

For what is read of texts that are stored already (their words, whom they name): a text is read by
itself, and one process puts together what all of them gave, in order.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from typing import Generic, Self, TypeVar

from pebble import ProcessExpired, ProcessPool

from qiaocrawl.errors import WorkerStartError
from qiaocrawl.language import _
from qiaocrawl.runtime.workers import WorkerContext, bound_process, is_pool_error, run_timed

T = TypeVar("T")

logger = logging.getLogger(__name__)

MEMORY_BYTES = 4 * 1024**3
"""Of each process, addresses that it does not use among them; dictionaries take a twentieth."""
# Behind the one that puts the results together: all wait for that one.
_NICENESS = 5
# Processor time of a call; fifty texts take some four seconds.
_SECONDS = 120.0
# A process killed in the wrong moment leaves the others waiting for each other.
_PATIENCE_SECONDS = 600.0
_TRIES = 3
# So many calls wait for each process, so that none is idle while one result is put away.
_AHEAD = 4


class CallPool:
    """Calls functions of modules in *processes*, which start with the first call. Use ``with``.

    A process that dies is replaced, and what it had is called again.

    Args:
        parts: a module that loads what the work needs, once for all processes.
    """

    def __init__(self, processes: int, parts: str) -> None:
        self._processes = processes
        self._parts = parts
        self._pool = self._start_pool()
        self._generation = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._pool.stop()
        self._pool.join()

    @property
    def ahead(self) -> int:
        """How many calls keep all processes busy."""
        return _AHEAD * self._processes

    def call(self, work: Callable[..., T], *args: object, name: str) -> PoolCall[T]:
        """Begin with one call of *work*; *name* is told where it cannot be done."""
        return PoolCall(self, work, args, name)

    def submit(self, work: Callable[..., T], args: tuple[object, ...]) -> tuple[int, Future[T]]:
        """Queue a call; the number of the pool that has it, for :meth:`restart`."""
        if not self._pool.active:
            self.restart(self._generation)
        future: Future[T] = self._pool.schedule(run_timed, args=(_SECONDS, work, *args))
        return self._generation, future

    def restart(self, generation: int) -> None:
        """Start other processes, unless that was done since *generation*; calls are cancelled."""
        if generation == self._generation:
            logger.warning("the processes that read texts are lost; starting others")
            self._pool.stop()
            self._pool.join()
            self._pool = self._start_pool()
            self._generation += 1

    def _start_pool(self) -> ProcessPool:
        context = WorkerContext()
        # See AnalysisPool: from an egg it would load a copy installed beside it.
        if Path(__file__).exists():
            context.set_forkserver_preload([self._parts])
        return ProcessPool(
            max_workers=self._processes,
            context=context,
            initializer=bound_process,
            initargs=[_NICENESS, MEMORY_BYTES],
        )


class PoolCall(Generic[T]):
    """One call, made again where the process that had it died."""

    def __init__(
        self, pool: CallPool, work: Callable[..., T], args: tuple[object, ...], name: str
    ) -> None:
        self._pool, self._work, self._args, self._name = pool, work, args, name
        self._generation, self._future = pool.submit(work, args)

    def result(self) -> T:
        """What came of it, once it is done.

        Raises:
            WorkerStartError: the process that had it died, and so did those that tried it again.
        """
        for attempt in range(_TRIES):
            try:
                return self._future.result(_PATIENCE_SECONDS)
            except ProcessExpired:
                lost = False
            except (CancelledError, FutureTimeoutError):
                # What a lost pool had is cancelled, whether it was at fault or not.
                lost = True
            except Exception as error:
                if not is_pool_error(error):
                    raise
                lost = True
            if lost:
                self._pool.restart(self._generation)
            else:
                logger.warning("%s: the process that read it died; read by another", self._name)
            if attempt + 1 < _TRIES:
                self._generation, self._future = self._pool.submit(self._work, self._args)
        raise WorkerStartError(
            _(
                "{name}: the process that read it died {times} times; what was done is written, "
                "the same command goes on; --processes 1 reads without other processes",
                name=self._name,
                times=_TRIES,
            )
        )
