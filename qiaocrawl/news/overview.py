"""The figures of today and of the last 30 days: what came in, from where, what was refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, case, distinct, exists, func, select, true

from qiaocrawl.fetch.sessions.accounts import AccountState
from qiaocrawl.items import Outcome
from qiaocrawl.news.warnings.stored import count_by_status
from qiaocrawl.reading.alarms import last_runs
from qiaocrawl.reading.pages_of_a_list import row_by_row
from qiaocrawl.search.query import AnswerState
from qiaocrawl.storage.schema import (
    account,
    article,
    query,
    relevance,
    topic,
    url,
    verdict,
)
from qiaocrawl.storage.values import from_time, to_stored_time
from qiaocrawl.text.zones import SHANGHAI, start_of_days

DAYS = 30
_RUNS_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Day:
    """One day of China: new articles, and those of them on topic."""

    day: date
    articles: int
    on_topic: int


@dataclass(frozen=True, slots=True)
class Period:
    """What a period brought; ``engines`` are those that refused in it."""

    articles: int
    on_topic: int
    reprints: int
    sources: int
    dead: int
    engines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """The figures. ``logins`` are accounts nobody is logged in to any more; ``warnings`` those
    that are open."""

    days: tuple[Day, ...]
    today: Period
    month: Period
    logins: tuple[str, ...]
    running: int
    warnings: int


def overview(c: Connection, now: datetime) -> Overview:
    """How things stand at *now* (aware)."""
    midnight, start = start_of_days(now, 1), start_of_days(now, DAYS)
    with row_by_row(c):
        days = days_of(c, article.c.fetched_at, start, DAYS)
    logins = select(account.c.site).where(account.c.state == AccountState.RESTING).distinct()
    runs = last_runs(c, _RUNS_LOOKED_AT)
    return Overview(
        days,
        _period(c, midnight, days[-1:]),
        _period(c, start, days),
        tuple(c.execute(logins.order_by(account.c.site)).scalars()),
        sum(run.ended is None and not run.is_dead for run in runs),
        count_by_status(c).get("open", 0),
    )


@dataclass(frozen=True, slots=True)
class DeadLink:
    """A page that is gone; ``article_id`` of what it said, None where it was never read."""

    url: str
    at: datetime | None
    reason: str
    article_id: int | None


def dead_links(c: Connection, since: datetime, skip: int, limit: int) -> list[DeadLink]:
    """Pages found gone since a moment (aware), the last first."""
    rows = c.execute(
        select(url.c.url, url.c.done_at, url.c.reason, article.c.id)
        .outerjoin(article, article.c.url_id == url.c.id)
        .where(url.c.outcome == Outcome.DEAD, url.c.done_at >= to_stored_time(since))
        .order_by(url.c.done_at.desc(), url.c.id.desc())
        .offset(skip)
        .limit(limit)
    )
    return [
        DeadLink(address, from_time(at), why or "", row_id) for address, at, why, row_id in rows
    ]


def days_of(c: Connection, column: Any, start: datetime, days: int) -> tuple[Day, ...]:
    """New articles by the day of China in *column*, a time of ``article``, from *start* on."""
    articles = _by_day(c, column, start, relevant=False)
    on_topic = _by_day(c, column, start, relevant=True)
    dates = [start.date() + timedelta(days=number) for number in range(days)]
    return tuple(Day(day, articles[day], on_topic[day]) for day in dates)


def _by_day(c: Connection, column: Any, start: datetime, *, relevant: bool) -> Counter[date]:
    # Hours of UTC: both databases give them as the beginning of the stored text.
    hour = func.substr(column, 1, 13)
    statement = select(hour, func.count()).where(column >= to_stored_time(start)).group_by(hour)
    if relevant:
        statement = statement.where(is_on_topic())
    counts: Counter[date] = Counter()
    for text, count in c.execute(statement):
        moment = datetime.strptime(str(text), "%Y-%m-%d %H").replace(tzinfo=UTC)
        counts[moment.astimezone(SHANGHAI).date()] += count
    return counts


@dataclass(frozen=True, slots=True)
class Source:
    """What a site brought in a period."""

    host: str
    articles: int
    on_topic: int


def sources(c: Connection, since: datetime) -> list[Source]:
    """The sites with articles found since a moment (aware), those with most first."""
    count, on_topic = func.count(), func.sum(case((is_on_topic(), 1), else_=0))
    rows = c.execute(
        select(article.c.site, count, on_topic)
        .where(article.c.fetched_at >= to_stored_time(since))
        .group_by(article.c.site)
        .order_by(count.desc(), article.c.site)
    )
    return [Source(host, articles, int(relevant)) for host, articles, relevant in rows]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Queries of a topic that an engine refused, and when it last did."""

    engine: str
    topic: str
    title: str
    queries: int
    last_at: datetime | None


def refusals(c: Connection, since: datetime) -> list[Refusal]:
    """What engines refused since a moment (aware) and did not answer later, by engine."""
    rows = c.execute(
        select(
            query.c.engine, topic.c.name, topic.c.title, func.count(), func.max(query.c.asked_at)
        )
        .join(topic, topic.c.id == query.c.topic_id)
        .where(*_refusals_since(since))
        .group_by(query.c.engine, topic.c.name, topic.c.title)
        .order_by(query.c.engine, topic.c.name)
    )
    return [
        Refusal(engine, name, title, queries, from_time(last_at))
        for engine, name, title, queries, last_at in rows
    ]


def engines_that_refused(c: Connection, since: datetime) -> tuple[str, ...]:
    """Those that refused a query since a moment (aware) and did not answer it later."""
    refusing = select(query.c.engine).where(*_refusals_since(since)).distinct()
    return tuple(c.execute(refusing.order_by(query.c.engine)).scalars())


def _refusals_since(since: datetime) -> tuple[Any, ...]:
    return query.c.state == AnswerState.BLOCKED, query.c.asked_at >= to_stored_time(since)


def is_on_topic() -> Any:
    """The condition that an article is on some topic."""
    own = relevance.c.article_id == article.c.id, relevance.c.relevant == true()
    return exists().where(*own).correlate(article)


def _period(c: Connection, start: datetime, days: Sequence[Day]) -> Period:
    since = to_stored_time(start)
    found = article.c.fetched_at >= since
    copies = (
        select(func.count())
        .select_from(article)
        .join(verdict, verdict.c.article_id == article.c.id)
        .where(found, verdict.c.group_id != article.c.id)
    )
    dead = (
        select(func.count())
        .select_from(url)
        .where(url.c.outcome == Outcome.DEAD, url.c.done_at >= since)
    )
    return Period(
        sum(day.articles for day in days),
        sum(day.on_topic for day in days),
        _count(c, copies),
        _count(c, select(func.count(distinct(article.c.site))).where(found)),
        _count(c, dead),
        engines_that_refused(c, start),
    )


def _count(c: Connection, statement: Select[Any]) -> int:
    return int(c.execute(statement).scalar_one())
