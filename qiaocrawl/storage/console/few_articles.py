"""Which articles a selection can have at most, where an index tells that they are few."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, literal, or_, select

from qiaocrawl.storage.converters import to_stored_time
from qiaocrawl.storage.export.choice import Selection, indexed_conditions
from qiaocrawl.storage.schema import article, relevance, topic

MOST_FEW = 10_000
"""So many are read and put in order sooner than an index is walked for the few of them."""


def few_articles(c: Connection, selection: Selection) -> tuple[int, ...] | None:
    """Row ids of at most ``MOST_FEW`` articles that all of *selection* are among.

    None where each choice by itself has more: then some are found soon in any order.

    Raises:
        StorageError: the selection's topic was never imported.
    """
    if selection.article_ids:
        return selection.article_ids
    for statement in _by_choice(c, selection):
        some = statement.limit(MOST_FEW + 1).subquery()
        if c.execute(select(func.count()).select_from(some)).scalar_one() <= MOST_FEW:
            return tuple(row_id for (row_id,) in c.execute(statement))
    return None


def _by_choice(c: Connection, selection: Selection) -> Iterator[Select[Any]]:
    """The articles that meet one choice, for each choice that an index serves."""
    for condition in indexed_conditions(c, selection):
        yield select(article.c.id).where(condition)
    if selection.since is not None or selection.before is not None:
        yield select(article.c.id).where(_published_within(selection))
    if selection.topic is not None or selection.only_relevant or selection.only_irrelevant:
        yield _judged(c, selection)


def _published_within(selection: Selection) -> ColumnElement[bool]:
    """As the selection has it, but written so that two indexes serve it."""
    dated: list[ColumnElement[bool]] = []
    undated: list[ColumnElement[bool]] = [article.c.published_at.is_(None)]
    for when, conditions in ((article.c.published_at, dated), (article.c.fetched_at, undated)):
        if selection.since is not None:
            conditions.append(when >= to_stored_time(selection.since))
        if selection.before is not None:
            conditions.append(when < to_stored_time(selection.before))
    return or_(and_(*dated), and_(*undated))


def _judged(c: Connection, selection: Selection) -> Select[Any]:
    # By topic always: the index begins with it.
    topics = select(topic.c.id)
    if selection.topic is not None:
        topics = topics.where(topic.c.name == selection.topic)
    judged = select(relevance.c.article_id).distinct().where(relevance.c.topic_id.in_(topics))
    if selection.only_relevant or selection.only_irrelevant:
        judged = judged.where(relevance.c.relevant == literal(selection.only_relevant))
    return judged
