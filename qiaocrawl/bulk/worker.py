"""What of us runs inside a Dask worker: analysis processes, kept between two tasks."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from distributed import get_worker
from distributed.diagnostics.plugin import WorkerPlugin

from qiaocrawl.bulk.code_version import CodeVersion, code_version
from qiaocrawl.bulk.local import LocalBulk
from qiaocrawl.errors import ClusterError, ExtractionError
from qiaocrawl.language import _
from qiaocrawl.stages.analysis_slots import AnalysisSlots, Submit

if TYPE_CHECKING:
    from qiaocrawl.stages.analysis_setup import AnalysisSetup

T = TypeVar("T")

# A command that was killed takes nothing away behind it: its processes end by themselves.
_IDLE_SECONDS = 120.0
_LOOK_SECONDS = 10.0


@dataclass
class _Slots:
    slots: AnalysisSlots
    used_at: float = field(default_factory=time.monotonic)
    is_busy: bool = False


class AnalysisPlugin(WorkerPlugin):
    """Gives each thread of a Dask worker an analysis process of its own.

    A page that hangs or kills the parser takes down that process and not the Dask worker, and has
    the same time as in a crawl.

    Args:
        code: what the worker must run.
        name: of the command's own processes; no other command's plugin has it.
        seconds: processor time a page has in the separate slot.
    """

    def __init__(
        self, setup: AnalysisSetup | None, seconds: float, code: CodeVersion, name: str
    ) -> None:
        self.name = name
        self._setup, self._seconds, self._code = setup, seconds, code

    def setup(self, worker: Any) -> None:
        """On each worker, also on one that comes later."""
        # A nanny starts its worker as a daemon, and those may have no processes of their own.
        multiprocessing.current_process().daemon = False
        self._by_thread: dict[int, _Slots] = {}
        self._lock = threading.Lock()
        self._is_closed = threading.Event()
        self._own_code = code_version()
        self._address: str = worker.address
        threading.Thread(target=self._end_idle, daemon=True).start()

    def teardown(self, worker: Any) -> None:
        """End all processes."""
        self._is_closed.set()
        with self._lock:
            ending, self._by_thread = list(self._by_thread.values()), {}
        for one in ending:
            one.slots.close()

    def check_code(self) -> None:
        """See whether this worker runs the code of who gives the work.

        Raises:
            ClusterError: it does not.
        """
        if self._own_code != self._code:
            raise ClusterError(other_code(self._address, self._own_code, self._code))

    def run(self, works: Sequence[Submit[T]]) -> list[T | ExtractionError]:
        """Do *works* in the process of this thread."""
        self.check_code()
        mine = self._taken()
        try:
            return LocalBulk(lambda: mine.slots).start(works, "").result()
        finally:
            mine.used_at, mine.is_busy = time.monotonic(), False

    def _taken(self) -> _Slots:
        assert self._setup is not None, "the command has asked for calls only"
        with self._lock:
            mine = self._by_thread.get(threading.get_ident())
            if mine is None:
                slots = AnalysisSlots(self._setup, workers=1, seconds=self._seconds)
                mine = self._by_thread[threading.get_ident()] = _Slots(slots)
            mine.is_busy = True
        return mine

    def _end_idle(self) -> None:
        while not self._is_closed.wait(_LOOK_SECONDS):
            before = time.monotonic() - _IDLE_SECONDS
            with self._lock:
                idle = {thread: one for thread, one in self._by_thread.items()
                        if not one.is_busy and one.used_at < before}  # fmt: skip
                for thread in idle:
                    del self._by_thread[thread]
            for one in idle.values():
                one.slots.close()


def other_code(address: str, found: CodeVersion, wanted: CodeVersion) -> str:
    """The one line about a worker that runs other code."""
    return _(
        "the Dask worker {address} runs {found}, this command {wanted}: install the same on all",
        address=address,
        found=found,
        wanted=wanted,
    )


def run_works(name: str, works: Sequence[Submit[T]]) -> list[T | ExtractionError]:
    """A task: *works*, with the plugin of that name."""
    return _plugin(name).run(works)


def run_call(name: str, work: Callable[..., T], args: tuple[object, ...]) -> T:
    """A task: one call, on a worker with the command's code."""
    _plugin(name).check_code()
    return work(*args)


def _plugin(name: str) -> AnalysisPlugin:
    plugin = get_worker().plugins[name]
    assert isinstance(plugin, AnalysisPlugin), f"{name} is another's plugin"
    return plugin
