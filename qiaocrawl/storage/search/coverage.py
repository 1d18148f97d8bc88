"""Reads the coverage ledger: states by pair, their yield, and earlier answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, case, func, select

from qiaocrawl.search.answer import ANSWER_NAMES
from qiaocrawl.search.query import EVERYWHERE, WITH_HITS, AnswerState
from qiaocrawl.search.records import EngineDefinition
from qiaocrawl.storage import schema
from qiaocrawl.storage.search.ledger import NO_ANSWER
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import clean_host, clean_word, from_time, to_stored_time

Pair = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which rows of the ledger; "" and None = all. ``site`` "-" is the whole web."""

    engine: str = ""
    site: str = ""
    term: str = ""
    state: AnswerState | None = None
    since: datetime | None = None
    """Asked at this time or later; what was never asked is left out then."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One query and its last answer.

    Attributes:
        new_urls: of the last answer.
        tries: how often it was asked.
        articles, on_topic: that came of the URLs it was the first to bring.
    """

    id: int
    term: str
    site: str
    engine: str
    period: str
    page: int
    state: AnswerState
    hits: int
    new_urls: int
    message: str
    tries: int
    planned_at: datetime
    asked_at: datetime | None
    due_at: datetime | None
    articles: int = 0
    on_topic: int = 0


@dataclass(frozen=True, slots=True)
class PastAnswer:
    """One of the last answers to a query."""

    query_id: int
    asked_at: datetime
    state: AnswerState
    hits: int
    new_urls: int
    message: str


def ledger_rows(c: Connection, topic: str, chosen: Chosen) -> list[LedgerRow]:
    """The chosen queries of *topic* in the order they were planned.

    Linear in the ledger and the articles; for one term and engine in what these brought.

    Raises:
        StorageError: *topic* was never imported.
    """
    table = schema.query
    topic_row = topic_id(c, topic)
    brought = _articles_brought(c, topic_row, chosen)
    statement = (
        select(
            table.c.id,
            table.c.term,
            table.c.site,
            table.c.engine,
            table.c.period,
            table.c.page,
            table.c.state,
            table.c.hits,
            table.c.new_urls,
            table.c.message,
            table.c.tries,
            table.c.planned_at,
            table.c.asked_at,
            table.c.due_at,
        )
        .where(table.c.topic_id == topic_row, *_conditions(chosen))
        .order_by(table.c.id)
    )
    return [_ledger_row(row, brought.get(row[0], (0, 0))) for row in c.execute(statement)]


def _articles_brought(c: Connection, topic: int, chosen: Chosen) -> dict[int, tuple[int, int]]:
    """Articles, and those on topic, by the row of the query that was first to bring them."""
    brought: dict[int, tuple[int, int]] = {}
    few = bool(chosen.engine and chosen.term)
    for statement in _articles_of_hits(topic) if few else [_articles(topic)]:
        rows = statement.add_columns(schema.query.c.id).where(*_conditions(chosen))
        for articles, on_topic, row_id in c.execute(rows.group_by(schema.query.c.id)):
            before = brought.get(row_id, (0, 0))
            # int(): MariaDB sums to Decimal.
            brought[row_id] = (before[0] + articles, before[1] + int(on_topic or 0))
    return brought


def _ledger_row(row: Any, brought: tuple[int, int]) -> LedgerRow:
    planned_at = from_time(row[11])
    assert planned_at is not None, "the column is never NULL"
    row_id, term, site, engine, period, page, state, hits, new_urls, message, tries = row[:11]
    articles, on_topic = brought
    return LedgerRow(
        row_id,
        term,
        site,
        engine,
        period,
        page,
        AnswerState(state),
        hits,
        new_urls,
        message,
        tries,
        planned_at,
        from_time(row[12]),
        from_time(row[13]),
        articles,
        on_topic,
    )


def _conditions(chosen: Chosen) -> list[ColumnElement[bool]]:
    table = schema.query
    conditions = chosen_words(chosen)
    if chosen.engine:
        conditions.append(table.c.engine == clean_word(chosen.engine, 64))
    if chosen.state is not None:
        conditions.append(table.c.state == chosen.state.value)
    if chosen.since is not None:
        conditions.append(table.c.asked_at >= to_stored_time(chosen.since))
    return conditions


def chosen_words(chosen: Chosen) -> list[ColumnElement[bool]]:
    """The conditions of *chosen* on term and site."""
    table = schema.query
    conditions: list[ColumnElement[bool]] = []
    if chosen.site:
        # "-" is how the command line writes "no site": an empty word would mean "any".
        conditions.append(table.c.site == ("" if chosen.site == "-" else clean_host(chosen.site)))
    if chosen.term:
        conditions.append(table.c.term == clean_word(chosen.term, 200))
    return conditions


def lost_answers(c: Connection, topic: str, chosen: Chosen | None = None) -> dict[int, PastAnswer]:
    """The last hit of every query of *topic* that had hits and has no answer now, by row id.

    Args:
        chosen: of these queries only.
    """
    query, past = schema.query, schema.query_answer
    statement = (
        select(*_past_columns())
        .join(query, query.c.id == past.c.query_id)
        .where(
            query.c.topic_id == topic_id(c, topic),
            query.c.state.in_([state.value for state in NO_ANSWER]),
            past.c.state.in_([state.value for state in WITH_HITS]),
            *_conditions(chosen or Chosen()),
        )
        # Oldest first, so that the last one of a query stays in the dict below.
        .order_by(past.c.asked_at)
    )
    return {row[0]: _past(row) for row in c.execute(statement)}


def past_answers(c: Connection, query_ids: Sequence[int]) -> list[PastAnswer]:
    """What is remembered of the answers to some (at most some hundred) queries, oldest first."""
    past = schema.query_answer
    statement = (
        select(*_past_columns())
        .where(past.c.query_id.in_(list(query_ids)))
        .order_by(past.c.query_id, past.c.asked_at)
    )
    return [_past(row) for row in c.execute(statement)]


def _past_columns() -> tuple[Any, ...]:
    past = schema.query_answer.c
    return past.query_id, past.asked_at, past.state, past.hits, past.new_urls, past.message


def _past(row: Any) -> PastAnswer:
    asked_at = from_time(row[1])
    assert asked_at is not None, "the column is never NULL"
    return PastAnswer(row[0], asked_at, AnswerState(row[2]), *row[3:])


def requests_by_pair(c: Connection, topic: str) -> dict[Pair, tuple[float, float]]:
    """Requests and new URLs by (term, site, engine), older ones counting less."""
    table = schema.query
    pair = (table.c.term, table.c.site, table.c.engine)
    statement = (
        select(*pair, func.sum(table.c.asked_weight), func.sum(table.c.new_weight))
        .where(table.c.topic_id == topic_id(c, topic), table.c.tries > 0)
        .group_by(*pair)
    )
    return {
        (term, site, engine): (requests, new)
        for term, site, engine, requests, new in c.execute(statement)
    }


def articles_by_pair(c: Connection, topic: str) -> dict[Pair, tuple[int, int]]:
    """Articles, and those on topic, of the URLs each (term, site, engine) was first to bring.

    Linear in the articles.
    """
    table = schema.query
    pair = (table.c.term, table.c.site, table.c.engine)
    statement = _articles(topic_id(c, topic)).add_columns(*pair).group_by(*pair)
    return {
        (term, site, engine): (articles, int(on_topic or 0))
        for articles, on_topic, term, site, engine in c.execute(statement)
    }


def _articles(topic: int) -> Select[Any, Any]:
    """Number of articles and of those on topic, joined to the queries that led to them."""
    query, url, article = schema.query, schema.url, schema.article
    # A hit that redirects (links that only the engine resolves do) counts by where it leads.
    before = url.alias("before")
    led_by = case((before.c.outcome == "redirect", before.c.parent_key), else_=url.c.parent_key)
    joined = (
        article.join(url, url.c.id == article.c.url_id)
        .outerjoin(before, before.c.key == url.c.parent_key)
        .join(query, query.c.url_key == led_by)
    )
    return _article_counts(joined, topic)


def _articles_of_hits(topic: int) -> list[Select[Any, Any]]:
    """The same from the side of the queries, by what they had: a few of them take a moment.

    Two statements whose numbers add up: of the hits, and of where hits redirect to.
    """
    query, hit, url, article = schema.query, schema.query_hit, schema.url, schema.article
    target = url.alias("target")
    led = query.join(hit, hit.c.query_id == query.c.id).join(
        url, (url.c.key == hit.c.key) & (url.c.parent_key == query.c.url_key)
    )
    behind = led.join(
        target, (target.c.key == url.c.redirect_key) & (target.c.parent_key == url.c.key)
    )
    is_redirect = url.c.outcome == "redirect"
    return [
        _article_counts(led.join(article, article.c.url_id == url.c.id), topic),
        _article_counts(behind.join(article, article.c.url_id == target.c.id), topic).where(
            is_redirect
        ),
    ]


def _article_counts(joined: Any, topic: int) -> Select[Any, Any]:
    article, relevance = schema.article, schema.relevance
    on_topic = case((relevance.c.relevant, 1), else_=0)
    # The LEFT JOIN of relevance keeps articles this topic has not judged.
    own = (relevance.c.article_id == article.c.id) & (relevance.c.topic_id == topic)
    return (
        select(func.count(), func.sum(on_topic))
        .select_from(joined.outerjoin(relevance, own))
        .where(schema.query.c.topic_id == topic)
    )


# --- Rows of the ledger as cells of keyword x site x engine, and sums over them -------------------

STATES = ANSWER_NAMES
"""States in the order they are shown, with what they are called."""

MISSED = (*sorted(NO_ANSWER), AnswerState.NOT_ASKED)
"""States of which nothing is known; engines that nobody chose are none of them."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One keyword on one site ("" is the whole web) by one engine, all periods and pages.

    Attributes:
        state: of the first result page of the longest period.
        hits: of the last answers, all pages and periods.
        new_urls: the same, as far as they were new then.
        open: further pages and periods that were never asked.
        failed: further pages and periods without an answer.
        lost: the last hit, where there was one and no answer now.
        cut_off: the last page asked of some period was full and no further one was asked.
    """

    term: str
    site: str
    engine: str
    state: AnswerState
    hits: int
    new_urls: int
    tries: int
    articles: int
    on_topic: int
    asked_at: datetime | None
    message: str
    open: int
    failed: int
    lost: PastAnswer | None = None
    cut_off: bool = False


_PER_PAGE = 10


def cells_of(
    rows: Iterable[LedgerRow],
    lost: dict[int, PastAnswer],
    per_page: Mapping[str, int] | None = None,
) -> list[Cell]:
    """The cells of *rows*, in the order of the plan; *per_page* is how many hits fill a page."""
    by_cell: dict[tuple[str, str, str], list[LedgerRow]] = {}
    for row in rows:
        by_cell.setdefault((row.term, row.site, row.engine), []).append(row)
    sizes = per_page or {}
    return [_cell(some, lost, sizes.get(some[0].engine, _PER_PAGE)) for some in by_cell.values()]


def _is_cut_off(rows: Iterable[LedgerRow], per_page: int) -> bool:
    """Whether the last page of some period is full: half of it is, by advertisements and doubles.

    Engines that tell a total are no exception: what lies behind the last page was not seen.
    """
    last: dict[str, LedgerRow] = {}
    for row in rows:
        if row.period not in last or row.page > last[row.period].page:
            last[row.period] = row
    return any(row.state in WITH_HITS and 2 * row.hits >= per_page for row in last.values())


def _cell(rows: Sequence[LedgerRow], lost: dict[int, PastAnswer], per_page: int) -> Cell:
    first = min(rows, key=lambda row: (row.page, row.period != "", row.id))
    rest = [row for row in rows if row is not first]
    times = [row.asked_at for row in rows if row.asked_at is not None]
    return Cell(
        first.term,
        first.site,
        first.engine,
        first.state,
        hits=sum(row.hits for row in rows),
        new_urls=sum(row.new_urls for row in rows),
        tries=sum(row.tries for row in rows),
        articles=sum(row.articles for row in rows),
        on_topic=sum(row.on_topic for row in rows),
        asked_at=max(times, default=None),
        message=first.message,
        open=sum(row.state is AnswerState.NOT_ASKED for row in rest),
        failed=sum(row.state in NO_ANSWER for row in rest),
        lost=lost.get(first.id),
        cut_off=_is_cut_off(rows, per_page),
    )


@dataclass(slots=True)
class Sums:
    """Cells of one engine, term or site together."""

    states: Counter[AnswerState] = field(default_factory=Counter)
    tries: int = 0
    hits: int = 0
    new_urls: int = 0
    articles: int = 0
    on_topic: int = 0

    def add(self, cell: Cell) -> None:
        """Count *cell* in."""
        self.states[cell.state] += 1
        self.tries += cell.tries
        self.hits += cell.hits
        self.new_urls += cell.new_urls
        self.articles += cell.articles
        self.on_topic += cell.on_topic

    @property
    def missed(self) -> int:
        """Cells of which nothing is known."""
        return sum(self.states[state] for state in MISSED)


def sums_by(cells: Iterable[Cell], name: Callable[[Cell], str]) -> dict[str, Sums]:
    """Sums by the name of each cell, in the order of the plan."""
    sums: dict[str, Sums] = {}
    for cell in cells:
        sums.setdefault(name(cell), Sums()).add(cell)
    return sums


def word_sums(c: Connection, topic: str) -> dict[str, Sums]:
    """What asking for each word of *topic* brought, in the order of the plan.

    Raises:
        StorageError: *topic* was never imported.
    """
    rows = ledger_rows(c, topic, Chosen())
    return sums_by(cells_of(rows, lost_answers(c, topic)), lambda cell: cell.term)


# --- Queries of engines that nobody chose: those of others, for engines that could be asked too
# No row stands for them: a plan has a hundred thousand queries, and ten engines may be left out.

# No row has it.
_NO_ROW = 0


def with_not_chosen(
    c: Connection,
    topic: str,
    chosen: Chosen,
    engines: Iterable[EngineDefinition],
    in_use: Collection[str],
) -> list[LedgerRow]:
    """As :func:`ledger_rows`; behind them what engines nobody chose were not asked.

    That is each term and site some engine was asked, by every scraped engine that has no such
    query. Interfaces meant for programs are no gap where they are not used.

    Args:
        engines: all that are defined.
        in_use: the names of those the operator chose (QIAO_ENGINES); where that is not known
            here, all that have a query of *topic* were chosen.

    Raises:
        StorageError: *topic* was never imported.
    """
    rows = ledger_rows(c, topic, chosen)
    if chosen.state not in (None, AnswerState.ROBOTS) or chosen.since is not None:
        return rows
    in_use = in_use or _engines_with_queries(c, topic)
    # Names that never lead to a real host are the demo's: no gap in anybody's coverage.
    others = [
        engine
        for engine in engines
        if engine.kind == "scraped"
        and engine.name not in in_use
        and not engine.host.endswith(".test")
        and chosen.engine in ("", engine.name)
    ]
    return rows + list(_left_out(c, topic, chosen, others)) if others else rows


def _engines_with_queries(c: Connection, topic: str) -> set[str]:
    query = schema.query
    own = query.c.topic_id == topic_id(c, topic)
    return set(c.execute(select(query.c.engine).where(own).distinct()).scalars())


def _left_out(
    c: Connection, topic: str, chosen: Chosen, engines: Sequence[EngineDefinition]
) -> Iterator[LedgerRow]:
    query = schema.query
    own = (query.c.topic_id == topic_id(c, topic), *chosen_words(chosen))
    names = [engine.name for engine in engines]
    rows = select(query.c.term, query.c.site, query.c.engine).where(*own, query.c.engine.in_(names))
    there = {(term, site, engine) for term, site, engine in c.execute(rows.distinct())}
    asked = c.execute(
        select(query.c.term, query.c.site, func.min(query.c.planned_at))
        .where(*own, query.c.tries > 0)
        .group_by(query.c.term, query.c.site)
        .order_by(func.min(query.c.id))
    )
    for term, site, planned_at in asked:
        moment = from_time(planned_at)
        assert moment is not None, "the column is never NULL"
        for engine in engines:
            can_ask = site == EVERYWHERE or engine.supports_site
            if can_ask and (term, site, engine.name) not in there:
                yield _row(term, site, engine.name, moment)


def _row(term: str, site: str, engine: str, planned_at: datetime) -> LedgerRow:
    return LedgerRow(
        _NO_ROW, term, site, engine, "", 1, AnswerState.ROBOTS, 0, 0, "", 0, planned_at, None, None
    )
