"""Pages that were found but not got, with the reason, best first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, desc, func, or_, select

from qiaocrawl.items import Outcome, Queue
from qiaocrawl.storage.converters import clean_host, from_time
from qiaocrawl.storage.schema import host, url
from qiaocrawl.storage.topics.topic_ids import topic_id

MISSED = (
    Outcome.NEEDS_RENDERING, Outcome.LOGIN, Outcome.ROBOTS, Outcome.BLOCKED, Outcome.UNREACHABLE,
    Outcome.TOO_LARGE, Outcome.SCANNED, Outcome.POISON, Outcome.TRAP,
)  # fmt: skip
"""Outcomes that hide a page. One that is gone, refused by the guard or left out by the order
was not missed."""


@dataclass(frozen=True, slots=True)
class MissedPage:
    """A page that was not got.

    Attributes:
        why: the reason in the crawl's words.
        anchor: the words of the first link to it.
        closed_at: when it was given up.
    """

    url: str
    host: str
    outcome: Outcome
    why: str
    http_status: int | None
    anchor: str
    closed_at: datetime | None


@dataclass(frozen=True, slots=True)
class SiteMisses:
    """How many pages of one host were missed by outcome, and how many became articles."""

    host: str
    missed: dict[Outcome, int]
    articles: int

    @property
    def total(self) -> int:
        """All that was missed."""
        return sum(self.missed.values())


def misses_by_site(
    c: Connection, topic: str, sites: tuple[str, ...] = (), outcomes: tuple[Outcome, ...] = MISSED
) -> list[SiteMisses]:
    """Hosts with missed pages of *topic*, those with most first.

    Args:
        sites: these hosts and what is below them only; () for all.

    Raises:
        StorageError: the topic was never imported.
    """
    statement = (
        select(host.c.name, url.c.outcome, func.count())
        .join(url, url.c.host_id == host.c.id)
        .where(*_of(c, topic, sites), url.c.outcome.in_((*outcomes, Outcome.ARTICLE)))
        .group_by(host.c.name, url.c.outcome)
    )
    by_host: dict[str, dict[Outcome, int]] = {}
    for name, outcome, count in c.execute(statement):
        by_host.setdefault(name, {})[Outcome(outcome)] = count
    rows = [SiteMisses(name, counts, counts.pop(Outcome.ARTICLE, 0))
            for name, counts in by_host.items()]  # fmt: skip
    return sorted((row for row in rows if row.missed), key=lambda row: (-row.total, row.host))


def was_crawled(c: Connection, topic: str) -> bool:
    """Whether any page of *topic* was asked for yet.

    Raises:
        StorageError: the topic was never imported.
    """
    answered = select(url.c.id).where(*_of(c, topic, ()), url.c.outcome.is_not(None)).limit(1)
    return c.execute(answered).first() is not None


def missed_pages(
    c: Connection, topic: str, sites: tuple[str, ...] = (),
    outcomes: tuple[Outcome, ...] = MISSED, *, skip: int = 0, limit: int | None = None,
) -> Iterator[MissedPage]:  # fmt: skip
    """The missed pages of *topic*, those the crawl thought best of first.

    Args:
        skip, limit: a part of them; None for all that follow.

    Raises:
        StorageError: the topic was never imported.
    """
    statement = (
        select(
            url.c.url, host.c.name, url.c.outcome, url.c.reason, url.c.http_status, url.c.anchor,
            url.c.done_at,
        )
        .join(host, host.c.id == url.c.host_id)
        .where(*_of(c, topic, sites), url.c.outcome.in_(outcomes))
        .order_by(desc(url.c.score), url.c.id)
    )  # fmt: skip
    if limit is not None:
        statement = statement.offset(skip).limit(limit)
    for address, name, outcome, why, status, anchor, closed in c.execute(statement):
        yield MissedPage(
            address, name, Outcome(outcome), why or "", status, anchor, from_time(closed)
        )


def _of(c: Connection, topic: str, sites: tuple[str, ...]) -> list[ColumnElement[bool]]:
    conditions = [url.c.topic_id == topic_id(c, topic), url.c.queue != Queue.SEARCH]
    names = [clean_host(name) for name in sites]
    if names:
        below = (host.c.name.endswith(f".{name}", autoescape=True) for name in names)
        conditions.append(or_(host.c.name.in_(names), *below))
    return conditions
