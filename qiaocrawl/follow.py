"""Which links of a page enter the frontier, in which queue and with what score."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from qiaocrawl.frontier import LinkContext, Strategy
from qiaocrawl.items import Candidate, Lease, Link, PageAnalysis, Queue
from qiaocrawl.urls import host_of, in_site, url_key

MAX_REDIRECTS = 20
"""Hops of one chain, as browsers and RFC 9110's readers bound it."""


@dataclass(frozen=True, slots=True)
class FollowPolicy:
    """The bounds of one crawl.

    Attributes:
        sites: hosts of the sites crawled deep; a link to one of them (or a subdomain)
            is followed, every other link is left.
        max_depth: links followed from a start page; 0 = no limit.
        max_links: links of one page that enter the frontier; 0 = no limit.
    """

    sites: frozenset[str]
    max_depth: int = 0
    max_links: int = 0

    def covers(self, host: str) -> bool:
        """Whether *host* belongs to a site of this crawl."""
        return any(in_site(host, site) for site in self.sites)


@dataclass(frozen=True, slots=True)
class Followed:
    """The candidates of one page and, by reason, how many links were left."""

    candidates: tuple[Candidate, ...]
    left: Counter[str]


Fresh = Callable[[bytes, float], bool]
"""Whether a link of this key and score is worth proposing; False for what is known as well."""


def follow_links(
    lease: Lease,
    analysis: PageAnalysis,
    policy: FollowPolicy,
    strategy: Strategy,
    *,
    fresh: Fresh,
    now: float,
) -> Followed:
    """Turn the links of an analysed page into candidates of the ``site`` queue.

    *now* is epoch seconds. Links beyond the bounds are counted, never queued.
    """
    left: Counter[str] = Counter(too_many=analysis.links_left)
    links = list(analysis.links)
    if analysis.refresh_url:
        links.insert(0, link_to(analysis.refresh_url))
    if analysis.nofollow:
        left["nofollow"] = len(links)
        return Followed((), left)
    covered = {host: policy.covers(host) for host in {link.host for link in links}}
    inside = [link for link in links if covered[link.host]]
    left["offsite"] = len(links) - len(inside)
    if policy.max_depth and lease.depth >= policy.max_depth:
        left["too_deep"] = len(inside)
        return Followed((), left)
    if policy.max_links and len(inside) > policy.max_links:
        left["too_many"] += len(inside) - policy.max_links
        inside = inside[: policy.max_links]
    relevance = max((r.score for r in analysis.relevance if r.topic == lease.topic), default=0.0)
    candidates = []
    for position, link in enumerate(inside):
        context = LinkContext(lease.depth + 1, position, len(inside), now, relevance)
        score = strategy.score(link, context)
        # Most links of a page are known: asking before building saves a tenth of a crawl.
        if fresh(link.key, score):
            candidates.append(_candidate(lease, link, score))
    left["known"] = len(inside) - len(candidates)
    return Followed(tuple(candidates), left)


def _candidate(lease: Lease, link: Link, score: float) -> Candidate:
    return Candidate(
        url=link.url, key=link.key, host=link.host, queue=Queue.SITE, topic=lease.topic,
        score=score, depth=lease.depth + 1, parent=lease.key, anchor=link.anchor,
        context=link.context,
    )


def seed_candidate(
    canonical: str, queue: Queue, topic: str, strategy: Strategy, *, rearm: bool
) -> Candidate:
    """A start page; *rearm* fetches it again although it was done before."""
    link = link_to(canonical)
    context = LinkContext(
        depth=0, position=0, links_on_page=1, discovered_at=time.time(), parent_relevance=0.0
    )
    return Candidate(
        url=link.url, key=link.key, host=link.host, queue=queue, topic=topic,
        score=strategy.score(link, context), rearm=rearm,
    )


def follow_redirect(lease: Lease, target: str, policy: FollowPolicy) -> Candidate | None:
    """The candidate a redirect leads to, with the rank of the URL it came from.

    A redirect of a deep crawl that leaves its sites gives None: the scope of a crawl is the
    operator's, not a server's. So does the end of a chain that is too long.
    """
    link = link_to(target)
    hops = int(str(lease.payload.get("hops", 0))) + 1
    outside = lease.queue is Queue.SITE and not policy.covers(link.host)
    if outside or hops > MAX_REDIRECTS:
        return None
    return Candidate(
        url=link.url, key=link.key, host=link.host, queue=lease.queue, topic=lease.topic,
        score=lease.score, depth=lease.depth, parent=lease.key, anchor=lease.anchor,
        payload={"hops": hops},
    )


def link_to(canonical: str) -> Link:
    """A bare link to an already canonical URL."""
    return Link(url=canonical, key=url_key(canonical), host=host_of(canonical))


