"""A search run: when its queries are asked, their budgets, and what becomes of the answers.

The ledger is the plan. A run takes what is due, orders it, and puts as much into the frontier
as the day's budgets allow (see :mod:`~qiaocrawl.runs.asking_plan`); queries that are never handed
out stay in the ledger.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import IntEnum
from functools import partial

from sqlalchemy import Connection

from qiaocrawl.fetch.failure_policy import retry_after_seconds
from qiaocrawl.frontier import LearningStrategy, Strategy
from qiaocrawl.frontier.crawl_order import CrawlOrder
from qiaocrawl.frontier.journal import CrawlJournal, PagelessEnd
from qiaocrawl.items import Candidate, FetchedPage, Lease, Link, Outcome
from qiaocrawl.runs.asking_plan import (
    PIECE,
    GoOn,
    PlanAbandonedError,
    PlanDraft,
    SearchPlan,
    draft_plan,
    enter_piece,
)
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.search.plan import (
    budgets_of,
    daily_limit,
    hit_candidates,
    is_cut_off,
    is_past,
    leads_on,
    next_page,
    query_candidate,
    query_of,
    shorter_periods,
)
from qiaocrawl.search.priority import EnginePauses, ExpectedYield, QueryLine
from qiaocrawl.search.query import AnswerState, Hit, Query, SearchAnswer
from qiaocrawl.storage import frontier
from qiaocrawl.storage.search import budget, ledger
from qiaocrawl.topic.pack import TopicPack

logger = logging.getLogger(__name__)

# Shorter periods come after every query of the plan: else the first of them would use up the day.
# The next run orders them like all others.
_BEHIND_ALL = 1e6
# How often the log says how far a plan is.
_SAY_SECONDS = 5.0
_CUT_SHORT = "the plan is not laid out to its end: the next run completes it"


# --- what may be asked -------------------------------------------------------------------------


class _Stage(IntEnum):
    """How far the plan of a run is; each holds what those before it hold."""

    BEGINNING = 0
    """Nothing is leased: it is not known which queries come first."""
    FIRST_PIECE = 1
    """The first queries are in the frontier and are asked; others follow."""
    COMPLETE = 2
    """No more of it comes."""


class AskingOrder(CrawlOrder):
    """Lets through the queries of engines that are chosen, not parked, and within budget.

    Args:
        strategy: of the crawl; the order of queries is in their scores.
        wanted: what is asked in this run.

    Attributes:
        line: the queries of this run in their order.
    """

    def __init__(
        self,
        strategy: Strategy | LearningStrategy,
        runtime: Runtime,
        wanted: SearchPlan,
        rests: EnginePauses,
    ) -> None:
        super().__init__(strategy)
        self.runtime = runtime
        self._wanted = wanted
        self._terms: frozenset[str] | None = None
        self.line = QueryLine({}, ExpectedYield({}))
        self._stage = _Stage.BEGINNING
        # The plan that is laid out; one that is no longer it ends after its piece.
        self._plan: object = None
        self._renewal: asyncio.Task[None] | None = None
        engines = wanted.engines
        given = budgets_of(runtime.options["QIAO_SEARCH_DAILY_BUDGET"])
        self._limits = {name: daily_limit(one, given) for name, one in engines.items()}
        self._hosts = {name: one.host for name, one in engines.items()}
        self._rests = rests
        self._spent: set[str] = set()
        # For the statistics alone: a transaction that is played again counts again.
        self._put_off: Counter[str] = Counter()

    # --- laying out the plan ---------------------------------------------------------------

    @property
    def may_lease(self) -> bool:
        """Whether the first queries of this run are known: nothing is leased before."""
        return self._stage >= _Stage.FIRST_PIECE

    @property
    def is_complete(self) -> bool:
        """Whether the whole plan is laid out: no run is over before.

        Raises:
            StorageError: a plan for changed terms could not be laid out.
        """
        if self._renewal is not None and self._renewal.done() and not self._renewal.cancelled():
            self._renewal.result()
        return self._stage is _Stage.COMPLETE

    async def lay_out(self, topic: str) -> None:
        """Enter what is planned into the ledger, and what is due into the frontier.

        In short transactions, the first queries first. What goes on elsewhere is not waited for:
        the crawl asks queries meanwhile. Ends early when the run does; a later run completes it.
        Takes the place of a plan that is still being laid out.

        Raises:
            StorageError: the database does not take it.
        """
        await self._pursue(self._begin(), topic)

    def _begin(self) -> object:
        """A plan that takes the place of the last one; no run is over from this moment."""
        self._plan = object()
        self._stage = min(self._stage, _Stage.FIRST_PIECE)
        return self._plan

    async def _pursue(self, plan: object, topic: str) -> None:
        def go_on() -> None:
            if self._plan is not plan:
                raise PlanAbandonedError

        try:
            await self._lay_out(topic, go_on)
        except PlanAbandonedError:
            logger.info(_CUT_SHORT)
        except asyncio.CancelledError:
            # The thread that drafts ends too.
            self._leave(plan, self._stage)
            logger.info(_CUT_SHORT)
            raise
        except Exception:
            # What waits in the frontier is asked all the same.
            self._leave(plan, _Stage.COMPLETE)
            raise
        else:
            self._leave(plan, _Stage.COMPLETE)

    def _leave(self, plan: object, stage: _Stage) -> None:
        """Leave *plan* at *stage*, unless another has taken its place."""
        if self._plan is plan:
            self._plan, self._stage = None, stage

    async def _lay_out(self, topic: str, go_on: GoOn) -> None:
        runtime, wanted = self.runtime, self._wanted
        # In a thread: it reads the ledger and sorts for seconds.
        draft = await asyncio.to_thread(draft_plan, runtime, topic, wanted, go_on)
        go_on()
        logger.info("%d of them are to be asked in this run", draft.asked_count)
        self.line = QueryLine(draft.order, draft.expected_yield)
        await self._make_room(topic, draft, go_on)
        said_at, entered = time.monotonic(), 0
        for piece in draft.pieces(PIECE):
            go_on()
            # Awaited: between two pieces others write, and a crawl that is to stop does so.
            await runtime.write(
                partial(enter_piece, runtime=runtime, draft=draft, wanted=wanted, piece=piece)
            )
            self._stage = max(self._stage, _Stage.FIRST_PIECE)
            entered += max(len(piece.entered), len(piece.asked))
            if time.monotonic() - said_at > _SAY_SECONDS:
                said_at = time.monotonic()
                whole = max(len(draft.entered), draft.asked_count)
                logger.info("planning: %d of %d queries are laid out", entered, whole)

    async def _make_room(self, topic: str, draft: PlanDraft, go_on: GoOn) -> None:
        # Queries still waiting from an earlier run must not push out today's order.
        moved = 1
        while moved:
            moved = await self.runtime.write(lambda c: budget.move_to_the_end(c, topic, PIECE))
            go_on()
        for first in range(0, len(draft.folded), PIECE):
            some = draft.folded[first : first + PIECE]
            await self.runtime.write(partial(ledger.drop_unasked, row_ids=some))
            go_on()

    async def renew_topic(self, pack: TopicPack) -> None:
        """Ask for new terms in this run too, each at its place in the plan's order."""
        self._terms = frozenset(term.text for term in pack.terms)
        # Not waited for: leases are renewed and handed out meanwhile.
        self._renewal = asyncio.ensure_future(self._pursue(self._begin(), pack.name))

    async def close(self) -> None:
        """See the base class; a plan under way ends after its piece."""
        self._plan = None
        if self._renewal is not None:
            await asyncio.wait([self._renewal])
        await super().close()

    # --- leases ------------------------------------------------------------------------------

    def choose_fetchable(self, c: Connection, leases: list[Lease], now: float) -> list[Lease]:
        """See the base class; a query left out stays in the ledger."""
        # A stored answer was counted when it was fetched.
        return [lease for lease in leases if lease.stored or self._is_admitted(c, lease, now)]

    def _is_admitted(self, c: Connection, lease: Lease, now: float) -> bool:
        engine = lease.payload.engine
        if engine not in self._limits:
            self._leave_out(c, lease, f"{engine} is not chosen for this run", now)
        elif self._terms is not None and lease.payload.term not in self._terms:
            self._leave_out(c, lease, f"{lease.payload.term} is no term of the topic any more", now)
        elif self._rests.is_parked(engine):
            self._leave_out(c, lease, parked_reason(engine), now)
            self.put_off(c, lease.topic, engine, parked_reason(engine))
        elif budget.count_request(c, engine, self._limits[engine], now):
            return True
        else:
            reason = f"{engine} has had its {self._limits[engine]} requests of the day"
            self._leave_out(c, lease, reason, now)
            self.put_off(c, lease.topic, engine, reason)
            if engine not in self._spent:
                # Logged once a run; thousands of queries may follow.
                self._spent.add(engine)
                logger.warning("%s; the rest waits for tomorrow", reason)
        return False

    def _leave_out(self, c: Connection, lease: Lease, reason: str, now: float) -> None:
        frontier.complete(c, lease, outcome=Outcome.PRUNED, reason=reason, now=now)
        self._put_off[lease.payload.engine] += 1

    def put_off(self, c: Connection, topic: str, engine: str, reason: str) -> None:
        """Leave all waiting queries of *engine* to a later run."""
        self._put_off[engine] += budget.put_off(
            c, topic, engine, self._hosts[engine], reason, time.time()
        )

    def numbers(self) -> dict[str, float]:
        """Queries left to a later run, and engines without budget, for the run's statistics."""
        prefix = "qiaocrawl/search"
        return {
            **{f"{prefix}/put_off/{name}": n for name, n in sorted(self._put_off.items()) if n},
            **{f"{prefix}/budget_spent/{name}": 1 for name in sorted(self._spent)},
        }


def parked_reason(engine: str) -> str:
    """Why queries of a parked *engine* are put off."""
    return f"{engine} refuses, it is left alone for the rest of the run"


# --- answers -----------------------------------------------------------------------------------


def asked_to_rest(page: FetchedPage, options: Mapping[str, object]) -> float:
    """Seconds the engine asks to wait (Retry-After); 0 when it does not."""
    longest = float(str(options["QIAO_MAX_RETRY_AFTER_SECONDS"]))
    return retry_after_seconds(page.header("retry-after"), page.fetched_at, longest) or 0.0


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What an answer brought: URLs nobody knew, URLs that were known, queries that follow."""

    new_urls: int
    known_urls: int
    follow_ups: int


def store_answer(
    c: Connection,
    order: AskingOrder,
    lease: Lease,
    page: FetchedPage,
    query: Query,
    answer: SearchAnswer,
    hits: Sequence[tuple[Hit, Link]],
) -> StoredAnswer:
    """Write all that is kept of an answer, in the transaction that has closed its lease."""
    runtime = order.runtime
    candidates = hit_candidates(hits, lease, topic=query.topic)
    # Pages first: the ledger writes how many of them nobody knew.
    new_urls = runtime.enqueue(c, candidates)
    record_answer(
        c,
        runtime,
        lease,
        answer,
        new_urls=new_urls,
        hit_keys=tuple(candidate.key for candidate in candidates),
        rest_seconds=asked_to_rest(page, runtime.options),
    )
    follow_ups = plan_follow_ups(c, order, lease, query, answer, new_urls=new_urls)
    return StoredAnswer(new_urls, len(candidates) - new_urls, follow_ups)


class SearchJournal(CrawlJournal):
    """An engine that could not be asked stands in the ledger, also while it is retried."""

    counts_pageless_as = f"search/{AnswerState.ERROR}"

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    def closes_without_page(self, c: Connection, lease: Lease, end: PagelessEnd) -> None:
        """Record the error."""
        self.try_fails(c, lease, end.reason)

    def try_fails(self, c: Connection, lease: Lease, reason: str) -> None:
        """Record the error, unless the row holds no query."""
        if not lease.payload.engine:
            return
        answer = SearchAnswer(AnswerState.ERROR, message=reason)
        record_answer(c, self.runtime, lease, answer)


def record_answer(
    c: Connection,
    runtime: Runtime,
    lease: Lease,
    answer: SearchAnswer,
    *,
    new_urls: int = 0,
    hit_keys: tuple[bytes, ...] = (),
    rest_seconds: float = 0.0,
) -> None:
    """Write an answer, or that there was none, into the coverage ledger."""
    now, options, query = time.time(), runtime.options, query_of(lease)
    repeat_seconds = options["QIAO_SEARCH_REPEAT_HOURS"] * 3600
    if is_past(query.period, _today(now)):
        repeat_seconds *= ledger.REPEATS_OF_THE_PAST
        # What may be missing of a partial answer is asked for soon, even of a period that is over.
        if answer.state is not AnswerState.PARTIAL:
            rest_seconds = max(rest_seconds, repeat_seconds)
    entry = ledger.Answered(
        answer.state,
        len(answer.hits),
        new_urls,
        answer.message,
        answer.total,
        lease.key,
        hit_keys,
        retry_seconds=options["QIAO_SEARCH_RETRY_HOURS"] * 3600,
        rest_seconds=rest_seconds,
        repeat_seconds=repeat_seconds,
    )
    ledger.record_answer(c, query, entry, now)


def plan_follow_ups(
    c: Connection,
    order: AskingOrder,
    lease: Lease,
    query: Query,
    answer: SearchAnswer,
    *,
    new_urls: int,
) -> int:
    """Propose what an answer leads to: the next result page, or shorter periods.

    A page that brought nothing new is followed by others like it: nothing then. Returns how
    many queries follow.
    """
    runtime = order.runtime
    # For the order alone: a transaction that is played again counts again.
    order.line.note(query, new_urls)
    definition = runtime.catalogue.engine(query.engine)
    most: int = runtime.options["QIAO_SEARCH_MAX_PAGES"]
    follow_ups: list[tuple[Query, Candidate]] = []
    if new_urls and leads_on(answer, definition) and query.page < most:
        following = replace(query, page=query.page + 1)
        place = order.line.place_of_next_page(query, -lease.score)
        follow_ups = [(following, next_page(query, definition, lease, place=place))]
    elif new_urls and is_cut_off(query, answer, definition, most):
        follow_ups = list(_shorter(c, runtime, lease, query))
    topic_id = runtime.catalogue.topic_ids[query.topic]
    ledger.plan_queries(c, topic_id, [asked for asked, _ in follow_ups], time.time())
    runtime.enqueue(c, [candidate for _, candidate in follow_ups])
    return len(follow_ups)


def _shorter(
    c: Connection, runtime: Runtime, lease: Lease, query: Query
) -> Iterable[tuple[Query, Candidate]]:
    definition, now = runtime.catalogue.engine(query.engine), time.time()
    since = now - runtime.options["QIAO_SEARCH_REPEAT_HOURS"] * 3600
    # Rows of the ledger are found by the topic's number.
    topic_id = runtime.catalogue.topic_ids[query.topic]
    for period in shorter_periods(definition, query.period, _today(now)):
        shorter = replace(query, page=1, period=period)
        if not ledger.is_settled(c, topic_id, shorter, since=since, now=now):
            # Periods whose answer is recent enough cost no further request.
            candidate = query_candidate(shorter, definition, depth=lease.depth + 1)
            score = lease.score - _BEHIND_ALL
            yield shorter, replace(candidate, score=score, parent=lease.key)


def _today(now: float) -> date:
    return date.fromisoformat(budget.day_of(now))
