"""The schedule of watched pages and articles. Times are epoch seconds."""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.storage.engine import latest_due
from qiaocrawl.storage.sql import ListStatement, Statement, upsert
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import clean_word

MAX_VALIDATOR_CHARS = 500
MAX_PAGE_WEIGHT = 100.0

_PAGE_COLUMNS = (
    "kind",
    "name",
    "weight",
    "since",
    "next_at",
    "last_at",
    "changed_at",
    "rate",
    "wait_hours",
    "visits",
    "changes",
    "news",
    "failures",
    "etag",
    "modified",
    "digest",
    "memory",
    "gaps",
)
_PAGE = (
    "SELECT w.url_id, u.`key`, u.url, h.name, u.state, "
    + ", ".join(f"w.{name}" for name in _PAGE_COLUMNS)
    + " FROM watched_page w JOIN url u ON u.id = w.url_id JOIN host h ON h.id = u.host_id"
    " WHERE w.topic_id = :topic_id"
)
_PAGES = Statement(_PAGE + " ORDER BY h.name, u.url")
_ONE_PAGE = Statement(_PAGE + " AND w.url_id = :url_id")
_ENTER_PAGE = upsert(
    "watched_page", ", ".join(("topic_id", "url_id", *_PAGE_COLUMNS)), key="topic_id, url_id"
)
_SAVE_PAGE = Statement(
    f"UPDATE watched_page SET {', '.join(f'{name} = :{name}' for name in _PAGE_COLUMNS)}"
    " WHERE topic_id = :topic_id AND url_id = :url_id"
)
_SAVE_PLAN = Statement(
    "UPDATE watched_page SET rate = :rate, wait_hours = :wait_hours, next_at = :next_at"
    " WHERE topic_id = :topic_id AND url_id = :url_id"
)
_SET_WEIGHT = Statement(
    "UPDATE watched_page SET weight = :weight"
    " WHERE url_id = (SELECT id FROM url WHERE `key` = :key)"
)
_SET_WEIGHT_OF_TOPIC = Statement(
    "UPDATE watched_page SET weight = :weight WHERE topic_id = :topic_id"
    " AND url_id = (SELECT id FROM url WHERE `key` = :key)"
)
_WEIGHTS = Statement(
    "SELECT t.name, w.weight FROM watched_page w JOIN topic t ON t.id = w.topic_id"
    " WHERE w.url_id = (SELECT id FROM url WHERE `key` = :key) ORDER BY t.name"
)
_ON_HOST = Statement(
    "SELECT COUNT(*) FROM watched_page w JOIN url u ON u.id = w.url_id"
    " WHERE w.topic_id = :topic_id AND u.host_id = (SELECT host_id FROM url WHERE id = :url_id)"
)
_ID_OF = Statement("SELECT id FROM url WHERE `key` = :key")
_HAS_SOURCE = Statement("SELECT 1 FROM page_source WHERE url_id = :url_id LIMIT 1")

_ARTICLE = (
    "SELECT w.url_id, u.`key`, u.url, h.name, w.published, w.next_at, w.etag, w.modified"
    " FROM watched_article w JOIN url u ON u.id = w.url_id JOIN host h ON h.id = u.host_id WHERE "
)
_ONE_ARTICLE = Statement(_ARTICLE + "w.url_id = :url_id")
_DUE_ARTICLES = Statement(
    _ARTICLE + "w.topic_id = :topic_id AND w.next_at <= :now"
    # Not leased, fetched or set aside: those are in hand already, or never to be fetched.
    " AND u.state IN (State.PENDING, State.DONE, State.FAILED)"
    " ORDER BY w.next_at LIMIT :count"
)
# The earliest publication time holds: a correction must not begin the schedule anew.
_PUT_ARTICLE = upsert(
    "watched_article",
    "url_id, topic_id, published, next_at, etag, modified",
    key="url_id",
    change={
        "next_at": "new.next_at",
        "etag": "new.etag",
        "modified": "new.modified",
        "published": "CASE WHEN published < new.published THEN published ELSE new.published END",
    },
)
_DROP_ARTICLE = Statement("DELETE FROM watched_article WHERE url_id = :url_id")
# A due time beyond every step of the schedule was set by a clock that ran ahead.
_RIGHT_ARTICLES = Statement(
    "UPDATE watched_article SET next_at = :now WHERE topic_id = :topic_id AND next_at > :latest"
)
_COUNT_ARTICLES = Statement(
    "SELECT COUNT(*), MIN(next_at) FROM watched_article WHERE topic_id = :topic_id"
)

_KNOWN = ListStatement("SELECT COUNT(*) FROM url WHERE `key` IN ({list})")
_LISTS = ListStatement(
    "SELECT `key` FROM url WHERE outcome IN ('list', 'feed') AND `key` IN ({list})"
)
_FILL_CHANNEL = ListStatement(
    "UPDATE article SET channel = :name WHERE channel = ''"
    " AND url_id IN (SELECT id FROM url WHERE `key` IN ({list}))"
)

_LET_GO = Statement(
    # Of the versions since the last but one, all except the newest and those an article
    # was made from.
    "DELETE FROM page_source WHERE url_id = :url_id AND id <> :kept AND id >= :since"
    " AND id NOT IN (SELECT page_source_id FROM article WHERE page_source_id IS NOT NULL"
    # NOT IN with a NULL in it is never true, hence the IS NOT NULL.
    " AND url_id = :url_id)"
)
_SOURCES = Statement(
    "SELECT id FROM page_source WHERE url_id = :url_id ORDER BY last_seen_at DESC, id DESC LIMIT 2"
)


@dataclass(frozen=True, slots=True)
class WatchedPage:
    """A page that leads to articles, with all that is known of its visits.

    Attributes:
        state: of its URL in the frontier.
        kind: home, rolling, channel, list or feed.
        rate: new links an hour, as estimated.
        wait_hours: planned between visits.
        failures: visits in a row that brought no page.
        memory: see :class:`qiaocrawl.revisit.VisitHistory`.
        gaps: hours between its last changes, see :func:`gaps_of`.
    """

    url_id: int
    key: bytes
    url: str
    host: str
    state: int
    kind: str
    name: str
    weight: float
    since: float
    next_at: float
    last_at: float | None = None
    changed_at: float | None = None
    rate: float = 0.0
    wait_hours: float = 0.0
    visits: int = 0
    changes: int = 0
    news: int = 0
    failures: int = 0
    etag: str = ""
    modified: str = ""
    digest: bytes | None = None
    memory: bytes = b""
    gaps: bytes = b""


@dataclass(frozen=True, slots=True)
class WatchedArticle:
    """An article that is looked at again; ``published`` begins its schedule."""

    url_id: int
    key: bytes
    url: str
    host: str
    published: float
    next_at: float
    etag: str
    modified: str


# --- pages -----------------------------------------------------------------------------------


def watched_pages(c: Connection, topic: str) -> list[WatchedPage]:
    """All watched pages of *topic*, by host and URL.

    Raises:
        StorageError: the topic was never imported.
    """
    rows = _PAGES.run(c, {"topic_id": topic_id(c, topic)}).fetchall()
    return [_page(row) for row in rows]


def watched_page(c: Connection, topic: str, url_id: int) -> WatchedPage | None:
    """The watched page of *url_id*; None when it is not watched for *topic*."""
    row = _ONE_PAGE.run(c, {"topic_id": topic_id(c, topic), "url_id": url_id}).fetchone()
    return None if row is None else _page(row)


def enter_page(
    c: Connection, topic: str, key: bytes, *, kind: str, name: str, weight: float, now: float
) -> None:
    """Watch the URL of *key*, which is known; one that is watched already stays as it is."""
    existing = _ID_OF.run(c, {"key": key}).fetchone()
    if existing is None:
        return
    page = WatchedPage(existing[0], key, "", "", 0, kind, name, weight, since=now, next_at=now)
    _ENTER_PAGE.run(c, _page_params(c, topic, page))


def pages_on_host(c: Connection, topic: str, url_id: int) -> int:
    """How many pages of *topic* are watched on the host of *url_id*."""
    params = {"topic_id": topic_id(c, topic), "url_id": url_id}
    count: int = _ON_HOST.run(c, params).fetchone()[0]
    return count


def weights_of(c: Connection, key: bytes) -> dict[str, float]:
    """The weight of the watched page of *key* for each topic; empty where it is not watched."""
    return dict(_WEIGHTS.run(c, {"key": key}).fetchall())


def set_weight(c: Connection, key: bytes, weight: float, topic: str | None = None) -> int:
    """Give the watched page of *key* a weight; says for how many topics it is watched.

    Args:
        topic: for this one only; None for all.

    Raises:
        StorageError: the topic was never imported.
    """
    params = {"key": key, "weight": weight}
    if topic is None:
        return int(_SET_WEIGHT.run(c, params).rowcount)
    params_of_topic = {**params, "topic_id": topic_id(c, topic)}
    return int(_SET_WEIGHT_OF_TOPIC.run(c, params_of_topic).rowcount)


def save_page(c: Connection, topic: str, page: WatchedPage) -> None:
    """Write all that is known of *page* but its URL."""
    _SAVE_PAGE.run(c, _page_params(c, topic, page))


def save_plan(c: Connection, topic: str, pages: Sequence[WatchedPage]) -> None:
    """Write rate, interval and next visit of *pages*."""
    whose = topic_id(c, topic)
    _SAVE_PLAN.run_many(
        c,
        [
            {
                "topic_id": whose,
                "url_id": page.url_id,
                "rate": page.rate,
                "wait_hours": page.wait_hours,
                "next_at": page.next_at,
            }
            for page in sorted(pages, key=lambda page: page.url_id)
        ],
    )


def has_source(c: Connection, url_id: int) -> bool:
    """Whether a page of *url_id* is stored, so that "not modified" may be an answer."""
    return _HAS_SOURCE.run(c, {"url_id": url_id}).fetchone() is not None


def let_go_of_same(c: Connection, url_id: int) -> None:
    """Delete the version before the newest one of a page, which said the same.

    A list page with a changing advertisement would fill the database otherwise.
    """
    newest = [row[0] for row in _SOURCES.run(c, {"url_id": url_id}).fetchall()]
    # Without an older version there is nothing that says the same.
    if len(newest) == 2:
        _LET_GO.run(c, {"url_id": url_id, "kept": newest[0], "since": newest[1]})


# --- articles ----------------------------------------------------------------------------------


def watched_article(c: Connection, url_id: int) -> WatchedArticle | None:
    """The schedule of the article at *url_id*; None when it is over or never began."""
    row = _ONE_ARTICLE.run(c, {"url_id": url_id}).fetchone()
    return None if row is None else _article(row)


def due_articles(c: Connection, topic: str, now: float, limit: int) -> list[WatchedArticle]:
    """At most *limit* articles that are to be looked at again, those due longest first."""
    params = {"topic_id": topic_id(c, topic), "now": now, "count": limit}
    return [_article(row) for row in _DUE_ARTICLES.run(c, params).fetchall()]


def right_articles(c: Connection, topic: str, now: float, longest_seconds: float) -> int:
    """Let articles be due that are to wait longer than that: a clock was ahead. How many."""
    return _RIGHT_ARTICLES.run(
        c, {"topic_id": topic_id(c, topic), "now": now, "latest": latest_due(now, longest_seconds)}
    ).rowcount


def put_article(
    c: Connection,
    topic: str,
    url_id: int,
    *,
    published: float,
    next_at: float | None,
    validators: tuple[str, str] = ("", ""),
) -> None:
    """Look at the article of *url_id* again at *next_at*; never again for None.

    The earliest *published* that was ever given holds.
    """
    if next_at is None:
        _DROP_ARTICLE.run(c, {"url_id": url_id})
        return
    _PUT_ARTICLE.run(
        c,
        {
            "url_id": url_id,
            "topic_id": topic_id(c, topic),
            "published": published,
            "next_at": next_at,
            **_validators(*validators),
        },
    )


def articles_waiting(c: Connection, topic: str) -> tuple[int, float | None]:
    """How many articles are to be looked at again, and when the first is due."""
    count, first = _COUNT_ARTICLES.run(c, {"topic_id": topic_id(c, topic)}).fetchone()
    return int(count), first


# --- links -------------------------------------------------------------------------------------


def count_unknown(c: Connection, keys: Collection[bytes]) -> int:
    """How many of *keys* are of URLs never seen before."""
    different = sorted(set(keys))
    known_count = sum(row[0] for row in _KNOWN.fetch(c, different))
    # Chunks are padded by repeating a value, which IN counts once.
    return len(different) - int(known_count)


def known_lists(c: Connection, keys: Collection[bytes]) -> list[bytes]:
    """Those of *keys* that any spider has fetched and found to be lists or feeds."""
    return sorted({bytes(row[0]) for row in _LISTS.fetch(c, sorted(set(keys)))})


def fill_channels(c: Connection, keys: Collection[bytes], name: str) -> None:
    """Let articles at *keys* that name no channel themselves have *name*."""
    _FILL_CHANNEL.count(c, sorted(set(keys)), {"name": clean_word(name, 200)})


# --- rows --------------------------------------------------------------------------------------


def _page(row: Any) -> WatchedPage:
    page = WatchedPage(*row)
    digest = None if page.digest is None else bytes(page.digest)
    kept: dict[str, Any] = {name: bytes(getattr(page, name) or b"") for name in ("memory", "gaps")}
    return replace(page, key=bytes(page.key), digest=digest, **kept)


_MOST_GAPS, _GAP_BYTES = 30, 4


def gaps_of(page: WatchedPage) -> list[float]:
    """Hours between the last changes of *page*, the newest last."""
    count = len(page.gaps) // _GAP_BYTES
    return list(struct.unpack_from(f"<{count}f", page.gaps))


def with_gap(page: WatchedPage, hours: float) -> bytes:
    """The gaps of *page* and another one; the oldest go."""
    gaps = [*gaps_of(page), hours][-_MOST_GAPS:]
    return struct.pack(f"<{len(gaps)}f", *gaps)


def _article(row: Any) -> WatchedArticle:
    url_id, key, *rest = row
    return WatchedArticle(url_id, bytes(key), *rest)


def _page_params(c: Connection, topic: str, page: WatchedPage) -> dict[str, Any]:
    values = {name: value for name, value in asdict(page).items() if name in _PAGE_COLUMNS}
    return {
        **values,
        **_validators(page.etag, page.modified),
        "name": clean_word(page.name, 200),
        "topic_id": topic_id(c, topic),
        "url_id": page.url_id,
    }


def _validators(etag: str, modified: str) -> dict[str, str]:
    """Validators as they are sent back; one that does not fit its column is dropped."""
    etag, modified = etag.strip(), modified.strip()
    fits = len(etag) <= MAX_VALIDATOR_CHARS and etag.isprintable()
    # Headers are ASCII: a date in anything else would break the request that sends it back.
    dated = len(modified) <= 64 and modified.isascii() and modified.isprintable()
    return {"etag": etag if fits else "", "modified": modified if dated else ""}
