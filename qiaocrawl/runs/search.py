"""A search run: the order of its queries, their budgets, and what becomes of the answers.

The ledger is the plan. A run takes what is due, orders it, and puts as much into the frontier
as the day's budgets allow; queries that are never handed out stay in the ledger.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from sqlalchemy import Connection

from qiaocrawl.fetch.backoff import retry_after_seconds
from qiaocrawl.frontier import LearningStrategy, Strategy
from qiaocrawl.frontier.journal import CrawlJournal, PagelessEnd
from qiaocrawl.frontier.ordering import FrontierOrder
from qiaocrawl.items import Candidate, FetchedPage, Lease, Link, Outcome
from qiaocrawl.runtime import Runtime
from qiaocrawl.search import EVERYWHERE, EngineDefinition
from qiaocrawl.search.candidates import hit_candidates, next_page, query_candidate, query_of
from qiaocrawl.search.engine_pauses import EnginePauses
from qiaocrawl.search.plan import plan
from qiaocrawl.search.plan_budget import budgets_of, daily_limit, within_budget
from qiaocrawl.search.plan_periods import can_ask, is_cut_off, is_past, leads_on, shorter_periods
from qiaocrawl.search.plan_priority import (
    DueQuery,
    ExpectedYield,
    Pair,
    QueryLine,
    pair_of,
    prioritise,
)
from qiaocrawl.search.query import AnswerState, Hit, Query, SearchAnswer
from qiaocrawl.storage import frontier
from qiaocrawl.storage.search import engine_budget, expected_yields, ledger
from qiaocrawl.topic.pack import TopicPack

logger = logging.getLogger(__name__)

# Shorter periods come after every query of the plan: else the first of them would use up the day.
# The next run orders them like all others.
_BEHIND_ALL = 1e6


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What the operator wants asked: ``sites`` and ``max_terms`` None = all (see :func:`plan`)."""

    engines: Mapping[str, EngineDefinition]
    sites: Sequence[str] | None = None
    max_terms: int | None = None
    period: str = ""


# --- the start of a run ------------------------------------------------------------------------


def due_candidates(
    runtime: Runtime, topic: str, wanted: SearchPlan
) -> tuple[list[Candidate], QueryLine]:
    """Enter the plan into the ledger and give what is to be asked now, in its order.

    What is not chosen to be asked stands in the ledger too, as ``robots``.
    """
    options = runtime.options
    planned = list(plan(
        runtime.catalogue.pack(topic), [wanted.engines[name] for name in sorted(wanted.engines)],
        sites=wanted.sites, max_terms=wanted.max_terms, period=wanted.period,
        fold_synonyms=options["QIAO_SEARCH_FOLD_SYNONYMS"],
    ))  # fmt: skip
    topic_id = runtime.catalogue.topic_ids[topic]
    logger.info("%d queries are planned; entering them into the ledger", len(planned))

    def operation(c: Connection) -> tuple[dict[str, list[Query]], ExpectedYield]:
        # In one transaction, so that ledger, budgets and order are of one moment.
        now = time.time()
        _enter(c, topic_id, planned, now)
        terms = {query.term for query in planned}
        expected_yield = expected_yields.expected_yield(c, topic, terms)
        order = _order(c, runtime, topic, wanted, planned, expected_yield, now)
        others = _not_chosen(runtime, [query for line in order.values() for query in line])
        # Engines that were not chosen are in the ledger too, so that coverage shows the gap.
        ledger.plan_queries(c, topic_id, others, now, AnswerState.ROBOTS)
        # Queries still waiting from an earlier run must not push out today's order.
        engine_budget.move_to_the_end(c, topic)
        return order, expected_yield

    order, expected_yield = runtime.write_now(operation)
    # Places by engine: each engine's queries are asked in their own order, side by side.
    candidates = [
        query_candidate(query, wanted.engines[name], rank=place)
        for name, line in order.items() for place, query in enumerate(line)
    ]  # fmt: skip
    logger.info("%d of them are to be asked in this run", len(candidates))
    return candidates, QueryLine(order, expected_yield)


def _enter(c: Connection, topic_id: int, planned: Sequence[Query], now: float) -> None:
    ledger.plan_queries(c, topic_id, planned, now)
    joined: dict[str, set[str]] = {}
    for query in planned:
        # Words asked as synonyms now must not wait as queries of their own, too.
        joined.setdefault(query.engine, set()).update(query.also)
    for engine, words in joined.items():
        ledger.drop_unasked(c, topic_id, engine, sorted(words))


def _order(
    c: Connection, runtime: Runtime, topic: str, wanted: SearchPlan, planned: Sequence[Query],
    expected_yield: ExpectedYield, now: float,
) -> dict[str, list[Query]]:  # fmt: skip
    """The due queries of the plan's pairs, by engine, as far as the budgets go."""
    ranks: dict[Pair, int] = {}
    for rank, query in enumerate(planned):
        # The first query of a pair gives its rank: result pages and periods belong to the pair.
        ranks.setdefault(pair_of(query), rank)
    rows = ledger.due_queries(
        c, topic, sorted(wanted.engines), now=now,
        repeat_seconds=runtime.options["QIAO_SEARCH_REPEAT_HOURS"] * 3600,
    )  # fmt: skip
    due: dict[str, list[DueQuery]] = {name: [] for name in wanted.engines}
    for row in rows:
        query = row.query
        pair_rank = ranks.get(pair_of(query))
        if pair_rank is not None and _is_planned(query, wanted):
            due[query.engine].append(DueQuery(query, pair_rank, row.waiting_since))
    spent = engine_budget.requests_of_day(c, now)
    budgets = budgets_of(runtime.options["QIAO_SEARCH_DAILY_BUDGET"])
    order: dict[str, list[Query]] = {}
    for name, queries in due.items():
        limit = daily_limit(wanted.engines[name], budgets)
        left = None if limit is None else limit - spent.get(name, 0)
        line = within_budget(prioritise(queries, expected_yield), left)
        order[name] = [due.query for due in line]
        if left is not None and left < len(queries):
            logger.info(
                "%s: %d queries are due, today's budget has room for %d requests",
                name,
                len(queries),
                max(left, 0),
            )
    return order


def _is_planned(query: Query, wanted: SearchPlan) -> bool:
    """Whether a query of a planned pair is for one of the periods this run asks for."""
    # Where the engine takes periods, the unrestricted query is not of this run.
    any_time = not query.period and can_ask(wanted.engines[query.engine], wanted.period)
    return not (wanted.period and any_time)


def _not_chosen(runtime: Runtime, asked: Sequence[Query]) -> list[Query]:
    """The same queries for the scraped engines that the operator did not choose."""
    chosen, demo = runtime.options["QIAO_ENGINES"], runtime.options["QIAO_DEMO"]
    engines = [
        engine for engine in runtime.catalogue.engines.values()
        if engine.kind == "scraped" and engine.name not in chosen
        # The demo's engines are no gap in anybody's coverage.
        and (demo or not engine.host.endswith(".test"))
    ]  # fmt: skip
    pairs = dict.fromkeys((query.topic, query.term, query.site) for query in asked)
    return [
        Query(topic, term, site, engine.name)
        for topic, term, site in pairs for engine in engines
        if site == EVERYWHERE or engine.supports_site
    ]  # fmt: skip


# --- what may be asked -------------------------------------------------------------------------


class AskingOrder(FrontierOrder):
    """Lets through the queries of engines that are chosen, not parked, and within budget.

    Args:
        strategy: of the crawl; the order of queries is in their scores.
        wanted: what is asked in this run.

    Attributes:
        line: the queries of this run in their order.
    """

    def __init__(
        self, strategy: Strategy | LearningStrategy, runtime: Runtime, wanted: SearchPlan,
        rests: EnginePauses,
    ) -> None:  # fmt: skip
        super().__init__(strategy)
        self.runtime = runtime
        self._wanted = wanted
        self._terms: frozenset[str] | None = None
        self.line = QueryLine({}, ExpectedYield({}))
        engines = wanted.engines
        given = budgets_of(runtime.options["QIAO_SEARCH_DAILY_BUDGET"])
        self._limits = {name: daily_limit(one, given) for name, one in engines.items()}
        self._hosts = {name: one.host for name, one in engines.items()}
        self._rests = rests
        self._spent: set[str] = set()
        # For the statistics alone: a transaction that is played again counts again.
        self._put_off: Counter[str] = Counter()

    def due_candidates(self, topic: str) -> list[Candidate]:
        """What is to be asked now; next result pages take their places among it."""
        candidates, self.line = due_candidates(self.runtime, topic, self._wanted)
        return candidates

    async def renew_topic(self, pack: TopicPack) -> None:
        """Ask for new terms in this run too, each at its place in the plan's order."""
        self._terms = frozenset(term.text for term in pack.terms)
        # In a thread: it waits for the database.
        candidates = await asyncio.to_thread(self.due_candidates, pack.name)
        await self.runtime.write(lambda c: self.runtime.enqueue(c, candidates))

    def admitted(self, c: Connection, leases: list[Lease], now: float) -> list[Lease]:
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
        elif engine_budget.count_request(c, engine, self._limits[engine], now):
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
        self._put_off[engine] += engine_budget.put_off(
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
    c: Connection, order: AskingOrder, lease: Lease, page: FetchedPage, query: Query,
    answer: SearchAnswer, hits: Sequence[tuple[Hit, Link]],
) -> StoredAnswer:  # fmt: skip
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
    c: Connection, runtime: Runtime, lease: Lease, answer: SearchAnswer,
    *, new_urls: int = 0, hit_keys: tuple[bytes, ...] = (), rest_seconds: float = 0.0,
) -> None:  # fmt: skip
    """Write an answer, or that there was none, into the coverage ledger."""
    now, options, query = time.time(), runtime.options, query_of(lease)
    repeat_seconds = options["QIAO_SEARCH_REPEAT_HOURS"] * 3600
    if is_past(query.period, _today(now)):
        repeat_seconds *= ledger.REPEATS_OF_THE_PAST
        # What may be missing of a partial answer is asked for soon, even of a period that is over.
        if answer.state is not AnswerState.PARTIAL:
            rest_seconds = max(rest_seconds, repeat_seconds)
    entry = ledger.Answered(
        answer.state, len(answer.hits), new_urls, answer.message, answer.total, lease.key,
        hit_keys, retry_seconds=options["QIAO_SEARCH_RETRY_HOURS"] * 3600,
        rest_seconds=rest_seconds, repeat_seconds=repeat_seconds,
    )  # fmt: skip
    ledger.record_answer(c, query, entry, now)


def plan_follow_ups(
    c: Connection, order: AskingOrder, lease: Lease, query: Query, answer: SearchAnswer,
    *, new_urls: int,
) -> int:  # fmt: skip
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
    return date.fromisoformat(engine_budget.day_of(now))
