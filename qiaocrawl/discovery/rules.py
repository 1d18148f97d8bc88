"""Which links of a page a deep crawl may follow: entrances, pagers, traps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from qiaocrawl.discovery.page_seen import PageSeen, text_digest
from qiaocrawl.discovery.sitemaps import MAX_LEVELS
from qiaocrawl.discovery.spellings import Spellings
from qiaocrawl.discovery.trap_accounts import Worth
from qiaocrawl.discovery.trap_watch import TrapWatch
from qiaocrawl.discovery.url_sources import ENTRY_TAG, FEED_TAG, SITEMAP_TAG, entry_moment
from qiaocrawl.items import NO_PAYLOAD, Candidate, Lease, Link, Outcome, PageAnalysis, Payload

MAX_FEEDS_PER_HOST = 100
"""Feeds of one host that a run follows; blogs announce one a tag and author **(ours)**."""
# Of the sitemaps that a run reads, so many times as many are kept as rows **(ours)**.
_KEPT_TIMES = 10
_ENTRANCES = (Outcome.SITEMAP, Outcome.FEED)


@dataclass(frozen=True, slots=True)
class EntranceOptions:
    """Which entrances beside links are used.

    Attributes:
        sitemaps, feeds: whether they are read.
        days: entries that changed longer ago are left; 0 = all. Undated ones are kept.
        max_sitemaps: of one host that a run reads before all else is read; 0 = all.
        max_listed: URLs that the sitemaps of one host bring into a run; 0 = all.
    """

    sitemaps: bool = True
    feeds: bool = True
    days: float = 0.0
    max_sitemaps: int = 0
    max_listed: int = 0


class LinkRules:
    """The rules of one crawl; may be used from several threads.

    Args:
        entrances: which are used.
        watch: knows the traps.
    """

    def __init__(self, entrances: EntranceOptions, watch: TrapWatch) -> None:
        self._entrances = entrances
        self.watch = watch
        self._feeds: dict[str, set[str]] = {}
        self._sitemaps: dict[str, dict[str, int]] = {}
        self._listed: Counter[str] = Counter()
        self.full: set[tuple[str, str]] = set()
        """Hosts of which more was listed than is taken up, and the reason as it is counted."""
        self._spellings = Spellings()

    def keep(
        self, lease: Lease, analysis: PageAnalysis, links: Sequence[Link]
    ) -> tuple[list[Link], Counter[str]]:
        """Those of *links* (on the crawl's sites) to follow now or later; why others are left.

        What is of a trap is put off, and counted all the same.
        """
        left: Counter[str] = Counter()
        kept = []
        spelt: dict[bytes, str] = {}
        listed: Counter[str] = Counter()
        for link in links:
            word, closed = self.watch.reason(link.url)
            why = self._bound(link, listed)
            if word:
                left[f"trap/{word}"] += 1
                link = replace(link, postponed=closed)
            if why:
                left[why] += 1
            else:
                kept.append(link if word else self._guessed(lease, analysis, link, spelt))
        return kept, left

    def _guessed(
        self, lease: Lease, analysis: PageAnalysis, link: Link, spelt: dict[bytes, str]
    ) -> Link:
        """*link*, with what guesses make of it."""
        guess = link.postponed
        if link.tag == FEED_TAG:
            guess = self._feed_guess(lease, analysis, link)
        elif link.tag == SITEMAP_TAG:
            too_deep = level_of(lease) >= MAX_LEVELS
            behind = f"sitemaps of {link.host} behind {MAX_LEVELS} indexes"
            guess = behind if too_deep else self.sitemap_postponed(link)
        # What is put off stands for no other spelling.
        same_as = "" if guess else self._spellings.other(link.url, spelt)
        return replace(link, postponed=guess, same_as=same_as) if guess or same_as else link

    def stored(self, links: Sequence[Link]) -> None:
        """*links* that were kept have rows now: from here on they count."""
        for link in links:
            self._spellings.meet(link.url)
            if _is_listed(link):
                self._listed[link.host] += 1

    def refusal(self, lease: Lease) -> str:
        """Why the URL of *lease* is not to be fetched after all; "" to fetch it.

        Start pages and what was asked for by its very address are always fetched.
        """
        if lease.depth == 0 or lease.payload or lease.stored:
            return ""
        return self.watch.reason(lease.url)[1]

    def _bound(self, link: Link, listed: Counter[str]) -> str:
        """Which of the operator's bounds *link* breaks; "" for none."""
        if link.tag == SITEMAP_TAG:
            if not self._entrances.sitemaps:
                return "sitemaps_off"
            return self._age(link) or self.sitemap_fault(link)
        if link.tag == FEED_TAG:
            return "" if self._entrances.feeds else "feeds_off"
        if link.tag == ENTRY_TAG:
            return self._age(link) or self._listed_fault(link, listed)
        return ""

    def sitemap_fault(self, link: Link) -> str:
        """Why the sitemap *link* is left since its host has so many; "" to keep it."""
        known = self._sitemaps.setdefault(link.host, {})
        most = self._entrances.max_sitemaps
        if most and link.url not in known and len(known) >= most * _KEPT_TIMES:
            return self._left_of(link.host, "too_many_sitemaps")
        known.setdefault(link.url, len(known))
        return ""

    def sitemap_postponed(self, link: Link) -> str:
        """Why the sitemap *link*, which is kept, is not read yet; "" to read it."""
        most = self._entrances.max_sitemaps
        if not most or link.tag != SITEMAP_TAG or self._sitemaps[link.host][link.url] < most:
            return ""
        self.full.add((link.host, "sitemaps_postponed"))
        return f"more than {most} sitemaps of {link.host}"

    def _listed_fault(self, link: Link, listed: Counter[str]) -> str:
        """Also counts *link* among those *listed* by the same sitemap."""
        if not _is_listed(link):
            return ""
        most = self._entrances.max_listed
        if most and self._listed[link.host] + listed[link.host] >= most:
            return self._left_of(link.host, "too_many_listed")
        listed[link.host] += 1
        return ""

    def _left_of(self, host: str, why: str) -> str:
        self.full.add((host, why))
        return why

    def _feed_guess(self, lease: Lease, analysis: PageAnalysis, link: Link) -> str:
        # Blogs announce a feed of comments on every article.
        if analysis.outcome in (Outcome.ARTICLE, Outcome.PART) and lease.depth:
            return f"feeds of {link.host} that articles announce"
        known = self._feeds.setdefault(link.host, set())
        if link.url not in known and len(known) >= MAX_FEEDS_PER_HOST:
            return f"feeds of {link.host} beyond {MAX_FEEDS_PER_HOST}"
        known.add(link.url)
        return ""

    def _age(self, link: Link) -> str:
        if not self._entrances.days:
            return ""
        at = entry_moment(link.context)
        if at is None:
            return ""
        age_days = (datetime.now(UTC) - at).total_seconds() / 86400
        return "entry_too_old" if age_days > self._entrances.days else ""

    def learn(
        self, lease: Lease, analysis: PageAnalysis, links: Sequence[Link],
        candidates: Sequence[Candidate], *, trial: str = "",
    ) -> list[str]:
        """Let the watch have a page; the groups this cuts.

        Args:
            links: of it on the sites that are followed.
            candidates: what of its links was seen for the first time, also what is left out.
            trial: for what reason it had been closed before it was taken up.
        """
        keys = {one.key for one in candidates}
        closed = [one.url for one in candidates
                  if one.left_out is not None and one.left_out.outcome is Outcome.TRAP]
        new = frozenset(link.url for link in links if link.key in keys)
        if analysis.outcome in _ENTRANCES:
            self.watch.listed([*new, *closed])
            return []
        if analysis.outcome is Outcome.LIST:
            self.watch.listed(closed, lease.url)
        return self.watch.learn(PageSeen(
            lease.url, worth_of(analysis, lease.topic), digest_of(analysis),
            [link.url for link in links], new, analysis.text_sample, closed, trial,
        ))  # fmt: skip


def _is_listed(link: Link) -> bool:
    return link.tag == ENTRY_TAG and link.region == SITEMAP_TAG


def worth_of(analysis: PageAnalysis, topic: str) -> Worth:
    """What the page of *analysis* is to its group, in a crawl of *topic*."""
    if analysis.outcome in (Outcome.ARTICLE, Outcome.PART):
        article = analysis.article
        judged = any(one.relevant for one in analysis.relevance if one.topic == topic)
        dated = article is not None and article.published_at is not None
        return Worth.STORY if judged or dated else Worth.WEAK
    if analysis.outcome is Outcome.LIST:
        return Worth.LIST
    return Worth.GONE if analysis.outcome is Outcome.SOFT_404 else Worth.NOTHING


def digest_of(analysis: PageAnalysis) -> bytes:
    """What tells that two addresses show one article; b"" for what is none."""
    article = analysis.article
    return text_digest(article.title, analysis.body_digest) if article is not None else b""


def level_of(lease: Lease) -> int:
    """How many indexes led to the sitemap of *lease*."""
    return lease.payload.sitemap or 0


def entrance_payload(lease: Lease, link: Link) -> Payload:
    """The payload of a row for *link*: a sitemap remembers how deep it stands."""
    return Payload(sitemap=level_of(lease) + 1) if link.tag == SITEMAP_TAG else NO_PAYLOAD
