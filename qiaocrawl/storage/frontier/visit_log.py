"""The log of visits: every fetched page with its relevance and where its links led.

Learning crawl orders are rebuilt from it after a restart, and through it the workers of one
database share what they have seen. A row is written in the transaction that closes its page.

Numbers are given before the commit, so a row may appear after one with a higher number: readers
look back a while (see :mod:`qiaocrawl.frontier.visit_reader`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.items import Lease, Link, Visit
from qiaocrawl.storage.compression import compress, decompress
from qiaocrawl.storage.frontier.pending import led_by
from qiaocrawl.storage.frontier.scope import Scope
from qiaocrawl.storage.raw_sql import ListStatement, Statement, upsert
from qiaocrawl.storage.topics.topic_ids import topic_id
from qiaocrawl.text.zstd import zstd
from qiaocrawl.urls import host_of, url_key

_APPEND = upsert(
    "visit", "topic_id, queue, url_id, token, attempt, depth, relevance, relevant, at, links",
    key="seq",
)  # fmt: skip
_OF_SCOPE = "FROM visit WHERE topic_id = :topic_id AND queue = :queue"
# The index holds all these two read, so skipping 20,000 rows costs next to nothing.
_HEADS = Statement(f"SELECT seq, token {_OF_SCOPE} AND seq > :after ORDER BY seq LIMIT :count")
_BEFORE_NEWEST = Statement(f"SELECT seq {_OF_SCOPE} ORDER BY seq DESC LIMIT 1 OFFSET :newest")
_SELECT = (
    "SELECT v.seq, u.`key`, u.url, h.name, v.depth, v.relevance, v.relevant, v.at, v.links,"
    " u.parent_key, u.payload"
    " FROM visit v JOIN url u ON u.id = v.url_id JOIN host h ON h.id = u.host_id WHERE "
)
_BY_SEQ = ListStatement(_SELECT + "v.seq IN ({list})")
_LAST_OF = Statement(_SELECT + "v.url_id = :url_id ORDER BY v.seq DESC LIMIT 1")


@dataclass(frozen=True, slots=True)
class LoggedVisit:
    """A row of the log as it was read.

    Attributes:
        seq: its place.
        page: the visit without its links.
        packed: the links, still packed: unpacking costs more than reading.
        via: key of the URL that led here without a page of its own, by a redirect for instance.
    """

    seq: int
    page: Visit
    packed: bytes
    via: bytes | None = None

    def visit(self, covers: Callable[[str], bool] | None = None) -> Visit:
        """The visit with its links, of them only those to hosts that *covers* admits."""
        # Hosts first, each once: a page of 500 links names few of them.
        links = unpack_links(self.packed)
        if covers is not None:
            admitted = {host: covers(host) for host in {link.host for link in links}}
            links = tuple(link for link in links if admitted[link.host])
        return replace(self.page, links=links)


def pack_links(links: Sequence[Link]) -> bytes:
    """*links* as one zstd frame of JSON; keys and hosts are left out, they follow from URLs."""
    # Lists without names: links are most of the log, and names would double it.
    rows = [
        (link.url, link.anchor, link.context, link.title, link.tag, int(link.nofollow), link.region)
        # Few links have these.
        + (
            (link.name, link.onmouseover, link.src)
            if link.name or link.onmouseover or link.src
            else ()
        )
        for link in links
    ]
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    # surrogatepass: anchors of broken pages may hold half a pair, which UTF-8 refuses.
    return compress(text.encode("utf-8", "surrogatepass"))


def unpack_links(packed: bytes) -> tuple[Link, ...]:
    """The links in *packed*; () where it is damaged or of a form this version does not know."""
    try:
        rows = json.loads(decompress(packed).decode("utf-8", "surrogatepass"))
        return tuple(_link(*row) for row in rows)
    except (zstd.ZstdError, ValueError, TypeError, RecursionError):
        return ()


def _link(url: str, anchor: str, *rest: Any) -> Link:
    # Links of earlier versions end with their region.
    context, title, tag, nofollow, region, name, onmouseover, src = (*rest, "", "", "")[:8]
    return Link(
        url, url_key(url), host_of(url), anchor, context, title, tag, bool(nofollow), region,
        name=name, onmouseover=onmouseover, src=src,
    )  # fmt: skip


def append(c: Connection, lease: Lease, visit: Visit, packed: bytes) -> None:
    """Note the visit that *lease* was for; a repeated call changes nothing.

    Args:
        packed: its links (:func:`pack_links`).
    """
    _APPEND.run(c, {
        "topic_id": topic_id(c, lease.topic),
        "queue": lease.queue.value,
        "url_id": lease.url_id,
        "token": lease.token,
        "attempt": lease.attempt,
        "depth": visit.depth,
        "relevance": visit.relevance,
        "relevant": visit.relevant,
        "at": visit.at,
        "links": packed,
    })  # fmt: skip


def start_of_newest(c: Connection, scope: Scope, newest: int) -> int:
    """The number behind which the *newest* visits of *scope*'s queue and topic stand; 0 = all."""
    row = _BEFORE_NEWEST.run(c, {**scope.params(c), "newest": newest}).fetchone()
    return 0 if row is None else int(row[0])


def heads_since(c: Connection, scope: Scope, after: int, limit: int) -> list[tuple[int, int]]:
    """(number, token) of the next *limit* visits behind *after*, in order."""
    params = {**scope.params(c), "after": after, "count": limit}
    return [(row[0], row[1]) for row in _HEADS.run(c, params).fetchall()]


def load(c: Connection, seqs: Sequence[int]) -> list[LoggedVisit]:
    """The visits of these numbers, in order."""
    return sorted((_logged(row) for row in _BY_SEQ.fetch(c, seqs)), key=lambda visit: visit.seq)


def last_of(c: Connection, url_id: int) -> LoggedVisit | None:
    """The last visit of a URL; None when it was not fetched since there is a log."""
    row = _LAST_OF.run(c, {"url_id": url_id}).fetchone()
    return None if row is None else _logged(row)


def _logged(row: Any) -> LoggedVisit:
    seq, key, url, host, depth, relevance, relevant, at, links, parent, payload = row
    page = Visit(bytes(key), url, host, depth, relevance, bool(relevant), at)
    return LoggedVisit(seq, page, bytes(links), led_by(parent, payload))
