"""The frontier rows of one crawl."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection

from qiaocrawl.items import Queue
from qiaocrawl.stages.follow_links import FollowPolicy
from qiaocrawl.storage import frontier
from qiaocrawl.storage.pages.sites import host_names


@dataclass(frozen=True, slots=True)
class CrawlScope:
    """The frontier rows of one crawl: a queue of a topic, within the sites of *within*.

    Subdomains come to light during a crawl, so the exact hosts are looked up anew by
    :func:`rows_of`.
    """

    queue: Queue
    topic: str
    within: FollowPolicy | None


def rows_of(scope: CrawlScope) -> Callable[[Connection], frontier.Scope]:
    """An operation that finds the exact hosts of *scope* as the database knows them."""

    def operation(c: Connection) -> frontier.Scope:
        if scope.within is None or scope.within.across:
            return frontier.Scope(scope.queue, scope.topic, None)
        hosts = (host for host in host_names(c) if scope.within.covers(host))
        # Also the sites themselves, of which no row may be there yet.
        return frontier.Scope(scope.queue, scope.topic, frozenset(hosts) | scope.within.sites)

    return operation
