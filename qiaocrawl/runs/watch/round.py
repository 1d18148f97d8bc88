"""One round of watching: what is due, and what each visit leaves in the database.

All that a visit changes is written in the transaction that closes its page: a kill loses no
schedule. A page stays due until then.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from qiaocrawl.discovery.url_sources import ENTRY_TAG, entry_moment
from qiaocrawl.frontier.crawl_order import CrawlOrder, FollowedPage
from qiaocrawl.frontier.host_slots import Limits
from qiaocrawl.frontier.strategies.simple import FULL_DEPTH, page_group
from qiaocrawl.items import Candidate, Lease, Link, Outcome, PageAnalysis, Payload, Queue
from qiaocrawl.runs.watch.planning import GROUP_WEIGHTS, WatchSettings, correct_due_time, plan_pages
from qiaocrawl.runtime.follow_links import (
    FollowPolicy,
    Fresh,
    LinkSelection,
    follow_redirect,
    link_to,
    visit_of,
)
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.frontier.url_aliases import AS_WRITTEN
from qiaocrawl.storage.frontier.visit_log import pack_links
from qiaocrawl.storage.schema import State
from qiaocrawl.storage.sites import watch_counts, watched
from qiaocrawl.storage.sites.sources import BOARD, GIVEN, SOURCE
from qiaocrawl.storage.sites.watch_counts import Kind
from qiaocrawl.storage.sites.watched import WatchedArticle, WatchedPage

# --- Which links of a watched page are followed: depth 2, so that a channel is known (E1) ---------

PAGE, LOOK, NEW = "page", "look", "new"
ENTRY = "entry"
"""What ``watch`` in a payload says: a page that leads to articles; an article looked at again; a
link not seen before; an entry of a feed that is a source (``SOURCE``), on any host.
``channel`` is what the page an article was found on is called, ``again`` that a page was visited
before, ``etag`` and ``modified`` what it is asked with."""

_MAX_NAME_CHARS = 30
# "国内新闻_新华网", "国内 | 新华网", "国内  新华网".
_SET_OFF = re.compile(r"\s*[-_|—–·>:：]+\s*|\s{2,}")

PAGE_SCORE, LOOK_SCORE, NEW_SCORE, BACKLOG_SCORE = 100.0, 30.0, 50.0, 10.0
"""Pages first, then what they bring, then articles again, then what was there before the watch."""


class WatchOrder(CrawlOrder):
    """Follows links as E1 does, in the order of :data:`PAGE_SCORE` and the others."""

    def _follow(
        self, lease: Lease, analysis: PageAnalysis, policy: FollowPolicy, now: float
    ) -> FollowedPage:
        links = follow_watched(lease, analysis, policy, self._proposed.is_news, now)
        return FollowedPage(links, pack_links(links.visit.links))


def follow_watched(
    lease: Lease, analysis: PageAnalysis, policy: FollowPolicy, fresh: Fresh, now: float
) -> LinkSelection:
    """Candidates of a page: what to watch for, and the rest for a deep crawl of the site.

    A home page leads to channels and articles, a channel to articles; what lies deeper waits for
    ``scrapy crawl site``, as do the links of articles, so that it misses none. A feed that is a
    source leads to its entries wherever they lie, which lead no further beyond the sites.
    """
    left: Counter[str] = Counter(too_many=analysis.links_left)
    if lease.payload.watch == SOURCE:
        inside = [link for link in analysis.links if link.tag == ENTRY_TAG]
        left["no_entry"] = len(analysis.links) - len(inside)
    elif lease.payload.watch == BOARD:
        # What stands there is noted with the visit; where it leads to is others' business.
        inside, left["board"] = [], len(analysis.links)
    else:
        inside = list(_inside(analysis, policy, left))
    visit = visit_of(lease, analysis, inside, now)
    leads, channel = is_listing(lease, analysis), channel_of(lease, analysis)
    candidates = []
    for place, link in enumerate(inside):
        candidate = (
            _news(lease, link, place, channel)
            if leads and _is_followed(lease, link)
            else _rest(lease, link, policy)
        )
        if candidate is None:
            left["too_deep"] += 1
        elif fresh(candidate.key, candidate.score):
            candidates.append(candidate)
        else:
            left["known"] += 1
    return LinkSelection(tuple(candidates), left, visit)


def _inside(analysis: PageAnalysis, policy: FollowPolicy, left: Counter[str]) -> Iterator[Link]:
    if analysis.nofollow:
        # The page asks that its links are not followed.
        left["nofollow"] = len(analysis.links)
        return
    for place, link in enumerate(analysis.links):
        if not policy.covers(link.host):
            left["offsite"] += 1
        elif policy.max_links and place >= policy.max_links:
            left["too_many"] += 1
        else:
            yield link


def is_page_lease(lease: Lease) -> bool:
    """Whether *lease* is of a watched page that is due."""
    return lease.payload.watch in (PAGE, *GIVEN)


def follow_moved(lease: Lease, target: str, policy: FollowPolicy) -> Candidate | None:
    """The candidate a redirect leads to, within the sites; for sources and their entries, anywhere.

    A page that moved is asked for again at its new place; an article that moved is new.
    """
    candidate = follow_redirect(lease, target, policy)
    is_page, old = is_page_lease(lease), lease.payload
    is_anywhere = old.watch in (*GIVEN, ENTRY)
    if candidate is None or not (is_anywhere or policy.covers(candidate.host)):
        return None
    payload = replace(
        candidate.payload,
        channel=old.channel,
        again=old.again,
        as_is=old.as_is,
        listed_at=old.listed_at,
        watch=old.watch if is_page or is_anywhere else NEW,
    )
    # A moved page is asked again although its new place may be done; an article is not.
    return replace(candidate, payload=payload, refetch=is_page)


def is_listing(lease: Lease, analysis: PageAnalysis) -> bool:
    """Whether a page leads to articles: it is watched, or it is a list near a home page.

    A short list may be no list to the extraction; its URL speaks for it then.
    """
    # At this depth only pages that are watched lead on.
    if is_page_lease(lease) or lease.depth >= FULL_DEPTH:
        return is_page_lease(lease)
    if analysis.outcome is Outcome.NOT_ARTICLE:
        return page_group(lease.url, lease.depth) != "article" and bool(analysis.links)
    return analysis.outcome in (Outcome.LIST, Outcome.FEED)


def channel_of(lease: Lease, analysis: PageAnalysis) -> str:
    """What a list is called: by the link that leads to it, else by its title; "" for a home page.

    Of the title, the part before the first mark that sets off the name of a site.
    """
    if is_page_lease(lease):
        return lease.payload.channel
    if lease.depth == 0:
        return ""
    if name := name_of_anchor(lease.anchor):
        return name
    return _SET_OFF.split(analysis.page_title.strip())[0].strip()[:_MAX_NAME_CHARS]


def name_of_anchor(anchor: str) -> str:
    """What the text of a link calls its target; "" where it is no name."""
    name = anchor.strip()
    # An address instead of a name, as careless templates print it.
    is_name = 0 < len(name) <= _MAX_NAME_CHARS and not name.startswith(("http", "/"))
    return name if is_name else ""


def is_news(link: Link, depth: int) -> bool:
    """Whether *link*, on a page of *depth*, leads to an article as its URL looks."""
    return page_group(link.url, depth + 1) == "article"


def as_listed(lease: Lease, analysis: PageAnalysis) -> PageAnalysis:
    """*analysis* with what the list it was found in says of its article, where the page is silent.

    That is its channel (E6), and its day where a source dates its entries.
    """
    article = analysis.article
    if article is None or is_page_lease(lease):
        return analysis
    channel = article.channel or lease.payload.channel
    published = article.published_at
    if published is None and lease.payload.listed_at is not None:
        published = datetime.fromtimestamp(lease.payload.listed_at, UTC)
    return replace(analysis, article=replace(article, channel=channel, published_at=published))


def _is_followed(lease: Lease, link: Link) -> bool:
    depth = lease.depth + 1
    is_article = link.tag == ENTRY_TAG or is_news(link, lease.depth)
    return depth < FULL_DEPTH or (depth == FULL_DEPTH and is_article)


def _news(lease: Lease, link: Link, place: int, channel: str) -> Candidate:
    # Links that stood there at the first visit are backlog, not news.
    base = NEW_SCORE if lease.payload.again else BACKLOG_SCORE
    return Candidate(
        url=link.url,
        key=link.key,
        host=link.host,
        queue=Queue.WATCH,
        topic=lease.topic,
        # By place on the page, within one step of the score: 999 links at most tell apart.
        score=base - min(place, 999) / 1000,
        depth=lease.depth + 1,
        parent=lease.key,
        anchor=link.anchor,
        context=link.context,
        payload=_entry_payload(link, channel)
        if lease.payload.watch == SOURCE
        else Payload(watch=NEW, channel=channel),
    )


def _entry_payload(link: Link, channel: str) -> Payload:
    moment = entry_moment(link.context)
    return Payload(
        watch=ENTRY, channel=channel, listed_at=int(moment.timestamp()) if moment else None
    )


def _rest(lease: Lease, link: Link, policy: FollowPolicy) -> Candidate | None:
    """The candidate a deep crawl gets; None beyond its depth."""
    depth = lease.depth + 1
    if policy.max_depth and depth > policy.max_depth:
        return None
    return Candidate(
        url=link.url,
        key=link.key,
        host=link.host,
        queue=Queue.SITE,
        topic=lease.topic,
        score=-float(depth),
        depth=depth,
        parent=lease.key,
        anchor=link.anchor,
        context=link.context,
    )


# --- One round of watching: what is due, and what each visit leaves in the database ---------------

Floats = NDArray[np.float64]

_MOST_LOOKS = 2_000
_OPEN = frozenset({State.PENDING, State.DONE, State.FAILED})
_KINDS: Mapping[str, Kind] = {
    PAGE: "pages",
    SOURCE: "pages",
    BOARD: "pages",
    LOOK: "looks",
    NEW: "articles",
    ENTRY: "articles",
}


class WatchRound:
    """What a run of the spider asks; its operations run in the writer's thread.

    Args:
        runtime: of the run.
        topic: that is watched.
        policy: the sites.
        sources: whether feeds and hot lists of the topic are visited too, on whatever host.
    """

    def __init__(
        self,
        runtime: Runtime,
        topic: str,
        policy: FollowPolicy,
        settings: WatchSettings,
        *,
        sources: bool = False,
    ) -> None:
        self.topic, self.policy, self.settings = topic, policy, settings
        self._within = replace(policy, across=policy.across or sources)
        self._runtime = runtime
        # (url, due time) pairs: a page that failed is due again at another time, and may
        # be scheduled anew.
        self._scheduled: set[tuple[int, float]] = set()
        self._counted: set[tuple[int, int]] = set()
        self.weeks: Mapping[str, Floats] = {}

    # --- what is due -------------------------------------------------------------------------

    def begin(self, starts: Sequence[str], extra: Sequence[str], now: float) -> None:
        """Watch the start pages, and pages an operator named beside them."""

        def operation(c: Connection) -> None:
            # enter_page() needs their rows; schedule_due() makes them wait even if already fetched.
            urls = [(url, "home") for url in starts] + [(url, "list") for url in extra]
            self._runtime.enqueue(c, [_watch_candidate(url, self.topic) for url, _ in urls])
            for url, kind in urls:
                watched.enter_page(
                    c,
                    self.topic,
                    link_to(url).key,
                    kind=kind,
                    name="",
                    weight=GROUP_WEIGHTS[kind],
                    now=now,
                )

        self._runtime.write_now(operation)

    def schedule_due(self, now: float) -> Callable[[Connection], int]:
        """An operation that plans all pages and lets what is due wait; gives how many.

        Each is scheduled once a round for one due time, whatever becomes of it.
        """
        scheduled: set[tuple[int, float]] = set()

        def operation(c: Connection) -> int:
            self._scheduled -= scheduled  # what a failed try of this transaction noted
            due = self._due(c, now)
            self._runtime.enqueue(c, [candidate for candidate, _ in due])
            scheduled.update(one for _, one in due)
            self._scheduled |= scheduled
            return len(due)

        return operation

    def _due(self, c: Connection, now: float) -> list[tuple[Candidate, tuple[int, float]]]:
        pages = [
            page
            for page in self._plan_pages(c, now)
            if page.next_at <= now and page.state in _OPEN and self._covers(page)
        ]
        # Most urgent first: by what a visit is expected to bring, and how long it is overdue.
        weight_of = self.settings.weight_of
        pages.sort(
            key=lambda page: (
                -weight_of(page.kind, page.weight) * max(page.rate, 1e-6) * (now - page.next_at + 1)
            )
        )
        watched.right_articles(c, self.topic, now, self.settings.longest_step_seconds)
        articles = watched.due_articles(c, self.topic, now, _MOST_LOOKS)
        looks = [article for article in articles if self._within.covers(article.host)]
        due: Iterable[WatchedPage | WatchedArticle] = [*pages, *looks]
        new = [item for item in due if (item.url_id, item.next_at) not in self._scheduled]
        return [
            (self._candidate(c, item), (item.url_id, item.next_at))
            for item in self._within_budget(c, new, now)
        ]

    def _covers(self, page: WatchedPage) -> bool:
        within = self._within if page.kind in GIVEN else self.policy
        return within.covers(page.host)

    def _plan_pages(self, c: Connection, now: float) -> list[WatchedPage]:
        pages = watched.watched_pages(c, self.topic)
        needed = watch_counts.articles_a_day(c, self.topic, now)
        due_by_clock = [correct_due_time(page, now, self.settings) for page in pages]
        plan = plan_pages(due_by_clock, watch_counts.hours_by_host(c), self.settings, needed)
        self.weeks = plan.weeks
        # Only changes are written: most plans stay as they are.
        changed = [new for old, new in zip(pages, plan.pages, strict=True) if new != old]
        watched.save_plan(c, self.topic, changed)
        return list(plan.pages)

    def _within_budget(
        self, c: Connection, due: Sequence[WatchedPage | WatchedArticle], now: float
    ) -> list[WatchedPage | WatchedArticle]:
        spent = Counter(watch_counts.spent_today(c, self.topic, now))
        left = self.settings.daily - spent.total()
        taken: list[WatchedPage | WatchedArticle] = []
        # In order of urgency until the day's budget is used up.
        for one in due:
            if len(taken) < left and spent[one.host] < self.settings.daily_of_host:
                spent[one.host] += 1
                taken.append(one)
        return taken

    def _candidate(self, c: Connection, one: WatchedPage | WatchedArticle) -> Candidate:
        what = LOOK
        if isinstance(one, WatchedPage):
            what = one.kind if one.kind in GIVEN else PAGE
        # Under exactly this address, whatever is learnt about other versions of the page.
        payload = Payload(watch=what, as_is=AS_WRITTEN)
        if watched.has_source(c, one.url_id):
            payload = replace(payload, etag=one.etag, modified=one.modified)
        if not isinstance(one, WatchedPage):
            # Articles lie at depth 2: home page, channel, article.
            return _candidate(one.url, self.topic, LOOK_SCORE, 2, payload)
        payload = replace(payload, channel=one.name, again=one.last_at is not None)
        depth = 0 if one.kind == "home" else 1
        weight = self.settings.weight_of(one.kind, one.weight)
        return _candidate(one.url, self.topic, PAGE_SCORE + weight, depth, payload)

    # --- what was asked ----------------------------------------------------------------------

    def spent(self, now: float) -> Mapping[str, int]:
        """Requests of this day (UTC) by host."""
        return self._runtime.reader.run(lambda c: watch_counts.spent_today(c, self.topic, now))

    def limits(self, usual: Limits, now: float) -> Limits:
        """What is left of the day's budget within the *usual* limits."""
        spent = self.spent(now)
        return Limits(
            pages=self.settings.most(self.settings.daily, sum(spent.values()), usual.pages),
            pages_per_host=usual.pages_per_host or self.settings.daily_of_host,
            seconds=usual.seconds,
            spent=spent,
        )

    def count(self, c: Connection, lease: Lease, now: float) -> None:
        """Count the request of *lease*, once; a page taken from storage was none."""
        # A page that came is counted with it; what it fails at later is no further request.
        if not lease.stored and (lease.url_id, lease.attempt) not in self._counted:
            kind = _KINDS.get(lease.payload.watch, "articles")
            watch_counts.count_request(c, self.topic, lease.host, kind, now)

    def note_counted(self, lease: Lease) -> None:
        """The request of *lease* is counted: what its page fails at costs no further one."""
        self._counted.add((lease.url_id, lease.attempt))


def _candidate(url: str, topic: str, score: float, depth: int, payload: Payload) -> Candidate:
    link = link_to(url)
    return Candidate(
        url=link.url,
        key=link.key,
        host=link.host,
        queue=Queue.WATCH,
        topic=topic,
        score=score,
        depth=depth,
        payload=payload,
        refetch=True,
    )


def _watch_candidate(url: str, topic: str) -> Candidate:
    """Make a row for *url* if there is none; an existing one stays as it is."""
    payload = Payload(watch=PAGE, as_is=AS_WRITTEN)
    return replace(_candidate(url, topic, PAGE_SCORE, 0, payload), refetch=False)
