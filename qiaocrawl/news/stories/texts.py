"""Stories with the texts of their articles, for what is made of them: warnings, briefings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select

from qiaocrawl.reading.listing import Outlet, OutletNames
from qiaocrawl.storage.schema import article, relevance, story, story_article, topic, url
from qiaocrawl.storage.selection import published
from qiaocrawl.storage.values import from_time

_AT_A_TIME = 200


@dataclass(frozen=True, slots=True)
class StoryText:
    """An article of a story with its text; *at* is its publication, or its fetch.

    *is_reprint*: an article before it has its text.
    """

    url_id: int
    article_id: int
    url: str
    title: str
    text: str
    host: str
    outlet: Outlet
    at: datetime
    is_dated: bool
    is_reprint: bool
    topics: frozenset[str]


def touched_since(c: Connection, minute: int) -> list[int]:
    """Numbers of the stories that go on and that something came to since."""
    statement = select(story.c.id).where(story.c.state == "awake", story.c.touched >= minute)
    return list(c.execute(statement.order_by(story.c.id)).scalars())


def newest_since(c: Connection, minute: int, least_articles: int, limit: int) -> list[int]:
    """Numbers of the stories that something came to since, whether they go on, newest first.

    Args:
        limit: of them at most.
    """
    statement = (
        select(story.c.id)
        .where(
            story.c.state != "merged", story.c.touched >= minute, story.c.articles >= least_articles
        )
        .order_by(story.c.touched.desc(), story.c.id.desc())
        .limit(limit)
    )
    return list(c.execute(statement).scalars())


def texts_of(
    c: Connection, numbers: Sequence[int], topic_name: str | None = None
) -> dict[int, list[StoryText]]:
    """The articles of stories by publication; of those without an article any more, none.

    Args:
        topic_name: whose names and tiers of sites count; None for any topic's.

    Raises:
        StorageError: the topic was never imported.
    """
    names = OutletNames(c, topic_name)
    texts: dict[int, list[StoryText]] = {number: [] for number in numbers}
    told: set[int] = set()
    for start in range(0, len(numbers), _AT_A_TIME):
        part = numbers[start : start + _AT_A_TIME]
        topics = _topics(c, part)
        statement = (
            select(
                story_article.c.story_id,
                story_article.c.voice_url_id,
                url.c.id,
                url.c.url,
                article.c.id.label("article_id"),
                article.c.site,
                article.c.title,
                article.c.text,
                article.c.published_at,
                published.label("at"),
            )
            .join(url, url.c.id == story_article.c.url_id)
            .join(article, article.c.url_id == url.c.id)
            .where(story_article.c.story_id.in_(part))
            .order_by(published, url.c.url)
        )
        for row in c.execute(statement):
            at = from_time(row.at)
            assert at is not None, "every article was fetched some time"
            texts[row.story_id].append(
                StoryText(
                    row.id,
                    row.article_id,
                    row.url,
                    row.title,
                    row.text,
                    row.site,
                    names.of(row.site),
                    at,
                    row.published_at is not None,
                    row.voice_url_id in told,
                    frozenset(topics.get(row.article_id, ())),
                )
            )
            told.add(row.voice_url_id)
    return texts


def first_articles(c: Connection, numbers: Sequence[int]) -> dict[int, int]:
    """The article that each story began with, as the row id of its URL.

    It names the story whatever numbers a rebuild gives.
    """
    first = (
        select(story_article.c.story_id, func.min(story_article.c.minute).label("minute"))
        .where(story_article.c.story_id.in_(numbers))
        .group_by(story_article.c.story_id)
        .subquery()
    )
    statement = (
        select(story_article.c.story_id, func.min(story_article.c.url_id))
        .join(first, first.c.story_id == story_article.c.story_id)
        .where(story_article.c.minute == first.c.minute)
        .group_by(story_article.c.story_id)
    )
    return {row[0]: row[1] for row in c.execute(statement)}


def stories_with(c: Connection, url_ids: Sequence[int]) -> dict[int, int]:
    """The story that each article is in now; those in none are left out."""
    statement = select(story_article.c.url_id, story_article.c.story_id).where(
        story_article.c.url_id.in_(url_ids), story_article.c.story_id.is_not(None)
    )
    return {row[0]: row[1] for row in c.execute(statement)}


def told_before(c: Connection, hosts: Sequence[str], url_ids: Sequence[int]) -> set[str]:
    """Those of *hosts* with an article fetched before the first of the articles *url_ids*."""
    begin = select(func.min(article.c.fetched_at)).where(article.c.url_id.in_(url_ids))
    statement = select(article.c.site).where(
        article.c.site.in_(hosts), article.c.fetched_at < begin.scalar_subquery()
    )
    return set(c.execute(statement.distinct()).scalars())


def _topics(c: Connection, numbers: Sequence[int]) -> dict[int, set[str]]:
    statement = (
        select(relevance.c.article_id, topic.c.name)
        .join(topic, topic.c.id == relevance.c.topic_id)
        .join(article, article.c.id == relevance.c.article_id)
        .join(story_article, story_article.c.url_id == article.c.url_id)
        .where(story_article.c.story_id.in_(numbers), relevance.c.relevant.is_(True))
    )
    topics: dict[int, set[str]] = defaultdict(set)
    for article_id, name in c.execute(statement):
        topics[article_id].add(name)
    return topics
