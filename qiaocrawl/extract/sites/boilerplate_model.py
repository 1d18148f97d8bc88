"""Learns what the pages of a site have in common **(ours)**: observed, counted, forgotten.

Only articles teach. A block counts once for each of them that has another title than the
article it was last seen on, so that a reprint of a story on its own site does not make it
boilerplate. A URL met again counts no second time, as long as it is among the last
:data:`MAX_SEEN` of its host. Counts are halved every so many
articles, so that what a site stopped doing is forgotten.

A program of one's own learns and uses it so::

    model = BoilerplateModel()
    for page in pages:
        extracted = extract_page(page, "blend", template=model.template(host_of(page.url)))
        if extracted.judgement.outcome is Outcome.ARTICLE:
            seen = observation_of(page, extracted.metadata.title, extracted.site)
            if seen is not None:
                model.observe(seen)

Memory: at most :data:`MAX_HOSTS` hosts, those used last; each at most
:data:`MAX_BLOCKS` digests of 18 bytes and some texts: 60 KB a
host, 60 MB in all.
"""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from qiaocrawl.extract.sites.site_template import (
    MIN_PAGES,
    START,
    WHOLE,
    SiteTemplate,
    body_place,
)
from qiaocrawl.items import SiteObservation
from qiaocrawl.text.normalise import fold
from qiaocrawl.urls import canonical_host
from qiaocrawl.vsm.grams import distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.extract.sites.site_template import TemplateMatch
    from qiaocrawl.page.page import Page

# --- The counts of one site from which its template is made **(ours)**; does no I/O ---------------

MAX_BLOCKS = 2048
MAX_KEPT_BLOCKS = 1024
"""Digests of a template: those that came most often."""
MAX_PLACES = 16
MAX_NAMES = 64
REDESIGN_PAGES = 8
"""Articles in a row whose bodies stand elsewhere than those before: the site was rebuilt."""
MAX_SEEN = 256
_OFTEN, _SELDOM = 32, 4
"""With fewer articles the template is made anew after each, then after every fourth."""
_WINDOW = 128
"""Articles after which counts are halved."""
_ROW = np.dtype([("digest", "<u8"), ("last", "<u4"), ("title", "<u4"), ("count", "<u2")])
"""A block: its digest, the number of the last article it stood on, that one's title, and on
how many articles it stood."""


class SiteCounts:
    """The counts of one host; rows of blocks are sorted by digest."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.redesigns = 0
        self.disagreements = 0
        self.is_unsaved = False
        self._seen: deque[int] = deque(maxlen=MAX_SEEN)
        self._forget()

    def _forget(self) -> None:
        self.pages = 0
        self._number = 0
        self._rows = np.empty(0, _ROW)
        self._places: dict[str, int] = {}
        self._names: dict[str, tuple[int, int]] = {}
        self._misses: dict[int, str] = {}
        self._template: SiteTemplate | None = None

    def reset(self) -> None:
        """Forget what the site looked like before it was rebuilt."""
        self.redesigns += 1
        self._forget()

    @property
    def is_rebuilt(self) -> bool:
        """Whether too many articles in a row stood elsewhere."""
        return len(self._misses) >= REDESIGN_PAGES

    def learn(self, seen: SiteObservation) -> bool:
        """Count what *seen* shows; False for a URL that was counted lately."""
        if seen.url in self._seen:
            return False
        self._seen.append(seen.url)
        self.pages += 1
        self._number += 1
        self.disagreements += seen.contradicts
        self._count_blocks(np.frombuffer(seen.blocks, "<u8"), seen.title)
        self._count_place(seen)
        self._count_names(seen)
        if self.pages >= _WINDOW:
            self._fade()
        if self.pages < _OFTEN or self._number % _SELDOM == 0:
            self._template = None
        self.is_unsaved = self.pages >= MIN_PAGES
        return True

    def _count_blocks(self, digests: NDArray[np.uint64], title: int) -> None:
        rows = self._rows
        at = np.searchsorted(rows["digest"], digests)
        is_known = at < len(rows)
        is_known[is_known] = rows["digest"][at[is_known]] == digests[is_known]
        old = at[is_known]
        rows["count"][old] += rows["title"][old] != title
        rows["title"][old] = title
        rows["last"][old] = self._number
        new = np.empty(len(digests) - len(old), _ROW)
        new["digest"] = digests[~is_known]
        new["title"], new["last"], new["count"] = title, self._number, 1
        self._rows = np.insert(rows, at[~is_known], new)
        if len(self._rows) > MAX_BLOCKS:
            self._make_room()

    def _make_room(self) -> None:
        """Let a quarter go: what came once and long ago goes first."""
        rows = self._rows
        worth = np.minimum(rows["count"], 2).astype(np.int64) << 32 | rows["last"]
        room = MAX_BLOCKS * 3 // 4
        self._rows = rows[np.sort(np.argpartition(-worth, room)[:room])]

    def _count_place(self, seen: SiteObservation) -> None:
        """Count where the body stood.

        Once the site has a place where bodies stand, others wait until it is met again: were
        they counted at once, a site that was rebuilt would look like one with two kinds of
        pages. Pages of one title count once, since they are no sign of anything.
        """
        if not seen.place:
            return
        if not self._is_settled or seen.in_known_place or self._places.get(seen.place, 0) > 1:
            for place in (*self._misses.values(), seen.place):
                self._places[place] = self._places.get(place, 0) + 1
            self._misses.clear()
            if len(self._places) > 2 * MAX_PLACES:
                self._places = dict(self._best_places())
        else:
            self._misses[seen.title] = seen.place

    @property
    def _is_settled(self) -> bool:
        return max(self._places.values(), default=0) >= REDESIGN_PAGES

    def _count_names(self, seen: SiteObservation) -> None:
        """Count each name once an article, by its title as it was found.

        A whole ``<title>`` counts on every page: it may have been found for the title of all.
        """
        for name in seen.names:
            count, title = self._names.get(name, (0, -1))
            if title != seen.title or name.startswith(WHOLE):
                self._names[name] = (count + 1, seen.title)
        if len(self._names) > 2 * MAX_NAMES:
            best = sorted(self._names, key=lambda name: -self._names[name][0])[:MAX_NAMES]
            self._names = {name: self._names[name] for name in best}

    def _fade(self) -> None:
        """Halve all counts."""
        self.pages //= 2
        self._rows["count"] >>= 1
        self._rows = self._rows[self._rows["count"] > 0]
        self._places = {place: n // 2 for place, n in self._places.items() if n > 1}
        self._names = {name: (n // 2, title) for name, (n, title) in self._names.items() if n > 1}

    def _best_places(self) -> list[tuple[str, int]]:
        return sorted(self._places.items(), key=lambda entry: (-entry[1], entry[0]))[:MAX_PLACES]

    def template(self) -> SiteTemplate | None:
        """The counts as a template; None with too few articles."""
        if self.pages < MIN_PAGES:
            return None
        if self._template is None:
            rows = self._rows[self._rows["count"] > 1]
            if len(rows) > MAX_KEPT_BLOCKS:
                best = np.argsort(-rows["count"].astype(np.int64), kind="stable")
                rows = rows[np.sort(best[:MAX_KEPT_BLOCKS])]
            names = sorted(self._names.items(), key=lambda entry: (-entry[1][0], entry[0]))
            self._template = SiteTemplate(
                host=self.name,
                pages=self.pages,
                blocks=rows["digest"].tobytes(),
                counts=rows["count"].tobytes(),
                places=tuple(self._best_places()),
                names=tuple((n, count) for n, (count, _) in names[:MAX_NAMES] if count > 1),
                redesigns=self.redesigns,
                disagreements=self.disagreements,
                seen=np.array(self._seen, "<u4").tobytes(),
            )
        return self._template

    def restore(self, template: SiteTemplate) -> None:
        """Go on from *template*."""
        digests, counts = template.known_blocks
        self.pages = template.pages
        self.redesigns, self.disagreements = template.redesigns, template.disagreements
        self._rows = np.zeros(len(digests), _ROW)
        self._rows["digest"], self._rows["count"] = digests, counts
        self._places = dict(template.places)
        self._names = {name: (count, -1) for name, count in template.names}
        self._seen.extend(np.frombuffer(template.seen, "<u4").tolist())
        self._template = template


logger = logging.getLogger(__name__)

MAX_HOSTS = 1024


class BoilerplateModel:
    """The templates of the hosts used last. Not thread-safe.

    Attributes:
        redesigns: how often a template was dropped because the site changed its layout.
        disagreements: how often a page would have lost its body to its template.
    """

    def __init__(self, max_hosts: int = MAX_HOSTS) -> None:
        self._max_hosts = max_hosts
        self._hosts: OrderedDict[str, SiteCounts] = OrderedDict()
        self._changed: dict[str, SiteTemplate] = {}
        self.redesigns = 0
        self.disagreements = 0

    def __contains__(self, host: str) -> bool:
        """Whether *host* is remembered, with a template or without."""
        return host in self._hosts

    def __len__(self) -> int:
        return len(self._hosts)

    def observe(self, observation: SiteObservation) -> None:
        """Learn from one article; its URL seen again teaches nothing."""
        counts = self._host(observation.host)
        if not counts.learn(observation):
            return
        self.disagreements += observation.contradicts
        if counts.is_rebuilt:
            self.redesigns += 1
            logger.info(
                "%s is built otherwise than before (%d articles in a row): learning it anew",
                observation.host,
                REDESIGN_PAGES,
            )
            counts.reset()

    def template(self, host: str) -> SiteTemplate | None:
        """What is known of *host*; None before :data:`MIN_PAGES` of its articles were seen."""
        counts = self._hosts.get(host)
        if counts is None:
            return None
        # Least recently used hosts make room first.
        self._hosts.move_to_end(host)
        return counts.template()

    def restore(self, host: str, template: SiteTemplate | None) -> None:
        """Begin with what was stored for *host*; nothing happens when it is known already."""
        if host in self._hosts:
            return
        # One that had to make room and waits to be stored is newer.
        template = self._changed.get(host, template)
        counts = self._host(host)
        if template is not None:
            counts.restore(template)

    def take_changes(self) -> list[SiteTemplate]:
        """The templates that are new since the last call, for storing."""
        for host, counts in self._hosts.items():
            if counts.is_unsaved:
                self._note(host, counts)
        templates = list(self._changed.values())
        self._changed.clear()
        return templates

    def _host(self, name: str) -> SiteCounts:
        counts = self._hosts.get(name)
        if counts is None:
            counts = self._hosts[name] = SiteCounts(name)
            if len(self._hosts) > self._max_hosts:
                oldest, forgotten = self._hosts.popitem(last=False)
                if forgotten.is_unsaved:
                    self._note(oldest, forgotten)
        self._hosts.move_to_end(name)
        return counts

    def _note(self, name: str, counts: SiteCounts) -> None:
        template = counts.template()
        counts.is_unsaved = False
        if template is not None:
            self._changed[name] = template
            while len(self._changed) > self._max_hosts:
                self._changed.pop(next(iter(self._changed)))


# --- Observes what an article tells about its site **(ours)**, for the boilerplate model ----------

_MAX_BLOCKS = 2000
"""Blocks of a page that are told: half from its beginning, half from its end."""
_MAX_NAMES = 4
_MAX_NAME_CHARS = 40


def observation_of(page: Page, title: str, match: TemplateMatch) -> SiteObservation | None:
    """What *page*, an article called *title*, tells about its site; None without a URL."""
    url = page.canonical
    if not url:
        return None
    return SiteObservation(
        host=canonical_host(url),
        url=_digest(url),
        title=_digest(fold(title or page.title)),
        blocks=_digests(page),
        # Where the body is nothing but repetition, it stands in no good place.
        place="" if match.contradicts else match.place or body_place(page, match.body),
        names=_names(page.title),
        in_known_place=bool(match.place),
        contradicts=match.contradicts,
        left_out=match.left_out,
    )


def _digests(page: Page) -> bytes:
    digests = page.block_digests
    if len(digests) > _MAX_BLOCKS:
        half = _MAX_BLOCKS // 2
        digests = np.concatenate((digests[:half], digests[-half:]))
    return distinct(digests).astype("<u8").tobytes()


def _names(title: str) -> tuple[str, ...]:
    """What of ``<title>`` may be names: its last pieces; the first one and the whole, marked."""
    # A crawl's own process, which learns what its workers observe, needs no fields.
    from qiaocrawl.extract.fields.origin import title_pieces

    pieces = [piece.strip().lower() for piece in title_pieces(title)]
    names = [*pieces[1:][-_MAX_NAMES:], START + pieces[0]] if len(pieces) > 1 else []
    names.append(WHOLE + title.lower())
    return tuple(name for name in dict.fromkeys(names) if 1 < len(name) <= _MAX_NAME_CHARS)


def _digest(text: str) -> int:
    return crc32(text.encode("utf-8", "replace"))
