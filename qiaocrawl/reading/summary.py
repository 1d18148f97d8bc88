"""What a person wants to know of a topic's collection: counts, sites, reprints, articles."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, Select, and_, case, desc, func, or_, select

from qiaocrawl.items import FAR_ENTRIES, SEED_SCORE, Outcome, Queue
from qiaocrawl.language import _, ngettext
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.storage.schema import (
    State,
    article,
    host,
    host_rest,
    query,
    relevance,
    site,
    topic,
    url,
    verdict,
)
from qiaocrawl.storage.schema import topic as topics_table
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import clean_host, from_time, to_stored_time
from qiaocrawl.text.zones import china_time
from qiaocrawl.urls import url_key

_OPEN = (State.PENDING, State.LEASED, State.FETCHED)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a spider's queue is: URLs known, URLs closed; articles counts all queues.

    URLs the crawl order or a guess of discovery left out are neither.
    """

    known: int
    done: int
    articles: int


@dataclass(frozen=True, slots=True)
class SiteLine:
    """One site's articles. ``name`` is the topic's name for the host, "" when it has none."""

    host: str
    name: str
    articles: int
    relevant: int


@dataclass(frozen=True, slots=True)
class GroupLine:
    """One reprint group: the title that represents it, and the first (title, host) of each
    other site, first come first.
    """

    title: str
    host: str
    members: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ArticleLine:
    """One article as a list shows it; ``score`` in [0, 1]."""

    title: str
    url: str
    host: str
    published: datetime | None
    score: float


def queue_progress(c: Connection, queue: str) -> Progress:
    """Counts of the frontier rows of *queue* (``search``, ``site`` or ``pages``)."""
    is_open = case((url.c.state.in_(_OPEN), 1), else_=0)
    row = c.execute(
        select(func.count(), func.coalesce(func.sum(is_open), 0)).where(
            url.c.queue == queue,
            # COALESCE: NULL NOT IN (...) is NULL, which would drop every open row.
            func.coalesce(url.c.outcome, "").not_in((Outcome.PRUNED, Outcome.POSTPONED)),
        )
    ).one()
    articles = c.execute(select(func.count()).select_from(article)).scalar_one()
    return Progress(known=row[0], done=row[0] - int(row[1]), articles=articles)


def search_yield(c: Connection, topic_name: str) -> tuple[int, int]:
    """(hits of all answers, URLs that were new among them)."""
    row = c.execute(
        select(
            func.coalesce(func.sum(query.c.hits), 0), func.coalesce(func.sum(query.c.new_urls), 0)
        )
        .join(topic, topic.c.id == query.c.topic_id)
        .where(topic.c.name == topic_name)
    ).one()
    # MariaDB's sums are Decimals.
    return int(row[0]), int(row[1])


def outcomes(c: Connection, topic_name: str) -> dict[str, int]:
    """Page URLs (engines' result pages apart) by outcome; ``waiting`` for the open ones."""
    name = case((url.c.state.in_(_OPEN), "waiting"), else_=func.coalesce(url.c.outcome, "?"))
    statement = (
        select(name, func.count())
        .join(topic, topic.c.id == url.c.topic_id)
        .where(topic.c.name == topic_name, url.c.queue != Queue.SEARCH)
        .group_by(name)
    )
    return {row[0]: row[1] for row in c.execute(statement)}


def relevance_counts(c: Connection, topic_name: str) -> tuple[int, int]:
    """(on-topic articles, off-topic articles)."""
    statement = (
        select(relevance.c.relevant, func.count())
        .join(topic, topic.c.id == relevance.c.topic_id)
        .where(topic.c.name == topic_name)
        .group_by(relevance.c.relevant)
    )
    counts = {bool(relevant): count for relevant, count in c.execute(statement)}
    return counts.get(True, 0), counts.get(False, 0)


def sites(c: Connection, topic_name: str) -> list[SiteLine]:
    """Articles by site, the most relevant first."""
    on_topic = func.coalesce(func.sum(case((relevance.c.relevant, 1), else_=0)), 0)
    # On host and topic: another topic may call the site something else.
    named = and_(site.c.host == article.c.site, site.c.topic_id == topic.c.id)
    statement = (
        select(article.c.site, func.max(site.c.name), func.count(), on_topic)
        .join(relevance, relevance.c.article_id == article.c.id)
        .join(topic, topic.c.id == relevance.c.topic_id)
        .outerjoin(site, named)
        .where(topic.c.name == topic_name)
        .group_by(article.c.site)
        .order_by(desc(on_topic), article.c.site)
    )
    return [SiteLine(h, name or "", count, int(on)) for h, name, count, on in c.execute(statement)]


def reprint_groups(c: Connection, topic_name: str, limit: int) -> tuple[int, list[GroupLine]]:
    """(number of groups on topic that several sites published, the largest *limit* of them)."""
    sites = func.count(article.c.site.distinct())
    sized = (
        _on_topic(select(verdict.c.group_id, sites.label("size")), topic_name)
        .join(article, article.c.id == verdict.c.article_id)
        .group_by(verdict.c.group_id)
        .having(sites > 1)
        .subquery()
    )
    total = c.execute(select(func.count()).select_from(sized)).scalar_one()
    largest = c.execute(
        select(sized.c.group_id).order_by(desc(sized.c.size), sized.c.group_id).limit(limit)
    ).scalars()
    return total, [_group(c, group_id) for group_id in largest]


def _on_topic(columns: Select[tuple[int, int]], topic_name: str) -> Select[tuple[int, int]]:
    return (
        columns.select_from(verdict)
        .join(relevance, relevance.c.article_id == verdict.c.article_id)
        .join(topic, topic.c.id == relevance.c.topic_id)
        .where(topic.c.name == topic_name, relevance.c.relevant)
    )


def _group(c: Connection, group_id: int) -> GroupLine:
    rows = c.execute(
        select(article.c.id, article.c.title, article.c.site)
        .join(verdict, verdict.c.article_id == article.c.id)
        .where(verdict.c.group_id == group_id)
        .order_by(article.c.published_at, article.c.id)
    ).all()
    head = next((row for row in rows if row.id == group_id), rows[0])
    copies: dict[str, str] = {}
    for row in rows:
        if row.site != head.site:
            copies.setdefault(row.site, row.title)
    return GroupLine(head.title, head.site, tuple((title, site) for site, title in copies.items()))


def best_articles(c: Connection, topic_name: str, limit: int) -> list[ArticleLine]:
    """The highest-scored on-topic articles, representatives of their reprint groups only."""
    stands_for_group: ColumnElement[bool] = verdict.c.group_id == article.c.id
    statement = (
        select(
            article.c.title,
            url.c.url,
            article.c.site,
            article.c.published_at,
            relevance.c.score,
        )
        .join(relevance, relevance.c.article_id == article.c.id)
        .join(topic, topic.c.id == relevance.c.topic_id)
        .join(verdict, verdict.c.article_id == article.c.id)
        .join(url, url.c.id == article.c.url_id)
        .where(topic.c.name == topic_name, relevance.c.relevant, stands_for_group)
        .order_by(desc(relevance.c.score), article.c.id)
        .limit(limit)
    )
    return [
        ArticleLine(title, address, host, from_time(published), score)
        for title, address, host, published, score in c.execute(statement)
    ]


# --- Pages that were found but not got, with the reason, best first -------------------------------

_MOST_FEEDS = 100

MISSED = (
    Outcome.NEEDS_RENDERING,
    Outcome.LOGIN,
    Outcome.ROBOTS,
    Outcome.BLOCKED,
    Outcome.UNREACHABLE,
    Outcome.TOO_LARGE,
    Outcome.SCANNED,
    Outcome.POISON,
    Outcome.TRAP,
)
"""Outcomes that hide a page. One that is gone, refused by the guard or left out by the order
was not missed, unless an operator named it: see MISSED_STARTS."""
MISSED_STARTS = (Outcome.REFUSED, Outcome.DEAD, Outcome.REDIRECT)
"""Outcomes that hide a whole site where they are a start page's; of redirects those that lead
beyond the crawl, which are not followed."""
_LOST = (Outcome.UNREACHABLE, Outcome.BLOCKED)
_PAGE_QUEUES = [queue for queue in Queue if queue is not Queue.SEARCH]


# Links have other scores; the index of the frontier knows it.
_IS_PROBE = url.c.payload.contains('"probe"')
"""Ours, for a page that cannot exist: to find out what a site says then."""
_IS_START = (
    url.c.queue == Queue.SITE,
    url.c.score >= SEED_SCORE,
    # Where a sitemap may be is our guess, unless an operator wrote its address.
    or_(url.c.payload.contains('"as_is"'), ~or_(_IS_PROBE, url.c.payload.contains('"sitemap"'))),
)
_MOST_HOPS = 20


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
    """A host that refuses or is silent, with URLs that wait for it or were given up.

    Attributes:
        since: the first refusal since it last gave a page.
        last: when it was met so last.
        until: when it is asked again; None: by the next run.
        waiting: URLs of it that wait.
        lost: URLs of it that were given up since.
        is_start: whether a crawl starts there.
    """

    host: str
    why: str
    since: datetime
    last: datetime
    until: datetime | None
    waiting: int
    lost: int
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
    c: Connection,
    topic: str,
    sites: tuple[str, ...] = (),
    outcomes: tuple[Outcome, ...] = (*MISSED, *MISSED_STARTS),
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
        .where(*_of(c, topic, sites), or_(_hides(outcomes), url.c.outcome == Outcome.ARTICLE))
        .group_by(host.c.name, url.c.outcome)
    )
    by_host: dict[str, dict[Outcome, int]] = {}
    for name, outcome, count in c.execute(statement):
        by_host.setdefault(name, {})[Outcome(outcome)] = count
    rows = [
        SiteMisses(name, counts, counts.pop(Outcome.ARTICLE, 0)) for name, counts in by_host.items()
    ]
    return sorted((row for row in rows if row.missed), key=lambda row: (-row.total, row.host))


def was_crawled(c: Connection, topic: str) -> bool:
    """Whether any page of *topic* was asked for yet.

    Raises:
        StorageError: the topic was never imported.
    """
    answered = select(url.c.id).where(*_of(c, topic, ()), url.c.outcome.is_not(None)).limit(1)
    return c.execute(answered).first() is not None


def missed_pages(
    c: Connection,
    topic: str,
    sites: tuple[str, ...] = (),
    outcomes: tuple[Outcome, ...] = (*MISSED, *MISSED_STARTS),
    *,
    skip: int = 0,
    limit: int | None = None,
) -> Iterator[MissedPage]:
    """The missed pages of *topic*, those the crawl thought best of first.

    Args:
        skip, limit: a part of them; None for all that follow.

    Raises:
        StorageError: the topic was never imported.
    """
    statement = (
        select(
            url.c.url,
            host.c.name,
            url.c.outcome,
            url.c.reason,
            url.c.http_status,
            url.c.anchor,
            url.c.done_at,
        )
        .join(host, host.c.id == url.c.host_id)
        .where(*_of(c, topic, sites), _hides(outcomes))
        .order_by(desc(url.c.score), url.c.id)
    )
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

    Search engines are not among them: the coverage ledger tells of those.

    Args:
        topic: whose URLs are meant; None for those of all.
        now: epoch seconds; the present by default.

    Raises:
        StorageError: the topic was never imported.
    """
    asked = time.time() if now is None else now
    topics = [topic_id(c, topic)] if topic else list(c.scalars(select(topics_table.c.id)))
    rests = select(host_rest, host.c.name).join(host, host.c.id == host_rest.c.host_id)
    held = []
    for rest in c.execute(rests.where(*_in_sites(sites))).all():
        # A host at a time: the index of the frontier finds its rows by their state.
        since = datetime.fromtimestamp(rest.since, UTC)
        own = (url.c.topic_id.in_(topics), url.c.host_id == rest.host_id)
        # A page in hand waits too: a worker may hold the only one.
        waiting = _count(
            c, *own, url.c.queue.in_(_PAGE_QUEUES), url.c.state.in_((State.PENDING, State.LEASED))
        )
        lost = _count(
            c,
            *own,
            url.c.queue.in_(_PAGE_QUEUES),
            url.c.state.in_((State.FAILED, State.DONE)),
            url.c.outcome.in_(_LOST),
            url.c.done_at >= to_stored_time(since),
        )
        if not waiting and not lost:
            continue
        is_wanted = or_(and_(*_IS_START), url.c.queue == Queue.WATCH)
        is_start = bool(_count(c, *own, url.c.state.in_(list(State)), is_wanted))
        until = datetime.fromtimestamp(rest.until_at, UTC) if rest.until_at > asked else None
        last = datetime.fromtimestamp(rest.last_at, UTC)
        held.append(HeldHost(rest.name, rest.reason, since, last, until, waiting, lost, is_start))
    return sorted(held, key=lambda one: (-one.waiting, -one.lost, one.host))


def _count(c: Connection, *conditions: ColumnElement[bool]) -> int:
    return int(c.execute(select(func.count()).select_from(url).where(*conditions)).scalar_one())


def far_feeds(c: Connection, topic: str, sites: tuple[str, ...] = ()) -> list[FarFeed]:
    """Feeds and sitemaps of *topic* that list pages of hosts beyond the crawl, which were left.

    Raises:
        StorageError: the topic was never imported.
    """
    statement = (
        select(url.c.url, url.c.reason)
        .join(host, host.c.id == url.c.host_id)
        .where(
            *_of(c, topic, sites),
            url.c.outcome.in_((Outcome.FEED, Outcome.SITEMAP)),
            url.c.reason.contains(FAR_ENTRIES),
        )
        .order_by(url.c.url)
        .limit(_MOST_FEEDS)
    )
    return [FarFeed(row.url, row.reason) for row in c.execute(statement)]


def refused_pages(c: Connection, urls: Sequence[str]) -> list[tuple[str, str]]:
    """Those of *urls*, canonical, that may not be fetched, each with the reason.

    A page may redirect to one that may not be, or beyond the crawl.
    """
    refused = []
    for start in urls:
        key: bytes | None = url_key(start)
        for _hop in range(_MOST_HOPS):
            row = c.execute(
                select(url.c.outcome, url.c.reason, url.c.redirect_key).where(url.c.key == key)
            ).first()
            if row is None:
                break
            is_beyond = row.outcome == Outcome.REDIRECT and row.redirect_key is None
            if is_beyond or row.outcome in (Outcome.REFUSED, Outcome.ROBOTS):
                refused.append((start, row.reason or ""))
            if row.outcome != Outcome.REDIRECT or row.redirect_key is None:
                break
            key = row.redirect_key
    return refused


def held_words(held: HeldHost) -> str:
    """Since when, why, how much waits, and when it is asked again, in the operator's language."""
    words = [
        _("gives nothing since {since}", since=china_time(held.since))
        + _(": ")
        + shown_reason(held.why)
    ]
    if held.waiting:
        words.append(ngettext("{count:,} URL waits", "{count:,} URLs wait", held.waiting))
    if held.lost:
        words.append(ngettext("{count:,} URL given up", "{count:,} URLs given up", held.lost))
    if held.until is not None:
        words.append(
            _("asked again at {moment}, or by the next run", moment=china_time(held.until))
        )
    elif held.waiting:
        words.append(_("the next run asks it again"))
    return _("; ").join(words)


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


def _hides(outcomes: Sequence[Outcome]) -> ColumnElement[bool]:
    """Whether a page of these outcomes was missed."""
    of_starts = [outcome for outcome in outcomes if outcome in MISSED_STARTS]
    is_followed = and_(url.c.outcome == Outcome.REDIRECT, url.c.redirect_key.is_not(None))
    hides = [outcome for outcome in outcomes if outcome not in MISSED_STARTS]
    return or_(
        and_(url.c.outcome.in_(hides), ~_IS_PROBE),
        and_(url.c.outcome.in_(of_starts), ~is_followed, *_IS_START),
    )
