"""Which queries a search run lets through: chosen engines, not parked, within the day's budget."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from fresh_schema import make_tables
from qiaocrawl.frontier import CrawlTopic, strategies
from qiaocrawl.items import FetchedPage, Lease, Queue
from qiaocrawl.options import Options
from qiaocrawl.runs.asking_plan import SearchPlan
from qiaocrawl.runs.search import (
    AskingOrder,
    SearchJournal,
    asked_to_rest,
    parked_reason,
)
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.search.plan import query_candidate, query_of
from qiaocrawl.search.priority import EnginePauses, EngineResponse
from qiaocrawl.search.query import Query
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.frontier import Scope
from qiaocrawl.storage.search import budget as engine_budget
from qiaocrawl.storage.search import ledger
from storage_samples import PACK, add_topic

TERMS = ("华侨", "侨务", "唐人街")


class Run:
    """A search run on SQLite with the queries of two engines waiting."""

    def __init__(self, url: str, *, budget: str = "") -> None:
        self.runtime = Runtime(Options.from_environment({
            "QIAO_DATABASE_URL": url, "QIAO_SEARCH_DAILY_BUDGET": budget,
        }))  # fmt: skip
        self.chosen, self.other = "baidu", "sogou"
        engines = self.runtime.catalogue.engines
        self.pauses = EnginePauses(park_after=1, first_seconds=1.0)
        self.order = AskingOrder(
            strategies.get("bfs")(CrawlTopic(PACK)), self.runtime,
            SearchPlan({self.chosen: engines[self.chosen]}), self.pauses,
        )  # fmt: skip
        with self.engine.begin() as c:
            for name in (self.chosen, self.other):
                queries = [Query(PACK.name, term, "", name) for term in TERMS]
                ledger.plan_queries(c, 1, queries, time.time())
                candidates = [query_candidate(query, engines[name]) for query in queries]
                frontier.enqueue(c, candidates, run_id=None, now=time.time())

    @property
    def engine(self):  # type: ignore[no-untyped-def]
        return self.runtime.database.engine

    def lease(self, c: Connection, limit: int = 50) -> list[Lease]:
        return frontier.lease(
            c, Scope(Queue.SEARCH, PACK.name), token=1, limit=limit, per_host=limit,
            lease_seconds=60.0, now=time.time(),
        )  # fmt: skip

    def admitted(self, limit: int = 50) -> list[tuple[str, str]]:
        """Engine and term of the queries that are let through."""
        with self.engine.begin() as c:
            leases = self.order.choose_fetchable(c, self.lease(c, limit), time.time())
        return sorted((lease.payload.engine, lease.payload.term) for lease in leases)

    def reasons(self) -> dict[str, set[str]]:
        """Why rows were closed, by the engine whose queries they hold."""
        with self.engine.connect() as c:
            found = c.execute(text("SELECT payload, reason FROM url WHERE outcome = 'pruned'"))
            reasons: dict[str, set[str]] = {}
            for payload, reason in found:
                name = next(n for n in (self.chosen, self.other) if f'"engine":"{n}"' in payload)
                reasons.setdefault(name, set()).add(reason)
            return reasons


@pytest.fixture
def url(tmp_path: Path) -> str:
    address = f"sqlite:///{tmp_path}/q.db"
    with Database.open(address) as database:
        make_tables(database)
        add_topic(database)
    return address


@pytest.fixture
def run(url: str) -> Iterator[Run]:
    made = Run(url)
    yield made
    made.runtime.close()


def test_queries_of_the_chosen_engine_are_asked_and_counted(run: Run) -> None:
    assert run.admitted() == sorted((run.chosen, term) for term in TERMS)
    with run.engine.connect() as c:
        assert engine_budget.requests_of_day(c, time.time()) == {run.chosen: 3}


def test_queries_of_an_engine_that_is_not_chosen_are_left_to_the_ledger(run: Run) -> None:
    run.admitted()
    assert run.reasons() == {run.other: {f"{run.other} is not chosen for this run"}}
    assert run.order.numbers() == {f"qiaocrawl/search/put_off/{run.other}": 3}
    with run.engine.connect() as c:
        states = c.execute(text("SELECT DISTINCT state FROM `query`")).scalars().all()
    assert len(states) == 1, "the ledger has them as they were"


def test_of_a_parked_engine_all_that_waits_is_put_off_at_once(run: Run) -> None:
    run.pauses.note(run.chosen, EngineResponse.REFUSES)
    with run.engine.begin() as c:
        leases = [lease for lease in run.lease(c) if lease.payload.engine == run.chosen]
        frontier.release(c, leases[1:], now=time.time())
        assert run.order.choose_fetchable(c, leases[:1], time.time()) == []
    assert run.reasons() == {run.chosen: {parked_reason(run.chosen)}}
    assert run.order.numbers() == {f"qiaocrawl/search/put_off/{run.chosen}": 3}
    with run.engine.connect() as c:
        assert engine_budget.requests_of_day(c, time.time()) == {}


def test_an_engine_is_asked_no_more_than_its_budget_of_the_day(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    run = Run(url, budget="baidu=1")
    try:
        assert len(run.admitted()) == 1
        reason = f"{run.chosen} has had its 1 requests of the day"
        assert run.reasons()[run.chosen] == {reason}
        numbers = run.order.numbers()
        assert numbers[f"qiaocrawl/search/put_off/{run.chosen}"] == 2
        assert numbers[f"qiaocrawl/search/budget_spent/{run.chosen}"] == 1
        assert caplog.text.count(f"{reason}; the rest waits for tomorrow") == 1
    finally:
        run.runtime.close()


def test_an_answer_stored_before_a_crash_needs_no_request(run: Run) -> None:
    run.pauses.note(run.chosen, EngineResponse.REFUSES)
    with run.engine.begin() as c:
        stored = [replace(lease, stored=True) for lease in run.lease(c)]
        assert run.order.choose_fetchable(c, stored, time.time()) == stored
        assert engine_budget.requests_of_day(c, time.time()) == {}


def test_an_engine_that_could_not_be_asked_stands_in_the_ledger(run: Run) -> None:
    journal = SearchJournal(run.runtime)
    with run.engine.begin() as c:
        lease = run.lease(c)[0]
        journal.try_fails(c, lease, "nobody there")
        journal.try_fails(c, replace(lease, payload=replace(lease.payload, engine="")), "no query")
        query = query_of(lease)
        rows = c.execute(text("SELECT state, message, term FROM `query` WHERE message != ''"))
        ((_, message, term),) = rows.all()
    assert (message, term) == ("nobody there", query.term)
    assert journal.counts_pageless_as == "search/error"


@pytest.mark.parametrize(
    ("header", "seconds"), [("30", 30.0), ("999999", 600.0), ("", 0.0), ("soon", 0.0)]
)
def test_an_engine_rests_as_long_as_it_asks_within_the_option(header: str, seconds: float) -> None:
    headers = (("retry-after", header),) if header else ()
    page = FetchedPage("http://e.test/", "http://e.test/", 429, headers, b"",
                       datetime(2026, 3, 1, tzinfo=UTC))  # fmt: skip
    assert asked_to_rest(page, {"QIAO_MAX_RETRY_AFTER_SECONDS": 600.0}) == seconds
