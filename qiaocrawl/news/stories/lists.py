"""Stories as people read them: lists, one with its articles and what became of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, and_, exists, func, insert, or_, select

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.news.stories.stored import key_of
from qiaocrawl.storage.schema import (
    article,
    relevance,
    story,
    story_article,
    story_change,
    story_follow,
    topic,
    url,
)
from qiaocrawl.storage.values import clean_word, from_time, to_stored_time

_AT_A_TIME = 500


@dataclass(frozen=True, slots=True)
class StoryLine:
    """A story as a list shows it; *last* is when its newest article was published, or came."""

    id: int
    title: str
    state: str
    articles: int
    voices: int
    first: datetime | None
    last: datetime | None
    words: tuple[str, ...]
    is_followed: bool
    merged_into: int | None = None


@dataclass(frozen=True, slots=True)
class StoryArticle:
    """An article of a story; its key is the one a desk knows it by.

    Attributes:
        is_reprint: an article published before it has its text.
    """

    key: str
    url: str
    site: str
    title: str
    published_at: datetime | None
    is_reprint: bool


@dataclass(frozen=True, slots=True)
class StoryEvent:
    """What became of a story once."""

    at: datetime
    kind: str
    other: int | None
    articles: int
    score: float
    words: tuple[str, ...]
    by_hand: bool


IS_FOLLOWED = exists().where(
    story_article.c.story_id == story.c.id, story_article.c.url_id == story_follow.c.url_id
)
"""The condition that somebody follows a story."""


def list_stories(
    c: Connection,
    *,
    topic_name: str = "",
    since_minute: int = 0,
    published: tuple[datetime, datetime] | None = None,
    least: int = 1,
    least_articles: int = 2,
    followed: bool = False,
    limit: int = 20,
) -> list[StoryLine]:
    """Stories something came to since, those of most articles first.

    Reprints count: a text that twelve outlets print is what people hear of.

    Args:
        topic_name: those with an article on this topic only.
        published: those told of from the first moment on and begun before the second, by the
            dates of their articles; such without a date by ``since_minute``.
        least: of so many voices.
        least_articles: of so many articles, reprints too.
    """
    statement = (
        select(story, IS_FOLLOWED.label("is_followed"))
        .where(
            story.c.state != "merged",
            story.c.touched >= since_minute,
            story.c.voices >= least,
            story.c.articles >= least_articles,
        )
        .order_by(
            story.c.articles.desc(), story.c.voices.desc(), story.c.touched.desc(), story.c.id
        )
        .limit(limit)
    )
    if followed:
        statement = statement.where(IS_FOLLOWED)
    if published is not None:
        since, before = map(to_stored_time, published)
        dated = and_(story.c.last_published >= since, story.c.first_published < before)
        statement = statement.where(or_(story.c.last_published.is_(None), dated))
    if topic_name:
        statement = statement.where(
            exists().where(
                story_article.c.story_id == story.c.id,
                article.c.url_id == story_article.c.url_id,
                relevance.c.article_id == article.c.id,
                relevance.c.relevant.is_(True),
                relevance.c.topic_id == topic.c.id,
                topic.c.name == topic_name,
            )
        )
    return [_line(row) for row in c.execute(statement)]


def one_story(c: Connection, number: int) -> StoryLine:
    """The story of that number.

    Raises:
        ConfigError: there is none.
    """
    statement = select(story, IS_FOLLOWED.label("is_followed")).where(story.c.id == number)
    row = c.execute(statement).first()
    if row is None:
        raise ConfigError(_("there is no story {number}", number=number))
    return _line(row)


def titles_of(c: Connection, numbers: Sequence[int]) -> dict[int, tuple[str, int]]:
    """Title and number of articles of each story, by its number."""
    found: dict[int, tuple[str, int]] = {}
    for start in range(0, len(numbers), _AT_A_TIME):
        some = numbers[start : start + _AT_A_TIME]
        rows = select(story.c.id, story.c.title, story.c.articles).where(story.c.id.in_(some))
        found |= {row.id: (row.title, row.articles) for row in c.execute(rows)}
    return found


def articles_of(c: Connection, number: int) -> list[StoryArticle]:
    """The articles of a story, by publication."""
    statement = (
        select(
            url.c.id,
            url.c.key,
            url.c.url,
            article.c.site,
            article.c.title,
            article.c.published_at,
            story_article.c.voice_url_id,
        )
        .join(story_article, story_article.c.url_id == url.c.id)
        .outerjoin(article, article.c.url_id == url.c.id)
        .where(story_article.c.story_id == number)
        .order_by(article.c.published_at.is_(None), article.c.published_at, url.c.url)
    )
    told: set[int] = set()
    found = []
    for row in c.execute(statement):
        found.append(
            StoryArticle(
                key_of(bytes(row.key), row.id),
                row.url,
                row.site or "",
                row.title or "",
                from_time(row.published_at),
                row.voice_url_id in told,
            )
        )
        told.add(row.voice_url_id)
    return found


def url_ids_of(c: Connection, number: int) -> list[int]:
    """The rows of the URLs of a story, the first published first."""
    columns = story_article.c
    statement = select(columns.url_id).where(columns.story_id == number)
    return list(c.execute(statement.order_by(columns.published, columns.url_id)).scalars())


def changes_of(c: Connection, number: int) -> list[StoryEvent]:
    """What became of a story, in order."""
    table = story_change
    either = or_(table.c.story_id == number, table.c.other_id == number)
    return [
        StoryEvent(
            datetime.fromtimestamp(row.minute * 60, UTC),
            row.kind,
            row.other_id if row.story_id == number else row.story_id,
            len(json.loads(row.url_ids)),
            row.score,
            tuple(json.loads(row.words)),
            bool(row.by_hand),
        )
        for row in c.execute(select(table).where(either).order_by(table.c.id))
    ]


def follow(c: Connection, number: int, *, by: str, now: datetime) -> None:
    """Follow a story, by the article that heads it.

    Raises:
        ConfigError: there is no such story.
    """
    one_story(c, number)
    head = c.execute(select(story.c.head_url_id).where(story.c.id == number)).scalar_one()
    there = select(func.count()).where(story_follow.c.url_id == head)
    if head is not None and not c.execute(there).scalar_one():
        c.execute(
            insert(story_follow).values(
                url_id=head, followed_by=clean_word(by, 100), followed_at=to_stored_time(now)
            )
        )


def _line(row: Any) -> StoryLine:
    return StoryLine(
        row.id,
        row.title,
        row.state,
        row.articles,
        row.voices,
        from_time(row.first_published),
        from_time(row.last_published),
        tuple(json.loads(row.words)),
        bool(row.is_followed),
        row.merged_into,
    )
