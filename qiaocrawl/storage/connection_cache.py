"""A cache per connection of what it has committed, to ask the database less.

It keeps only what stays true (rows of ``topic``, ``host`` and ``url`` are never
deleted). A rollback forgets everything, since rows it has seen may not exist.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from sqlalchemy import Connection, RootTransaction

from qiaocrawl.items import Candidate
from qiaocrawl.storage.pages.site_dictionaries import SiteDictionaries

_INFO_KEY = "qiaocrawl"

# About 20 MB. Navigation links come back on every page of a site, so even a short memory
# saves nine lookups in ten.
_MAX_OFFERS = 100_000
_MAX_HOSTS = 100_000

_Offer = tuple[str, str, float, int, bool]


class ConnectionCache:
    """Caches topic ids, hosts that have a row, and URLs that were offered lately.

    Attributes:
        titles_held_in: the transaction that took the lock of the title log last.
        idf_version: of the IDF snapshot in use, as it was read with that lock.
        dictionaries: of the pages of sites.
        title_writes: rows this connection has written to the title log.
    """

    __slots__ = (
        "_hosts", "_offers", "dictionaries", "idf_version", "title_writes", "titles_held_in",
        "topic_ids",
    )  # fmt: skip

    def __init__(self) -> None:
        self.topic_ids: dict[str, int] = {}
        self.dictionaries = SiteDictionaries()
        self.titles_held_in: RootTransaction | None = None
        self.idf_version = 0
        self.title_writes = 0
        self._hosts: set[int] = set()
        self._offers: dict[bytes, _Offer] = {}

    @classmethod
    def of(cls, c: Connection) -> ConnectionCache:
        """The cache of *c*'s driver connection."""
        # Kept in SQLAlchemy's info, which lives and dies with the driver's connection.
        memory: ConnectionCache | None = c.info.get(_INFO_KEY)
        if memory is None:
            memory = c.info[_INFO_KEY] = cls()
        return memory

    @staticmethod
    def forget(c: Connection) -> None:
        """Forget everything: something was rolled back."""
        c.info.pop(_INFO_KEY, None)

    def already_offered(self, candidate: Candidate) -> bool:
        """Whether the same URL was offered for the same queue and topic, no worse than now."""
        last = self._offers.get(candidate.key)
        return (
            last is not None
            and not candidate.refetch
            and last[0] == candidate.queue
            and last[1] == candidate.topic
            # A better score or a shorter way has to reach the row.
            and last[2] >= candidate.score
            and last[3] <= candidate.depth
            # A link that does not leave the URL out revives it, so it must reach the database.
            and (candidate.left_out is not None or not last[4])
        )

    def remember(self, offered: Iterable[Candidate]) -> None:
        """Note what was offered; the oldest notes make room."""
        offers = self._offers
        for candidate in offered:
            offers[candidate.key] = (
                candidate.queue,
                candidate.topic,
                candidate.score,
                candidate.depth,
                candidate.left_out is not None,
            )
        if len(offers) > _MAX_OFFERS:
            # Half at once, in the order of insertion: trimming costs nothing per page.
            for key in list(islice(offers, len(offers) - _MAX_OFFERS // 2)):
                del offers[key]

    def unseen_hosts(self, row_ids: Iterable[int]) -> set[int]:
        """Those of *row_ids* that may have no row yet; they count as seen from now on."""
        unseen = set(row_ids) - self._hosts
        if len(self._hosts) > _MAX_HOSTS:
            # All at once: a host that is asked about again costs one INSERT that changes nothing.
            self._hosts.clear()
        self._hosts |= unseen
        return unseen
