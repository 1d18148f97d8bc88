"""All that is stored about one URL: how it was found, its state, what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.items import Queue
from qiaocrawl.storage.packed_text import unpack_html, unpack_text
from qiaocrawl.storage.schema import State
from qiaocrawl.storage.sql import Statement
from qiaocrawl.storage.values import from_json, from_time, json_mapping

MAX_STEPS = 50
"""Of a path from a start page that are looked at."""

_URL = (
    "SELECT u.id, u.`key`, u.url, h.name, u.queue, t.name, u.state, u.outcome, u.reason, u.score,"
    " u.depth, u.parent_key, u.anchor, u.context, u.not_before, u.lease_until, u.failures,"
    " u.http_status, u.redirect_key, u.discovered_at, u.fetched_at, u.done_at"
    " FROM url u JOIN host h ON h.id = u.host_id JOIN topic t ON t.id = u.topic_id WHERE "
)
_BY_KEY = Statement(_URL + "u.`key` = :key")
_ARTICLE = Statement(
    "SELECT a.id, a.title, a.published_at, a.source, v.kind, v.similarity, v.why, o.title, ou.url,"
    " a.html, a.text"
    " FROM article a LEFT JOIN verdict v ON v.article_id = a.id"
    " LEFT JOIN article o ON o.id = v.of_article_id LEFT JOIN url ou ON ou.id = o.url_id"
    " WHERE a.url_id = :url_id"
)
_JUDGEMENTS = Statement(
    "SELECT t.name, r.score, r.relevant, r.method, r.terms FROM relevance r"
    " JOIN topic t ON t.id = r.topic_id WHERE r.article_id = :article_id ORDER BY t.name"
)
_LAST_RUN = Statement(
    "SELECT r.arguments FROM run r JOIN topic t ON t.id = r.topic_id"
    " WHERE t.name = :topic AND r.spider = :spider ORDER BY r.id DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class UrlHistory:
    """A row of ``url``. Times are aware UTC; ``not_before`` and ``lease_until`` epoch seconds."""

    id: int
    key: bytes
    url: str
    host: str
    queue: Queue
    topic: str
    state: State
    outcome: str
    reason: str
    score: float
    depth: int
    parent: bytes | None
    anchor: str
    context: str
    not_before: float
    lease_until: float | None
    failures: int
    http_status: int | None
    redirect: bytes | None
    discovered_at: datetime | None
    fetched_at: datetime | None
    done_at: datetime | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A topic's stored judgement of an article; ``terms`` are (term, weight, …)."""

    topic: str
    score: float
    relevant: bool
    method: str
    terms: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class StoredArticle:
    """An article as it is stored, with its verdict; ``of_title`` is what it is a reprint of,
    ``html`` the text with its structure.
    """

    title: str
    published_at: datetime | None
    source: str
    verdict: str
    similarity: float
    why: str
    of_title: str
    of_url: str
    judgements: tuple[Judgement, ...]
    html: str = ""
    id: int = 0


def url_history(c: Connection, key: bytes) -> UrlHistory | None:
    """What is stored of the URL of *key*; None when it was never seen."""
    row = _BY_KEY.run(c, {"key": key}).fetchone()
    if row is None:
        return None
    (
        row_id,
        own,
        url,
        host,
        queue,
        topic,
        state,
        outcome,
        reason,
        score,
        depth,
        parent,
        anchor,
        context,
        not_before,
        lease_until,
        failures,
        status,
        redirect,
        *times,
    ) = row
    return UrlHistory(
        row_id,
        bytes(own),
        url,
        host,
        Queue(queue),
        topic,
        State(state),
        outcome or "",
        reason or "",
        score,
        depth,
        None if parent is None else bytes(parent),
        anchor,
        context,
        not_before,
        lease_until,
        failures,
        status,
        None if redirect is None else bytes(redirect),
        *map(from_time, times),
    )


def path_to(c: Connection, history: UrlHistory) -> list[UrlHistory]:
    """The pages that led to *history*, the start page first, *history* itself last."""
    # Parents may form a circle: a row can be revived by its own descendant.
    path, seen = [history], {history.key}
    while path[0].parent is not None and path[0].parent not in seen and len(path) < MAX_STEPS:
        before = url_history(c, path[0].parent)
        if before is None:
            break
        seen.add(before.key)
        path.insert(0, before)
    return path


def article_at(c: Connection, url_id: int) -> StoredArticle | None:
    """The article that stands at a URL; None where there is none."""
    row = _ARTICLE.run(c, {"url_id": url_id}).fetchone()
    if row is None:
        return None
    article_id, title, published, source, kind, similarity, why, of_title, of_url, html, text = row
    return StoredArticle(
        title,
        from_time(published),
        source,
        kind or "",
        similarity or 0.0,
        why or "",
        of_title or "",
        of_url or "",
        judgements_of(c, article_id),
        unpack_html(html, unpack_text(text)),
        article_id,
    )


def judgements_of(c: Connection, article_id: int) -> tuple[Judgement, ...]:
    """What each topic says of an article, by name of the topic."""
    rows = _JUDGEMENTS.run(c, {"article_id": article_id}).fetchall()
    return tuple(
        Judgement(name, score, bool(relevant), method, _terms(terms))
        for name, score, relevant, method, terms in rows
    )


def _terms(text: str) -> tuple[tuple[Any, ...], ...]:
    value = from_json(text)
    rows = value if isinstance(value, list) else []
    # (term, weight) at least; rows of other versions may be anything.
    return tuple(tuple(row) for row in rows if isinstance(row, list) and len(row) >= 2)


def last_arguments(c: Connection, topic: str, spider: str) -> Mapping[str, object]:
    """The arguments of the last run of *spider* for *topic*; {} when there was none."""
    row = _LAST_RUN.run(c, {"topic": topic, "spider": spider}).fetchone()
    return {} if row is None else json_mapping(row[0])
