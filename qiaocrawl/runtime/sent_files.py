"""Files that people bring, read in a process of their own: its memory and its time are bounded.

A Word file of 80 KB can take gigabytes, a PDF of 70 KB minutes. In the console or in a command
nothing would end that, and no other page would be answered meanwhile. So they are read as pages
of the web are (:mod:`qiaocrawl.runtime.workers`), by a process that ends with what it read: its
memory is given back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from pebble import ProcessExpired, ProcessPool

from qiaocrawl.errors import ConfigError, WorkerStartError
from qiaocrawl.extract.documents.analysis import PLAIN, read_text, read_text_file, require_size
from qiaocrawl.items import PageText
from qiaocrawl.language import _, language, using_language
from qiaocrawl.machine import TOOK_TOO_LONG
from qiaocrawl.runtime.workers import WorkerContext, bound_process, is_pool_error, run_timed

MEMORY_BYTES = 2 * 1024**3
"""Of the process; a list of 100,000 rows takes a tenth."""
LIST_FACTOR = 6
"""A list is read whole and cell by cell, with :data:`LIST_FACTOR` times a page's time."""
_NICENESS = 10
_START_SECONDS = 120.0
# Processor time takes longer than that on the wall where others want the processor too.
_BUSY = 20
_LOOK_SECONDS = 0.5
_TRIES = 3
_PARTS = (
    "qiaocrawl.extract.documents.analysis",
    "qiaocrawl.extract.documents.office",
    "qiaocrawl.extract.documents.pdf",
    "qiaocrawl.topic.workbook.reading",
)

Result = TypeVar("Result")


class GivenUpError(Exception):
    """Nobody waits for the result any more."""


class FileBoundsError(ConfigError):
    """A file that takes more time or memory than it may."""


class FileWorker:
    """Reads files, one at a time. Use ``with``: it starts with the first that needs it.

    Args:
        seconds: processor time that a file has (QIAO_EXTRACT_SECONDS).
        is_over: asked twice a second; True gives up what is read.
        parts: modules that its work needs besides; what the first one of a process names is loaded
            once for all.
    """

    def __init__(
        self,
        seconds: float,
        is_over: Callable[[], bool] = lambda: False,
        parts: Sequence[str] = (),
    ) -> None:
        self._seconds = seconds
        self._is_over = is_over
        self._parts = (*_PARTS, *parts)
        self._pool: ProcessPool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.stop()
            self._pool.join()

    def read_path(self, path: Path) -> PageText:
        """As :func:`read_text_file`.

        Raises:
            ConfigError: it is too large, cannot be read, or not within the bounds; it names it.
        """
        if path.suffix.lower() in PLAIN:
            return read_text_file(path)
        require_size(path)
        return self.run(str(path), read_text_file, path)

    def read(self, name: str, body: bytes) -> PageText:
        """As :func:`read_text`, of a file that somebody sent as *name*.

        Raises:
            ConfigError: as :meth:`read_path`.
        """
        if Path(name).suffix.lower() in PLAIN:
            return read_text(name, body)
        return self.run(name, read_text, name, body)

    def run(
        self, name: str, work: Callable[..., Result], *arguments: Any, times: float = 1.0
    ) -> Result:
        """What *work*, a function of a module, gives in the process.

        Args:
            name: of the file, for messages.
            times: how many times the time of a page it has.

        Raises:
            FileBoundsError: it takes too much; the message names the file.
            ConfigError: the machine has no time for it.
            GivenUpError: nobody waits for it any more.
            QiaoError: whatever *work* raises.
        """
        seconds = self._seconds * times
        for _attempt in range(_TRIES):
            future: Future[Result] = self._pool_now().schedule(
                run_timed, args=(seconds, _in_language, language(), work, *arguments)
            )
            try:
                return self._wait_for(name, future, seconds)
            except ProcessExpired as error:
                raise _expiry_error(name, seconds, error) from None
            except MemoryError:
                raise _too_much_memory(name) from None
            except Exception as error:
                if not is_pool_error(error):
                    raise
        raise WorkerStartError(_("{name}: the process that reads files does not start", name=name))

    def _wait_for(self, name: str, future: Future[Result], seconds: float) -> Result:
        until = time.monotonic() + _START_SECONDS + _BUSY * seconds
        while True:
            try:
                return future.result(_LOOK_SECONDS)
            except FutureTimeoutError:
                if self._is_over():
                    future.cancel()
                    raise GivenUpError from None
                if time.monotonic() > until:
                    future.cancel()
                    raise ConfigError(
                        _("{name}: this machine is too busy to read it; try again later", name=name)
                    ) from None

    def _pool_now(self) -> ProcessPool:
        if self._pool is None or not self._pool.active:
            context = WorkerContext()
            # See worker_pool: from an egg it would load a copy installed beside it.
            if Path(__file__).exists():
                context.set_forkserver_preload(list(self._parts))
            self._pool = ProcessPool(
                max_workers=1,
                context=context,
                initializer=bound_process,
                initargs=[_NICENESS, MEMORY_BYTES],
            )
        return self._pool


def _in_language(name: str, work: Callable[..., Result], *arguments: Any) -> Result:
    # What is wrong with a file is told to who asked, in their language.
    with using_language(name):
        return work(*arguments)


def _expiry_error(name: str, seconds: float, error: ProcessExpired) -> FileBoundsError:
    # SIGPROF is our own timer's.
    if error.exitcode == TOOK_TOO_LONG:
        return FileBoundsError(
            _(
                "{name}: not read within {seconds:g} seconds of processor time. Save it anew with "
                "less in it, or as .txt; QIAO_EXTRACT_SECONDS allows more",
                name=name,
                seconds=seconds,
            )
        )
    return _too_much_memory(name)


def _too_much_memory(name: str) -> FileBoundsError:
    return FileBoundsError(
        _(
            "{name}: reading it takes more memory than the {most} MB a file may. Save it anew with "
            "less in it, or as .txt",
            name=name,
            most=MEMORY_BYTES >> 20,
        )
    )
