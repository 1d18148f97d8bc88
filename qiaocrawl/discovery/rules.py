"""Which links of a page a deep crawl may follow: URL sources, pagers, traps."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache

from qiaocrawl.discovery.trap_scores import PageValue
from qiaocrawl.discovery.trap_watch import PageEvidence, TrapWatch, text_digest
from qiaocrawl.discovery.url_sources import (
    ENTRY_TAG,
    FEED_TAG,
    MAX_LEVELS,
    SITEMAP_TAG,
    entry_moment,
)
from qiaocrawl.items import NO_PAYLOAD, Candidate, Lease, Link, Outcome, PageAnalysis, Payload
from qiaocrawl.urls import url_key

# --- Spellings of one address that stay distinct in canonical form, as on a few servers (F-T6) ----
# A folder and its default page, double slashes, a bare ``sid=``: a crawl follows the one it
# meets first. No URL is rewritten: the server gets the spelling that was found. A file under its
# plain name is not remembered (most URLs are one): linked with ``sid=`` later, it is fetched again.

# "/index.html", "/Default.aspx", "/index.php5" at the end of a path.
_DEFAULT_PAGE = re.compile(
    r"/(?:index|default)\.(?:html?|aspx?|php\d?|phtml|cfm|cgi|jsp[xa]?|jsf|shtml)$", re.IGNORECASE
)
# "sid=3f2a": a session of forum software that was written into links.
_SESSION = re.compile(r"(?:^|(?<=&))sid=[0-9a-zA-Z]+(?:&|$)", re.IGNORECASE)
_SLASHES = re.compile(r"/{2,}")
_MAX_KNOWN = 200_000


def plain_spelling(canonical: str) -> str:
    """The one spelling that stands for all spellings of a page; it need not be linked anywhere."""
    scheme, _, rest = canonical.partition("://")
    rest, mark, query = rest.partition("?")
    path = _DEFAULT_PAGE.sub("/", _SLASHES.sub("/", rest))
    # rstrip: the session may have been the last parameter.
    if query and (plain_query := _SESSION.sub("", query).rstrip("&")) != query:
        mark, query = ("?" if plain_query else ""), plain_query
    return f"{scheme}://{path}{mark}{query}"


class Spellings:
    """Remembers which spelling of a page has a row; thread-safe."""

    def __init__(self) -> None:
        self._first: dict[bytes, str] = {}
        self._lock = threading.Lock()

    def earlier_spelling(self, url: str, here: dict[bytes, str]) -> str:
        """The spelling under which the page of canonical *url* was met before; "" for this one.

        Args:
            here: spellings met on the same page, which has not been stored yet; added to.
        """
        plain = _plain_key(url)
        if plain is None:
            return ""
        with self._lock:
            first = self._first.get(plain)
        first = here.setdefault(plain, url) if first is None else first
        return first if first != url else ""

    def remember(self, urls: Iterable[str]) -> None:
        """Remember that canonical *urls* have rows: their spelling is the one to follow."""
        spelt = [(plain, url) for url in urls if (plain := _plain_key(url)) is not None]
        if not spelt:
            return
        with self._lock:
            for plain, url in spelt:
                self._first.setdefault(plain, url)
                if len(self._first) > _MAX_KNOWN:
                    # The oldest is dropped; its page may then be fetched under two spellings.
                    del self._first[next(iter(self._first))]


# Cached: the links of a site's navigation stand on every page, and each is asked for twice a page.
@lru_cache(maxsize=8_192)
def _plain_key(url: str) -> bytes | None:
    """The key of a page whatever its spelling; None where there can be no other one."""
    plain = plain_spelling(url)
    # Only folders, queries and unusual spellings can have another one: most URLs need no entry.
    if plain == url and not url.endswith("/") and "?" not in url:
        return None
    return url_key(plain)


# --- Which links of a page a deep crawl may follow: URL sources, pagers, traps --------------------

MAX_FEEDS_PER_HOST = 100
"""Feeds of one host that a run follows; blogs announce one a tag and author **(ours)**."""
# So many times the sitemaps that a run reads are kept as waiting rows **(ours)**.
_KEPT_TIMES = 10
_URL_SOURCE_TAGS = frozenset((SITEMAP_TAG, FEED_TAG, ENTRY_TAG))
_URL_SOURCES = (Outcome.SITEMAP, Outcome.FEED)


@dataclass(frozen=True, slots=True)
class UrlSourceOptions:
    """Which sources of URLs are used beside links.

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
        url_sources: which are used.
        watch: knows the traps.
    """

    def __init__(self, url_sources: UrlSourceOptions, watch: TrapWatch) -> None:
        self._url_sources = url_sources
        self.watch = watch
        self._feeds: dict[str, set[str]] = {}
        self._sitemaps: dict[str, dict[str, int]] = {}
        self._listed: Counter[str] = Counter()
        self.full: set[tuple[str, str]] = set()
        """Hosts that listed more than is taken up, with the reason under which it is counted."""
        self._spellings = Spellings()

    def keep(
        self, lease: Lease, analysis: PageAnalysis, links: Sequence[Link]
    ) -> tuple[list[Link], Counter[str]]:
        """The *links* (on the crawl's sites) to follow now or later, and why others are skipped.

        Links into a trap are postponed, but counted like skipped ones.
        """
        left: Counter[str] = Counter()
        allowed = []
        spelt: dict[bytes, str] = {}
        listed: Counter[str] = Counter()
        for link in links:
            word, closed = self.watch.reason(link.url)
            why = self._bound(link, listed) if link.tag in _URL_SOURCE_TAGS else ""
            # The operator's bounds also hold for what a trap's reason postpones.
            if word:
                left[f"trap/{word}"] += 1
                link = replace(link, postponed=closed)
            if why:
                left[why] += 1
            # A trap is postponed as a trap; no other reason is looked for.
            else:
                allowed.append(link if word else self._postpone_guess(lease, analysis, link, spelt))
        return allowed, left

    def _postpone_guess(
        self, lease: Lease, analysis: PageAnalysis, link: Link, spelt: dict[bytes, str]
    ) -> Link:
        """*link*, postponed or noted as another spelling where a guess of discovery says so."""
        guess = link.postponed
        if link.tag == FEED_TAG:
            guess = self._feed_guess(lease, analysis, link)
        elif link.tag == SITEMAP_TAG:
            too_deep = level_of(lease) >= MAX_LEVELS
            behind = f"sitemaps of {link.host} behind {MAX_LEVELS} indexes"
            guess = behind if too_deep else self.sitemap_postponed(link)
        # A postponed link may never be fetched, so no other spelling may wait for it.
        same_as = "" if guess else self._spellings.earlier_spelling(link.url, spelt)
        return replace(link, postponed=guess, same_as=same_as) if guess or same_as else link

    def note_stored(self, links: Sequence[Link]) -> None:
        """Count *links*: they have been stored as rows."""
        self._spellings.remember([link.url for link in links])
        self._listed.update(link.host for link in links if _is_listed(link))

    def refusal(self, lease: Lease) -> str:
        """Why the URL of *lease* must not be fetched after all; "" to fetch it.

        Start pages, and URLs that were asked for by their exact address, are always fetched.
        """
        if lease.depth == 0 or lease.payload or lease.stored:
            return ""
        return self.watch.reason(lease.url)[1]

    def _bound(self, link: Link, listed: Counter[str]) -> str:
        """Which of the operator's bounds *link* breaks; "" for none."""
        if link.tag == SITEMAP_TAG:
            if not self._url_sources.sitemaps:
                return "sitemaps_off"
            return self._age(link) or self.sitemap_fault(link)
        if link.tag == FEED_TAG:
            return "" if self._url_sources.feeds else "feeds_off"
        if link.tag == ENTRY_TAG:
            return self._age(link) or self._listed_fault(link, listed)
        return ""

    def sitemap_fault(self, link: Link) -> str:
        """Why the sitemap *link* is left since its host has so many; "" to keep it."""
        places = self._sitemaps.setdefault(link.host, {})
        limit = self._url_sources.max_sitemaps
        # A sitemap already counted stays, whichever index names it again.
        if limit and link.url not in places and len(places) >= limit * _KEPT_TIMES:
            return self._left_of(link.host, "too_many_sitemaps")
        places.setdefault(link.url, len(places))
        return ""

    def sitemap_postponed(self, link: Link) -> str:
        """Why the sitemap *link*, which is kept, is not read yet; "" to read it."""
        limit = self._url_sources.max_sitemaps
        # By its number among those of its host, in the order they were met.
        if not limit or link.tag != SITEMAP_TAG or self._sitemaps[link.host][link.url] < limit:
            return ""
        self.full.add((link.host, "sitemaps_postponed"))
        return f"more than {limit} sitemaps of {link.host}"

    def _listed_fault(self, link: Link, listed: Counter[str]) -> str:
        """Also counts *link* among those *listed* by the same sitemap."""
        if not _is_listed(link):
            return ""
        limit = self._url_sources.max_listed
        # Those of this page are not in _listed yet: they are added once they are stored.
        if limit and self._listed[link.host] + listed[link.host] >= limit:
            return self._left_of(link.host, "too_many_listed")
        listed[link.host] += 1
        return ""

    def _left_of(self, host: str, why: str) -> str:
        self.full.add((host, why))
        return why

    def _feed_guess(self, lease: Lease, analysis: PageAnalysis, link: Link) -> str:
        # Blogs announce a feed of comments on every article: thousands of feeds, no news.
        if analysis.outcome in (Outcome.ARTICLE, Outcome.PART) and lease.depth:
            return f"feeds of {link.host} that articles announce"
        feeds = self._feeds.setdefault(link.host, set())
        # A known feed is kept, however many there are by now.
        if link.url not in feeds and len(feeds) >= MAX_FEEDS_PER_HOST:
            return f"feeds of {link.host} beyond {MAX_FEEDS_PER_HOST}"
        feeds.add(link.url)
        return ""

    # Undated entries are kept: nothing says that they are old.
    def _age(self, link: Link) -> str:
        if not self._url_sources.days:
            return ""
        at = entry_moment(link.context)
        if at is None:
            return ""
        age_days = (datetime.now(UTC) - at).total_seconds() / 86400
        return "entry_too_old" if age_days > self._url_sources.days else ""

    def learn(
        self,
        lease: Lease,
        analysis: PageAnalysis,
        links: Sequence[Link],
        candidates: Sequence[Candidate],
        *,
        trial: str = "",
    ) -> list[str]:
        """Let the trap watch learn from a page; returns the groups this cuts.

        Args:
            links: of it on the sites that are followed.
            candidates: its links that were seen for the first time, including those left out.
            trial: the reason for which it was closed before it was taken up.
        """
        keys = {candidate.key for candidate in candidates}
        closed = [
            candidate.url
            for candidate in candidates
            # Only rows closed as traps: what a strategy pruned says nothing about traps.
            if candidate.left_out is not None and candidate.left_out.outcome is Outcome.TRAP
        ]
        new = frozenset(link.url for link in links if link.key in keys)
        # A sitemap names URLs and is no page of a group.
        if analysis.outcome in _URL_SOURCES:
            self.watch.note_listed([*new, *closed])
            return []
        # Lists are noted separately, since lists of another form prove a section.
        if analysis.outcome is Outcome.LIST:
            self.watch.note_listed(closed, lease.url)
        return self.watch.learn(
            PageEvidence(
                lease.url,
                page_value(analysis, lease.topic),
                digest_of(analysis),
                [link.url for link in links],
                new,
                analysis.text_sample,
                closed,
                trial,
            )
        )


def _is_listed(link: Link) -> bool:
    return link.tag == ENTRY_TAG and link.region == SITEMAP_TAG


def page_value(analysis: PageAnalysis, topic: str) -> PageValue:
    """The value of the page of *analysis* for its group, in a crawl of *topic*."""
    if analysis.outcome in (Outcome.ARTICLE, Outcome.PART):
        article = analysis.article
        judged = any(
            judgement.relevant for judgement in analysis.relevance if judgement.topic == topic
        )
        dated = article is not None and article.published_at is not None
        # An article without topic and date may be made up (see trap_scores).
        return PageValue.STORY if judged or dated else PageValue.WEAK
    if analysis.outcome is Outcome.LIST:
        return PageValue.LIST
    return PageValue.GONE if analysis.outcome is Outcome.SOFT_404 else PageValue.NOTHING


def digest_of(analysis: PageAnalysis) -> bytes:
    """A digest that is equal where two addresses show one article; b"" for other pages."""
    article = analysis.article
    return text_digest(article.title, analysis.body_digest) if article is not None else b""


def level_of(lease: Lease) -> int:
    """How many indexes led to the sitemap of *lease*."""
    return lease.payload.sitemap or 0


def url_source_payload(lease: Lease, link: Link) -> Payload:
    """The payload of a row for *link*: a sitemap remembers how deep it stands."""
    return Payload(sitemap=level_of(lease) + 1) if link.tag == SITEMAP_TAG else NO_PAYLOAD
