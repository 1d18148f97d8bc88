"""The order of a learning strategy: rebuilt from the log, and kept in step while crawling.

Until the log is read, and whenever the order has nothing to offer, the stored scores decide.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import lru_cache, partial

from qiaocrawl.errors import ModelError, StorageError
from qiaocrawl.frontier import CrawlTopic, LearningStrategy, Trainable
from qiaocrawl.frontier.crawl_order import CrawlOrder, FollowedPage, reason_of
from qiaocrawl.frontier.in_memory_frontier import Chosen, InMemoryFrontier
from qiaocrawl.frontier.order_feed import OrderFeed, Run, Store
from qiaocrawl.frontier.threshold import MovingThreshold
from qiaocrawl.items import Candidate, Lease, PageAnalysis, Visit
from qiaocrawl.runtime.crawl_rows import CrawlScope
from qiaocrawl.runtime.follow_links import FollowPolicy
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.frontier import KeyLeases, Scope, visit_log
from qiaocrawl.storage.frontier.visit_log import LoggedVisit, ModelName, StoredModel

# --- The order of a learning strategy: rebuilt from the log, and kept in step while crawling ------

logger = logging.getLogger(__name__)


class ModelKeeping:
    """The models of one crawl's strategy; does nothing for one that cannot be trained.

    Args:
        strategy: what learns; touched in the thread of the order only.
        name: topic and site of the crawl.
        store: the database.
        pages_between: a version is stored after this many pages.
    """

    def __init__(
        self, strategy: LearningStrategy, name: ModelName, store: Store, pages_between: int
    ) -> None:
        self._strategy = strategy if isinstance(strategy, Trainable) else None
        self._name = name
        self._store = store
        self._pages_between = pages_between
        self._since_saved = 0
        self._pages = 0
        self.upto = 0
        """Place in the log up to which the loaded model has learnt."""
        self.saved = 0
        self.damaged = 0

    async def load(self, run: Run) -> None:
        """Load the newest version that can be read; says so of those that cannot."""
        if self._strategy is None:
            return
        models = await self._store.read(partial(visit_log.stored_models, name=self._name))
        for model in models:
            try:
                await run(partial(self._load, model))
                return
            except ModelError as error:
                # The version before may still serve; the damaged row is left for whoever
                # looks into it.
                self.damaged += 1
                logger.warning(
                    "what %s has learnt of %s cannot be read, version %d (%s): left alone",
                    self._name.strategy,
                    self._name.host or self._name.topic,
                    model.version,
                    error,
                )

    def _load(self, model: StoredModel) -> None:
        assert self._strategy is not None
        self._strategy.load(model.unpack())
        self._pages, self.upto = model.pages, model.upto

    def begin(self, *, known: bool) -> None:
        """A page arrives; *known* if the loaded model has learnt from it already."""
        # Pages already known are in the model's own count.
        if not known:
            self._since_saved += 1
            self._pages += 1
        if self._strategy is not None:
            self._strategy.replaying = known

    @property
    def is_due(self) -> bool:
        """Whether enough was learnt for another version."""
        return self._strategy is not None and self._since_saved >= self._pages_between

    async def save(self, run: Run, upto: int) -> None:
        """Store a version, if anything was learnt since the last one.

        Args:
            upto: place in the log up to which the strategy has learnt.
        """
        if self._strategy is None or not self._since_saved:
            return
        # Read before the model is packed: pages that come meanwhile count for the next version.
        pages, since = self._pages, self._since_saved
        # In the thread of the order, where nothing learns while the arrays are read.
        model = await run(self._strategy.save)
        operation = partial(
            visit_log.save_model,
            name=self._name,
            model=model,
            pages=pages,
            upto=upto,
            now=time.time(),
        )
        try:
            await self._store.write(operation)
        # Too large to be stored: trying again would fail again, so it counts as saved
        # until more comes.
        except ModelError as error:
            logger.warning("what was learnt is not kept: %s", error)
        else:
            self.saved += 1
        # Not reached when the database is away: the next try then saves it all.
        self._since_saved -= since


# A longer wait is cut to this, since the row may change in the database meanwhile.
_LONGEST_REST_SECONDS = 60.0
# How often other workers' visits are read: what they learn arrives this late.
_TEND_SECONDS = 3.0
# Rescoring everything takes up to a second; no fetch may wait for it.
_PATIENCE_SECONDS = 0.25
# A stopping crawl has ten seconds in all.
_CLOSE_SECONDS = 3.0


class LearningOrder(CrawlOrder):
    """The order of one crawl in memory, shared with other workers through the log of visits.

    Args:
        strategy: what learns.
        threshold: what scores below it is not fetched, but for tunnels.
        runtime: the database and the options.
        scope: the rows of the crawl.
        topic: what *strategy* compares links with.
    """

    # Only new links need rows: better scores of waiting URLs are kept by the order in memory.
    _proposes_better = False

    def __init__(
        self,
        strategy: LearningStrategy,
        threshold: MovingThreshold | None,
        runtime: Runtime,
        scope: CrawlScope,
        topic: CrawlTopic | None = None,
    ) -> None:
        super().__init__(strategy, threshold, topic)
        covers = scope.within.covers if scope.within is not None else _everywhere
        self.in_memory = InMemoryFrontier(strategy, lru_cache(10_000)(covers), threshold)
        self._options = runtime.options
        rows = Scope(scope.queue, scope.topic)
        self._feed = OrderFeed(self.in_memory, runtime, rows, self.run, self._learn_row)
        bounded = scope.within is not None and not scope.within.across
        sites = sorted(scope.within.sites) if scope.within is not None and bounded else []
        # A model may serve one site or the whole topic; over several sites it learns
        # the topic only.
        name = ModelName(scope.topic, strategy.name, sites[0] if len(sites) == 1 else "")
        self._models = ModelKeeping(
            strategy, name, runtime, self._options["QIAO_STRATEGY_SAVE_PAGES"]
        )
        self._asked: asyncio.Future[Chosen] | None = None
        self._task: asyncio.Task[None] | None = None
        self.is_ready = False
        """Whether the order is built; before that it has no answers."""

    # --- life -------------------------------------------------------------------------------

    def open(self, token: int, wake: Callable[[], None]) -> None:
        """Start building the order; *wake* is called when it has answers.

        Args:
            token: of this worker, to know its own visits by.
        """
        # In the background: reading the log takes seconds, and stored scores serve until then.
        self._task = asyncio.ensure_future(self._live(token, wake))
        self._task.add_done_callback(_log_end)

    async def _live(self, token: int, wake: Callable[[], None]) -> None:
        await _patiently(partial(self._make, token))
        self.is_ready = True
        wake()
        while True:
            await asyncio.sleep(_TEND_SECONDS)
            await _patiently(self._tend)

    async def _make(self, token: int) -> None:
        began = time.monotonic()
        await self._models.load(self.run)
        await self._feed.begin(token, self._options["QIAO_STRATEGY_HISTORY_PAGES"])
        logger.info(
            "crawl order %s: %d pages of the log, %d URLs wait (%.1f s)",
            self.strategy.name,
            self.in_memory.visits,
            len(self.in_memory.index.waiting),
            time.monotonic() - began,
        )

    async def _tend(self) -> None:
        await self._feed.tend()
        if self._models.is_due:
            await self._models.save(self.run, self._feed.newest)

    async def close(self) -> None:
        """Keep what was learnt, as far as there is time."""
        # Cancelled, not awaited: it may be waiting for a database that is away.
        if self._task is not None:
            self._task.cancel()
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                if self.is_ready:
                    # First, so that the saved model and its place in the log agree.
                    await self._feed.read_log()
                    await self._models.save(self.run, self._feed.newest)
                    await self._feed.keep_scores()
        except TimeoutError:
            logger.warning("no time to keep all that the crawl order has learnt")
        except StorageError as error:
            logger.warning("what the crawl order has learnt is not kept: %s", error)
        await super().close()

    # --- pages --------------------------------------------------------------------------------

    def _follow(
        self, lease: Lease, analysis: PageAnalysis, policy: FollowPolicy, now: float
    ) -> FollowedPage:
        page = super()._follow(lease, analysis, policy, now)
        # Candidates are links of the page, which have a node now, and others such as later parts
        # of the article or a redirect's target, which get theirs once they are stored.
        linked = {link.key for link in page.visit.links}
        added = [candidate for candidate in page.selection.candidates if candidate.left_out is None]
        self.in_memory.hold(
            lease.key,
            [candidate.key for candidate in added if candidate.key in linked],
            [candidate for candidate in added if candidate.key not in linked],
        )
        return page

    def note_stored(self, page: FollowedPage) -> list[bytes]:
        """See the base class; what *page* brought may be leased from now on."""
        self.soon(partial(self.in_memory.note_stored, page.visit.key))
        return super().note_stored(page)

    def brought_nothing(self, visit: Visit) -> None:
        """Learn from *visit* that links like those to it are worth nothing."""
        self.soon(partial(self._learn, visit, known=False))

    def scores(self, visit: Visit) -> list[float]:
        """Learn from the page, and score its links; in the thread of the order."""
        return self._learn(visit, known=False)

    def _learn_row(self, row: LoggedVisit) -> None:
        """Learn from a page of the log."""
        # Links out of the crawl's hosts would get nodes that can never be fetched.
        if self.in_memory.covers(row.page.host):
            visit = row.visit(self.in_memory.covers)
            self._learn(visit, known=row.seq <= self._models.upto, via=row.via)

    def _learn(self, visit: Visit, *, known: bool, via: bytes | None = None) -> list[float]:
        self._models.begin(known=known)
        return self.in_memory.visit(visit, via)

    def why_pruned(self, visit: Visit, place: int) -> str:
        """Why the link at *place* is left out: strategy and parts of the score."""
        node = self.in_memory.index.node_of(visit.links[place].key)
        parts = {} if node is None else self.in_memory.strategy.explain_node(node)
        return reason_of(self.strategy.name, parts)

    # --- leasing ------------------------------------------------------------------------------

    async def choose(
        self,
        limit: int,
        per_host: int,
        busy_hosts: Iterable[str],
        own_hosts: frozenset[str] | None = None,
    ) -> Chosen | None:
        """The best URLs that may be fetched now; of *own_hosts* only, if they are given.

        Returns:
            None where there is no order yet, or it takes too long: no fetch waits for it. The
            next call gets its answer then.
        """
        if not self.is_ready:
            return None
        if self._asked is None:
            # Kept when it is not done in time: the nodes it takes must not be lost, and the next
            # question gets its answer.
            self._asked = asyncio.ensure_future(
                self.run(
                    partial(
                        # The set is copied: the caller's changes while the thread reads it.
                        self.in_memory.choose,
                        limit,
                        per_host=per_host,
                        busy_hosts=frozenset(busy_hosts),
                        own_hosts=own_hosts,
                        now=time.monotonic(),
                    )
                )
            )
        # wait(), not wait_for(): the latter would cancel the choice when its time is up.
        done, _ = await asyncio.wait({self._asked}, timeout=_PATIENCE_SECONDS)
        if not done:
            return None
        chosen, self._asked = self._asked.result(), None
        return chosen

    def note_leases(self, found: KeyLeases) -> None:
        """Tell the order what *found* says of the rows it chose."""
        # The order keeps monotonic time, which no set clock moves.
        later = {key: _monotonic(at) for key, at in found.later.items()}
        self.soon(partial(self.in_memory.note_unleased, later, found.gone))

    def note_taken(self, leases: Sequence[Lease], *, missed: bool) -> None:
        """*leases* were taken without asking the order.

        Args:
            missed: they waited although the order knew of nothing that does.
        """
        if leases:
            # The order said it knows all that waits, and it does not: its view of the rows
            # is read anew.
            self._feed.wants_all_rows |= missed
            self.soon(partial(self.in_memory.note_taken, leases))

    @property
    def has_threshold(self) -> bool:
        """Whether what scores below a threshold is not to be fetched."""
        return self._threshold is not None

    async def is_below_threshold(self) -> bool:
        """Whether all that waits scores below the moving threshold, if the run is to end there."""
        if self._threshold is None or not self.is_ready:
            return False
        return await self.run(lambda: self.in_memory.is_below_threshold)

    def note_closed(self, lease: Lease) -> None:
        """See the base class."""
        self.soon(partial(self.in_memory.note_closed, lease.key))

    def note_enqueued(self, candidates: Iterable[Candidate]) -> None:
        """*candidates* that no page of this crawl links to are in the frontier."""
        self.soon(partial(self.in_memory.note_enqueued, list(candidates)))

    def wait_until(self, key: bytes, at: float) -> None:
        """*key* was not fetched and waits again from epoch second *at* on; 0 = now."""
        self.soon(partial(self.in_memory.wait_until, key, _monotonic(at)))

    def present_score(self, lease: Lease) -> float:
        """The score *lease* has now."""
        # From the event loop's thread, on purpose: one number is read, and an old one
        # does no harm.
        score = self.in_memory.score_of(lease.key)
        return lease.score if score is None else score

    def numbers(self) -> dict[str, float]:
        """Figures for the run's statistics."""
        found: dict[str, float] = {
            "qiaocrawl/order/pages": self.in_memory.visits,
            "qiaocrawl/order/waiting": len(self.in_memory.index.waiting),
            "qiaocrawl/order/models_saved": self._models.saved,
            "qiaocrawl/order/models_damaged": self._models.damaged,
        }
        return found | super().numbers()


def _everywhere(host: str) -> bool:
    return True


async def _patiently(step: Callable[[], Awaitable[None]]) -> None:
    """Repeat *step* while the database is away; the worker decides when that ends the crawl."""
    while True:
        try:
            await step()
            return
        except StorageError as error:
            logger.warning("the crawl order waits for the database: %s", error)
            await asyncio.sleep(_TEND_SECONDS)


def _log_end(task: asyncio.Task[None]) -> None:
    """Log what stopped the order; the crawl goes on by stored scores."""
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("the crawl order is no longer tended", exc_info=error)


def _monotonic(at: float) -> float:
    """Epoch second *at* on the monotonic clock, a minute ahead at most; then the row is asked."""
    return time.monotonic() + min(at - time.time(), _LONGEST_REST_SECONDS)
