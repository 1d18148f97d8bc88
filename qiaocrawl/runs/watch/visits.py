"""What a visit leaves in the database, within the transaction that closes its page."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from qiaocrawl.fetch.failure_policy import GONE
from qiaocrawl.frontier.journal import CrawlJournal, PagelessEnd
from qiaocrawl.frontier.strategies.simple import FULL_DEPTH, page_group
from qiaocrawl.items import FetchedPage, Lease, Link, Outcome, PageAnalysis
from qiaocrawl.revisit import next_recheck
from qiaocrawl.runs.watch.planning import GROUP_WEIGHTS, Seen, after_failure, after_visit
from qiaocrawl.runs.watch.round import (
    LOOK,
    WatchRound,
    channel_of,
    is_listing,
    is_news,
    name_of_anchor,
)
from qiaocrawl.search.boards import read_board
from qiaocrawl.storage.pages import revisions
from qiaocrawl.storage.pages.raw_pages import seen_again
from qiaocrawl.storage.sites import boards, watch_counts, watched
from qiaocrawl.storage.sites.sources import BOARD, GIVEN, SOURCE
from qiaocrawl.storage.sites.watched import WatchedPage
from qiaocrawl.storage.values import digest16
from qiaocrawl.urls import url_key

_HOUR = 3600.0
_NO_PAGE = frozenset(
    (Outcome.SOFT_404, Outcome.LOGIN, Outcome.POISON, Outcome.NOT_HTML, Outcome.SCANNED)
)
# Older than two weeks, a date says little about when a site publishes now.
_FRESH_HOURS = 14 * 24
_DAY = 86_400.0
_CHINA_SECONDS = 8 * _HOUR


class WatchJournal(CrawlJournal):
    """Counts the requests of *watching* and notes each visit."""

    def __init__(self, watching: WatchRound) -> None:
        self._watching = watching

    def page_arrives(self, c: Connection, lease: Lease, page: FetchedPage) -> None:
        """Count the request with the page it brought: a kill after it loses neither."""
        self._watching.count(c, lease, page.fetched_at.timestamp())

    def page_arrived(self, lease: Lease) -> None:
        """Its request is counted, whatever becomes of the page."""
        self._watching.note_counted(lease)

    def page_closes(
        self,
        c: Connection,
        lease: Lease,
        page: FetchedPage,
        analysis: PageAnalysis,
        links: Sequence[Link],
    ) -> None:
        """Note the visit."""
        page_closes(c, self._watching, lease, page, analysis, links)

    def closes_without_page(self, c: Connection, lease: Lease, end: PagelessEnd) -> None:
        """Note that no page came."""
        closed_without_page(c, self._watching, lease, end)

    def try_fails(self, c: Connection, lease: Lease, reason: str) -> None:
        """Count the request: a failed try is one too."""
        self._watching.count(c, lease, time.time())


def page_closes(
    c: Connection,
    watching: WatchRound,
    lease: Lease,
    page: FetchedPage,
    analysis: PageAnalysis,
    links: Sequence[Link],
) -> None:
    """Note a page that was read, before what it brought is stored.

    Args:
        links: those into the sites of the round.
    """
    at = page.fetched_at.timestamp()
    known = watched.watched_page(c, watching.topic, lease.url_id)
    # A feed that was taken away while it waited is not watched for that.
    if known is None and lease.payload.watch not in GIVEN and is_listing(lease, analysis):
        known = _enter(c, watching, lease, analysis, at)
    if known is None:
        _note_article(c, watching, lease, page, analysis)
    elif known.kind == BOARD:
        _note_board(c, watching, known, page)
    elif analysis.outcome in _NO_PAGE or _is_no_feed(known, analysis):
        watched.save_page(c, watching.topic, after_failure(known, at, watching.settings))
    else:
        _note_visit(c, watching, known, page, links)


def _note_board(c: Connection, watching: WatchRound, known: WatchedPage, page: FetchedPage) -> None:
    """Note what stands on a hot list; an answer that is none counts as a failed visit."""
    at = page.fetched_at.timestamp()
    reading = read_board(page, boards.form_of(c, known.url_id))
    if reading.fault:
        boards.note_fault(c, known.url_id, reading.fault)
        watched.save_page(c, watching.topic, after_failure(known, at, watching.settings))
        return
    new = boards.note_entries(c, known.url_id, reading.entries, at)
    titles = "\0".join(one.title for one in reading.entries)
    digest = digest16(titles.encode("utf-8", "surrogatepass"))
    changed = digest != known.digest
    seen = Seen(at, new, changed, *_validators(page), digest)
    if not changed:
        watched.let_go_of_same(c, known.url_id)
    week = watching.weeks.get(known.host)
    watched.save_page(c, watching.topic, after_visit(known, seen, week, watching.settings))


def _is_no_feed(known: WatchedPage, analysis: PageAnalysis) -> bool:
    """Whether a source answered with a page instead: it moved, or a service was switched off."""
    return known.kind == SOURCE and analysis.outcome is not Outcome.FEED


def _enter(
    c: Connection, watching: WatchRound, lease: Lease, analysis: PageAnalysis, at: float
) -> WatchedPage | None:
    """Watch a list that came to light, unless its host has enough of them."""
    # A channel is the last level that is watched, and a look is at an article.
    if lease.depth >= FULL_DEPTH or lease.payload.watch == LOOK:
        return None
    if watched.pages_on_host(c, watching.topic, lease.url_id) >= watching.settings.pages_per_host:
        return None
    group = page_group(lease.url, lease.depth)
    kind = "feed" if analysis.outcome is Outcome.FEED else group
    kind = kind if kind in GROUP_WEIGHTS else "list"
    watched.enter_page(
        c,
        watching.topic,
        lease.key,
        kind=kind,
        name=channel_of(lease, analysis),
        weight=GROUP_WEIGHTS[kind],
        now=at,
    )
    return watched.watched_page(c, watching.topic, lease.url_id)


def _note_visit(
    c: Connection,
    watching: WatchRound,
    known: WatchedPage,
    page: FetchedPage,
    links: Sequence[Link],
) -> None:
    depth = 0 if known.kind == "home" else 1
    news = [link.key for link in links if known.kind == SOURCE or is_news(link, depth)]
    # Of article links where there are any: menus and banners change without news.
    digest = digest16(b"".join(sorted(news or (link.key for link in links))))
    changed = digest != known.digest
    seen = Seen(
        # Nothing changed: no link can be new, and the look-up is saved.
        page.fetched_at.timestamp(),
        watched.count_unknown(c, news) if changed else 0,
        changed,
        *_validators(page),
        digest,
    )
    if changed and known.name:
        watched.fill_channels(c, news, known.name)
    # The page's earlier source said the same; without this, every visit would leave a body.
    if not changed:
        watched.let_go_of_same(c, known.url_id)
    if known.kind == "home":
        _enter_known_lists(c, watching, known, links, seen.at)
    week = watching.weeks.get(known.host)
    watched.save_page(c, watching.topic, after_visit(known, seen, week, watching.settings))


def _enter_known_lists(
    c: Connection, watching: WatchRound, home: WatchedPage, links: Sequence[Link], at: float
) -> None:
    """Watch the lists a home page leads to that another spider has read already."""
    channels = {link.key: link for link in links if not is_news(link, 0)}
    room = watching.settings.pages_per_host - watched.pages_on_host(c, watching.topic, home.url_id)
    for key in watched.known_lists(c, channels)[: max(room, 0)]:
        kind = page_group(channels[key].url, 1)
        kind = kind if kind in GROUP_WEIGHTS else "list"
        watched.enter_page(
            c,
            watching.topic,
            key,
            kind=kind,
            name=name_of_anchor(channels[key].anchor),
            weight=GROUP_WEIGHTS[kind],
            now=at,
        )


def _note_article(
    c: Connection, watching: WatchRound, lease: Lease, page: FetchedPage, analysis: PageAnalysis
) -> None:
    at = page.fetched_at.timestamp()
    is_look = lease.payload.watch == LOOK
    if analysis.article is not None:
        # The article is back, if it had been deleted.
        revisions.note_restored(c, lease.url_id, now=at)
        stated = analysis.article.published_at
        # A date ahead of the fetch is a wrong one.
        published = at if stated is None else min(stated.timestamp(), at)
        if not is_look and stated is not None and _tells_hour(published, at):
            watch_counts.add_hour(c, lease.host, published)
        _look_again(c, watching, lease, published, at, _validators(page))
    elif is_look:
        if analysis.outcome is Outcome.SOFT_404:
            revisions.note_deleted(c, lease.url_id, analysis.reason or "soft 404", now=at)
        _look_again(c, watching, lease, at, at)


def _validators(page: FetchedPage) -> tuple[str, str]:
    """ETag and Last-Modified of a whole page: "not modified" must not be said of half a one."""
    if page.connection_lost:
        return "", ""
    return page.header("etag"), page.header("last-modified")


def _tells_hour(published: float, at: float) -> bool:
    """Whether a time is recent and more than a bare date (midnight in China)."""
    is_midnight = (published + _CHINA_SECONDS) % _DAY == 0
    return at - published < _FRESH_HOURS * _HOUR and not is_midnight


def _look_again(
    c: Connection,
    watching: WatchRound,
    lease: Lease,
    published: float,
    at: float,
    validators: tuple[str, str] = ("", ""),
) -> None:
    """Set the next look at the article of *lease*; the first known time begins its schedule."""
    known = watched.watched_article(c, lease.url_id)
    # A clock that ran ahead may have started the schedule in the future.
    began = min(known.published, at) if known is not None else published
    due = next_recheck(began / _HOUR, at / _HOUR, watching.settings.steps_hours)
    watched.put_article(
        c,
        watching.topic,
        lease.url_id,
        published=began,
        next_at=None if due is None else due * _HOUR,
        validators=validators,
    )


def closed_without_page(
    c: Connection, watching: WatchRound, lease: Lease, ending: PagelessEnd
) -> None:
    """Note a URL that brought no page: not modified, gone, moved, or not to be had."""
    watching.count(c, lease, ending.at)
    known = watched.watched_page(c, watching.topic, lease.url_id)
    # The host says that nothing changed: its stored page was seen again.
    if ending.outcome is Outcome.NOT_MODIFIED:
        seen_again(c, lease.url_id, ending.at)
    if known is not None:
        _note_no_page(c, watching, known, ending)
    elif lease.payload.watch == LOOK:
        _note_look(c, watching, lease, ending)


def _note_no_page(
    c: Connection, watching: WatchRound, known: WatchedPage, ending: PagelessEnd
) -> None:
    if known.kind == BOARD:
        boards.note_fault(c, known.url_id, "")
    if ending.outcome is Outcome.NOT_MODIFIED:
        if known.kind == BOARD:
            boards.note_same(c, known.url_id, ending.at)
        seen = Seen(ending.at, etag=known.etag, modified=known.modified)
        week = watching.weeks.get(known.host)
        watched.save_page(c, watching.topic, after_visit(known, seen, week, watching.settings))
        return
    if ending.outcome is Outcome.REDIRECT and ending.target:
        # Watch the new place; look here only seldom, to see whether it still leads there.
        watched.enter_page(
            c,
            watching.topic,
            url_key(ending.target),
            kind=known.kind,
            name=known.name,
            weight=known.weight,
            now=ending.at,
        )
        if known.kind == BOARD:
            boards.note_moved(c, known.url_id, url_key(ending.target))
        rests = ending.at + watching.settings.longest_hours * _HOUR
        seen_at = None if known.last_at is None else ending.at
        known = replace(known, last_at=seen_at, next_at=rests, failures=1)
        watched.save_page(c, watching.topic, known)
        return
    watched.save_page(c, watching.topic, after_failure(known, ending.at, watching.settings))


def _note_look(c: Connection, watching: WatchRound, lease: Lease, ending: PagelessEnd) -> None:
    known = watched.watched_article(c, lease.url_id)
    kept = ("", "") if known is None else (known.etag, known.modified)
    # Validators of a page that is gone must not make a later answer "not modified".
    if ending.outcome is Outcome.DEAD and ending.status in GONE:
        revisions.note_deleted(c, lease.url_id, f"HTTP {ending.status}", now=ending.at)
        kept = ("", "")
    # A deleted article often redirects to the first page, with status 302 instead of 404.
    elif ending.outcome is Outcome.REDIRECT and page_group(ending.target, 1) == "home":
        revisions.note_deleted(c, lease.url_id, "redirects to a first page", now=ending.at)
        kept = ("", "")
    elif ending.outcome is Outcome.NOT_MODIFIED:
        revisions.note_restored(c, lease.url_id, now=ending.at)
    _look_again(c, watching, lease, ending.at, ending.at, kept)
