"""Where the pages of a run are analysed: ordinary slots, one apart, and what workers are told.

In an ordinary slot a page has a second of the processor, thirty times what pages need. One that
outlasts it, or kills its worker, gets its one further try in the separate slot: with all the
time the options give, one at a time, behind all others for the processor. So pages that are slow
never take more of the ordinary slots than that second, however many they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from qiaocrawl.errors import ConfigError, ExtractionError, PoisonPageError, WorkerStartError
from qiaocrawl.extract.base import extractor_options
from qiaocrawl.extract.sites.site_template import SiteTemplate
from qiaocrawl.items import FetchedPage, PageAnalysis
from qiaocrawl.items.article import PartText
from qiaocrawl.language import N_, _
from qiaocrawl.options import Options
from qiaocrawl.relevance import page_scorers, scorer_options
from qiaocrawl.runtime.analysis_setup import AnalysisSetup, JoinedText
from qiaocrawl.runtime.articles import SiteTemplateStore
from qiaocrawl.runtime.catalogue import Catalogue
from qiaocrawl.runtime.drawn_templates import DrawnTemplates
from qiaocrawl.runtime.workers import AnalysisPool, is_pool_error, page_error
from qiaocrawl.storage import Reader
from qiaocrawl.storage.writer import in_loop

if TYPE_CHECKING:
    from qiaocrawl.runtime.node_learning import NodeLearning

QUICK_SECONDS = 1.0
"""Processor time a page has in an ordinary slot."""
QUICK_BYTES = 2_000_000
"""Larger pages go to the separate slot at once."""

# Of 19: others that want the processor get about nine times as much of it.
_NICENESS = 10
# Tries of one page when its workers die without it being at fault.
_POOL_TRIES = 5
_ALL_DIED = N_("the analysis workers died again and again, between two pages; no page is at fault")

T = TypeVar("T")
Submit = Callable[[AnalysisPool], Future[T]]


class AnalysisSlots:
    """The worker processes of one run.

    Args:
        setup: what they need to know.
        workers: ordinary slots.
        seconds: processor time a page has in the separate slot.
    """

    def __init__(self, setup: AnalysisSetup, *, workers: int, seconds: float) -> None:
        self._setup = setup
        self._seconds = seconds
        self._stopping = False
        self._has_begun = False
        quick = min(seconds, QUICK_SECONDS)
        self.ordinary = AnalysisPool(setup, workers=workers, seconds=quick)

    @cached_property
    def separate(self) -> AnalysisPool:
        """The slot for one page at a time; its process is started when the first one comes."""
        return AnalysisPool(self._setup, workers=1, seconds=self._seconds, niceness=_NICENESS)

    async def analyse(
        self,
        page: FetchedPage,
        template: SiteTemplate | None,
        drawn: str = "",
        learnt: str = "",
        *,
        alone: bool,
    ) -> PageAnalysis:
        """Analyse *page*, in the separate slot if it is to be *alone*.

        Raises:
            PoisonPageError: the page killed or outlasted its worker.
            ExtractionError: the analysis failed in another way.
            ConfigError: an operator's file is at fault, or no worker can start.
            CancelledError: the run is stopping.
        """
        pool = self.separate if alone else self.ordinary
        return await self._in(pool, lambda pool: pool.submit(page, template, drawn, learnt))

    def begin(self) -> None:
        """Start the ordinary workers; only the first call does something."""
        if not self._has_begun:
            self._has_begun = True
            self.ordinary.begin()

    async def make_ready(self) -> None:
        """Wait until the separate slot can begin with a page at once."""
        await self._in(self.separate, AnalysisPool.ready)

    async def join(self, title: str, texts: Sequence[PartText]) -> JoinedText:
        """Join the texts of an article's parts, and judge the whole.

        Raises:
            PoisonPageError, ExtractionError, ConfigError, CancelledError: as :meth:`analyse`.
        """
        submit: Submit[JoinedText] = lambda pool: pool.submit_parts(title, texts)  # noqa: E731
        try:
            return await self._in(self.ordinary, submit)
        # A text joined of many parts may be long without being at fault.
        except PoisonPageError:
            return await self._in(self.separate, submit)

    def result(self, submit: Submit[T], first: Future[T]) -> T | ExtractionError:
        """The result of *first*, or of another try in the separate slot; without an event loop.

        Returns:
            The error where the page is at fault.

        Raises:
            ConfigError: an operator's file is at fault, or no worker can start.
        """
        result = _await_result(self.ordinary, submit, first)
        if isinstance(result, PoisonPageError):
            return _await_result(self.separate, submit, submit(self.separate))
        return result

    async def _in(self, pool: AnalysisPool, submit: Submit[T]) -> T:
        for attempt in range(_POOL_TRIES):
            if self._stopping:
                raise asyncio.CancelledError
            generation = pool.generation
            future: asyncio.Future[T] | None = None
            try:
                future = in_loop(submit(pool))
                # A machine that is overloaded for minutes starts no worker in the usual time.
                async with asyncio.timeout(pool.patience_seconds * 2**attempt):
                    return await future
            except asyncio.CancelledError:
                # Given up because the run stops, or because the pool was started again.
                if self._stopping:
                    raise
            except Exception as error:
                hangs = future is not None and future.cancelled()
                if not hangs and not is_pool_error(error):
                    raise page_error(error, pool.seconds) from error
                pool.restart(generation)
        raise WorkerStartError(_(_ALL_DIED))

    @property
    def _pools(self) -> list[AnalysisPool]:
        # A cached property: asking for it would start the process.
        return [self.ordinary, *([self.separate] if "separate" in self.__dict__ else [])]

    def renew(self, setup: AnalysisSetup) -> None:
        """Give pages that come from now on to processes with another *setup*."""
        self._setup = setup
        for pool in self._pools:
            pool.renew(setup)

    def stop(self) -> int:
        """Give up everything queued or running, and accept nothing more; returns how many."""
        self._stopping = True
        return sum(pool.cancel_all() for pool in self._pools)

    def close(self) -> None:
        """Stop the workers at once; queued pages are given up."""
        for pool in self._pools:
            pool.close()


def _await_result(pool: AnalysisPool, submit: Submit[T], future: Future[T]) -> T | ExtractionError:
    for _round in range(_POOL_TRIES):
        try:
            return future.result(pool.patience_seconds)
        except Exception as error:
            if is_pool_error(error):
                future = submit(pool)  # starts the pool again
                continue
            shown = page_error(error, pool.seconds)
            if not isinstance(shown, ExtractionError):
                raise shown from error
            return shown
    raise WorkerStartError(_(_ALL_DIED))


# --- The analysis of pages in one run: its workers, what they are told, what is learnt of sites


class RunAnalysis:
    """Everything is built when it is first needed; the workers start then."""

    def __init__(self, options: Options, catalogue: Catalogue, reader: Reader) -> None:
        self._options = options
        self._catalogue = catalogue
        self._reader = reader
        self._order_topic = self._order_method = ""

    def check_scorer(self) -> None:
        """Look up the page scorer and its options.

        Raises:
            ConfigError: there is no such page scorer, or no such option of it.
        """
        scorer_options(
            self._options["QIAO_RELEVANCE_METHOD"], self._options["QIAO_RELEVANCE_OPTIONS"]
        )

    def check_learning(self) -> None:
        """Look whether the extractor is one that can learn, where it is to.

        Raises:
            ConfigError: it is another one.
        """
        method = self._options["QIAO_EXTRACT_METHOD"]
        if self._options["QIAO_CLUSTER_LEARNING"] and method != "cluster":
            raise ConfigError(
                _(
                    "QIAO_CLUSTER_LEARNING=on is for QIAO_EXTRACT_METHOD=cluster alone, got "
                    "{method!r}",
                    method=method,
                )
            )

    def judge_pages_for(self, topic: str, method: str) -> None:
        """Have every page judged for *topic*, as a crawl order wants; before workers start.

        Args:
            method: name of the page scorer; "" for QIAO_RELEVANCE_METHOD.

        Raises:
            ConfigError: no such page scorer.
        """
        name = method or self._options["QIAO_RELEVANCE_METHOD"]
        page_scorers.get(name)
        if name == "ontology":
            # Wordnets and all that reads them, which no other scorer needs.
            from qiaocrawl.relevance.published.nearness import warn_of_unknown_terms

            warn_of_unknown_terms(self._catalogue.pack(topic))
        self._order_topic, self._order_method = topic, method

    @cached_property
    def setup(self) -> AnalysisSetup:
        """What an analysis worker needs to know."""
        options = self._options
        return AnalysisSetup(
            method=options["QIAO_EXTRACT_METHOD"],
            max_links=options["QIAO_MAX_LINKS_PER_PAGE"],
            topics=tuple(self._catalogue.packs.values()),
            relevance_method=options["QIAO_RELEVANCE_METHOD"],
            threshold=options["QIAO_RELEVANCE_THRESHOLD"],
            relevance_options=options["QIAO_RELEVANCE_OPTIONS"],
            extractor_options=extractor_options(options["QIAO_EXTRACT_METHOD"], options),
            learn_sites=options["QIAO_SITE_LEARNING"],
            order_topic=self._order_topic,
            order_method=self._order_method,
            ontology_dir=options["QIAO_ONTOLOGY_DIR"],
            documents=options["QIAO_DOCUMENTS"],
            title_method=options["QIAO_TITLE_METHOD"],
            segmenter=options["QIAO_SEGMENTER"],
        )

    @cached_property
    def learning(self) -> SiteTemplateStore | None:
        """What this run learns of sites; None when it is to learn nothing."""
        return SiteTemplateStore(self._reader) if self._options["QIAO_SITE_LEARNING"] else None

    @cached_property
    def nodes(self) -> NodeLearning | None:
        """What this run's pages teach the method cluster; None where it is to learn nothing."""
        if not self._options["QIAO_CLUSTER_LEARNING"]:
            return None
        # A method of its own, which few runs use.
        from qiaocrawl.runtime.node_learning import NodeLearning

        return NodeLearning(self._reader)

    @cached_property
    def drawn(self) -> DrawnTemplates:
        """The templates that officers make, as they are now."""
        return DrawnTemplates(self._reader)

    @cached_property
    def slots(self) -> AnalysisSlots:
        """The analysis workers."""
        return AnalysisSlots(
            self.setup,
            workers=self._options["QIAO_EXTRACT_WORKERS"],
            seconds=self._options["QIAO_EXTRACT_SECONDS"],
        )

    def renew(self) -> None:
        """Judge pages by the topics as they are now; pages in hand by those of before."""
        self.__dict__.pop("setup", None)
        if "slots" in self.__dict__:
            self.slots.renew(self.setup)

    async def analyse(self, page: FetchedPage, *, alone: bool = False) -> PageAnalysis:
        """Analyse *page* in a worker process, in the separate slot if it is to be *alone*.

        Raises:
            PoisonPageError: the page killed or outlasted its worker.
            ExtractionError: the analysis failed in another way.
            ConfigError: an operator's file is at fault, or no worker can start.
            CancelledError: the crawl is stopping.
        """
        # What is known of the site travels with the page: workers keep nothing between pages.
        template = await self.learning.template(page) if self.learning else None
        drawn = await self.drawn.content_for(page)
        learnt = await self.nodes.model() if self.nodes else ""
        return await self.slots.analyse(page, template, drawn, learnt, alone=alone)

    async def join(self, title: str, texts: Sequence[PartText]) -> JoinedText:
        """Join the texts of an article's parts, and judge the whole, in a worker process.

        Raises:
            PoisonPageError, ExtractionError, ConfigError, CancelledError: as :meth:`analyse`.
        """
        return await self.slots.join(title, texts)

    def cancel(self) -> int:
        """Give up running analyses (a stopping crawl), whose pages are stored; says how many."""
        # A cached property: asking for it here would start the workers.
        return self.slots.stop() if "slots" in self.__dict__ else 0

    def close(self) -> None:
        """Stop the workers."""
        if "slots" in self.__dict__:
            self.slots.close()
