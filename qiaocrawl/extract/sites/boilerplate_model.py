"""Learns what the pages of a site have in common **(ours)**; does no I/O.

Only articles teach. A block counts once for each of them that has another title than the
article it was last seen on, so that a reprint of a story on its own site does not make it
boilerplate. A URL met again counts no second time, as long as it is among the last
:data:`~qiaocrawl.extract.sites.site_counts.MAX_SEEN` of its host. Counts are halved every so many
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
:data:`~qiaocrawl.extract.sites.site_counts.MAX_BLOCKS` digests of 18 bytes and some texts: 60 KB a
host, 60 MB in all.
"""

from __future__ import annotations

import logging
from collections import OrderedDict

from qiaocrawl.extract.sites.site_counts import REDESIGN_PAGES, SiteCounts
from qiaocrawl.extract.sites.site_template import SiteTemplate
from qiaocrawl.items import SiteObservation

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

    def changed(self) -> list[SiteTemplate]:
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
