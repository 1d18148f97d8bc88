"""Which links of a page enter the frontier, in which queue and with what score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace

from qiaocrawl.discovery.pagers import PAGE_TAG
from qiaocrawl.discovery.rules import LinkRules, url_source_payload
from qiaocrawl.discovery.static_traps import TRAP
from qiaocrawl.discovery.url_sources import FEED_TAG, SITEMAP_TAG
from qiaocrawl.items import (
    FAR_ENTRIES,
    PRUNED,
    SEED_SCORE,
    Candidate,
    Lease,
    LeftOut,
    Link,
    Outcome,
    PageAnalysis,
    Payload,
    Queue,
    Visit,
)
from qiaocrawl.storage.frontier.url_aliases import AS_WRITTEN
from qiaocrawl.urls import host_of, in_site, url_key

MAX_REDIRECTS = 20
"""Hops of one chain, as browsers and RFC 9110's readers bound it."""

_NAMED_HOSTS = 12
"""In a reason, which has room for as many."""

NOFOLLOW = "the page asks that its links are not followed (nofollow)"
"""No guess: such a link is listed, and waits when a page leads to it that does not ask so."""


@dataclass(frozen=True, slots=True)
class FollowPolicy:
    """The bounds of one crawl.

    Attributes:
        sites: hosts of the sites crawled deep; a link to one of them (or a subdomain)
            is followed, every other link is left.
        max_depth: links followed from a start page; 0 = no limit.
        max_links: links of one page that enter the frontier; 0 = no limit. Entries of sitemaps
            and feeds have a bound of their own.
        rules: of URL sources and traps; None: no sitemaps, no feeds, and no trap is known.
        across: follow links to any host, not only to *sites*.
    """

    sites: frozenset[str]
    max_depth: int = 0
    max_links: int = 0
    rules: LinkRules | None = field(default=None, compare=False, repr=False)
    across: bool = False

    def covers(self, host: str) -> bool:
        """Whether *host* belongs to a site of this crawl."""
        return self.across or any(in_site(host, site) for site in self.sites)


@dataclass(frozen=True, slots=True)
class LinkSelection:
    """The result of choosing among the links of one page.

    Attributes:
        candidates: what is new, in document order; what is left out is to be stored as such.
        left_by_reason: how many links were left, by reason.
        visit: the page as its strategy saw it, with all links that are followed now.
    """

    candidates: tuple[Candidate, ...]
    left_by_reason: Counter[str]
    visit: Visit


LinkScores = Callable[[Visit], Sequence[float]]
"""The scores of a fetched page's links, in order; PRUNED for those to leave."""

Fresh = Callable[[bytes, float], bool]
"""Whether a link of this key and score is worth proposing; False for what is known as well.

It is only a question: the database may still refuse what is proposed.
"""

WhyPruned = Callable[[Visit, int], str]
"""In words, why the link at this place of a page is left out; not empty."""


def follow_links(
    lease: Lease,
    analysis: PageAnalysis,
    policy: FollowPolicy,
    scores: LinkScores,
    *,
    fresh: Fresh,
    why_pruned: WhyPruned,
    now: float,
) -> LinkSelection:
    """Turn the links of an analysed page into candidates of the ``site`` queue.

    *now* is epoch seconds. Links beyond the bounds are counted, never queued; the strategy is
    told of the page nevertheless. Other parts of the page's own article are no step deeper:
    they come first, with its rank, in its queue.
    """
    # Starts with the links the analysis has cut off already.
    left: Counter[str] = Counter(too_many=analysis.links_left)
    parts = {} if analysis.nofollow else _other_parts(lease, analysis)
    candidates = [
        candidate for candidate in parts.values() if fresh(candidate.key, candidate.score)
    ]
    left["known"] = len(parts) - len(candidates)
    inside = _within_bounds(lease, analysis, policy, parts, left)
    later = [link for link in inside if link.postponed or link.same_as]
    inside = [link for link in inside if not (link.postponed or link.same_as)]
    visit = visit_of(lease, analysis, inside, now)
    # Most links of a page are known: asking before building saves a tenth of a crawl.
    for place, (link, score) in enumerate(zip(inside, scores(visit), strict=True)):
        left["pruned"] += score == PRUNED
        if fresh(link.key, score):
            pruned = LeftOut(Outcome.PRUNED, why_pruned(visit, place)) if score == PRUNED else None
            candidates.append(_candidate(lease, link, score, pruned))
        elif score != PRUNED:
            left["known"] += 1
    left["other_spelling"] = sum(bool(link.same_as) for link in later)
    left["postponed"] = len(later) - left["other_spelling"] - left["nofollow"]
    # What is put off ranks as its page does; a plain link to it is news, whatever its score.
    score = lease.score if lease.score < SEED_SCORE else 0.0
    candidates += [
        _candidate(lease, link, score, _guess_outcome(link))
        for link in later
        if fresh(link.key, PRUNED)
    ]
    return LinkSelection(tuple(candidates), left, visit)


def _within_bounds(
    lease: Lease,
    analysis: PageAnalysis,
    policy: FollowPolicy,
    parts: Container[bytes],
    left: Counter[str],
) -> list[Link]:
    """The links a crawl may follow, each URL once; the others are counted in *left*."""
    links = [link for link in analysis.links if link.key not in parts]
    if analysis.refresh_url:
        # A page that refreshes to another place leads there first of all.
        target = link_to(analysis.refresh_url)
        links = [target, *(link for link in links if link.key != target.key)]
    # Once a host, since a page of 500 links names few.
    covered = {host: policy.covers(host) for host in {link.host for link in links}}
    inside = [link for link in links if covered[link.host]]
    left["offsite"] = len(links) - len(inside)
    if analysis.nofollow:
        left["nofollow"] = len(inside)
        inside = [replace(link, postponed=NOFOLLOW) for link in inside]
    elif policy.rules is not None:
        inside, cut = policy.rules.keep(lease, analysis, inside)
        left.update(cut)
    else:
        # Without rules nothing limits them, so feeds and sitemaps stay out.
        inside = [link for link in inside if link.tag not in (FEED_TAG, SITEMAP_TAG)]
    if policy.max_depth and lease.depth >= policy.max_depth:
        # Its list goes on here, so that the last level is read whole.
        here = [link for link in inside if _is_as_deep(link)]
        left["too_deep"] = len(inside) - len(here)
        inside = here
    is_listed = analysis.outcome in (Outcome.SITEMAP, Outcome.FEED)
    if policy.max_links and not is_listed and len(inside) > policy.max_links:
        left["too_many"] += len(inside) - policy.max_links
        # Those that can be fetched now take the places first; sorted() keeps the order
        # of the page.
        now_first = sorted(inside, key=lambda link: bool(link.postponed or link.same_as))
        inside = now_first[: policy.max_links]
    return inside


def far_entries(analysis: PageAnalysis, policy: FollowPolicy) -> tuple[int, str]:
    """How many entries of a feed or sitemap lie beyond the crawl, and what to say of them.

    Nothing else tells of them: no row is made for a link that the crawl does not cover.
    """
    if analysis.outcome not in (Outcome.FEED, Outcome.SITEMAP):
        return 0, ""
    hosts = Counter(link.host for link in analysis.links if not policy.covers(link.host))
    if not hosts:
        return 0, ""
    named = [host for host, _ in hosts.most_common(_NAMED_HOSTS)]
    more = f" and {len(hosts) - len(named)} more" if len(hosts) > len(named) else ""
    return hosts.total(), f"{hosts.total()} {FAR_ENTRIES} {', '.join(named)}{more}"


def visit_of(lease: Lease, analysis: PageAnalysis, links: Sequence[Link], now: float) -> Visit:
    """What a strategy is told of the fetched page of *lease* and those *links* of it."""
    judged = [judgement for judgement in analysis.page_relevance if judgement.topic == lease.topic]
    return Visit(
        key=lease.key,
        url=lease.url,
        host=lease.host,
        depth=lease.depth,
        relevance=judged[0].score if judged else 0.0,
        relevant=bool(judged) and judged[0].relevant,
        at=now,
        links=links,
    )


def _other_parts(lease: Lease, analysis: PageAnalysis) -> dict[bytes, Candidate]:
    """The other parts of the page's article by key, also those its pager leaves out.

    {} for a page that was itself proposed as a part of another article: its parts are links
    like others, or a chain of such pages would never get deeper.
    """
    part = analysis.part
    if part is None:
        return {}
    first = url_key(part.urls[0]).hex()
    if lease.payload.part_of not in ("", first):
        return {}
    links = (link_to(url) for n, url in enumerate(part.urls, start=1) if n != part.number)
    # Another host would be another site's page, whatever the pager says.
    own_host = link_to(part.urls[part.number - 1]).host
    return {
        link.key: Candidate(
            url=link.url,
            key=link.key,
            host=link.host,
            queue=lease.queue,
            topic=lease.topic,
            score=lease.score,
            depth=lease.depth,
            parent=lease.key,
            anchor=lease.anchor,
            payload=Payload(part_of=first),
        )
        for link in links
        if link.key != lease.key and link.host == own_host
    }


def _guess_outcome(link: Link) -> LeftOut:
    """The outcome and reason that a guess of discovery gives to *link*."""
    if link.same_as:
        return LeftOut(Outcome.ALIAS, f"fetched as {link.same_as}", url_key(link.same_as))
    if link.postponed == NOFOLLOW:
        return LeftOut(Outcome.PRUNED, NOFOLLOW)
    is_of_trap = link.postponed.startswith(TRAP)
    return LeftOut(Outcome.TRAP if is_of_trap else Outcome.POSTPONED, link.postponed)


def _is_as_deep(link: Link) -> bool:
    """Whether *link* is no deeper than its page: its list goes on, or a sitemap names another."""
    return link.tag in (SITEMAP_TAG, PAGE_TAG)


def _candidate(lease: Lease, link: Link, score: float, left_out: LeftOut | None) -> Candidate:
    return Candidate(
        url=link.url,
        key=link.key,
        host=link.host,
        queue=Queue.SITE,
        topic=lease.topic,
        score=score,
        depth=lease.depth + (not _is_as_deep(link)),
        parent=lease.key,
        anchor=link.anchor,
        context=link.context,
        left_out=left_out,
        payload=url_source_payload(lease, link),
    )


def seed_candidate(canonical: str, queue: Queue, topic: str, *, refetch: bool) -> Candidate:
    """A start page; *refetch* fetches it again although it was done before."""
    link = link_to(canonical)
    return Candidate(
        url=link.url,
        key=link.key,
        host=link.host,
        queue=queue,
        topic=topic,
        score=SEED_SCORE,
        payload=Payload(as_is=AS_WRITTEN),
        refetch=refetch,
    )


def follow_redirect(lease: Lease, target: str, policy: FollowPolicy) -> Candidate | None:
    """The candidate a redirect leads to, with the rank of the URL it came from.

    A redirect of a deep crawl that leaves its sites gives None: the scope of a crawl is the
    operator's, not a server's. So does the end of a chain that is too long.
    """
    link = link_to(target)
    hops = lease.payload.hops + 1
    outside = lease.queue is Queue.SITE and not policy.covers(link.host)
    if outside or hops > MAX_REDIRECTS:
        return None
    return Candidate(
        url=link.url,
        key=link.key,
        host=link.host,
        queue=lease.queue,
        topic=lease.topic,
        score=lease.score,
        depth=lease.depth,
        parent=lease.key,
        anchor=lease.anchor,
        payload=Payload(
            # These fields hold for the target as well: it is that part, or that hit.
            hops=hops,
            part_of=lease.payload.part_of,
            asked_site=lease.payload.asked_site,
        ),
    )


def link_to(canonical: str) -> Link:
    """A bare link to an already canonical URL."""
    return Link(url=canonical, key=url_key(canonical), host=host_of(canonical))
