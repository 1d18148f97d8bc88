"""Gathering what the pages of a site have in common **(ours)**; no input or output.

Only articles teach. A block counts once for each of them that has another title than the
article it was last seen on, so that a reprint of a story on its own site does not make it
boilerplate. A URL met again counts no second time, as long as it is among the last
:data:`~qiaocrawl.extract.sites.site_counts.MAX_SEEN` of its host. Counts are halved every so many
articles, so that what a site stopped doing is forgotten.

A program of one's own learns and uses it so::

    memory = SiteMemory()
    for page in pages:
        reading = read(page, "blend", template=memory.template(host_of(page.url)))
        if reading.judgement.outcome is Outcome.ARTICLE:
            seen = observation_of(page, reading.metadata.title, reading.site)
            if seen is not None:
                memory.observe(seen)

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


class SiteMemory:
    """What is known of the hosts met last. Not for several threads at once.

    Attributes:
        redesigns: how often a template was dropped since the site was built otherwise.
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
        host = self._host(observation.host)
        if not host.learn(observation):
            return
        self.disagreements += observation.disagrees
        if host.is_rebuilt:
            self.redesigns += 1
            logger.info(
                "%s is built otherwise than before (%d articles in a row): learning it anew",
                observation.host, REDESIGN_PAGES,
            )
            host.start_again()

    def template(self, host: str) -> SiteTemplate | None:
        """What is known of *host*; None before :data:`MIN_PAGES` of its articles were seen."""
        known = self._hosts.get(host)
        if known is None:
            return None
        self._hosts.move_to_end(host)
        return known.template()

    def restore(self, host: str, template: SiteTemplate | None) -> None:
        """Begin with what was stored for *host*; nothing happens when it is known already."""
        if host in self._hosts:
            return
        # One that had to make room and waits to be stored is newer.
        template = self._changed.get(host, template)
        known = self._host(host)
        if template is not None:
            known.restore(template)

    def changed(self) -> list[SiteTemplate]:
        """The templates that are new since the last call, for storing."""
        for host, known in self._hosts.items():
            if known.is_unsaved:
                self._note(host, known)
        found = list(self._changed.values())
        self._changed.clear()
        return found

    def _host(self, name: str) -> SiteCounts:
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = SiteCounts(name)
            if len(self._hosts) > self._max_hosts:
                oldest, forgotten = self._hosts.popitem(last=False)
                if forgotten.is_unsaved:
                    self._note(oldest, forgotten)
        self._hosts.move_to_end(name)
        return host

    def _note(self, name: str, host: SiteCounts) -> None:
        template = host.template()
        host.is_unsaved = False
        if template is not None:
            self._changed[name] = template
            while len(self._changed) > self._max_hosts:
                self._changed.pop(next(iter(self._changed)))
