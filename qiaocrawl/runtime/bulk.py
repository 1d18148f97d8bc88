"""Bulk stages: what they ask for, and who does it: this machine's processors, or a cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from qiaocrawl.errors import ExtractionError
from qiaocrawl.items import FetchedPage, PageAnalysis, PageText, Relevance
from qiaocrawl.items.article import PartText

if TYPE_CHECKING:
    from qiaocrawl.extract.sites.site_template import SiteTemplate
    from qiaocrawl.runtime.analysis_setup import JoinedText
    from qiaocrawl.runtime.analysis_slots import AnalysisSlots, Submit
    from qiaocrawl.runtime.calls import CallPool
    from qiaocrawl.runtime.runtime import Runtime
    from qiaocrawl.runtime.workers import AnalysisPool

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Judged = list[tuple[Relevance, ...]]


# Classes, not functions: they travel to other machines.
@dataclass(frozen=True, slots=True)
class ReadPage:
    """Read one page, with what is known of its site, the template officers made for it, and what
    the extractor has learnt."""

    page: FetchedPage
    template: SiteTemplate | None
    drawn: str = ""
    learnt: str = ""

    def __call__(self, pool: AnalysisPool) -> Future[PageAnalysis]:
        return pool.submit(self.page, self.template, self.drawn, self.learnt)


@dataclass(frozen=True, slots=True)
class JoinParts:
    """Join the texts of an article's parts, and judge the whole."""

    title: str
    texts: tuple[PartText, ...]

    def __call__(self, pool: AnalysisPool) -> Future[JoinedText]:
        return pool.submit_parts(self.title, self.texts)


@dataclass(frozen=True, slots=True)
class JudgeTexts:
    """Judge articles for all topics; together they have one page's time."""

    articles: tuple[PageText, ...]

    def __call__(self, pool: AnalysisPool) -> Future[Judged]:
        return pool.submit_articles(self.articles)


class Pending(Protocol[T_co]):
    """Work that is under way."""

    def result(self) -> T_co:
        """What came of it, once it is done.

        Raises:
            ConfigError: an operator's file is at fault, or no worker can start.
            WorkerStartError: what was called killed its process again and again.
            ClusterError: the cluster is gone, or has no worker any more.
        """


class Bulk(Protocol):
    """Where bulk work is done."""

    @property
    def calls_ahead(self) -> int:
        """How many calls are to be under way, so that nobody waits for the next; 0: none."""

    def start(self, works: Sequence[Submit[T]], name: str) -> Pending[list[T | ExtractionError]]:
        """Begin with *works*, each in a process that pages can hang or kill; results in order.

        Args:
            name: of the rows they are made of, such as ``pages-1-64``, for who watches.
        """

    def call(self, work: Callable[..., T], *args: object, name: str) -> Pending[T]:
        """Begin with one call of *work*, a function of a module."""


# --- Bulk work on the processors of this machine --------------------------------------------------


class LocalBulk:
    """Pages in analysis processes of this machine; calls in processes of theirs, if there are any.

    Args:
        slots: gives the processes, when the first page comes.
        calls: processes for calls; None calls in this one, when a result is asked for.
    """

    def __init__(self, slots: Callable[[], AnalysisSlots], calls: CallPool | None = None) -> None:
        self._slots = slots
        self._calls = calls

    @property
    def calls_ahead(self) -> int:
        """As many as its processes are kept busy by."""
        return self._calls.ahead if self._calls else 0

    def start(self, works: Sequence[Submit[T]], name: str) -> Pending[list[T | ExtractionError]]:
        """Hand *works* to ordinary slots; what outlasts one gets its try in the separate slot."""
        slots = self._slots()
        firsts = [(work, work(slots.ordinary)) for work in works]

        def results() -> list[T | ExtractionError]:
            settled: list[T | ExtractionError] = []
            for work, first in firsts:
                # By itself, since the type of the list would widen T.
                answer = slots.result(work, first)
                settled.append(answer)
            return settled

        return _Later(results)

    def call(self, work: Callable[..., T], *args: object, name: str) -> Pending[T]:
        """Call *work* in another process; without any, when its result is asked for."""
        if self._calls:
            return self._calls.call(work, *args, name=name)
        return _Later(lambda: work(*args))


class _Later(Generic[T]):
    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make

    def result(self) -> T:
        """Made now."""
        return self._make()


def in_order(begun: Iterable[Pending[T]], ahead: int) -> Iterator[T]:
    """The results of *begun*, one behind another.

    Args:
        ahead: so many more are begun before a result is waited for.
    """
    waiting: deque[Pending[T]] = deque()
    for pending in begun:
        waiting.append(pending)
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


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
