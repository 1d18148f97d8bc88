"""Feeds that a topic was given as sources: their entries are fetched wherever they lie.

A source is a watched page of the kind ``source``; how it is visited is in
:mod:`qiaocrawl.runs.watch`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from sqlalchemy import Connection, select

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Candidate, Outcome, Payload, Queue
from qiaocrawl.language import _
from qiaocrawl.storage.frontier.enqueue import enqueue
from qiaocrawl.storage.frontier.url_aliases import AS_WRITTEN
from qiaocrawl.storage.schema import url, watched_page
from qiaocrawl.storage.sites import watched
from qiaocrawl.storage.sql import Statement
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import clean_word
from qiaocrawl.topic.feeds import Feed
from qiaocrawl.urls import canonical_url, host_of, url_key, without_feed_scheme

SOURCE = "source"
"""The kind of such a watched page, and what the payload of its row says."""
BOARD = "board"
"""The same of a hot list, whose entries are noted and not fetched, see ``storage.sites.boards``."""
GIVEN = (SOURCE, BOARD)
"""Kinds of pages that somebody gave a topic, on whatever host."""

SOURCE_WEIGHT = 5.0
"""As rolling news."""

_SCORE = 105.0
# Changes of its own that a rhythm can be told from, and how many times it the silence has to be:
# by chance (Poisson) seven come once in a thousand. Feeds rest at weekends **(ours)**.
_LEAST_CHANGES, _RHYTHMS, _LEAST_SECONDS = 5, 7.0, 3 * 86_400.0
# Gaps of one rate are parted by chance so in less than 1 of 100 cases (20,000 drawn, of 8 to 30
# gaps); one that becomes seven times as fast or slow is noticed after eight gaps in 84 and 93 of
# 100 (4,000 drawn).
_LEAST_RATIO, _LEAST_OF_A_RATE, _SHORTEST_GAP = 6.0, 3, 1 / 60

_MAKE_SOURCE = Statement(
    "UPDATE watched_page SET kind = :kind, name = :name, weight = :weight"
    " WHERE topic_id = :topic_id AND url_id = (SELECT id FROM url WHERE `key` = :key)"
)
_REMOVE = Statement(
    "DELETE FROM watched_page WHERE topic_id = :topic_id AND kind = :kind"
    " AND url_id = (SELECT id FROM url WHERE `key` = :key)"
)
# As what a page leads to no more: a link or the operator lets it wait again.
_REST = Statement(
    "UPDATE url SET state = State.DONE, outcome = 'pruned', reason = :reason"
    " WHERE `key` = :key AND queue = 'watch' AND topic_id = :topic_id AND state = State.PENDING"
)


@dataclass(frozen=True, slots=True)
class FeedSource:
    """A feed of a topic as its visits left it. Times are epoch seconds.

    Attributes:
        state: ``waiting`` for its first visit, ``well``, ``failing``, ``moved`` (its new place
            is a source of its own), ``no_feed`` (it answers, but with a page) or ``silent``.
        reason: what its last visit said.
        every_hours: between two of its changes; 0.0 while that cannot be told.
        news: entries that were new, over all visits.
    """

    url: str
    name: str
    state: str
    reason: str
    since: float
    last_at: float | None
    changed_at: float | None
    next_at: float
    every_hours: float
    visits: int
    failures: int
    news: int


def add_sources(
    c: Connection, topic: str, feeds: Sequence[Feed], *, now: float, kind: str = SOURCE
) -> int:
    """Let *topic* have *feeds* as sources; returns how many it had not.

    One that is there takes the new name, where one is given.

    Args:
        kind: one of :data:`GIVEN`.

    Raises:
        ConfigError: one is no web address; nothing is added then.
        StorageError: the topic was never imported.
    """
    topic_row = topic_id(c, topic)
    known = {page.url: page for page in watched.watched_pages(c, topic) if page.kind == kind}
    wanted = {_canonical(feed.url): feed.name for feed in feeds}
    enqueue(c, [_candidate(address, topic, kind) for address in wanted], run_id=None, now=now)
    for address, name in wanted.items():
        there = known.get(address)
        named = name or (there.name if there else "")
        key = url_key(address)
        watched.enter_page(c, topic, key, kind=kind, name=named, weight=SOURCE_WEIGHT, now=now)
        params = {
            "topic_id": topic_row,
            "key": key,
            "kind": kind,
            "name": clean_word(named, 200),
        }
        _MAKE_SOURCE.run(c, {**params, "weight": there.weight if there else SOURCE_WEIGHT})
    return len(wanted.keys() - known.keys())


def remove_source(c: Connection, topic: str, address: str, kind: str = SOURCE) -> bool:
    """Take the feed at *address* from the sources of *topic*; whether it was one.

    What came of it stays.
    """
    canonical = canonical_url(address.strip())
    if canonical is None:
        return False
    mine = {"topic_id": topic_id(c, topic), "key": url_key(canonical)}
    if not _REMOVE.run(c, {**mine, "kind": kind}).rowcount:
        return False
    _REST.run(c, {**mine, "reason": "taken from the topic's feeds"})
    return True


def has_sources(c: Connection, topic: str) -> bool:
    """Whether *topic* was given any feed or hot list."""
    mine = watched_page.c.topic_id == topic_id(c, topic), watched_page.c.kind.in_(GIVEN)
    return c.execute(select(watched_page.c.url_id).where(*mine).limit(1)).first() is not None


def feed_sources(c: Connection, topic: str, kind: str = SOURCE) -> list[FeedSource]:
    """The feeds of *topic*: those that need a hand first, then by name and address."""
    pages = [page for page in watched.watched_pages(c, topic) if page.kind == kind]
    ids = [page.url_id for page in pages]
    ends = {
        row.id: row
        for row in c.execute(select(url.c.id, url.c.outcome, url.c.reason).where(url.c.id.in_(ids)))
    }
    found = [_source(page, ends[page.url_id]) for page in pages]
    return sorted(found, key=lambda one: (one.state in ("well", "waiting"), one.name, one.url))


def _source(page: watched.WatchedPage, end: Any) -> FeedSource:
    every = _rhythm_seconds(page)
    return FeedSource(
        url=page.url,
        name=page.name,
        state=_state(page, end.outcome, every),
        reason=end.reason or "",
        since=page.since,
        last_at=page.last_at,
        changed_at=page.changed_at,
        next_at=page.next_at,
        every_hours=every / 3_600,
        visits=page.visits,
        failures=page.failures,
        news=page.news,
    )


def _state(page: watched.WatchedPage, outcome: str | None, every_seconds: float) -> str:
    if page.last_at is None and not page.failures:
        return "waiting"
    if outcome == Outcome.REDIRECT:
        return "moved"
    if page.failures:
        answered = outcome in (Outcome.ARTICLE, Outcome.LIST, Outcome.NOT_ARTICLE)
        return "no_feed" if answered else "failing"
    return "silent" if _is_silent([page], every_seconds) else "well"


# --- What has become silent, by its own rhythm ----------------------------------------------------


@dataclass(frozen=True, slots=True)
class SilentSite:
    """A site whose watched pages all changed before and do so no more. Times: epoch seconds."""

    host: str
    changed_at: float
    every_hours: float


def silent_sites(c: Connection, topic: str) -> list[SilentSite]:
    """The sites of *topic* that bring nothing new though they are visited, by host.

    The rhythm of a site is that of its liveliest page, as it was lately, before the silence.
    """
    by_host: dict[str, list[watched.WatchedPage]] = {}
    for page in watched.watched_pages(c, topic):
        if page.kind not in GIVEN:
            by_host.setdefault(page.host, []).append(page)
    silent = []
    for host, pages in sorted(by_host.items()):
        every = min(filter(None, map(_rhythm_seconds, pages)), default=0.0)
        if _is_silent(pages, every):
            changed_at = max(page.changed_at or page.since for page in pages)
            silent.append(SilentSite(host, changed_at, every / 3_600))
    return silent


def _is_silent(pages: Sequence[watched.WatchedPage], every_seconds: float) -> bool:
    """Whether the last visits came that long after the last change of any of *pages*."""
    seen_at = max((page.last_at or 0.0) for page in pages)
    silence = seen_at - max(page.changed_at or page.since for page in pages)
    return every_seconds > 0 and silence > max(_RHYTHMS * every_seconds, _LEAST_SECONDS)


def _rhythm_seconds(page: watched.WatchedPage) -> float:
    """Between two changes as long as there were any; 0.0 while that cannot be told.

    By the pauses since its rhythm last changed; of pages watched before pauses were kept, by all
    the time they were.
    """
    if page.changed_at is None or page.changes < _LEAST_CHANGES:
        return 0.0
    gaps = watched.gaps_of(page)
    if len(gaps) < _LEAST_CHANGES:
        return (page.changed_at - page.since) / page.changes
    return fmean(present_gaps(gaps)) * 3_600.0


def present_gaps(gaps: Sequence[float]) -> Sequence[float]:
    """Those of *gaps* (hours, the newest last) that came since the rhythm changed last.

    The change-point is where two exponential rates explain the gaps best against one (maximum of
    the likelihood ratio, as in Worsley, Biometrika 73, 1986), if they do so by more than
    ``_LEAST_RATIO``; then again in what is newer.
    """
    while len(gaps) >= 2 * _LEAST_OF_A_RATE:
        places = range(_LEAST_OF_A_RATE, len(gaps) - _LEAST_OF_A_RATE + 1)
        best = max(places, key=lambda at: _two_rates(gaps[:at], gaps[at:]))
        earlier, recent = gaps[:best], gaps[best:]
        if _two_rates(earlier, recent) <= _log_likelihood(gaps) + _LEAST_RATIO:
            break
        gaps = recent
    return gaps


def _two_rates(earlier: Sequence[float], recent: Sequence[float]) -> float:
    return _log_likelihood(earlier) + _log_likelihood(recent)


def _log_likelihood(gaps: Sequence[float]) -> float:
    """Of gaps with their own rate, but for what is the same however they are parted."""
    # Visits that share a moment leave a gap of nothing, and no rate is endless.
    return -len(gaps) * math.log(max(fmean(gaps), _SHORTEST_GAP))


# --- Addresses ------------------------------------------------------------------------------------


def _canonical(address: str) -> str:
    canonical = canonical_url(without_feed_scheme(address.strip()))
    if canonical is None:
        raise ConfigError(_("the feed {url!r} is no http or https address", url=address.strip()))
    return canonical


def _candidate(address: str, topic: str, kind: str) -> Candidate:
    return Candidate(
        url=address,
        key=url_key(address),
        host=host_of(address),
        queue=Queue.WATCH,
        topic=topic,
        score=_SCORE,
        depth=1,
        payload=Payload(watch=kind, as_is=AS_WRITTEN),
    )
