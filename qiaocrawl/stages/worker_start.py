"""How worker processes start: forked by a server that has loaded what they need, and no more.

A process that multiprocessing starts first runs the program of its parent again, up to its
``if __name__ == "__main__"``. For `scrapy` that imports all of Scrapy, half a second for each
worker, of which none is used.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.popen_forkserver import Popen
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock
from types import ModuleType

# Where programs are that somebody installed; a plug-in may be in one of the user's own.
_INSTALLED = tuple(Path(sysconfig.get_path(kind)) for kind in ("scripts", "purelib", "platlib"))
_one_at_a_time = Lock()


class _Start(Popen):
    def _launch(self, process: BaseProcess) -> None:
        with _program_left_out():
            super()._launch(process)  # type: ignore[misc]


class WorkerProcess(ForkServerProcess):
    """Does not run an installed program again."""

    @staticmethod
    def _Popen(process: BaseProcess) -> Popen:  # noqa: N802
        return _Start(process)


class WorkerContext(ForkServerContext):
    """Starts processes like that of its name, as :class:`WorkerProcess`."""

    Process = WorkerProcess


@contextmanager
def _program_left_out() -> Iterator[None]:
    """For multiprocessing, this process runs no program in this block, if it is installed."""
    # Looked at under the lock: meanwhile another thread's start has none there.
    with _one_at_a_time:
        program = sys.modules["__main__"]
        if not _is_installed(program):
            yield
            return
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = program


def _is_installed(program: ModuleType) -> bool:
    file = getattr(program, "__file__", None)
    return file is not None and any(map(Path(file).absolute().is_relative_to, _INSTALLED))
