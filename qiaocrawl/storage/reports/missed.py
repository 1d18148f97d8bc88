"""Pages that were found but not got, with the reason, best first."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, and_, case, desc, func, or_, select

from qiaocrawl.items import FAR_ENTRIES, Outcome, Queue
from qiaocrawl.language import _, ngettext
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.storage.converters import clean_host, from_time
from qiaocrawl.storage.schema import State, host, host_rest, url
from qiaocrawl.storage.schema import topic as topics_table
from qiaocrawl.storage.topics.topic_ids import topic_id
from qiaocrawl.text.zones import china_time
from qiaocrawl.urls import url_key

_MOST_FEEDS = 100

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
class HeldHost:
    """A host with URLs that wait because it refuses or is silent.

    Attributes:
        since: the first refusal since it last gave a page.
        until: when it is asked again; None: by the next run.
        waiting: URLs of it that wait.
        is_start: whether a start page is among them.
    """

    host: str
    why: str
    since: datetime
    until: datetime | None
    waiting: int
    is_start: bool


@dataclass(frozen=True, slots=True)
class FarFeed:
    """A feed or sitemap whose entries lie on hosts that the crawl does not cover."""

    url: str
    why: str


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


def held_hosts(
    c: Connection,
    topic: str | None = None,
    sites: tuple[str, ...] = (),
    *,
    now: float | None = None,
) -> list[HeldHost]:
    """The hosts that gave nothing when they were asked last, those with most waiting first.

    Args:
        topic: whose URLs are meant; None for those of all.
        now: epoch seconds; the present by default.

    Raises:
        StorageError: the topic was never imported.
    """
    asked = time.time() if now is None else now
    topics = [topic_id(c, topic)] if topic else list(c.scalars(select(topics_table.c.id)))
    starts = func.count(case((and_(url.c.depth == 0, url.c.parent_key.is_(None)), 1)))
    held = []
    rests = select(host_rest, host.c.name).join(host, host.c.id == host_rest.c.host_id)
    for rest in c.execute(rests.where(*_in_sites(sites))).all():
        # A host at a time: the index of the frontier finds its waiting rows.
        waiting, of_starts = c.execute(
            select(func.count(), starts).where(
                url.c.queue.in_(list(Queue)), url.c.topic_id.in_(topics),
                url.c.state == State.PENDING, url.c.host_id == rest.host_id,
            )
        ).one()  # fmt: skip
        if waiting:
            until = datetime.fromtimestamp(rest.until_at, UTC) if rest.until_at > asked else None
            since = datetime.fromtimestamp(rest.since, UTC)
            held.append(HeldHost(rest.name, rest.reason, since, until, waiting, bool(of_starts)))
    return sorted(held, key=lambda one: (-one.waiting, one.host))


def far_feeds(c: Connection, topic: str, sites: tuple[str, ...] = ()) -> list[FarFeed]:
    """Feeds and sitemaps of *topic* that list pages of hosts beyond the crawl, which were left.

    Raises:
        StorageError: the topic was never imported.
    """
    statement = (
        select(url.c.url, url.c.reason)
        .join(host, host.c.id == url.c.host_id)
        .where(
            *_of(c, topic, sites), url.c.outcome.in_((Outcome.FEED, Outcome.SITEMAP)),
            url.c.reason.contains(FAR_ENTRIES),
        )
        .order_by(url.c.url)
        .limit(_MOST_FEEDS)
    )  # fmt: skip
    return [FarFeed(row.url, row.reason) for row in c.execute(statement)]


def refused_pages(c: Connection, urls: Sequence[str]) -> list[tuple[str, str]]:
    """Those of *urls*, canonical, that may not be fetched, each with the reason."""
    refused = (Outcome.REFUSED, Outcome.ROBOTS)
    rows = c.execute(
        select(url.c.url, url.c.reason)
        .where(url.c.key.in_([url_key(one) for one in urls]), url.c.outcome.in_(refused))
        .order_by(url.c.url)
    )
    return [(row.url, row.reason or "") for row in rows]


def held_words(held: HeldHost) -> str:
    """Since when, why, how much waits, and when it is asked again, in the operator's language."""
    again = (
        _("asked again at {moment}", moment=china_time(held.until)) if held.until
        else _("the next run asks it again")
    )  # fmt: skip
    return _(
        "gives nothing since {since}: {why}; {waiting}; {again}",
        since=china_time(held.since),
        why=shown_reason(held.why),
        waiting=ngettext("{count:,} URL waits", "{count:,} URLs wait", held.waiting),
        again=again,
    )


def more_held(count: int) -> str:
    """What stands for hosts that are not named."""
    return ngettext("{count} more host gives nothing", "{count} more hosts give nothing", count)


def _of(c: Connection, topic: str, sites: tuple[str, ...]) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [
        url.c.topic_id == topic_id(c, topic),
        url.c.queue != Queue.SEARCH,
    ]
    return [*conditions, *_in_sites(sites)]


def _in_sites(sites: tuple[str, ...]) -> list[ColumnElement[bool]]:
    names = [clean_host(name) for name in sites]
    below = (host.c.name.endswith(f".{name}", autoescape=True) for name in names)
    return [or_(host.c.name.in_(names), *below)] if names else []
