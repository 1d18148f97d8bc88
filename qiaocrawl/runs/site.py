"""What one crawl of sites knows of their URL sources, lists, traps and missing pages.

Between the pure rules of :mod:`qiaocrawl.discovery` and the database; used on the event loop,
except for its link rules, which the thread of the crawl order uses too.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Connection

from qiaocrawl.discovery.pagers import DRY_PAGES, PAGE_TAG, ListBound, Pager, pager_of
from qiaocrawl.discovery.rules import LinkRules, UrlSourceOptions
from qiaocrawl.discovery.soft_404 import (
    MissingPage,
    as_missing,
    is_missing,
    missing_page,
    probe_url,
)
from qiaocrawl.discovery.static_traps import UrlLimits
from qiaocrawl.discovery.trap_watch import TrapWatch
from qiaocrawl.discovery.url_sources import SITEMAP_TAG, robots_sitemaps
from qiaocrawl.items import (
    SEED_SCORE,
    Candidate,
    Lease,
    LeftOut,
    Link,
    Outcome,
    PageAnalysis,
    Payload,
    Queue,
)
from qiaocrawl.options import Options
from qiaocrawl.runtime.follow_links import FollowPolicy, LinkSelection, link_to
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.pages.sites import (
    FRESH_SECONDS,
    known_keys,
    let_wait_again,
    load_missing_pages,
    load_pattern_scores,
    save_pattern_scores,
)
from qiaocrawl.urls import canonical_host, canonical_url

logger = logging.getLogger(__name__)

_PAGES_BETWEEN_SAVES = 10
_DRY = f"{DRY_PAGES} pages in a row brought nothing new"
_FULL = {
    "sitemaps_postponed": ("QIAO_MAX_SITEMAPS_PER_HOST", "others wait until nothing else does"),
    "too_many_sitemaps": ("QIAO_MAX_SITEMAPS_PER_HOST", "ten times as many wait, the rest is left"),
    "too_many_listed": ("QIAO_MAX_LISTED_PER_HOST", "the rest is left in this run"),
}
# Outcomes of pages that show something; others cannot be mistaken for a page that exists.
_COMPARED = (Outcome.ARTICLE, Outcome.PART, Outcome.LIST, Outcome.NOT_ARTICLE)

Save = Callable[[Connection], None]


@dataclass(frozen=True, slots=True)
class Turned:
    """A page after the rules of lists, ``left`` of its links put off; whether its list is dry."""

    analysis: PageAnalysis
    left: int = 0
    ended: bool = False


def link_rules(options: Options, *, learns: bool = True) -> LinkRules:
    """The rules *options* ask for.

    Args:
        learns: use URL sources and learn of traps; off, only single URLs are judged.
    """
    limits = UrlLimits(
        chars=options["QIAO_MAX_URL_CHARS"],
        path_depth=options["QIAO_MAX_PATH_DEPTH"],
        parameters=options["QIAO_MAX_PARAMETERS"],
        # A URL dated later than next year is a calendar's, not an article's.
        latest_year=datetime.now(UTC).year + 1,
    )
    url_sources = UrlSourceOptions(
        sitemaps=learns and options["QIAO_SITEMAPS"],
        feeds=learns and options["QIAO_FEEDS"],
        days=options["QIAO_LISTED_MAX_AGE_DAYS"],
        max_sitemaps=options["QIAO_MAX_SITEMAPS_PER_HOST"],
        max_listed=options["QIAO_MAX_LISTED_PER_HOST"],
    )
    watch = TrapWatch(
        limits, options["QIAO_TRAPS_ALLOWED"], learns=learns and options["QIAO_TRAPS"]
    )
    return LinkRules(url_sources, watch)


def site_discovery(
    runtime: Runtime, topic: str, policy: FollowPolicy, starts: Collection[str]
) -> SiteDiscovery:
    """The discovery of a crawl of *topic* within *policy*, with what former runs learnt."""
    assert policy.rules is not None, "a crawl of sites has rules"
    discovery = SiteDiscovery(runtime, topic, policy.rules, starts)
    discovery.load()
    return discovery


class SiteDiscovery:
    """The discovery of one crawl of sites.

    Args:
        rules: of its links.
        starts: canonical start pages.
    """

    def __init__(
        self, runtime: Runtime, topic: str, rules: LinkRules, starts: Collection[str]
    ) -> None:
        self._options = runtime.options
        self._runtime = runtime
        self._topic = topic
        self.rules = rules
        self._start_hosts = {canonical_host(url) for url in starts}
        self._asked: set[str] = set()
        self._missing: dict[str, MissingPage] = {}
        self._lists = ListBound()
        self._unsaved = 0
        self._told_full: set[tuple[str, str]] = set()

    def load(self) -> None:
        """Read what former runs learnt."""
        since = time.time() - FRESH_SECONDS
        self.rules.watch.restore(
            self._runtime.reader.run(partial(load_pattern_scores, since=since))
        )
        pages = self._runtime.reader.run(partial(load_missing_pages, since=since))
        self._missing.update((page.host, page) for page in pages)
        again = self._runtime.write_now(partial(let_wait_again, is_allowed=self._is_none_now))
        if again:
            logger.info("%d URLs closed as traps wait again", again)

    def _is_none_now(self, url: str) -> bool:
        """Whether *url* is in no trap now: options changed, or its group was reopened."""
        return not self.rules.watch.reason(url)[0]

    # --- URL sources --------------------------------------------------------------------------

    def robots_read(self, url: str, body: bytes, policy: FollowPolicy) -> list[Candidate]:
        """What to ask a host for, once its robots.txt at *url* was read: sitemaps, the probe."""
        base = canonical_url(url)
        if base is None or base in self._asked or not policy.covers(canonical_host(base)):
            return []
        self._asked.add(base)
        candidates: list[Candidate] = []
        # Across hosts links decide what is fetched: the lists of every host met would drown them.
        is_start = canonical_host(base) in self._start_hosts
        if self._options["QIAO_SITEMAPS"] and (is_start or not policy.across):
            named = [
                url for url in robots_sitemaps(body, base) if policy.covers(canonical_host(url))
            ]
            # Only for start hosts: guessing at every host met would cost a request each.
            if not named and is_start:
                named = ["/".join(base.split("/", 3)[:3]) + "/sitemap.xml"]
            links = [replace(link_to(url), tag=SITEMAP_TAG) for url in named]
            candidates += [
                replace(self._candidate(link.url, Payload(sitemap=0)), left_out=self._later(link))
                for link in links
                if not self.rules.sitemap_fault(link)
            ]
        # One address that cannot exist shows what this host answers for missing pages.
        if self._options["QIAO_SOFT_404_PROBE"] and canonical_host(base) not in self._missing:
            candidates.append(self._candidate(probe_url(base), Payload(probe=True)))
        return candidates

    def _later(self, sitemap: Link) -> LeftOut | None:
        why = self.rules.sitemap_postponed(sitemap)
        return LeftOut(Outcome.POSTPONED, why) if why else None

    def _candidate(self, url: str, payload: Payload) -> Candidate:
        link = link_to(url)
        return Candidate(
            url=link.url,
            key=link.key,
            host=link.host,
            queue=Queue.SITE,
            topic=self._topic,
            score=SEED_SCORE,
            payload=payload,
        )

    # --- traps ----------------------------------------------------------------------------------

    def learn(
        self, lease: Lease, analysis: PageAnalysis, followed: LinkSelection, new: Collection[bytes]
    ) -> Save | None:
        """Learn from a page and what became of its links, those of the keys *new* stored first.

        Returns:
            An operation that stores what was learnt, when there is enough of it.
        """
        self._tell_full()
        # A probe is no page of the site, so it teaches nothing about traps.
        if lease.payload.probe:
            return None
        watch = self.rules.watch
        cut = self.rules.learn(
            lease,
            analysis,
            followed.visit.links,
            [candidate for candidate in followed.candidates if candidate.key in new],
            trial=lease.payload.taken_up or "",
        )
        self._tell(cut)
        for form in (opened := watch.take_opened()):
            logger.info("no trap after all, all of it waits again: %s", form)
        self._unsaved += 1
        # Saved at once where something was cut or opened: a kill must not lose that.
        if not cut and not opened and self._unsaved < _PAGES_BETWEEN_SAVES:
            return None
        self._unsaved = 0
        scores = watch.take_changes()
        return partial(save_pattern_scores, scores=scores, now=time.time())

    def note_redirect(self, url: str, target: str) -> None:
        """Learn from a redirect of *url*."""
        self._tell(self.rules.watch.note_redirect(url, target))

    def _tell(self, cut: Sequence[str]) -> None:
        for form in cut:
            logger.info(
                "cut as a trap: %s: %s (QIAO_TRAPS_ALLOWED lets it be crawled)",
                form,
                self.rules.watch.describe(form),
            )

    def _tell_full(self) -> None:
        for host, why in sorted(self.rules.full - self._told_full):
            name, what = _FULL[why]
            logger.warning(
                "the sitemaps of %s list more than %s=%d: %s", host, name, self._options[name], what
            )
        self._told_full |= self.rules.full

    # --- missing pages ----------------------------------------------------------------------------

    def judge(
        self, lease: Lease, analysis: PageAnalysis
    ) -> tuple[PageAnalysis, MissingPage | None]:
        """*analysis*, as a soft 404 where it is one; what a probe shows, to be stored with it."""
        if lease.payload.probe:
            # Another outcome, such as 404, is an honest answer: there is nothing to compare.
            if analysis.outcome not in (*_COMPARED, Outcome.SOFT_404):
                # Whatever it links to is ignored: nobody asked for these links.
                return replace(analysis, links=()), None
            page = missing_page(lease.host, analysis)
            if page is None:
                return as_missing(analysis), None
            self._missing[page.host] = page
            return as_missing(analysis), page
        missing = self._missing.get(lease.host)
        # A host may answer missing pages with its home page, which itself is no missing page.
        if missing is None or lease.depth == 0 or analysis.outcome not in _COMPARED:
            return analysis, None
        judged = as_missing(analysis, lease.host) if is_missing(analysis, missing) else analysis
        return judged, None

    def numbers(self) -> dict[str, int]:
        """Figures for the run's statistics."""
        return self.rules.watch.numbers()

    # --- lists ------------------------------------------------------------------------------------

    def pager(self, lease: Lease, analysis: PageAnalysis) -> Pager | None:
        """The paging of a list page; None for other pages."""
        if analysis.outcome is not Outcome.LIST:
            return None
        return pager_of(lease.url, analysis.links)

    def content_keys(
        self, analysis: PageAnalysis, pager: Pager, policy: FollowPolicy
    ) -> list[bytes]:
        """Keys of the links of a list page on the sites, its paging left out."""
        # Paging links lead from one list page to the next, so they are no news.
        own = pager.others | ({pager.next.key} if pager.next is not None else set())
        return [
            link.key for link in analysis.links if link.key not in own and policy.covers(link.host)
        ]

    async def turn(self, lease: Lease, analysis: PageAnalysis, policy: FollowPolicy) -> Turned:
        """Postpone a list's paging links except the next page, and that too if the list is dry."""
        pager = self.pager(lease, analysis)
        if pager is None:
            return Turned(analysis)
        keys = self.content_keys(analysis, pager, policy)
        # Only links nobody has a row for are new; the page before may have shown most of them.
        stored = await self._runtime.read(partial(known_keys, keys=keys))
        should_continue = self._lists.should_continue(
            pager.name,
            brings_new=len(set(keys) - stored) > 0,
            taken_up=lease.payload.taken_up is not None,
        )
        why = dict.fromkeys(pager.others, f"pages of {pager.shown_name} are read in order")
        if pager.next is not None:
            # "" postpones nothing: it is the next page, to be read now.
            why[pager.next.key] = "" if should_continue else f"{pager.shown_name}: {_DRY}"
        turned = tuple(
            replace(link, tag=PAGE_TAG, postponed=why[link.key]) if link.key in why else link
            for link in analysis.links
        )
        ended = pager.next is not None and not should_continue
        left = sum(map(bool, why.values()))
        return Turned(replace(analysis, links=turned), left, ended)
