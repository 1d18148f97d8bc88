"""What a connection remembers of its own commits, to ask the database less.

Only what can never become untrue is kept (rows of ``topic``, ``host`` and ``url`` are never
deleted). A rollback forgets everything, since what was learnt in it may not be there.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from sqlalchemy import Connection, RootTransaction

from qiaocrawl.items import Candidate

_INFO_KEY = "qiaocrawl"

# About 20 MB. Navigation links come back on every page of a site, so even a short memory
# saves nine lookups in ten.
_MAX_OFFERS = 100_000
_MAX_HOSTS = 100_000

_Offer = tuple[str, str, float, int, bool]


class ConnectionCache:
    """Topic ids, hosts that have a row, and URLs that were offered lately.

    Attributes:
        titles_held_in: the transaction that took the lock of the title log last.
        idf_version: of the IDF snapshot in use, as it was read with that lock.
        title_writes: rows this connection has written to the title log.
    """

    __slots__ = (
        "_hosts", "_offers", "idf_version", "title_writes", "titles_held_in", "topic_ids",
    )  # fmt: skip

    def __init__(self) -> None:
        self.topic_ids: dict[str, int] = {}
        self.titles_held_in: RootTransaction | None = None
        self.idf_version = 0
        self.title_writes = 0
        self._hosts: set[int] = set()
        self._offers: dict[bytes, _Offer] = {}

    @classmethod
    def of(cls, c: Connection) -> ConnectionCache:
        """The memory of *c*'s driver connection."""
        memory: ConnectionCache | None = c.info.get(_INFO_KEY)
        if memory is None:
            memory = c.info[_INFO_KEY] = cls()
        return memory

    @staticmethod
    def forget(c: Connection) -> None:
        """Forget everything: something was rolled back."""
        c.info.pop(_INFO_KEY, None)

    def says_nothing_new(self, one: Candidate) -> bool:
        """Whether the same URL was offered for the same queue and topic, no worse than now."""
        last = self._offers.get(one.key)
        return (
            last is not None
            and not one.refetch
            and last[0] == one.queue
            and last[1] == one.topic
            and last[2] >= one.score
            and last[3] <= one.depth
            # What was left out is heard of anew by a link that does not leave it out.
            and (one.left_out is not None or not last[4])
        )

    def remember(self, offered: Iterable[Candidate]) -> None:
        """Note what was offered; the oldest notes make room."""
        offers = self._offers
        for one in offered:
            offers[one.key] = (
                one.queue, one.topic, one.score, one.depth, one.left_out is not None
            )
        if len(offers) > _MAX_OFFERS:
            for key in list(islice(offers, len(offers) - _MAX_OFFERS // 2)):
                del offers[key]

    def unseen_hosts(self, row_ids: Iterable[int]) -> set[int]:
        """Those of *row_ids* that may have no row yet; they count as seen from now on."""
        unseen = set(row_ids) - self._hosts
        if len(self._hosts) > _MAX_HOSTS:
            self._hosts.clear()
        self._hosts |= unseen
        return unseen
