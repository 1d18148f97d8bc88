"""The plan of a search run, entered in pieces: the same as in one, whatever ends it in between."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NoReturn

import pytest
from sqlalchemy import Connection, text

from qiaocrawl.errors import StorageError
from qiaocrawl.frontier import CrawlTopic, strategies
from qiaocrawl.options import Options
from qiaocrawl.runs import search
from qiaocrawl.runs.asking_plan import SearchPlan
from qiaocrawl.runs.search import AskingOrder
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.search.priority import EnginePauses
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import Database
from qiaocrawl.storage.search import ledger
from qiaocrawl.storage.search.ledger import Answered
from qiaocrawl.storage.topics import topics
from qiaocrawl.topic.pack import Term
from storage_samples import PACK, add_topic

# Synonyms among them, which one of the engines is asked in groups.
WORDS = (
    "华侨",
    "侨胞",
    "华人",
    "侨务",
    "唐人街",
    "侨乡",
    "归侨",
    "侨眷",
    "新移民",
    "移民",
    "侨商",
    "闽商",
)
TOPIC = replace(
    PACK,
    terms=tuple(Term(word, "core", weight) for weight, word in enumerate(WORDS, 1)),
    sites=tuple(
        replace(PACK.sites[0], host=f"www.s{n}.cn", name=f"站{n}", tier=n % 3 + 1) for n in range(9)
    ),
)
ENGINES = ("baidu", "demo_sou", "sogou")
HOUR = 3_600.0


@dataclass
class Asker:
    """A search run on a database; ``clock`` is what the plan takes for now."""

    runtime: Runtime
    order: AskingOrder

    def lay_out(self) -> None:
        """The whole plan."""
        self.run(lambda: self.order.lay_out(TOPIC.name))

    def run(self, work: Callable[[], Awaitable[None]]) -> None:
        async def within() -> None:
            try:
                await work()
            finally:
                await self.order.close()

        asyncio.run(within())


@contextmanager
def asker(url: str, engines: tuple[str, ...] = ENGINES, **options: str) -> Iterator[Asker]:
    """A run whose budget for one of its engines is short."""
    runtime = Runtime(Options.from_environment({
        "QIAO_DATABASE_URL": url, "QIAO_SEARCH_DAILY_BUDGET": "sogou=17,baidu=0", **options,
    }))  # fmt: skip
    try:
        wanted = SearchPlan({name: runtime.catalogue.engines[name] for name in engines})
        strategy = strategies.get("bfs")(CrawlTopic(TOPIC))
        yield Asker(runtime, AskingOrder(strategy, runtime, wanted, EnginePauses(1, 1.0)))
    finally:
        runtime.close()


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The moment that counts for planning; a plan of another moment could not be compared."""
    moment = [1_800_000_000.0]
    monkeypatch.setattr("qiaocrawl.runs.asking_plan.time.time", lambda: moment[0])
    return moment


def small_pieces(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(search, "PIECE", size)
    monkeypatch.setattr("qiaocrawl.runs.asking_plan._ROWS_AT_A_TIME", size)


Tables = tuple[list[tuple[object, ...]], list[tuple[object, ...]]]


def tables(database: Database) -> Tables:
    """The ledger and what waits, the first to be asked first."""
    with database.engine.connect() as c:
        planned = c.execute(text(
            "SELECT engine, term, site, page, period, also, state, planned_at, asked_at, tries"
            " FROM `query` ORDER BY engine, term, site, page, period"
        ))  # fmt: skip
        waiting = c.execute(text(
            "SELECT url, score, state, payload FROM url WHERE queue = 'search'"
            " ORDER BY score DESC, url"
        ))  # fmt: skip
        return [tuple(row) for row in planned], [tuple(row) for row in waiting]


def answer_some(database: Database, now: float) -> None:
    """Answers of all kinds, some of which lead to a second page."""
    lot = random.Random(7)
    states = (AnswerState.HIT, AnswerState.HIT, AnswerState.EMPTY, AnswerState.BLOCKED)
    with database.engine.begin() as c:
        rows = c.execute(text("SELECT engine, term, site, also FROM `query` WHERE page = 1"
                              " ORDER BY engine, term, site")).all()  # fmt: skip
        for engine, term, site, also in lot.sample(list(rows), len(rows) // 3):
            words = tuple(filter(None, also.split("\n")))
            query = Query(TOPIC.name, term, site, engine, also=words)
            answered = Answered(lot.choice(states), 10, lot.randrange(9))
            ledger.record_answer(c, query, answered, now + lot.random())
            if answered.state is AnswerState.HIT and lot.random() < 0.5:
                ledger.plan_queries(c, 1, [replace(query, page=2)], now)


def forget(database: Database) -> None:
    """Begin anew, without a plan."""
    with database.engine.begin() as c:
        for table in ("query_hit", "query_answer", "`query`", "url", "engine_day"):
            c.execute(text(f"DELETE FROM {table}"))


Plan = Callable[[Callable[[], None]], None]


def history(
    database: Database, clock: list[float], plan: Plan = lambda lay_out: lay_out()
) -> list[Tables]:
    """Three runs, answers between them, the last without groups of synonyms."""
    states, began = [], clock[0]
    for hours, options in ((0, {}), (3, {}), (40, {"QIAO_SEARCH_FOLD_SYNONYMS": "off"})):
        clock[0] = began + hours * HOUR

        def lay_out(options: dict[str, str] = options) -> None:
            with asker(database.url, **options) as one:
                one.lay_out()

        plan(lay_out)
        states.append(tables(database))
        answer_some(database, clock[0] + 60)
    clock[0] = began
    return states


def test_in_small_pieces_it_is_the_plan_that_one_piece_makes(
    database: Database, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    add_topic(database, TOPIC)
    small_pieces(monkeypatch, 10**9)
    whole = history(database, clock)
    forget(database)
    small_pieces(monkeypatch, 7)
    for (planned, waiting), in_one in zip(history(database, clock), whole, strict=True):
        assert planned == in_one[0]
        assert waiting == in_one[1]
    planned, waiting = whole[-1]
    assert len({row[6] for row in planned}) > 3, "answers of several kinds were there"
    assert len({row[2] for row in planned}) == 10
    assert len(waiting) > 100


class Broken(Exception):
    """What stands for a kill: nothing of the process goes on."""


def breaking(monkeypatch: pytest.MonkeyPatch, after: int) -> Plan:
    """A plan that breaks off after so many pieces, each time a few more, until it is through."""
    enter = search.enter_piece

    def plan(lay_out: Callable[[], None]) -> None:
        for allowed in count(after, after):
            left = iter(range(allowed))

            def enter_some(c: Connection, left: Iterator[int] = left, **given: Any) -> None:
                enter(c, **given)
                if next(left, None) is None:
                    # Within the transaction: this piece is rolled back.
                    raise Broken

            monkeypatch.setattr(search, "enter_piece", enter_some)
            try:
                lay_out()
            except Broken:
                continue
            return

    return plan


def test_a_plan_that_broke_off_is_completed_without_doubles(
    database: Database, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    add_topic(database, TOPIC)
    whole = history(database, clock)
    forget(database)
    small_pieces(monkeypatch, 40)
    in_steps = history(database, clock, breaking(monkeypatch, 2))
    for (planned, waiting), in_one in zip(in_steps, whole, strict=True):
        assert planned == in_one[0]
        assert waiting == in_one[1]


def test_two_that_plan_at_once_make_one_plan(
    database: Database, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    if database.dialect == "sqlite":
        pytest.skip("SQLite runs one crawl")
    add_topic(database, TOPIC)
    with asker(database.url) as one:
        one.lay_out()
    whole = tables(database)
    forget(database)
    small_pieces(monkeypatch, 11)
    with asker(database.url) as one, asker(database.url) as other:

        async def both() -> None:
            await asyncio.gather(one.order.lay_out(TOPIC.name), other.order.lay_out(TOPIC.name))
            await other.order.close()

        one.run(both)
    assert tables(database) == whole


def test_nothing_is_leased_before_the_first_piece_and_no_run_is_over_before_the_last(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_topic(database, TOPIC)
    small_pieces(monkeypatch, 25)
    seen: list[tuple[bool, bool]] = []
    enter = search.enter_piece
    with asker(database.url) as one:

        def enter_piece(c: Connection, **given: Any) -> None:
            seen.append((one.order.may_lease, one.order.is_complete))
            enter(c, **given)

        monkeypatch.setattr(search, "enter_piece", enter_piece)
        assert (one.order.may_lease, one.order.is_complete) == (False, False)
        one.lay_out()
        assert (one.order.may_lease, one.order.is_complete) == (True, True)
    assert seen[0] == (False, False)
    assert set(seen[1:]) == {(True, False)}


def test_a_run_is_not_over_from_the_moment_its_terms_have_changed(
    database: Database,
) -> None:
    add_topic(database, TOPIC)
    with asker(database.url) as one:

        async def change_when_complete() -> None:
            await one.order.lay_out(TOPIC.name)
            assert one.order.is_complete
            await one.order.renew_topic(TOPIC)
            assert (one.order.may_lease, one.order.is_complete) == (True, False)
            while not one.order.is_complete:
                await asyncio.sleep(0.001)

        one.run(change_when_complete)


@pytest.mark.parametrize("end", [asyncio.CancelledError(), StorageError("away")])
def test_a_plan_that_does_not_get_to_its_end(
    end: BaseException, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is asked of a run that is cancelled; what waits is, where the database failed."""
    add_topic(database, TOPIC)

    def break_off(*_given: object) -> NoReturn:
        raise end

    monkeypatch.setattr(search, "draft_plan", break_off)
    with asker(database.url) as one:
        with pytest.raises(type(end)):
            one.lay_out()
        has_failed = isinstance(end, StorageError)
        assert (one.order.may_lease, one.order.is_complete) == (has_failed, has_failed)


def test_a_run_that_ends_lays_out_no_further_piece(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_topic(database, TOPIC)
    small_pieces(monkeypatch, 10)
    entered: list[int] = []
    enter = search.enter_piece
    with asker(database.url) as one:

        async def end_after_three() -> None:
            under_way = asyncio.ensure_future(one.order.lay_out(TOPIC.name))
            while len(entered) < 3:
                await asyncio.sleep(0.001)
            await one.order.close()
            await under_way

        def enter_piece(c: Connection, **given: Any) -> None:
            enter(c, **given)
            entered.append(1)

        monkeypatch.setattr(search, "enter_piece", enter_piece)
        one.run(end_after_three)
    planned, waiting = tables(database)
    assert 3 <= len(entered) <= 5
    assert 0 < len(waiting) <= 50
    assert len(planned) < 100


def test_changed_terms_take_the_place_of_a_plan_under_way(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_topic(database, TOPIC)
    small_pieces(monkeypatch, 10)
    changed = replace(TOPIC, terms=(*TOPIC.terms[:2], Term("侨批", "core", 20.0)))
    with asker(database.url) as one:

        async def change_within() -> None:
            under_way = asyncio.ensure_future(one.order.lay_out(TOPIC.name))
            while not one.order.may_lease:
                await asyncio.sleep(0.001)
            with database.engine.begin() as c:
                topics.save_pack(c, changed, now=time.time() + 5)
            found = await one.runtime.read(one.runtime.catalogue.changed_topics)
            assert found is not None
            one.runtime.catalogue.renew(found)
            await one.order.renew_topic(changed)
            await under_way
            while not one.order.is_complete:
                await asyncio.sleep(0.001)

        one.run(change_within)
    planned, waiting = tables(database)
    assert {row[1] for row in planned} >= {"侨批"}
    assert '"term":"侨批"' in str(waiting[0][3]), "the heaviest term comes first"
    assert len(planned) < 300, "the first plan was not laid out to its end"
