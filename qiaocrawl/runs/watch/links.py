"""Which links of a watched page are followed: depth 2, so that a channel is known (E1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from qiaocrawl.discovery.url_sources import ENTRY_TAG
from qiaocrawl.frontier.ordering import FollowedPage, FrontierOrder
from qiaocrawl.frontier.strategies.weight_model import FULL_DEPTH, page_group
from qiaocrawl.items import Candidate, Lease, Link, Outcome, PageAnalysis, Payload, Queue
from qiaocrawl.stages.follow_links import (
    FollowPolicy,
    Fresh,
    LinkSelection,
    follow_redirect,
    visit_of,
)
from qiaocrawl.storage.frontier.orders import pack_links

PAGE, LOOK, NEW = "page", "look", "new"
"""What ``watch`` in a payload says: a page that leads to articles; an article looked at again; a
link not seen before. ``channel`` is what the page an article was found on is called, ``again``
that a page was visited before, ``etag`` and ``modified`` what it is asked with."""

_MAX_NAME_CHARS = 30
# "国内新闻_新华网", "国内 | 新华网", "国内  新华网".
_SET_OFF = re.compile(r"\s*[-_|—–·>:：]+\s*|\s{2,}")

PAGE_SCORE, LOOK_SCORE, NEW_SCORE, BACKLOG_SCORE = 100.0, 30.0, 50.0, 10.0
"""Pages first, then what they bring, then articles again, then what was there before the watch."""


class WatchOrder(FrontierOrder):
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
    ``scrapy crawl site``, as do the links of articles, so that it misses none.
    """
    left: Counter[str] = Counter(too_many=analysis.links_left)
    inside = list(_inside(analysis, policy, left))
    visit = visit_of(lease, analysis, inside, now)
    leads, channel = is_listing(lease, analysis), channel_of(lease, analysis)
    candidates = []
    for place, link in enumerate(inside):
        candidate = (
            _news(lease, link, place, channel) if leads and _is_followed(lease, link)
            else _rest(lease, link, policy)
        )  # fmt: skip
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
    return lease.payload.watch == PAGE


def follow_moved(lease: Lease, target: str, policy: FollowPolicy) -> Candidate | None:
    """The candidate a redirect leads to, within the sites.

    A page that moved is asked for again at its new place; an article that moved is new.
    """
    candidate = follow_redirect(lease, target, policy)
    if candidate is None or not policy.covers(candidate.host):
        return None
    is_page, old = is_page_lease(lease), lease.payload
    payload = replace(
        candidate.payload,
        channel=old.channel,
        again=old.again,
        as_is=old.as_is,
        watch=PAGE if is_page else NEW,
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


def with_channel(lease: Lease, analysis: PageAnalysis) -> PageAnalysis:
    """*analysis* with its article in the channel it was found in, where it names none (E6)."""
    article, name = analysis.article, lease.payload.channel
    if article is None or article.channel or not name or is_page_lease(lease):
        return analysis
    return replace(analysis, article=replace(article, channel=name))


def _is_followed(lease: Lease, link: Link) -> bool:
    depth = lease.depth + 1
    is_article = link.tag == ENTRY_TAG or is_news(link, lease.depth)
    return depth < FULL_DEPTH or (depth == FULL_DEPTH and is_article)


def _news(lease: Lease, link: Link, place: int, channel: str) -> Candidate:
    # Links that stood there at the first visit are backlog, not news.
    base = NEW_SCORE if lease.payload.again else BACKLOG_SCORE
    return Candidate(
        url=link.url, key=link.key, host=link.host, queue=Queue.WATCH, topic=lease.topic,
        # By place on the page, within one step of the score: 999 links at most tell apart.
        score=base - min(place, 999) / 1000, depth=lease.depth + 1, parent=lease.key,
        anchor=link.anchor, context=link.context, payload=Payload(watch=NEW, channel=channel),
    )  # fmt: skip


def _rest(lease: Lease, link: Link, policy: FollowPolicy) -> Candidate | None:
    """The candidate a deep crawl gets; None beyond its depth."""
    depth = lease.depth + 1
    if policy.max_depth and depth > policy.max_depth:
        return None
    return Candidate(
        url=link.url, key=link.key, host=link.host, queue=Queue.SITE, topic=lease.topic,
        score=-float(depth), depth=depth, parent=lease.key, anchor=link.anchor,
        context=link.context,
    )  # fmt: skip
