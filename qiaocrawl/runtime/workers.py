"""Worker processes that analyse pages: forked, off the event loop, on time, killable.

A hostile page can hang or kill a parser (faults F-R6 to F-R10). Here it takes down one
worker and is named; the crawl and the other pages go on. Time is that of the processor: a busy
machine, a laptop that slept or a clock that was set makes no page a slow one.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.popen_forkserver import Popen
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

from pebble import ProcessExpired, ProcessPool

from qiaocrawl.errors import (
    ConfigError,
    ExtractionError,
    PoisonPageError,
    QiaoError,
    WorkerStartError,
)
from qiaocrawl.extract.sites.site_template import SiteTemplate
from qiaocrawl.items import FetchedPage, PageAnalysis, PageText, Relevance
from qiaocrawl.items.article import PartText
from qiaocrawl.language import VARIABLE, _, language
from qiaocrawl.machine import TOOK_TOO_LONG, ProcessorTime, bound_memory, go_behind_others
from qiaocrawl.runtime.analysis_setup import AnalysisSetup, JoinedText

# --- How worker processes start: forked by a server that has loaded what they need, and no more
# A process that multiprocessing starts first runs the program of its parent again, up to its
# ``if __name__ == "__main__"``. For `scrapy` that imports all of Scrapy, half a second for each
# worker, of which none is used.

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


logger = logging.getLogger(__name__)

# Loading dictionaries and topic models on a slow, busy machine.
_START_SECONDS = 60.0
# A page of 10 MiB needs about 0.8 GiB as a tree; the rest is dictionaries.
_WORKER_MEMORY_BYTES = 4 * 1024**3
_PARENT_CHECK_SECONDS = 1.0
# Processor time takes longer than that on the wall where others want the processor too.
_BUSY = 4
# Where memory runs out, the kernel takes a worker rather than the crawl (1000 = first of all).
_FIRST_TO_GO = "500"

# The work itself is imported by the workers alone: a crawl's own process parses no page.

# A global of the worker process: what is pickled with each page stays small.
_setup: AnalysisSetup | None = None
_start_error: WorkerStartError | None = None
"""Why this worker cannot work; told to whoever gives it a page."""


def _start_worker(setup: AnalysisSetup, niceness: int, speaks: str) -> None:
    global _setup, _start_error
    # The server of forks was started by somebody who may read another language.
    os.environ[VARIABLE] = speaks
    _setup = setup
    bound_process(niceness, _WORKER_MEMORY_BYTES)
    # Scorers and networks stay as well; it begins again when they are there.
    gc.disable()
    _start_error = _prepare_worker(setup)
    gc.enable()


def bound_process(niceness: int, memory_bytes: int) -> None:
    """Make this process a worker: behind others, of so much memory, gone with its parent."""
    go_behind_others(niceness)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO)
    bound_memory(memory_bytes)
    # A thread: the main one is busy with a page.
    threading.Thread(target=_exit_with_parent, args=(os.getppid(),), daemon=True).start()


def _prepare_worker(setup: AnalysisSetup) -> WorkerStartError | None:
    """Why this process cannot work, or None.

    A process that died of it would be started again and again, and a page blamed for it.
    """
    from qiaocrawl.runtime.analyse_page import prepare

    try:
        prepare(setup)
    except QiaoError as error:
        return WorkerStartError(_("the analysis of pages cannot start: {error}", error=error))
    except Exception as error:
        return WorkerStartError(_("the analysis of pages cannot start: {error!r}", error=error))
    return None


def _exit_with_parent(parent_pid: int) -> None:
    """End this worker with its parent: a crawl killed with -9 must leave no workers behind."""
    while os.getppid() == parent_pid:
        time.sleep(_PARENT_CHECK_SECONDS)
    os._exit(1)


def _warm() -> None:
    """Starting the worker has prepared it, or failed to."""
    _started_setup()


def _started_setup() -> AnalysisSetup:
    """What the worker was started with.

    Raises:
        WorkerStartError: it could not be.
    """
    if _start_error is not None:
        raise _start_error
    assert _setup is not None, "the worker was started without a setup"
    return _setup


def run_timed(seconds: float, work: Callable[..., Any], *args: Any) -> Any:
    """*work* within *seconds* of processor time; after them the process ends."""
    with ProcessorTime(seconds):
        return work(*args)


def _analyse(
    page: FetchedPage, template: SiteTemplate | None, drawn: str, learnt: str
) -> PageAnalysis:
    from qiaocrawl.runtime.analyse_page import analyse_page

    analysis: PageAnalysis = analyse_page(page, _started_setup(), template, drawn, learnt)
    return analysis


def _join(title: str, texts: Sequence[PartText]) -> JoinedText:
    from qiaocrawl.runtime.analyse_page import join_texts

    return join_texts(title, texts, _started_setup())


def _judge(articles: Sequence[PageText]) -> list[tuple[Relevance, ...]]:
    from qiaocrawl.runtime.analyse_page import judge_texts

    return judge_texts(articles, _started_setup())


class AnalysisPool:
    """Analyses pages in *workers* processes, each page within *seconds* of processor time.

    They start with :meth:`begin`, or the first thing to do: a run may find nothing to analyse.

    When a worker dies between two pages (the kernel needs memory, an operator's ``kill``) the
    pool of processes is broken for good; it is thrown away and another one started.

    Args:
        niceness: how far the processes stand back behind others, 0 to 19.
    """

    def __init__(
        self, setup: AnalysisSetup, *, workers: int, seconds: float, niceness: int = 0
    ) -> None:
        self._setup = setup
        self._workers = workers
        self._niceness = niceness
        self.seconds = seconds
        self._closed = False
        self.generation = 0
        """How often the processes were started again."""
        self._running: set[Future[Any]] = set()
        self._pool = self._start_pool()
        self._retired: list[ProcessPool] = []

    def submit(
        self,
        page: FetchedPage,
        template: SiteTemplate | None = None,
        drawn: str = "",
        learnt: str = "",
    ) -> Future[PageAnalysis]:
        """Queue one page, with what is known of its site, the template officers made for it, and
        what the extractor has learnt.

        The future raises what :func:`page_error` translates.
        """
        return self._submit(_analyse, page, template, drawn, learnt)

    def submit_parts(self, title: str, texts: Sequence[PartText]) -> Future[JoinedText]:
        """Queue the texts of an article's parts, to be joined and judged."""
        return self._submit(_join, title, texts)

    def submit_articles(self, articles: Sequence[PageText]) -> Future[list[tuple[Relevance, ...]]]:
        """Queue articles to be judged; all of them have one page's time."""
        return self._submit(_judge, articles)

    def begin(self) -> None:
        """Start the processes, unless they have started: dictionaries take a second to load."""
        # Already stopped, or lost; the next page tells.
        with suppress(RuntimeError):
            self._pool.schedule(_warm)

    def ready(self) -> Future[None]:
        """Done when a worker has loaded all it needs."""
        return self._submit(_warm)

    def _submit(self, work: Callable[..., Any], *args: Any) -> Future[Any]:
        if not self._pool.active and not self._closed:
            self.restart(self.generation)
        future: Future[Any] = self._pool.schedule(run_timed, args=(self.seconds, work, *args))
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return future

    @property
    def patience_seconds(self) -> float:
        """How long an answer may take, queued pages included; later the pool counts as lost."""
        # Each page ahead of this one may take its whole time.
        queued = len(self._running) / self._workers + 1
        return _START_SECONDS + queued * _BUSY * (self.seconds + 1.0)

    def restart(self, generation: int) -> None:
        """Start new processes, unless that was done since *generation*.

        What the old ones held is cancelled.
        """
        # Another request has seen the same loss, and restarted them.
        if generation != self.generation or self._closed:
            return
        self.generation += 1
        logger.warning("the analysis workers are lost; starting others")
        self._pool.stop()
        self.cancel_all()
        self._pool = self._start_pool()

    def renew(self, setup: AnalysisSetup) -> None:
        """Start processes with another *setup*; those there are end with the pages they hold."""
        self._setup = setup
        if self._closed:
            return
        retired, self._pool = self._pool, self._start_pool()
        self.begin()
        self._retired.append(retired)
        retired.close()
        # A thread: joining waits for the pages.
        threading.Thread(target=self._end, args=(retired,), daemon=True).start()

    def _end(self, retired: ProcessPool) -> None:
        with suppress(RuntimeError):  # stopped meanwhile
            retired.join()
        with suppress(ValueError):
            self._retired.remove(retired)

    def cancel_all(self) -> int:
        """Give up everything queued or running (a stopping crawl); returns how many."""
        running = list(self._running)
        for future in running:
            future.cancel()
        return len(running)

    def close(self) -> None:
        """Stop the workers at once; queued pages are given up."""
        self._closed = True
        for pool in (*self._retired, self._pool):
            pool.stop()
            pool.join()

    def _start_pool(self) -> ProcessPool:
        # Not fork: threads of the crawl hold locks that would stay locked in the child.
        context = WorkerContext()
        # The server of forks looks for modules by the environment's path, not by ours: run from
        # an egg it would load a copy that is installed beside it, and the workers would be that.
        if Path(__file__).exists():
            context.set_forkserver_preload(["qiaocrawl.runtime.worker_parts"])
        return ProcessPool(
            max_workers=self._workers,
            context=context,
            initializer=_start_worker,
            initargs=[self._setup, self._niceness, language()],
        )


def is_pool_error(error: BaseException) -> bool:
    """Whether *error* says that the workers are lost, whatever page they had."""
    return isinstance(error, BrokenProcessPool) or (
        # Pebble's word for a pool that broke before the page came.
        type(error) is RuntimeError and "Pool" in str(error)
    )


def page_error(error: BaseException, seconds: float) -> Exception:
    """Translate the error of a page's analysis into one of this project.

    Returns:
        :class:`PoisonPageError` when the page killed or outlasted its worker, else
        :class:`ExtractionError`. A ``CancelledError`` is returned as it is, and so is a
        ``ConfigError``: the operator's files are at fault, not the page.
    """
    if isinstance(error, CancelledError | ConfigError):
        return error
    # SIGPROF is our own timer's.
    outlasted = isinstance(error, ProcessExpired) and error.exitcode == TOOK_TOO_LONG
    if outlasted or isinstance(error, FutureTimeoutError):
        return PoisonPageError(f"analysis took longer than {seconds:g} s")
    if isinstance(error, ProcessExpired):
        return PoisonPageError(f"analysis killed its worker (exit code {error.exitcode})")
    return ExtractionError(f"{type(error).__name__}: {_first_line(error)}")


def _first_line(error: Any) -> str:
    return (str(error).splitlines() or [""])[0][:200]
