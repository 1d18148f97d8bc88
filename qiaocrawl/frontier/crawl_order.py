"""What a crawl asks of its order, whatever the strategy: scores of links, off the event loop."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection

from qiaocrawl.frontier import (
    CrawlTopic,
    FoundLink,
    LearningStrategy,
    Strategy,
    VisitedPage,
    scores_of,
)
from qiaocrawl.frontier.threshold import MovingThreshold
from qiaocrawl.items import PRUNED, Candidate, Lease, PageAnalysis, Visit
from qiaocrawl.runtime.follow_links import FollowPolicy, LinkSelection, follow_links
from qiaocrawl.storage.frontier.visit_log import pack_links
from qiaocrawl.storage.writer import in_loop
from qiaocrawl.topic.pack import TopicPack

logger = logging.getLogger(__name__)

T = TypeVar("T")

# The column for reasons holds 500 characters.
_REASON_CHARS = 300


# About 100 bytes each: 50 MB at the most.
_REMEMBERED = 500_000


class ProposedUrls:
    """Saves a crawl from writing links it has stored; the frontier's unique key decides.

    It learns of links once they are committed, never before: a page whose transaction was
    refused brings all of them again. The oldest are forgotten first; that only costs a write.

    Args:
        by_score: a known URL is news with a higher score; else only after it had been left out.
    """

    def __init__(self, remembered: int = _REMEMBERED, *, by_score: bool = True) -> None:
        self._remembered = remembered
        self._by_score = by_score
        self._scores: dict[bytes, float] = {}

    def is_news(self, key: bytes, score: float) -> bool:
        """Whether *key* is unknown or known with a lower score. Any thread may ask."""
        best = self._scores.get(key)
        # Asked of every link of every page, most of which are known.
        return best is None or (score > best and (self._by_score or best == PRUNED))

    def remember(self, stored: Iterable[tuple[bytes, float]]) -> list[bytes]:
        """Keys and scores of links that are committed now; the keys that were unknown."""
        new = []
        for key, score in stored:
            best = self._scores.get(key)
            if best is None:
                new.append(key)
            # A higher score keeps the key's place in the dict: age counts from the first sighting.
            if best is None or score > best:
                self._scores[key] = score
        # A dict keeps insertion order, so its first key is the oldest.
        while len(self._scores) > self._remembered:
            del self._scores[next(iter(self._scores))]
        return new


@dataclass(frozen=True, slots=True)
class FollowedPage:
    """What the order made of a page: its candidates, and what the log is to keep of it."""

    selection: LinkSelection
    packed_links: bytes

    @property
    def visit(self) -> Visit:
        """The page as its strategy saw it, with all links that are followed now."""
        return self.selection.visit


class CrawlOrder:
    """A strategy that remembers nothing, in a thread of its own; its scores stay as they are.

    Args:
        strategy: what scores links.
        threshold: what scores below it is left out, but for tunnels.
        topic: what the strategy compares links with; None where that never changes.
    """

    _proposes_better = True
    """Whether a link that was stored is proposed again with a better score."""

    def __init__(
        self,
        strategy: Strategy | LearningStrategy,
        threshold: MovingThreshold | None = None,
        topic: CrawlTopic | None = None,
    ) -> None:
        self.strategy = strategy
        self.topic = topic
        self._threshold = threshold
        self._proposed = ProposedUrls(by_score=self._proposes_better)
        # A hop to another thread and back costs more than these scores do.
        self._is_instant = threshold is None and getattr(strategy, "is_instant", False)
        # One thread: strategies need no lock, and pages are learnt from in the order they come.
        self._thread = ThreadPoolExecutor(1, "qiaocrawl-order")
        self._waiting_work: deque[Callable[[], object]] = deque()

    @property
    def may_lease(self) -> bool:
        """Whether leases may be taken: it is known which come first."""
        return True

    @property
    def is_complete(self) -> bool:
        """Whether no more rows are on their way into the frontier but those pages lead to."""
        return True

    async def run(self, work: Callable[[], T]) -> T:
        """Do *work* in the thread of the order, after all that was asked before."""
        return await in_loop(self._thread.submit(self._after_waiting, work))

    def soon(self, work: Callable[[], object]) -> None:
        """Do *work* before anything else is asked of the order; an error of it is logged."""
        # Only who asks can tell whether it is done, so it goes with the next question: waking the
        # thread for it costs more than it does, two or three times a page.
        self._waiting_work.append(work)

    def _after_waiting(self, work: Callable[[], T]) -> T:
        while self._waiting_work:
            # Nobody waits for it, so the error would vanish.
            if (error := _error_of(self._waiting_work.popleft())) is not None:
                logger.error("the crawl order failed", exc_info=error)
        return work()

    async def renew_topic(self, pack: TopicPack) -> None:
        """Score links by *pack* from now on, the same topic with other terms."""
        if self.topic is not None:
            await self.run(partial(self.topic.renew, pack))

    # --- pages ------------------------------------------------------------------------------

    async def follow(
        self, lease: Lease, analysis: PageAnalysis, policy: FollowPolicy
    ) -> FollowedPage:
        """Score the links of the page of *lease* and choose what enters the frontier.

        Only links of pages passed to :meth:`note_stored` are left out, so a page that is tried
        again brings all its links again.
        """
        # Taken here, not in the thread: "dfs" ranks by the time a page came, not by when
        # it was scored.
        now = time.time()
        if self._is_instant:
            return self._follow(lease, analysis, policy, now)
        return await self.run(partial(self._follow, lease, analysis, policy, now))

    def _follow(
        self, lease: Lease, analysis: PageAnalysis, policy: FollowPolicy, now: float
    ) -> FollowedPage:
        selection = follow_links(
            lease,
            analysis,
            policy,
            self.scores,
            fresh=self._proposed.is_news,
            why_pruned=self.why_pruned,
            now=now,
        )
        return FollowedPage(selection, pack_links(selection.visit.links))

    def note_stored(self, page: FollowedPage) -> list[bytes]:
        """All that *page* brought is committed; keys of links no page had brought before."""
        return self._proposed.remember(
            # A left-out link is remembered as the worst, so that any better or plain link is news.
            (candidate.key, candidate.score if candidate.left_out is None else PRUNED)
            for candidate in page.selection.candidates
        )

    def brought_nothing(self, visit: Visit) -> None:
        """The URL of *visit* is closed for good and had no page to read; so says the log now."""

    def scores(self, visit: Visit) -> list[float]:
        """The scores of a page's links; in the thread of the order."""
        scores = list(scores_of(self.strategy, visit))
        return scores if self._threshold is None else self._threshold.prune(visit, scores)

    def why_pruned(self, visit: Visit, place: int) -> str:
        """Why the link at *place* is left out: strategy and parts of the score."""
        parts = explain_score(self.strategy, visit, place)
        below = {} if self._threshold is None else {"threshold": self._threshold.value}
        return reason_of(self.strategy.name, {**parts, **below})

    # --- leasing ----------------------------------------------------------------------------

    def choose_fetchable(self, c: Connection, leases: list[Lease], now: float) -> list[Lease]:
        """Those of *leases* that may be fetched, within the transaction that took them.

        An override that leaves one out must end its lease. Runs in the writer's thread.
        """
        return leases

    def note_closed(self, lease: Lease) -> None:
        """*lease* is no longer in hand; what its page brought has no rows, unless it is stored."""

    def note_enqueued(self, candidates: Iterable[Candidate]) -> None:
        """*candidates* that no page of this crawl links to are in the frontier."""

    def wait_until(self, key: bytes, at: float) -> None:
        """*key* was not fetched and waits again from epoch second *at* on; 0 = now."""

    def present_score(self, lease: Lease) -> float:
        """The score *lease* has now."""
        return lease.score

    async def is_below_threshold(self) -> bool:
        """Whether the run is to end since all that waits scores too low."""
        return False

    async def close(self) -> None:
        """Stop the thread; nothing is asked after this."""
        # Not waited for: rescoring may take a second, and a stopping crawl has better uses for it.
        self._thread.shutdown(wait=False, cancel_futures=True)

    def numbers(self) -> dict[str, float]:
        """Figures for the run's statistics."""
        if self._threshold is None:
            return {}
        return {"qiaocrawl/order/threshold": self._threshold.value}


def _error_of(work: Callable[[], object]) -> Exception | None:
    try:
        work()
    except Exception as error:
        return error
    return None


def explain_score(
    strategy: Strategy | LearningStrategy, visit: Visit, place: int
) -> Mapping[str, float]:
    """The parts of the score of the link at *place*, by name.

    Nothing by a strategy that learns: it explains nodes of its order only.
    """
    # A learning strategy explains a node of its graph; the log alone has no graph.
    if isinstance(strategy, LearningStrategy):
        return {}
    page = VisitedPage(
        visit.url, visit.host, visit.depth, visit.relevance, visit.relevant, visit.at
    )
    return strategy.explain(page, FoundLink(visit.links[place], place, len(visit.links)))


def reason_of(name: str, parts: Mapping[str, float]) -> str:
    """*parts* of a score of strategy *name* on one line."""
    described = ", ".join(f"{part} {value:.3g}" for part, value in parts.items())
    return f"{name}: {described or 'left out'}"[:_REASON_CHARS]
