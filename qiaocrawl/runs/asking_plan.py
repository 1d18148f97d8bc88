"""The plan of a search run: drafted in memory from what is committed, entered piece by piece.

A plan may have a hundred thousand queries. No transaction of it is long, the first queries are
asked while the last are still being entered, and a run that ends in between leaves pieces that the
next one completes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest

from sqlalchemy import Connection

from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.search.definition import EngineDefinition
from qiaocrawl.search.plan import (
    budgets_of,
    can_ask,
    daily_limit,
    plan,
    query_candidate,
    within_budget,
)
from qiaocrawl.search.priority import DueQuery, ExpectedYield, Pair, pair_of, prioritise
from qiaocrawl.search.query import Query
from qiaocrawl.storage.search import budget, ledger
from qiaocrawl.storage.search import yields as expected_yields
from qiaocrawl.storage.values import clean_word

logger = logging.getLogger(__name__)

PIECE = 500
"""Queries of one transaction: some tens of milliseconds on SQLite, some hundred on MariaDB."""

# Rows of the ledger read, or queries planned, between two looks at whether the run goes on.
_ROWS_AT_A_TIME = 5_000

GoOn = Callable[[], None]
"""Returns while a plan is still wanted; else it raises :class:`PlanAbandonedError`."""


class PlanAbandonedError(Exception):
    """The run ends, or another plan takes the place of this one."""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What the operator wants asked: ``sites`` and ``max_terms`` None = all (see :func:`plan`)."""

    engines: Mapping[str, EngineDefinition]
    sites: Sequence[str] | None = None
    max_terms: int | None = None
    period: str = ""

    def holds(self, query: Query) -> bool:
        """Whether a query of a planned pair is for one of the periods this run asks for."""
        # Where the engine takes periods, the unrestricted query is not of this run.
        any_time = not query.period and can_ask(self.engines[query.engine], self.period)
        return not (self.period and any_time)


@dataclass(frozen=True, slots=True)
class PlanPiece:
    """Queries to be entered into the ledger, and those to be asked at their places."""

    entered: Sequence[Query]
    asked: Sequence[tuple[int, Query]]


@dataclass(frozen=True, slots=True)
class PlanDraft:
    """A plan of which nothing is written yet.

    Attributes:
        at: epoch second that counts as the moment of planning, the same for all pieces.
        entered: queries the ledger does not have like that, in the order of the plan.
        order: what is to be asked now, by engine, the first first.
        folded: rows of the ledger whose words are asked as synonyms now.
    """

    topic_id: int
    at: float
    entered: Sequence[Query]
    order: Mapping[str, Sequence[Query]]
    expected_yield: ExpectedYield
    folded: Sequence[int]

    @property
    def asked_count(self) -> int:
        """How many queries are to be asked."""
        return sum(map(len, self.order.values()))

    def pieces(self, size: int) -> Iterator[PlanPiece]:
        """All of it, *size* queries to be entered and asked at a time, the first to be asked first.

        Of each engine as many: they are asked side by side.
        """
        asked = (
            (place, query)
            for place, queries in enumerate(zip_longest(*self.order.values()))
            for query in queries
            if query is not None
        )
        for first in range(0, max(len(self.entered), self.asked_count), size):
            yield PlanPiece(self.entered[first : first + size], list(islice(asked, size)))


def enter_piece(
    c: Connection, runtime: Runtime, draft: PlanDraft, wanted: SearchPlan, piece: PlanPiece
) -> None:
    """Write *piece* into ledger and frontier; what another worker has written already stays."""
    # What waits in the frontier stands in the ledger, at every moment.
    queries = [*piece.entered, *(query for _, query in piece.asked)]
    ledger.plan_queries(c, draft.topic_id, queries, draft.at)
    runtime.enqueue(
        c,
        [
            query_candidate(query, wanted.engines[query.engine], rank=place)
            for place, query in piece.asked
        ],
    )


def draft_plan(runtime: Runtime, topic: str, wanted: SearchPlan, go_on: GoOn) -> PlanDraft:
    """What is due now, in its order. Reads the ledger in parts; blocks, for a thread.

    Raises:
        PlanAbandonedError: *go_on* said so.
        StorageError: the database cannot be read.
    """
    return _Drafting(runtime, topic, wanted, go_on).draft()


class _Drafting:
    def __init__(self, runtime: Runtime, topic: str, wanted: SearchPlan, go_on: GoOn) -> None:
        self._runtime = runtime
        self._topic = topic
        self._wanted = wanted
        self._go_on = go_on
        self._topic_id = runtime.catalogue.topic_ids[topic]
        self._at = time.time()
        self._planned: dict[bytes, Query] = {}
        # The first query of a pair gives its rank: result pages and periods belong to the pair.
        self._ranks: dict[Pair, int] = {}
        self._synonyms: dict[str, set[str]] = {}
        self._due: dict[str, list[DueQuery]] = {name: [] for name in wanted.engines}
        self._folded: list[int] = []

    def draft(self) -> PlanDraft:
        self._plan()
        logger.info("%d queries are planned; entering them into the ledger", len(self._planned))
        entered = self._compare()
        yields, spent = self._runtime.reader.run(self._read_yields)
        order = {name: self._line(name, yields, spent) for name in self._due}
        return PlanDraft(self._topic_id, self._at, entered, order, yields, self._folded)

    def _plan(self) -> None:
        wanted = self._wanted
        queries = plan(
            self._runtime.catalogue.pack(self._topic),
            [wanted.engines[name] for name in sorted(wanted.engines)],
            sites=wanted.sites,
            max_terms=wanted.max_terms,
            period=wanted.period,
            fold_synonyms=self._runtime.options["QIAO_SEARCH_FOLD_SYNONYMS"],
        )
        for rank, query in enumerate(queries):
            if rank % _ROWS_AT_A_TIME == 0:
                self._go_on()
            self._planned[ledger.query_key(self._topic_id, query)] = query
            self._ranks.setdefault(pair_of(query), rank)
            # Words asked as synonyms now must not wait as queries of their own, too.
            words = (clean_word(word, 200) for word in query.also)
            self._synonyms.setdefault(query.engine, set()).update(words)

    def _compare(self) -> list[Query]:
        """Note what is due; the planned queries that the ledger has not, or not like that."""
        new, changed = dict.fromkeys(self._planned), set()
        for among in self._runtime.reader.run(lambda c: ledger.row_ranges(c, _ROWS_AT_A_TIME)):
            self._go_on()
            stored, due = self._runtime.reader.run(partial(self._read, among))
            for key, also in stored:
                query = self._planned.get(key)
                if query is not None:
                    del new[key]
                    if ledger.also_text(query) != also:
                        changed.add(key)
            for row in due:
                self._note_due(row)
        for key in new:
            # What was never asked waits since it was planned.
            self._add_due(self._planned[key], self._at)
        return [query for key, query in self._planned.items() if key in new or key in changed]

    def _read(
        self, among: range, c: Connection
    ) -> tuple[list[tuple[bytes, str]], list[ledger.DueQuery]]:
        engines = sorted(self._wanted.engines)
        repeat_seconds = self._runtime.options["QIAO_SEARCH_REPEAT_HOURS"] * 3600
        return ledger.entered_queries(c, self._topic_id, engines, among), ledger.due_queries(
            c, self._topic, engines, repeat_seconds=repeat_seconds, now=self._at, among=among
        )

    def _note_due(self, row: ledger.DueQuery) -> None:
        query = row.query
        if not row.asked and query.term in self._synonyms.get(query.engine, ()):
            self._folded.append(row.id)
            return
        # The planned one has the synonyms of today.
        query = self._planned.get(ledger.query_key(self._topic_id, query), query)
        if self._wanted.holds(query):
            self._add_due(query, row.waiting_since)

    def _add_due(self, query: Query, waiting_since: float) -> None:
        rank = self._ranks.get(pair_of(query))
        if rank is not None:
            self._due[query.engine].append(DueQuery(query, rank, waiting_since))

    def _read_yields(self, c: Connection) -> tuple[ExpectedYield, Mapping[str, int]]:
        terms = {query.term for query in self._planned.values()}
        return (
            expected_yields.expected_yield(c, self._topic, terms),
            budget.requests_of_day(c, self._at),
        )

    def _line(
        self, name: str, expected_yield: ExpectedYield, spent: Mapping[str, int]
    ) -> list[Query]:
        """The due queries of the engine *name*, as far as its budget goes."""
        self._go_on()
        queries = self._due[name]
        budgets = budgets_of(self._runtime.options["QIAO_SEARCH_DAILY_BUDGET"])
        limit = daily_limit(self._wanted.engines[name], budgets)
        left = None if limit is None else limit - spent.get(name, 0)
        line = within_budget(prioritise(queries, expected_yield), left)
        if left is not None and left < len(queries):
            logger.info(
                "%s: %d queries are due, today's budget has room for %d requests",
                name,
                len(queries),
                max(left, 0),
            )
        return [due.query for due in line]
