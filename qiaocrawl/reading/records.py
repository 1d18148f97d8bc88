"""Selects the articles and pages of an export, read in batches by id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, func, or_, select

from qiaocrawl.extract.structure.markdown import to_markdown
from qiaocrawl.items import FetchedPage
from qiaocrawl.items.article import Comment
from qiaocrawl.reading.marks import Marks, marks_of
from qiaocrawl.storage.packed_text import unpack_html
from qiaocrawl.storage.pages.articles import comments_from
from qiaocrawl.storage.pages.raw_pages import PAGE_COLUMNS, pages_of
from qiaocrawl.storage.schema import (
    article,
    article_part,
    page_source,
    query,
    relevance,
    topic,
    url,
    verdict,
)
from qiaocrawl.storage.selection import (
    Selection,
    article_conditions,
    batches,
    best_judgement,
    judged_conditions,
    ordered_ids,
)
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import from_time, json_mapping, to_stored_time

# Bodies have up to 10 MiB: a batch of them must fit into memory.
_PAGES_AT_A_TIME = 20
_ARTICLES_AT_A_TIME = 200


@dataclass(frozen=True, slots=True)
class ArticleRecord:
    """One article as every format writes it. Times are aware UTC; ``score`` in [0, 1].

    ``group_url`` is the URL of the article that represents its reprint group; ``html`` is the
    text with its structure, "" for articles of versions that did not store it. ``engagement``
    and ``comments``: as in ``Article``; ``kind`` is ``article`` or, for a file,
    ``document``; ``found_on`` is the page that led to it first, "" for none.
    """

    id: int
    url: str
    site: str
    title: str
    published_at: datetime | None
    modified_at: datetime | None
    author: str
    source: str
    channel: str
    keywords: str
    description: str
    anchor: str
    language: str
    fetched_at: datetime | None
    score: float | None
    relevant: bool | None
    verdict: str
    similarity: float | None
    group_url: str
    text: str
    html: str
    engagement: Mapping[str, int]
    comments: tuple[Comment, ...]
    kind: str
    found_on: str

    @property
    def markdown(self) -> str:
        """The text with its structure as Markdown."""
        return to_markdown(self.html)


_RECORD_NAMES = tuple(field.name for field in fields(ArticleRecord))


def count_articles(c: Connection, selection: Selection) -> int:
    """How many articles *selection* has.

    Raises:
        StorageError: its topic was never imported.
    """
    return sum(_count(c, part) for part in batches(c, selection))


def _count(c: Connection, selection: Selection) -> int:
    ids = select(article.c.id).where(*article_conditions(c, selection)).subquery()
    count: int = c.execute(select(func.count()).select_from(ids)).scalar_one()
    return count


def iter_articles(c: Connection, selection: Selection) -> Iterator[ArticleRecord]:
    """The selected articles in the selection's order, else by id.

    Raises:
        StorageError: its topic was never imported.
    """
    if selection.order:
        yield from _records_in_order(c, selection)
        return
    for part in batches(c, selection):
        yield from _articles(c, part)


def _records_in_order(c: Connection, selection: Selection) -> Iterator[ArticleRecord]:
    statement = _article_rows(c, selection)
    rest = ordered_ids(c, selection)
    while some := tuple(islice(rest, _ARTICLES_AT_A_TIME)):
        rows = {row[0]: row for row in c.execute(statement.where(article.c.id.in_(some)))}
        yield from (_record(rows[row_id]) for row_id in some if row_id in rows)


def _articles(c: Connection, selection: Selection) -> Iterator[ArticleRecord]:
    statement = _article_rows(c, selection).where(*article_conditions(c, selection))
    after = 0
    while rows := c.execute(
        statement.where(article.c.id > after).order_by(article.c.id).limit(_ARTICLES_AT_A_TIME)
    ).all():
        for row in rows:
            yield _record(row)
        after = rows[-1][0]


def articles_at(c: Connection, url_ids: Sequence[int], topic: str) -> list[ArticleRecord]:
    """The articles that stand at the URLs *url_ids*, with the relevance *topic* gives them.

    Raises:
        StorageError: the topic was never imported.
    """
    statement = _article_rows(c, Selection(topic)).where(article.c.url_id.in_(url_ids))
    return [_record(row) for row in c.execute(statement.order_by(article.c.id))]


def count_pages(c: Connection, selection: Selection) -> int:
    """How many pages *selection* has: the newest of each URL.

    Raises:
        StorageError: its topic was never imported.
    """
    ids = select(page_source.c.id).join(url).where(*_page_conditions(c, selection)).subquery()
    count: int = c.execute(select(func.count()).select_from(ids)).scalar_one()
    return count


def iter_pages(c: Connection, selection: Selection) -> Iterator[FetchedPage]:
    """The selected pages, the newest of each URL, in the order they were stored.

    Pages that cannot be read are left out, counted and logged.

    Raises:
        StorageError: its topic was never imported.
    """
    statement = (
        select(page_source.c.id, *PAGE_COLUMNS).join(url).where(*_page_conditions(c, selection))
    )
    after = 0
    while rows := c.execute(
        statement.where(page_source.c.id > after).order_by(page_source.c.id).limit(_PAGES_AT_A_TIME)
    ).all():
        yield from (page for page in pages_of(c, [row[1:] for row in rows]) if page is not None)
        after = rows[-1][0]


def _article_rows(c: Connection, selection: Selection) -> Select[Any]:
    representative = article.alias("representative")
    group_url, found_on = url.alias("group_url"), url.alias("found_on")
    # In the order of ArticleRecord's fields.
    return (
        select(
            article.c.id,
            url.c.url,
            article.c.site,
            article.c.title,
            article.c.published_at,
            article.c.modified_at,
            article.c.author,
            article.c.source,
            article.c.channel,
            article.c.keywords,
            article.c.description,
            article.c.anchor,
            article.c.language,
            article.c.fetched_at,
            best_judgement(c, selection, relevance.c.score),
            best_judgement(c, selection, relevance.c.relevant),
            verdict.c.kind,
            verdict.c.similarity,
            group_url.c.url,
            article.c.text,
            article.c.html,
            article.c.engagement,
            article.c.comments,
            article.c.kind,
            found_on.c.url,
        )
        .join(url, url.c.id == article.c.url_id)
        .outerjoin(verdict, verdict.c.article_id == article.c.id)
        .outerjoin(representative, representative.c.id == verdict.c.group_id)
        .outerjoin(found_on, found_on.c.key == url.c.parent_key)
        .outerjoin(group_url, group_url.c.id == representative.c.url_id)
    )


def _record(row: Any) -> ArticleRecord:
    values = dict(zip(_RECORD_NAMES, row, strict=True))
    relevant = values["relevant"]
    values |= {
        "published_at": from_time(values["published_at"]),
        "modified_at": from_time(values["modified_at"]),
        "fetched_at": from_time(values["fetched_at"]),
        "relevant": None if relevant is None else bool(relevant),
        "verdict": values["verdict"] or "",
        "group_url": values["group_url"] or values["url"],
        "html": unpack_html(values["html"], values["text"]),
        "engagement": json_mapping(values["engagement"]),
        "comments": comments_from(values["comments"]),
        "found_on": values["found_on"] or "",
    }
    return ArticleRecord(**values)


def _page_conditions(c: Connection, selection: Selection) -> list[ColumnElement[bool]]:
    newer = page_source.alias("newer")
    conditions: list[ColumnElement[bool]] = [
        ~exists().where(
            newer.c.url_id == page_source.c.url_id,
            or_(
                newer.c.last_seen_at > page_source.c.last_seen_at,
                and_(
                    newer.c.last_seen_at == page_source.c.last_seen_at,
                    newer.c.id > page_source.c.id,
                ),
            ),
        )
    ]
    if selection.fetched_since is not None:
        conditions.append(page_source.c.last_seen_at >= to_stored_time(selection.fetched_since))
    if selection.fetched_before is not None:
        conditions.append(page_source.c.last_seen_at < to_stored_time(selection.fetched_before))
    judged = judged_conditions(c, selection)
    if not judged:
        return conditions
    of_article = or_(exists().where(article.c.url_id == url.c.id, *judged), _is_part(judged))
    if selection.is_of_articles:
        return [*conditions, of_article]
    assert selection.topic is not None
    return [*conditions, or_(url.c.topic_id == topic_id(c, selection.topic), of_article)]


def _is_part(judged: Sequence[ColumnElement[bool]]) -> ColumnElement[bool]:
    """Whether a page is a part of a *judged* article, which stands at another page."""
    own, head = article_part.alias("own"), article_part.alias("head")
    return exists().where(
        own.c.url_id == url.c.id,
        head.c.first_key == own.c.first_key,
        article.c.url_id == head.c.url_id,
        *judged,
    )


# --- What programs read: articles, groups and queries as plain records, a page at a time ----------
# Pages go by the row's number: what comes in meanwhile moves nothing, and page
# 10,000 costs what the first does.

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ArticleChoice:
    """Which articles, and what of them.

    Attributes:
        topic_name: judged for this topic; "" for all articles.
        only_relevant: on topic for it, or for any.
        since: stored or changed at this time or later.
        group_id: of this group of reprints.
        with_text: with their texts.
        word_groups: that one of these groups of words of the topic (else of any) touches.
        media: of one of these kinds of media.
        article_ids: of these row ids only; () for all.
    """

    topic_name: str = ""
    only_relevant: bool = False
    since: datetime | None = None
    group_id: int | None = None
    with_text: bool = False
    word_groups: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    article_ids: tuple[int, ...] = ()


def article_records(
    c: Connection, *, after: int, limit: int, choice: ArticleChoice
) -> list[Record]:
    """The first *limit* articles behind the one of number *after*.

    Raises:
        StorageError: the topic was never imported.
    """
    columns = [
        article.c.id,
        url.c.url,
        article.c.title,
        article.c.site,
        article.c.author,
        article.c.source,
        article.c.channel,
        article.c.language,
        article.c.published_at,
        article.c.fetched_at,
        article.c.updated_at,
        verdict.c.group_id,
    ]
    statement = (
        select(*columns, *([article.c.text] if choice.with_text else []))
        .join(url, url.c.id == article.c.url_id)
        .outerjoin(verdict, verdict.c.article_id == article.c.id)
        .where(article.c.id > after)
        .order_by(article.c.id)
        .limit(limit)
    )
    statement = statement.where(*_conditions(c, choice))
    rows = c.execute(statement).mappings().all()
    ids = [row["id"] for row in rows]
    judged, marked = _judgements(c, ids), marks_of(c, ids)
    return [
        {
            **_api_record(row),
            "topics": judged.get(row["id"], []),
            "marks": marks_record(marked.get(row["id"], Marks())),
        }
        for row in rows
    ]


def marks_record(own: Marks) -> Record:
    """What people marked an article with, as programs read it."""
    return {
        "starred": own.starred,
        "note": own.note,
        "tags": own.tags,
        "judged": dict(own.judged),
    }


def _conditions(c: Connection, choice: ArticleChoice) -> list[ColumnElement[bool]]:
    selection = Selection(
        choice.topic_name or None,
        only_relevant=choice.only_relevant,
        groups=choice.word_groups,
        media=choice.media,
    )
    conditions = judged_conditions(c, selection)
    if choice.since is not None:
        conditions.append(article.c.updated_at >= to_stored_time(choice.since))
    if choice.article_ids:
        conditions.append(article.c.id.in_(choice.article_ids))
    if choice.group_id is not None:
        conditions.append(verdict.c.group_id == choice.group_id)
    return conditions


def _judgements(c: Connection, article_ids: Sequence[int]) -> dict[int, list[Record]]:
    statement = (
        select(relevance.c.article_id, topic.c.name, relevance.c.score, relevance.c.relevant)
        .join(topic, topic.c.id == relevance.c.topic_id)
        .where(relevance.c.article_id.in_(article_ids))
        .order_by(relevance.c.article_id, topic.c.name)
    )
    judged: dict[int, list[Record]] = {}
    for article_id, name, score, relevant in c.execute(statement):
        entry = {"topic": name, "score": score, "relevant": bool(relevant)}
        judged.setdefault(article_id, []).append(entry)
    return judged


def group_records(c: Connection, *, after: int, limit: int, least_members: int) -> list[Record]:
    """The first *limit* reprint groups behind number *after* with so many articles or more.

    A group's number is that of the article that stands for it.
    """
    members = func.count()
    sized = (
        select(
            verdict.c.group_id,
            members.label("articles"),
            func.count(article.c.site.distinct()).label("sites"),
            func.min(article.c.published_at).label("first_published_at"),
        )
        .join(article, article.c.id == verdict.c.article_id)
        .where(verdict.c.group_id > after)
        .group_by(verdict.c.group_id)
        .having(members >= least_members)
        .order_by(verdict.c.group_id)
        .limit(limit)
        .subquery()
    )
    statement = (
        select(
            sized.c.group_id.label("id"),
            article.c.title,
            article.c.site,
            url.c.url,
            sized.c.articles,
            sized.c.sites,
            sized.c.first_published_at,
        )
        .join(article, article.c.id == sized.c.group_id)
        .join(url, url.c.id == article.c.url_id)
        .order_by(sized.c.group_id)
    )
    return [_api_record(row) for row in c.execute(statement).mappings()]


def query_records(c: Connection, *, after: int, limit: int, topic_name: str = "") -> list[Record]:
    """The first *limit* queries of the coverage ledger behind number *after*.

    Raises:
        StorageError: the topic was never imported.
    """
    statement = (
        select(
            query.c.id,
            topic.c.name.label("topic"),
            query.c.term,
            query.c.site,
            query.c.engine,
            query.c.period,
            query.c.page,
            query.c.state,
            query.c.hits,
            query.c.new_urls,
            query.c.tries,
            query.c.message,
            query.c.asked_at,
            query.c.due_at,
        )
        .join(topic, topic.c.id == query.c.topic_id)
        .where(query.c.id > after)
        .order_by(query.c.id)
        .limit(limit)
    )
    if topic_name:
        statement = statement.where(query.c.topic_id == topic_id(c, topic_name))
    return [_api_record(row) for row in c.execute(statement).mappings()]


def _api_record(row: Any) -> Record:
    """A row with its times in UTC; every column whose name ends in _at is one."""
    return {
        name: from_time(value) if name.endswith("_at") else value for name, value in row.items()
    }
