"""Reads the coverage ledger: states by pair, their yield, and earlier answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, case, func, select

from qiaocrawl.search.query import WITH_HITS, AnswerState
from qiaocrawl.storage import schema
from qiaocrawl.storage.converters import clean_host, clean_word, from_time, to_stored_time
from qiaocrawl.storage.search.ledger import NO_ANSWER
from qiaocrawl.storage.topics.topic_ids import topic_id

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
    brought = _brought(c, topic_row, chosen)
    statement = select(
        table.c.id, table.c.term, table.c.site, table.c.engine, table.c.period, table.c.page,
        table.c.state, table.c.hits, table.c.new_urls, table.c.message, table.c.tries,
        table.c.planned_at, table.c.asked_at, table.c.due_at,
    ).where(table.c.topic_id == topic_row, *_conditions(chosen)).order_by(table.c.id)  # fmt: skip
    return [_ledger_row(row, brought.get(row[0], (0, 0))) for row in c.execute(statement)]


def _brought(c: Connection, topic: int, chosen: Chosen) -> dict[int, tuple[int, int]]:
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
        row_id, term, site, engine, period, page, AnswerState(state), hits, new_urls, message,
        tries, planned_at, from_time(row[12]), from_time(row[13]), articles, on_topic,
    )  # fmt: skip


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
    return _counted(joined, topic)


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
        _counted(led.join(article, article.c.url_id == url.c.id), topic),
        _counted(behind.join(article, article.c.url_id == target.c.id), topic).where(is_redirect),
    ]


def _counted(joined: Any, topic: int) -> Select[Any, Any]:
    article, relevance = schema.article, schema.relevance
    on_topic = case((relevance.c.relevant, 1), else_=0)
    # The LEFT JOIN of relevance keeps articles this topic has not judged.
    own = (relevance.c.article_id == article.c.id) & (relevance.c.topic_id == topic)
    return (
        select(func.count(), func.sum(on_topic))
        .select_from(joined.outerjoin(relevance, own))
        .where(schema.query.c.topic_id == topic)
    )
