"""Articles with their relevance and title terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, exists, func, select

from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.items import PageAnalysis, Relevance, TitleRecord
from qiaocrawl.items.article import Article, Comment
from qiaocrawl.language import _
from qiaocrawl.storage.packed_text import pack_html, pack_text
from qiaocrawl.storage.pages.article_changes import note_changes
from qiaocrawl.storage.pages.raw_pages import NEWEST_PAGE
from qiaocrawl.storage.pages.revisions import keep_version
from qiaocrawl.storage.schema import article, relevance, url, verdict
from qiaocrawl.storage.selection import published, published_within
from qiaocrawl.storage.sql import Statement, upsert
from qiaocrawl.storage.titles.title_log import rebuild_term_weights
from qiaocrawl.storage.titles.verdicts import save_verdict
from qiaocrawl.storage.topics.judgements import decide_article
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import (
    MAX_SKETCH_BYTES,
    clean_text,
    clean_word,
    epoch_time,
    from_json,
    from_time,
    to_json,
    to_stored_time,
    to_time,
)
from qiaocrawl.urls import url_key

__all__ = [
    "SavedArticle",
    "rebuild_term_weights",
    "save_article",
    "save_relevance",
    "save_title_terms",
    "save_verdict",
]

MAX_TITLE_CHARS = 2_000
MAX_TEXT_CHARS = 1_000_000
"""About three megabytes of Chinese: a book, or a page that is no article."""

# About four times the longest text: tags and attributes included.
MAX_HTML_CHARS = 4_000_000
_MAX_COMMENTS_CHARS = 1_000_000

_MAX_NAME_CHARS = 200
_MAX_NOTE_CHARS = 10_000
MAX_TERM_CHARS = 100

_FIND = Statement(
    "SELECT a.id, u.`key`, h.name FROM url u JOIN host h ON h.id = u.host_id"
    " LEFT JOIN article a ON a.url_id = u.id WHERE u.id = :url_id"
)

_PAGE = Statement(
    "SELECT u.id, u.url FROM article a JOIN url u ON u.id = a.url_id WHERE a.id = :article_id"
)

_FIELDS = (
    "title",
    "published_at",
    "modified_at",
    "author",
    "source",
    "channel",
    "keywords",
    "description",
    "anchor",
    "language",
    "charset",
    "method",
    "body_digest",
    "title_tokens",
    "truncated",
    "updated_at",
    "text",
    "html",
    "engagement",
    "comments",
    "kind",
)
_FETCHED_AT = "COALESCE(u.fetched_at, :updated_at)"
_INSERT = Statement(
    f"INSERT INTO article (url_id, page_source_id, site, fetched_at, {', '.join(_FIELDS)})"
    f" SELECT u.id, {NEWEST_PAGE}, h.name, {_FETCHED_AT}, {', '.join(':' + f for f in _FIELDS)}"
    " FROM url u JOIN host h ON h.id = u.host_id WHERE u.id = :url_id"
)
_UPDATE = Statement(
    f"UPDATE article SET {', '.join(f'{f} = :{f}' for f in _FIELDS)},"
    f" page_source_id = {NEWEST_PAGE},"
    " fetched_at = (SELECT COALESCE(u.fetched_at, :updated_at) FROM url u WHERE u.id = :url_id)"
    " WHERE id = :id"
)

_SAVE_RELEVANCE = upsert(
    "relevance",
    "article_id, topic_id, score, relevant, method, terms",
    key="article_id, topic_id",
    change="score, relevant, method, terms",
)

_DROP_TERMS = Statement("DELETE FROM title_term WHERE article_id = :article_id")
_ADD_TERM = Statement(
    "INSERT INTO title_term (article_id, term, count, weight)"
    " VALUES (:article_id, :term, :count, 0)"
)


@dataclass(frozen=True, slots=True)
class SavedArticle:
    """An article as it is stored now: its row id, its text, and what deduplication takes from it.

    ``is_new``: there was none at its URL before.
    """

    id: int
    title: TitleRecord
    text_chars: int
    is_new: bool
    text: str


def save_article(
    c: Connection,
    url_id: int,
    article: Article,
    analysis: PageAnalysis,
    *,
    anchor: str,
    now: float,
) -> SavedArticle:
    """Insert or replace the article of *url_id*; its row id stays.

    If a newer page differs, the earlier text is kept as a revision.

    The caller holds the row's lease, which keeps two writers apart.

    Raises:
        StorageError: there is no such URL.
    """
    existing = _FIND.run(c, {"url_id": url_id}).fetchone()
    if existing is None:
        raise StorageError(_("no url row {url_id!r}: its article cannot be stored", url_id=url_id))
    row_id, key, host = existing
    text = clean_text(article.text, MAX_TEXT_CHARS)
    values = _values(article, text, analysis, anchor)
    params = {**values, "url_id": url_id, "updated_at": epoch_time(now)}
    is_new = row_id is None
    if is_new:
        row_id = _INSERT.run(c, params).lastrowid
        assert row_id is not None
    else:
        # Before the update, which is what it copies from.
        keep_version(c, row_id, params, now=now)
        _UPDATE.run(c, {**params, "id": row_id})
    note_changes(c, [row_id])
    title = TitleRecord(
        bytes(key),
        params["title"],
        host,
        from_time(params["published_at"]),
        params["source"],
        params["body_digest"],
        analysis.body_simhash,
        analysis.body_sketch[:MAX_SKETCH_BYTES],
    )
    return SavedArticle(row_id, title, params["text_chars"], is_new, text)


def _values(article: Article, text: str, analysis: PageAnalysis, anchor: str) -> dict[str, Any]:
    return {
        "title": clean_text(article.title, MAX_TITLE_CHARS),
        "published_at": to_time(article.published_at),
        "modified_at": to_time(article.modified_at),
        "author": clean_word(article.author, _MAX_NAME_CHARS),
        "source": clean_word(article.source, _MAX_NAME_CHARS),
        "channel": clean_word(article.channel, _MAX_NAME_CHARS),
        "keywords": clean_text(article.keywords, _MAX_NOTE_CHARS),
        "description": clean_text(article.description, _MAX_NOTE_CHARS),
        "anchor": clean_text(anchor, _MAX_NOTE_CHARS),
        # The column holds ASCII: codes such as zh or zh-Hant; what a page makes up must not
        # fail the write.
        "language": clean_word(article.language, 16).encode("ascii", "replace").decode(),
        "charset": clean_word(analysis.charset, 64),
        "method": clean_word(article.method, 64),
        "body_digest": analysis.body_digest[:64],
        "title_tokens": to_json(analysis.title_tokens),
        "truncated": len(article.title) > MAX_TITLE_CHARS or len(article.text) > MAX_TEXT_CHARS,
        "text": pack_text(text),
        "text_chars": len(text),
        "html": packed_html(article.html, text),
        "engagement": to_json(dict(article.engagement)) if article.engagement else None,
        "comments": comments_json(article.comments) or None,
        "kind": article.kind,
    }


def comments_json(comments: Sequence[Comment], max_chars: int = _MAX_COMMENTS_CHARS) -> str:
    """*comments* as they are stored, "" for none; of too many the longest go."""
    rows = [
        (
            clean_word(comment.author, _MAX_NAME_CHARS),
            to_time(comment.published_at),
            clean_text(comment.text, MAX_TEXT_CHARS),
        )
        for comment in comments
    ]
    return to_json(rows, max_chars) if rows else ""


def comments_from(stored: str | None) -> tuple[Comment, ...]:
    """The comments in *stored*, as :func:`comments_json` wrote them."""
    return tuple(
        Comment(author, from_time(when), words) for author, when, words in from_json(stored) or ()
    )


def packed_html(html: str, text: str) -> bytes | None:
    """*html* as it is stored beside *text*.

    None for one that is too long: cut, its elements would not end.
    """
    return pack_html(html, text) if len(html) <= MAX_HTML_CHARS else None


def page_of(c: Connection, article_id: int) -> tuple[int, str]:
    """The row id of an article's URL, and the URL.

    Raises:
        ConfigError: there is no such article.
    """
    row = _PAGE.run(c, {"article_id": article_id}).fetchone()
    if row is None:
        raise ConfigError(_("there is no article {which}", which=article_id))
    return row[0], row[1]


def save_relevance(
    c: Connection,
    article_id: int,
    topic_ids: Mapping[str, int],
    judgements: Sequence[Relevance],
) -> None:
    """Store the topics' judgements of an article, replacing earlier ones.

    Where an operator has judged its page, that verdict stands.

    Raises:
        StorageError: a judgement's topic is not among *topic_ids* (names to row ids).
    """
    unknown = {judgement.topic for judgement in judgements} - topic_ids.keys()
    if unknown:
        raise StorageError(_("topic {topic!r} is not in the database", topic=sorted(unknown)[0]))
    _SAVE_RELEVANCE.run_many(
        c,
        [
            {
                "article_id": article_id,
                "topic_id": topic_ids[judgement.topic],
                "score": judgement.score,
                "relevant": bool(judgement.relevant),
                "method": clean_word(judgement.method, 64),
                "terms": to_json(_word_rows(judgement)),
            }
            # In one order, so that workers do not deadlock.
            for judgement in sorted(judgements, key=lambda judgement: topic_ids[judgement.topic])
        ],
    )
    # save_relevance wrote what the scorers say; the operator's word comes after it.
    decide_article(c, article_id)


def _word_rows(judgement: Relevance) -> list[tuple[object, ...]]:
    """The words of a judgement with their shares, and their places where known."""
    # Scorers that keep no places leave the list empty.
    if not judgement.places:
        return [*judgement.terms]
    pairs = zip(judgement.terms, judgement.places, strict=True)
    return [(*term, places) for term, places in pairs]


def save_title_terms(
    c: Connection, article_id: int, tokens: Sequence[str], *, is_new: bool = False
) -> None:
    """Replace the title terms of an article by *tokens*, counted; blank ones are left out.

    Their weights are 0 until :func:`rebuild_term_weights`.

    Args:
        is_new: the article was inserted in this transaction, so it has none.
    """
    words = (clean_word(token, MAX_TERM_CHARS) for token in tokens)
    counts = Counter(word for word in words if word)
    # Dropped and added, since titles change their words and most have few.
    if not is_new:
        _DROP_TERMS.run(c, {"article_id": article_id})
    _ADD_TERM.run_many(
        c,
        [
            {"article_id": article_id, "term": term, "count": count}
            for term, count in sorted(counts.items())
        ],
    )


# --- The texts of stored articles alone, for what reads many of them ------------------------------

_AT_A_TIME = 200


class ArticleText(NamedTuple):
    """What an article says, and where and when it was published (UTC; None for unknown).

    ``id`` is its number, ``at`` its publication, or its fetch where that is unknown.
    """

    url: str
    site: str
    title: str
    text: str
    published_at: datetime | None
    id: int = 0
    at: datetime | None = None


def count_texts(
    c: Connection,
    topic: str | None,
    site: str | None,
    fetched_since: datetime | None = None,
    *,
    since: datetime | None = None,
    before: datetime | None = None,
) -> int:
    """How many texts :func:`iter_texts` gives.

    Raises:
        StorageError: the topic was never imported.
    """
    conditions = (*told_once(c, topic, site, fetched_since), *published_within(since, before))
    ids = select(article.c.id).where(*conditions).subquery()
    number: int = c.execute(select(func.count()).select_from(ids)).scalar_one()
    return number


def articles_at(c: Connection, addresses: Sequence[str]) -> dict[str, int]:
    """Row ids of the articles at these stored addresses, a few hundred; others are left out."""
    keys = [url_key(address) for address in addresses]
    statement = select(url.c.url, article.c.id).join(article, article.c.url_id == url.c.id)
    rows = c.execute(statement.where(url.c.key.in_(keys))).all()
    return {row.url: row.id for row in rows}


def iter_texts(
    c: Connection,
    topic: str | None,
    site: str | None,
    fetched_since: datetime | None = None,
    *,
    since: datetime | None = None,
    before: datetime | None = None,
    only: Sequence[ColumnElement[bool]] = (),
) -> Iterator[ArticleText]:
    """The stored articles, reprints once.

    Args:
        topic: only those it was judged relevant to; None for all.
        site: only those of this host; None for all.
        fetched_since: only those fetched since, aware; None for all.
        since, before: as in :class:`qiaocrawl.storage.selection.Selection`.
        only: what else they meet, on rows of ``article``.

    Raises:
        StorageError: the topic was never imported.
    """
    columns = article.c.id, url.c.url, article.c.site, article.c.title, article.c.text
    statement = (
        select(*columns, article.c.published_at, published)
        .join(url, url.c.id == article.c.url_id)
        .where(*told_once(c, topic, site, fetched_since), *published_within(since, before), *only)
        .order_by(article.c.id)
        .limit(_AT_A_TIME)
    )
    after = 0
    while rows := c.execute(statement.where(article.c.id > after)).all():
        for number, address, host, title, text, published_at, at in rows:
            yield ArticleText(
                address, host, title, text, from_time(published_at), number, from_time(at)
            )
        after = rows[-1][0]


def told_once(
    c: Connection,
    topic: str | None,
    site: str | None = None,
    fetched_since: datetime | None = None,
) -> list[ColumnElement[bool]]:
    """The conditions on rows of ``article`` of :func:`iter_texts`, but for publication.

    Raises:
        StorageError: the topic was never imported.
    """
    # A reprint says nothing new: its words would count once for each outlet.
    is_reprint = exists().where(
        verdict.c.article_id == article.c.id, verdict.c.group_id != article.c.id
    )
    conditions: list[ColumnElement[bool]] = [~is_reprint]
    if site is not None:
        conditions.append(article.c.site == site)
    if fetched_since is not None:
        conditions.append(article.c.fetched_at >= to_stored_time(fetched_since))
    if topic is not None:
        conditions.append(
            exists().where(
                relevance.c.article_id == article.c.id,
                relevance.c.topic_id == topic_id(c, topic),
                relevance.c.relevant.is_(True),
            )
        )
    return conditions
