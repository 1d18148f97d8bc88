"""Warnings as people read them: with their story, its topics, and what arrived where."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, func, select

from qiaocrawl.analysis.warnings.state import Status, StoryWarning, from_record
from qiaocrawl.storage.analysis.story_texts import stories_with
from qiaocrawl.storage.converters import from_time
from qiaocrawl.storage.schema import (
    article,
    relevance,
    story_article,
    story_warning,
    topic,
    warning_message,
    warning_notice,
)

_AT_A_TIME = 500

Item = TypeVar("Item")


class Delivery(NamedTuple):
    """What became of a message to a channel.

    Args:
        state: waiting, sent or given_up.
        next_at: when it is tried again, if it waits.
        error: why the last attempt failed; "" for none that failed.
    """

    channel: str
    severity: str
    state: str
    attempts: int
    created_at: datetime
    next_at: datetime
    sent_at: datetime | None
    error: str


class WarningLine(NamedTuple):
    """A warning, the number of its story (None where its articles are gone), its topics by name
    with their titles, and its messages in their order."""

    warning: StoryWarning
    story: int | None
    topics: dict[str, str]
    deliveries: tuple[Delivery, ...]


def count_by_status(c: Connection) -> dict[str, int]:
    """How many warnings are open, closed and muted."""
    columns = story_warning.c
    rows = c.execute(select(columns.status, func.count()).group_by(columns.status))
    return {row[0]: row[1] for row in rows}


def warnings_of(c: Connection, statuses: Sequence[Status]) -> list[StoryWarning]:
    """The warnings of these states, in no order."""
    columns = story_warning.c
    records = c.execute(select(columns.record).where(columns.status.in_(statuses))).scalars()
    return [from_record(json.loads(record)) for record in records]


def lines_of(c: Connection, warnings: Sequence[StoryWarning]) -> list[WarningLine]:
    """*warnings*, in their order, with what is told beside them."""
    numbers: dict[int, int] = {}
    for some in _parts([int(own.story) for own in warnings]):
        numbers |= stories_with(c, some)
    topics = _topics(c, sorted(set(numbers.values())))
    deliveries = _deliveries(c, [own.id for own in warnings])
    lines = []
    for own in warnings:
        number = numbers.get(int(own.story))
        # One that was forgotten and opened again has its name from before.
        told = tuple(one for one in deliveries[own.id] if one.created_at >= own.opened_at)
        lines.append(WarningLine(own, number, topics[number] if number else {}, told))
    return lines


def last_deliveries(c: Connection) -> dict[str, Delivery]:
    """What became of the newest message to each channel that was tried."""
    columns = warning_message.c
    newest = select(func.max(columns.id)).where(columns.attempts > 0).group_by(columns.channel)
    rows = c.execute(select(*_DELIVERY).where(columns.id.in_(newest)))
    return {row.channel: _delivery(row) for row in rows}


def count_waiting(c: Connection) -> dict[str, int]:
    """Messages that wait, by channel."""
    columns = warning_message.c
    statement = select(columns.channel, func.count()).where(columns.state == "waiting")
    return {row[0]: row[1] for row in c.execute(statement.group_by(columns.channel))}


_DELIVERY = tuple(
    warning_message.c[name]
    for name in ("channel", "severity", "state", "attempts", "created_at", "next_at", "sent_at",
                 "error")
)  # fmt: skip


def _topics(c: Connection, numbers: Sequence[int]) -> defaultdict[int, dict[str, str]]:
    """The topics that articles of each story are on, by name, with their titles."""
    found: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for some in _parts(numbers):
        statement = (
            select(story_article.c.story_id, topic.c.name, topic.c.title)
            .join(article, article.c.url_id == story_article.c.url_id)
            .join(relevance, relevance.c.article_id == article.c.id)
            .join(topic, topic.c.id == relevance.c.topic_id)
            .where(story_article.c.story_id.in_(some), relevance.c.relevant.is_(True))
            .distinct()
            .order_by(topic.c.name)
        )
        for number, name, title in c.execute(statement):
            found[number][name] = title
    return found


def _deliveries(c: Connection, names: Sequence[str]) -> defaultdict[str, list[Delivery]]:
    found: defaultdict[str, list[Delivery]] = defaultdict(list)
    for some in _parts(names):
        statement = (
            select(warning_notice.c.opened_for, *_DELIVERY)
            .join(warning_message, warning_message.c.id == warning_notice.c.message_id)
            .where(warning_notice.c.opened_for.in_(some))
            .order_by(warning_message.c.id)
        )
        for row in c.execute(statement):
            found[row.opened_for].append(_delivery(row))
    return found


def _delivery(row: Any) -> Delivery:
    created_at = from_time(row.created_at)
    assert created_at is not None
    next_at = datetime.fromtimestamp(row.next_at, created_at.tzinfo)
    return Delivery(row.channel, row.severity, row.state, row.attempts, created_at, next_at,
                    from_time(row.sent_at), row.error)  # fmt: skip


def _parts(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + _AT_A_TIME] for start in range(0, len(items), _AT_A_TIME))
