"""Articles with their relevance, title terms and verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.errors import StorageError
from qiaocrawl.items import Article, PageAnalysis, Relevance, TitleRecord
from qiaocrawl.storage.statement import Statement
from qiaocrawl.storage.values import (
    clean_text,
    clean_word,
    epoch_time,
    from_json,
    from_time,
    to_json,
    to_time,
)
from qiaocrawl.storage.verdicts import save_verdict
from qiaocrawl.storage.weights import rebuild_term_weights

__all__ = [
    "iter_titles",
    "rebuild_term_weights",
    "save_article",
    "save_relevance",
    "save_title_terms",
    "save_verdict",
]

MAX_TITLE_CHARS = 2_000
MAX_TEXT_CHARS = 1_000_000
"""About three megabytes of Chinese: a book, or a page that is no article."""

_MAX_NAME_CHARS = 200
_MAX_NOTE_CHARS = 10_000
MAX_TERM_CHARS = 100

_FIND = Statement("SELECT id FROM article WHERE url_id = :url_id")

_FIELDS = (
    "title", "published_at", "author", "source", "channel", "keywords", "description",
    "anchor", "language", "charset", "method", "body_digest", "title_tokens", "truncated",
    "updated_at", "text",
)  # fmt: skip
_NEWEST_PAGE = (
    "(SELECT p.id FROM page_source p WHERE p.url_id = :url_id"
    " ORDER BY p.last_seen_at DESC, p.id DESC LIMIT 1)"
)
_FETCHED_AT = "COALESCE(u.fetched_at, :updated_at)"
_INSERT = Statement(
    f"INSERT INTO article (url_id, page_source_id, site, fetched_at, {', '.join(_FIELDS)})"
    f" SELECT u.id, {_NEWEST_PAGE}, h.name, {_FETCHED_AT}, {', '.join(':' + f for f in _FIELDS)}"
    " FROM url u JOIN host h ON h.id = u.host_id WHERE u.id = :url_id"
)
_UPDATE = Statement(
    f"UPDATE article SET {', '.join(f'{f} = :{f}' for f in _FIELDS)},"
    f" page_source_id = {_NEWEST_PAGE},"
    " fetched_at = (SELECT COALESCE(u.fetched_at, :updated_at) FROM url u WHERE u.id = :url_id)"
    " WHERE id = :id"
)

_RELEVANCE = (
    "INSERT INTO relevance (article_id, topic_id, score, relevant, method, terms)"
    " VALUES (:article_id, :topic_id, :score, :relevant, :method, :terms) "
)
_SAVE_RELEVANCE = Statement(
    _RELEVANCE + "ON CONFLICT (article_id, topic_id) DO UPDATE SET score = excluded.score,"
    " relevant = excluded.relevant, method = excluded.method, terms = excluded.terms",
    mysql=_RELEVANCE + "ON DUPLICATE KEY UPDATE score = VALUES(score),"
    " relevant = VALUES(relevant), method = VALUES(method), terms = VALUES(terms)",
)

_DROP_TERMS = Statement("DELETE FROM title_term WHERE article_id = :article_id")
_ADD_TERM = Statement(
    "INSERT INTO title_term (article_id, term, count, weight)"
    " VALUES (:article_id, :term, :count, 0)"
)

_TITLES = Statement(
    "SELECT a.id, u.`key`, a.title, a.site, a.published_at, a.source, a.title_tokens,"
    " a.body_digest FROM article a JOIN url u ON u.id = a.url_id"
    " WHERE a.id > :after AND (:parts = 1 OR u.outcome IS NULL OR u.outcome <> 'part')"
    " ORDER BY a.id LIMIT :count"
)


def save_article(
    c: Connection,
    url_id: int,
    article: Article,
    analysis: PageAnalysis,
    *,
    anchor: str,
    now: float,
) -> int:
    """Insert the article of *url_id* or replace what it said; returns its id, which stays.

    The caller holds the row's lease, which keeps two writers apart.

    Raises:
        StorageError: there is no such URL.
    """
    params = {**_values(article, analysis, anchor), "url_id": url_id,
              "updated_at": epoch_time(now)}
    found = _FIND.run(c, {"url_id": url_id}).fetchone()
    if found is not None:
        row_id: int = found[0]
        _UPDATE.run(c, {**params, "id": row_id})
        return row_id
    inserted = _INSERT.run(c, params)
    if not inserted.rowcount:
        raise StorageError(f"no url row {url_id!r}: its article cannot be stored")
    assert inserted.lastrowid is not None
    return inserted.lastrowid


def _values(article: Article, analysis: PageAnalysis, anchor: str) -> dict[str, Any]:
    return {
        "title": clean_text(article.title, MAX_TITLE_CHARS),
        "published_at": to_time(article.published_at),
        "author": clean_word(article.author, _MAX_NAME_CHARS),
        "source": clean_word(article.source, _MAX_NAME_CHARS),
        "channel": clean_word(article.channel, _MAX_NAME_CHARS),
        "keywords": clean_text(article.keywords, _MAX_NOTE_CHARS),
        "description": clean_text(article.description, _MAX_NOTE_CHARS),
        "anchor": clean_text(anchor, _MAX_NOTE_CHARS),
        "language": clean_word(article.language, 16).encode("ascii", "replace").decode(),
        "charset": clean_word(analysis.charset, 64),
        "method": clean_word(article.method, 64),
        "body_digest": analysis.body_digest[:64],
        "title_tokens": to_json(analysis.title_tokens),
        "truncated": len(article.title) > MAX_TITLE_CHARS or len(article.text) > MAX_TEXT_CHARS,
        "text": clean_text(article.text, MAX_TEXT_CHARS),
    }


def save_relevance(
    c: Connection,
    article_id: int,
    topic_ids: Mapping[str, int],
    judgements: Sequence[Relevance],
) -> None:
    """Store what topics think of an article, replacing what they thought before.

    Raises:
        StorageError: a judgement's topic is not among *topic_ids* (names to row ids).
    """
    unknown = {one.topic for one in judgements} - topic_ids.keys()
    if unknown:
        raise StorageError(f"topic {sorted(unknown)[0]!r} is not in the database")
    _SAVE_RELEVANCE.run_many(c, [
        {
            "article_id": article_id,
            "topic_id": topic_ids[one.topic],
            "score": one.score,
            "relevant": bool(one.relevant),
            "method": clean_word(one.method, 64),
            "terms": to_json(one.terms),
        }
        for one in sorted(judgements, key=lambda one: topic_ids[one.topic])
    ])  # fmt: skip


def save_title_terms(c: Connection, article_id: int, tokens: Sequence[str]) -> None:
    """Replace the title terms of an article by *tokens*, counted; blank ones are left out.

    Their weights are 0 until :func:`rebuild_term_weights`.
    """
    words = (clean_word(token, MAX_TERM_CHARS) for token in tokens)
    counts = Counter(word for word in words if word)
    _DROP_TERMS.run(c, {"article_id": article_id})
    _ADD_TERM.run_many(c, [
        {"article_id": article_id, "term": term, "count": count}
        for term, count in sorted(counts.items())
    ])  # fmt: skip


def iter_titles(
    c: Connection, after_article_id: int, limit: int, *, with_parts: bool = True
) -> list[tuple[int, TitleRecord]]:
    """The next *limit* titles after article *after_article_id*, by id; [] at the end.

    Args:
        with_parts: also articles that stand at a later part until their first page comes.
    """
    rows = _TITLES.run(c, {
        "after": after_article_id, "count": limit, "parts": int(with_parts),
    }).fetchall()  # fmt: skip
    return [(row[0], _title(row)) for row in rows]


def _title(row: Any) -> TitleRecord:
    _id, key, title, site, published_at, source, tokens, digest = row
    return TitleRecord(
        key=bytes(key),
        title=title,
        host=site,
        published_at=from_time(published_at),
        source=source,
        tokens=tuple(from_json(tokens) or ()),
        body_digest=bytes(digest),
    )
