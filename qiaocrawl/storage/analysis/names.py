"""Whom and what the articles of stories name: kept once an article, counted over stories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, func, insert, select

from qiaocrawl.storage.converters import clean_word
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.raw_sql import Statement
from qiaocrawl.storage.schema import article, article_name, story_article

Named = tuple[str, str, int]
"""Kind, normal form, and how often a text has it."""

_MOST_CHARS = 100
_AT_A_TIME = 500
_WAITING = Statement(
    "SELECT s.url_id, a.title, a.text FROM story_article s JOIN article a ON a.url_id = s.url_id"
    " LEFT JOIN article_name n ON n.url_id = s.url_id"
    " WHERE s.story_id IS NOT NULL AND s.url_id > :after AND n.url_id IS NULL"
    " ORDER BY s.url_id LIMIT :most"
)
_COUNT = Statement(
    "SELECT COUNT(*) FROM story_article s JOIN article a ON a.url_id = s.url_id"
    " LEFT JOIN article_name n ON n.url_id = s.url_id"
    " WHERE s.story_id IS NOT NULL AND n.url_id IS NULL"
)


class StoryName(NamedTuple):
    """What a story names, and in how many of its articles."""

    kind: str
    name: str
    articles: int


def count_unread(c: Connection) -> int:
    """How many articles of stories nobody looked for names in."""
    number: int = _COUNT.run(c).fetchone()[0]
    return number


def unread(c: Connection, after: int, most: int) -> list[tuple[int, str, str]]:
    """The next such articles behind the URL with row id *after*: its row id, title and text."""
    rows = _WAITING.run(c, {"after": after, "most": most}).fetchall()
    return [(url_id, title, unpack_text(body)) for url_id, title, body in rows]


def keep_names(c: Connection, url_id: int, names: Iterable[Named]) -> None:
    """Keep what an article names, in place of what was kept of it."""
    rows = {
        (kind, clean_word(name, _MOST_CHARS)): mentions for kind, name, mentions in names
    } or {("", ""): 0}  # fmt: skip
    c.execute(delete(article_name).where(article_name.c.url_id == url_id))
    c.execute(insert(article_name), [
        {"url_id": url_id, "kind": kind, "name": name, "mentions": mentions}
        for (kind, name), mentions in rows.items()
    ])  # fmt: skip


def forget_names(c: Connection) -> None:
    """Forget the names of all articles; the next analysis reads them again."""
    c.execute(delete(article_name))


def names_of_stories(c: Connection, numbers: Sequence[int]) -> dict[int, list[StoryName]]:
    """What each story names, what most of its articles name first."""
    articles = func.count().label("articles")
    statement = (
        select(story_article.c.story_id, article_name.c.kind, article_name.c.name, articles)
        .join(article_name, article_name.c.url_id == story_article.c.url_id)
        .where(story_article.c.story_id.in_(numbers), article_name.c.kind != "")
        .group_by(story_article.c.story_id, article_name.c.kind, article_name.c.name)
        .order_by(articles.desc(), func.sum(article_name.c.mentions).desc(), article_name.c.name)
    )
    by_story: dict[int, list[StoryName]] = {number: [] for number in numbers}
    for number, kind, name, count in c.execute(statement):
        by_story[number].append(StoryName(kind, name, count))
    return by_story


def names_of_articles(c: Connection, url_ids: Sequence[int]) -> dict[int, list[tuple[str, str]]]:
    """Kind and normal form of what each article names; of those nobody read, nothing."""
    named: dict[int, list[tuple[str, str]]] = {}
    columns = article_name.c
    for start in range(0, len(url_ids), _AT_A_TIME):
        own = url_ids[start : start + _AT_A_TIME]
        statement = (
            select(columns.url_id, columns.kind, columns.name)
            .where(columns.url_id.in_(own), columns.kind != "")
            .order_by(columns.mentions.desc(), columns.name)
        )
        for url_id, kind, name in c.execute(statement):
            named.setdefault(url_id, []).append((kind, name))
    return named


def first_names(c: Connection, kind: str, url_ids: Sequence[int]) -> dict[str, int]:
    """What these articles name that none names which was fetched before the first of them.

    Each with one of the articles that name it.
    """
    own = article_name.c.kind == kind, article_name.c.url_id.in_(url_ids)
    statement = select(article_name.c.name, func.min(article_name.c.url_id)).where(*own)
    named = {row[0]: row[1] for row in c.execute(statement.group_by(article_name.c.name))}
    begin = select(func.min(article.c.fetched_at)).where(article.c.url_id.in_(url_ids))
    earlier = (
        select(article_name.c.name)
        .join(article, article.c.url_id == article_name.c.url_id)
        .where(
            article_name.c.kind == kind,
            article_name.c.name.in_(sorted(named)),
            article.c.fetched_at < begin.scalar_subquery(),
        )
    )
    for name in set(c.execute(earlier).scalars()):
        del named[name]
    return named


def named_in(c: Connection, kind: str, url_ids: Sequence[int]) -> dict[str, int]:
    """What these articles name, each with the number of articles that name it."""
    counts: Counter[str] = Counter()
    for start in range(0, len(url_ids), _AT_A_TIME):
        own = url_ids[start : start + _AT_A_TIME]
        statement = select(article_name.c.name, func.count()).where(
            article_name.c.kind == kind, article_name.c.url_id.in_(own)
        )
        for name, count in c.execute(statement.group_by(article_name.c.name)):
            counts[name] += count
    return dict(counts)
