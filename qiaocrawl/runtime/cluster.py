"""Bulk work on a Dask cluster: both ends. The only module that imports Dask."""

from __future__ import annotations

import logging
import multiprocessing
import platform
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from distributed import get_worker
from distributed.diagnostics.plugin import WorkerPlugin

from qiaocrawl import __version__
from qiaocrawl.errors import ClusterError, ConfigError, ExtractionError
from qiaocrawl.language import _
from qiaocrawl.runtime.analysis_slots import AnalysisSlots, Submit
from qiaocrawl.runtime.bulk import Bulk, LocalBulk, Pending

if TYPE_CHECKING:
    from distributed import Client, Future

    from qiaocrawl.runtime.analysis_setup import AnalysisSetup

# --- Which code a process runs: two that share work must run the same -----------------------------


class CodeVersion(NamedTuple):
    """What must be the same: the program with its models and tables, and Python."""

    program: str
    digest: str
    python: str

    def __str__(self) -> str:
        return f"qiaocrawl {self.program} ({self.digest}), Python {self.python}"


@cache
def code_version() -> CodeVersion:
    """That of this process.

    The digest is of all files of the package: a version number stays the same while code is
    written, and other models give other results.
    """
    digest = sha256()
    for name, file in sorted(_files(files("qiaocrawl"), "")):
        digest.update(name.encode())
        digest.update(file.read_bytes())
    python = ".".join(platform.python_version_tuple()[:2])
    return CodeVersion(__version__, digest.hexdigest()[:12], python)


def _files(folder: Traversable, prefix: str) -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for entry in folder.iterdir():
        # Of the interpreter, and of compilers: other bytes of the same source.
        if entry.name == "__pycache__" or entry.name.endswith(".so"):
            continue
        if entry.is_dir():
            found += _files(entry, f"{prefix}{entry.name}/")
        else:
            found.append((prefix + entry.name, entry))
    return found


logger = logging.getLogger(__name__)

T = TypeVar("T")

_CONNECT_SECONDS = 10.0
_LOOK_SECONDS = 2.0
# A cluster all of whose workers are restarted has them back before.
_NO_WORKER_SECONDS = 300.0
# Works of one task: their way to a worker and back costs less than one of them.
_WORKS_A_TASK = 4
# What is handed out at once, where a command asks for calls.
_CALLS_AHEAD = 64
# Tries of one task whose workers were lost; Dask itself has tried each thrice.
_TRIES = 3


@contextmanager
def dask_bulk(
    address: str, setup: Callable[[], AnalysisSetup] | None, seconds: float
) -> Iterator[Bulk]:
    """The cluster whose scheduler is at *address*, until the block ends.

    Args:
        setup: what analysis processes need to know; None where only calls are asked for.
        seconds: processor time a page has in the separate slot.

    Raises:
        ConfigError: the address is none, or Dask is not installed here.
        ClusterError: nobody answers there, it has no worker, or one runs other code.
    """
    if not address.startswith(("tcp://", "tls://")) or not address.rpartition(":")[2].isdecimal():
        raise ConfigError(
            _(
                "--scheduler {address!r}: must be tcp://HOST:PORT or tls://HOST:PORT",
                address=address,
            )
        )
    client = _connect(address)
    try:
        code = code_version()
        _check_workers(client, address, code)

        name = f"qiaocrawl-{uuid.uuid4().hex[:12]}"
        client.register_plugin(AnalysisPlugin(setup and setup(), seconds, code, name), name=name)
        try:
            yield _DaskBulk(client, address, name)
        finally:
            # The scheduler may be gone; processes of workers end by themselves then.
            with suppress(Exception):
                client.unregister_worker_plugin(name)
    finally:
        with suppress(Exception):
            client.close(timeout=_LOOK_SECONDS)


def _connect(address: str) -> Client:
    try:
        from distributed import Client
    except ImportError as error:
        raise ConfigError(
            _("--scheduler needs Dask ({error}): pip install 'qiaocrawl[dask]'", error=error)
        ) from None
    # What Dask says on the way is said by us, in one line.
    for noisy in ("distributed", "distributed.client", "distributed.comm", "tornado"):
        logging.getLogger(noisy).setLevel(logging.CRITICAL)
    try:
        # Not the client of whatever else this process does, and no worker inside it.
        return Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # Dask raises its transport's, and Tornado's
        raise ClusterError(
            _(
                "no Dask scheduler answers at {address} ({error}); `dask scheduler` starts one",
                address=address,
                error=_shortly(error),
            )
        ) from None


def _shortly(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]


def _check_workers(client: Client, address: str, code: CodeVersion) -> None:
    """See that there are workers, and that all run this code and this Dask.

    Raises:
        ClusterError: it is not so; the first one that differs is named.
    """
    versions: Any = client.get_versions()
    own = _dask_version(versions["client"])
    others = {address: versions["scheduler"], **versions["workers"]}
    for where, told in others.items():
        if (found := _dask_version(told)) != own:
            raise ClusterError(
                _(
                    "{where} runs Dask {found}, this command Dask {own}: install the same on all",
                    where=where,
                    found=found,
                    own=own,
                )
            )
    # By reference: a worker without our package says so.
    answers: dict[str, Any] = client.run(code_version, on_error="return")
    if not answers:
        raise ClusterError(
            _(
                "the Dask scheduler {address} has no worker; start some where qiaocrawl is "
                "installed: dask worker {address}",
                address=address,
            )
        )

    for where, found in sorted(answers.items()):
        if isinstance(found, BaseException):
            raise ClusterError(
                _(
                    "the Dask worker {where} cannot run qiaocrawl: {error}",
                    where=where,
                    error=_shortly(found),
                )
            )
        if CodeVersion(*found) != code:
            raise ClusterError(other_code(where, CodeVersion(*found), code))


def _dask_version(told: Any) -> str:
    packages = (told or {}).get("packages", {})
    return str(packages.get("distributed") or _("unknown"))


class _DaskBulk:
    calls_ahead = _CALLS_AHEAD

    def __init__(self, client: Client, address: str, name: str) -> None:
        self._client, self._address, self._name = client, address, name

    def start(self, works: Sequence[Submit[T]], name: str) -> Pending[list[T | ExtractionError]]:
        """Hand *works* to the cluster, a few a task."""

        chunks = [
            tuple(works[at : at + _WORKS_A_TASK]) for at in range(0, len(works), _WORKS_A_TASK)
        ]
        tasks: list[_Task[list[T | ExtractionError]]] = [
            _Task(self, run_works, (self._name, chunk), f"{name}.{number}")
            for number, chunk in enumerate(chunks)
        ]
        return _All(tasks)

    def call(self, work: Callable[..., T], *args: object, name: str) -> Pending[T]:
        """Hand one call to the cluster."""

        return _Task(self, run_call, (self._name, work, args), name)

    def submit(self, function: Callable[..., T], args: tuple[Any, ...], name: str) -> Future[T]:
        """A task of that name; the key is new, so that no earlier result is taken for it."""
        key = f"{name}-{uuid.uuid4().hex[:8]}"
        return self._client.submit(function, *args, key=key, pure=False)

    def wait(self, future: Future[T]) -> T:
        """Its result, as long as there is a cluster that works on it."""
        alone_since: float | None = None
        while True:
            try:
                result: T = future.result(timeout=_LOOK_SECONDS)
                return result
            except TimeoutError:
                alone_since = self._alone_since(alone_since)
            except CancelledError:
                raise self._lost() from None

    def _alone_since(self, before: float | None) -> float | None:
        """Since when there is no worker; None while there is one."""
        if self._client.status != "running":
            raise self._lost()
        try:
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
        except Exception:
            raise self._lost() from None
        if workers:
            return None
        now = time.monotonic()
        if before is None:
            logger.warning("the Dask scheduler %s has no worker left; waiting", self._address)
            return now
        if now - before > _NO_WORKER_SECONDS:
            raise ClusterError(
                _(
                    "the Dask scheduler {address} has had no worker for {seconds:g} s; what was "
                    "done is written, the same command begins anew",
                    address=self._address,
                    seconds=_NO_WORKER_SECONDS,
                )
            )
        return before

    def _lost(self) -> ClusterError:
        return ClusterError(
            _(
                "the Dask scheduler {address} is gone; what was done is written, the same "
                "command begins anew",
                address=self._address,
            )
        )


class _Task(Generic[T]):
    """One task, given again where the workers that had it were lost."""

    def __init__(
        self, bulk: _DaskBulk, function: Callable[..., T], args: tuple[Any, ...], name: str
    ) -> None:
        self._bulk, self._function, self._args, self._name = bulk, function, args, name
        self._future = bulk.submit(function, args, name)

    def result(self) -> T:
        """As :meth:`Pending.result`."""
        from distributed import KilledWorker

        for attempt in range(_TRIES):
            try:
                return self._bulk.wait(self._future)
            except KilledWorker:
                # No page did it: pages are read in processes of their own.
                logger.warning("%s: its Dask workers were lost; given to others", self._name)
                if attempt + 1 < _TRIES:
                    self._future = self._bulk.submit(self._function, self._args, self._name)
        raise ClusterError(
            _("the Dask workers that had {name} were lost again and again", name=self._name)
        )


class _All(Generic[T]):
    """The results of several tasks, one behind another."""

    def __init__(self, tasks: Sequence[_Task[list[T]]]) -> None:
        self._tasks = tasks

    def result(self) -> list[T]:
        """As :meth:`Pending.result`."""
        return [one for task in self._tasks for one in task.result()]


# --- What of us runs inside a Dask worker: analysis processes, kept between two tasks -------------

# A command that was killed takes nothing away behind it: its processes end by themselves.
_IDLE_SECONDS = 120.0
_WORKER_LOOK_SECONDS = 10.0


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
        mine = self._slots_of_thread()
        try:
            return LocalBulk(lambda: mine.slots).start(works, "").result()
        finally:
            mine.used_at, mine.is_busy = time.monotonic(), False

    def _slots_of_thread(self) -> _Slots:
        assert self._setup is not None, "the command has asked for calls only"
        with self._lock:
            mine = self._by_thread.get(threading.get_ident())
            if mine is None:
                slots = AnalysisSlots(self._setup, workers=1, seconds=self._seconds)
                mine = self._by_thread[threading.get_ident()] = _Slots(slots)
            mine.is_busy = True
        return mine

    def _end_idle(self) -> None:
        while not self._is_closed.wait(_WORKER_LOOK_SECONDS):
            before = time.monotonic() - _IDLE_SECONDS
            with self._lock:
                idle = {
                    thread: one
                    for thread, one in self._by_thread.items()
                    if not one.is_busy and one.used_at < before
                }
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
