"""The log of visits: every fetched page with its relevance and where its links led.

Learning crawl orders are rebuilt from it after a restart, and through it the workers of one
database share what they have seen. A row is written in the transaction that closes its page.

Numbers are given before the commit, so a row may appear after one with a higher number: readers
look back a while (see :mod:`qiaocrawl.frontier.order_feed`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from qiaocrawl.errors import ModelError
from qiaocrawl.items import Lease, Link, Visit
from qiaocrawl.storage.frontier.enqueue import payload_of, stored_score
from qiaocrawl.storage.frontier.scope import Scope, ScopedStatement
from qiaocrawl.storage.packed_text import compress, decompress
from qiaocrawl.storage.schema import order_model
from qiaocrawl.storage.sql import ListStatement, Statement, upsert
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import clean_host, digest16, to_stored_time
from qiaocrawl.text.zstd import zstd
from qiaocrawl.urls import host_of, url_key

# --- The waiting rows of a scope, as a crawl order in memory reads them and keeps their scores ----

# Reads along the primary key ("+" and FORCE INDEX keep the planner there); with the frontier
# index, all waiting rows would be sorted for every batch.
_AFTER = (
    "SELECT u.id, u.`key`, u.url, h.name, u.depth, u.score, u.anchor,"
    " u.parent_key, u.payload"
    " FROM url u {index} JOIN host h ON h.id = u.host_id WHERE u.id > :after"
    " AND {queue} = :queue AND u.topic_id = :topic_id AND u.state = State.PENDING ORDER BY u.id"
    " LIMIT :count"
)
_WAITING_AFTER = Statement(
    _AFTER.format(index="", queue="+u.queue"),
    mysql=_AFTER.format(index="FORCE INDEX (PRIMARY)", queue="u.queue"),
)

# By key: the order in memory knows no row ids.
_KEEP = Statement(
    "UPDATE url SET score = :score WHERE `key` = :key AND state = State.PENDING AND queue = :queue"
    " AND topic_id = :topic_id"
)
_COUNT = ScopedStatement("SELECT COUNT(*) FROM url WHERE {scope} AND state = State.PENDING")
_AHEAD = ScopedStatement(
    "SELECT COUNT(*) FROM url WHERE {scope} AND state = State.PENDING"
    # As the index orders equal scores: the older row first.
    " AND (score > :score OR (score = :score AND id < :id))"
)


@dataclass(frozen=True, slots=True)
class PendingUrl:
    """A row that waits; ``via`` is the key of the URL that led here without a page of its own."""

    id: int
    key: bytes
    url: str
    host: str
    depth: int
    score: float
    anchor: str
    via: bytes | None = None


def led_by(parent_key: bytes | None, payload: str) -> bytes | None:
    """The key of the URL that stands for a row's own: it redirects there, or is its alias."""
    # Most rows have no payload, and reading JSON would cost more than the row.
    if parent_key is None or not payload:
        return None
    stored = payload_of(payload)
    return bytes(parent_key) if stored.hops or stored.alias_of else None


def waiting_after(c: Connection, scope: Scope, after: int, limit: int) -> list[PendingUrl]:
    """The next *limit* waiting rows of *scope*'s queue and topic behind row *after*, by id.

    Its hosts are not looked at.
    """
    params = {**scope.params(c), "after": after, "count": limit}
    rows = _WAITING_AFTER.run(c, params).fetchall()
    return [
        PendingUrl(row_id, bytes(key), url, host, depth, score, anchor, led_by(parent, payload))
        for row_id, key, url, host, depth, score, anchor, parent, payload in rows
    ]


def keep_scores(c: Connection, scope: Scope, scores: Sequence[tuple[bytes, float]]) -> None:
    """Write (key, score) pairs to those rows of *scope*'s queue and topic that still wait."""
    whose = scope.params(c)
    _KEEP.run_many(
        c,
        [
            # In one order, so that workers do not deadlock.
            {**whose, "key": key, "score": stored_score(score)}
            for key, score in sorted(scores)
        ],
    )


def place_of(c: Connection, scope: Scope, url_id: int, score: float) -> tuple[int, int]:
    """(place, number of all that wait) of a waiting row by the stored scores; the best is 1."""
    ahead = sum(row[0] for row in _AHEAD.fetch(c, scope, {"score": score, "id": url_id}))
    return ahead + 1, sum(row[0] for row in _COUNT.fetch(c, scope, {}))


# --- The log of visits: every fetched page with its relevance and where its links led -------------

_APPEND = upsert(
    "visit",
    "topic_id, queue, url_id, token, attempt, depth, relevance, relevant, at, links",
    key="seq",
)
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
        url,
        url_key(url),
        host_of(url),
        anchor,
        context,
        title,
        tag,
        bool(nofollow),
        region,
        name=name,
        onmouseover=onmouseover,
        src=src,
    )


def append_visit(c: Connection, lease: Lease, visit: Visit, packed: bytes) -> None:
    """Note the visit that *lease* was for; a repeated call changes nothing.

    Args:
        packed: its links (:func:`pack_links`).
    """
    _APPEND.run(
        c,
        {
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
        },
    )


def start_of_newest_visits(c: Connection, scope: Scope, newest: int) -> int:
    """The number behind which the *newest* visits of *scope*'s queue and topic stand; 0 = all."""
    row = _BEFORE_NEWEST.run(c, {**scope.params(c), "newest": newest}).fetchone()
    return 0 if row is None else int(row[0])


def visit_heads_since(c: Connection, scope: Scope, after: int, limit: int) -> list[tuple[int, int]]:
    """(number, token) of the next *limit* visits behind *after*, in order."""
    params = {**scope.params(c), "after": after, "count": limit}
    return [(row[0], row[1]) for row in _HEADS.run(c, params).fetchall()]


def load_visits(c: Connection, seqs: Sequence[int]) -> list[LoggedVisit]:
    """The visits of these numbers, in order."""
    return sorted(
        (_visit_of_row(row) for row in _BY_SEQ.fetch(c, seqs)), key=lambda visit: visit.seq
    )


def last_visit_of(c: Connection, url_id: int) -> LoggedVisit | None:
    """The last visit of a URL; None when it was not fetched since there is a log."""
    row = _LAST_OF.run(c, {"url_id": url_id}).fetchone()
    return None if row is None else _visit_of_row(row)


def _visit_of_row(row: Any) -> LoggedVisit:
    seq, key, url, host, depth, relevance, relevant, at, links, parent, payload = row
    page = Visit(bytes(key), url, host, depth, relevance, bool(relevant), at)
    return LoggedVisit(seq, page, bytes(links), led_by(parent, payload))


# --- What crawl orders have learnt, by topic and site; only the newest versions are kept ----------
# A model is one row, written in one transaction: a kill leaves the version before. The bytes are
# the strategy's own; that they are undamaged is checked here.

VERSIONS_KEPT = 3
MAX_MODEL_BYTES = 6_000_000
"""Of a compressed model: MariaDB's packets of 16 MB hold it as hexadecimal text."""

_FORMAT = 1

_NEWEST = Statement(
    "SELECT version, host, format, pages, upto, digest, model FROM order_model"
    " WHERE topic_id = :topic_id AND strategy = :strategy AND host = :host"
    " ORDER BY version DESC LIMIT :count"
)


@dataclass(frozen=True, slots=True)
class ModelName:
    """Whose model it is. ``host`` is the one site it was learnt on, "" for several."""

    topic: str
    strategy: str
    host: str = ""


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A stored version of a model, not yet unpacked.

    Attributes:
        version: higher is newer, over all models.
        pages: how many it had learnt from.
        upto: place in the log of visits up to which it had learnt.
    """

    version: int
    host: str
    format: int
    pages: int
    upto: int
    digest: bytes
    packed: bytes

    def unpack(self) -> bytes:
        """The model as the strategy wrote it.

        Raises:
            ModelError: it is damaged, or of a form this version does not know.
        """
        if self.format != _FORMAT:
            raise ModelError(f"version {self.version} has format {self.format}, not {_FORMAT}")
        try:
            model = decompress(self.packed)
        except zstd.ZstdError as error:
            raise ModelError(f"version {self.version} is damaged: {error}") from error
        if digest16(model) != self.digest:
            raise ModelError(f"version {self.version} is damaged: its digest is another")
        return model


def save_model(
    c: Connection, name: ModelName, model: bytes, *, pages: int, upto: int, now: float
) -> int:
    """Store a new version and delete all but the newest; returns its number.

    Raises:
        ModelError: it is too large to be stored.
    """
    packed = compress(model)
    if len(packed) > MAX_MODEL_BYTES:
        raise ModelError(
            f"the model of {name.strategy} takes {len(packed)} bytes; {MAX_MODEL_BYTES} are allowed"
        )
    # Names in the columns' form, for the insert and for _forget_old alike.
    whose = {
        "topic_id": topic_id(c, name.topic),
        "host": clean_host(name.host),
        "strategy": name.strategy,
    }
    result = c.execute(
        insert(order_model).values(
            **whose,
            format=_FORMAT,
            pages=pages,
            upto=upto,
            created_at=to_stored_time(datetime.fromtimestamp(now, UTC)),
            digest=digest16(model),
            model=packed,
        )
    )
    version = int(result.lastrowid)
    # In the same transaction, so that there never are more than the kept ones.
    _forget_old(c, whose)
    return version


def _forget_old(c: Connection, whose: dict[str, Any]) -> None:
    mine = [order_model.c[column] == value for column, value in whose.items()]
    versions = (
        c.execute(select(order_model.c.version).where(*mine).order_by(order_model.c.version.desc()))
        .scalars()
        .all()
    )
    if old := versions[VERSIONS_KEPT:]:
        c.execute(delete(order_model).where(order_model.c.version.in_(old)))


def stored_models(c: Connection, name: ModelName) -> list[StoredModel]:
    """The kept versions that may serve *name*, in the order to try them.

    Those of its site come first, then those of the whole topic; each the newest first.
    """
    models = []
    # dict.fromkeys: without a site both names are "", which must not be read twice.
    for host in dict.fromkeys((name.host, "")):
        params = {
            "topic_id": topic_id(c, name.topic),
            "strategy": name.strategy,
            "host": clean_host(host),
            "count": VERSIONS_KEPT,
        }
        models += [_model_of_row(row) for row in _NEWEST.run(c, params).fetchall()]
    return models


def _model_of_row(row: Any) -> StoredModel:
    version, host, form, pages, upto, digest, packed = row
    return StoredModel(version, host, form, pages, upto, bytes(digest), bytes(packed))
