"""`scrapy crawl pages`: fetches what search found, and retires the dead ones (Q4)."""

from __future__ import annotations

from typing import Any

from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.follow import FollowPolicy
from qiaocrawl.items import Lease, Queue
from qiaocrawl.site_discovery import link_rules


class PagesSpider(FrontierSpider):
    """Fetches pending pages of the topic; links into authoritative sites wait for `site`."""

    name = "pages"
    queue = Queue.PAGES
    allowed_arguments = {"site": "hosts, comma separated; default: all that wait"}

    def prepare(self) -> None:
        """Scope: everything that waits for this topic, or the hosts of ``site=``."""
        named = [host.strip().lower() for host in self.arguments.get("site", "").split(",")]
        within = FollowPolicy(sites=frozenset(filter(None, named)))
        self.scope = self.runtime.scope(self.queue, self.topic, within if within.sites else None)
        deep = frozenset(site.host for site in self.runtime.catalogue.deep_sites(self.topic))
        self.policy = FollowPolicy(
            sites=deep,
            max_depth=self.runtime.options["QIAO_MAX_DEPTH"],
            max_links=self.runtime.options["QIAO_MAX_LINKS_PER_PAGE"],
            rules=link_rules(self.runtime.options, learns=False),
        )

    def request_meta(self, lease: Lease) -> dict[str, Any]:
        """Ask for rendering where the site's row asks for it."""
        return {"render": self.runtime.catalogue.wants_rendering(lease.host)}
