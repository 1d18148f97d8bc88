"""What articles on a topic are about: as people said it, or as it was judged."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, delete, func, insert, select

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import CHINESE, N_, _, language
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.pages.articles import page_of
from qiaocrawl.storage.schema import article, article_class, term, topic
from qiaocrawl.storage.sql import Statement, upsert
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import clean_word, to_json, to_stored_time
from qiaocrawl.topic.pack import TERM_KINDS
from qiaocrawl.topic.tables import as_choice

# --- What classes are called: by people, and to people --------------------------------------------

UNSURE = "unsure"
"""What people may write for articles of which no class is sure."""
_UNSURE_SHOWN = N_("not sure")
_UNSURE_CHINESE = "没有把握"

# What a term is, not what an article with it is about.
_NO_CLASSES = frozenset({"core", "group", "person", "organisation", "event", "place", "other"})


class MarkedArticle(NamedTuple):
    """An article of which a person said the class."""

    title: str
    text: str
    name: str


class ArticleClass(NamedTuple):
    """What an article is about.

    Args:
        name: of the class; "" where none is sure.
        certainty: of the likeliest, a probability.
        words: what spoke for it, the heaviest first.
    """

    name: str
    certainty: float
    words: tuple[str, ...]


def class_names(kinds: Iterable[str], marked: Iterable[str] = ()) -> tuple[str, ...]:
    """The classes of a topic whose terms have these *kinds*, and those that people *marked*."""
    there = set(kinds)
    own = [kind for kind in TERM_KINDS if kind in there and kind not in _NO_CLASSES]
    return tuple(dict.fromkeys([*own, *sorted(set(marked))]))


def class_named(written: str) -> str:
    """The class that *written* means (教育 is education); "" of :data:`UNSURE`."""
    name = as_choice(" ".join(written.split()), TERM_KINDS, "")
    return "" if name in (UNSURE, _UNSURE_CHINESE) else name


def class_label(name: str) -> str:
    """What a class is called to people, in their language; "" is not sure."""
    if not name:
        return _(_UNSURE_SHOWN)
    return TERM_KINDS.get(name, name) if language() == CHINESE else name


# --- What articles on a topic are about: as people said it, or as it was judged -------------------

MOST_NAME_CHARS = 32
_AT_A_TIME = 500

# What people said stays, also what they say while this is written.
_KEEP = upsert(
    "article_class",
    "url_id, topic_id, name, certainty, words, model, marked_by",
    key="url_id, topic_id",
)
_STALE = (
    " FROM relevance r JOIN article a ON a.id = r.article_id"
    " LEFT JOIN article_class k ON k.url_id = a.url_id AND k.topic_id = r.topic_id"
    " WHERE r.topic_id = :topic_id AND r.relevant AND a.url_id > :after"
    " AND (k.url_id IS NULL OR (k.model <> :model AND k.model <> ''))"
)
_COUNT = Statement("SELECT COUNT(*)" + _STALE)
_READ = Statement("SELECT a.url_id, a.title, a.text" + _STALE + " ORDER BY a.url_id LIMIT :most")


class StoredClass(NamedTuple):
    """The class of an article for a topic.

    Args:
        name: "" where none is sure.
        marked_by: who said so; "" where it was judged.
    """

    topic: str
    name: str
    certainty: float
    words: tuple[str, ...]
    marked_by: str


class ClassMark(NamedTuple):
    """A page that somebody said the class of, and what was said before ("" for nothing)."""

    url: str
    before: str


def mark_class(
    c: Connection, article_id: int, topic_name: str, name: str, *, by: str, now: datetime
) -> ClassMark:
    """Say what an article is about; its class from now on, and an example for the others.

    Args:
        name: of the class; "" takes back what was said, and the next analysis judges again.

    Raises:
        ConfigError: there is no such article, or the name is too long.
        StorageError: the topic was never imported.
    """
    if len(name) > MOST_NAME_CHARS:
        raise ConfigError(
            _(
                "a class has a name of at most {most} characters, got {name!r}",
                most=MOST_NAME_CHARS,
                name=name,
            )
        )
    url_id, address = page_of(c, article_id)
    own = article_class.c
    key = own.url_id == url_id, own.topic_id == topic_id(c, topic_name)
    before = c.execute(select(own.name).where(*key, own.model == "")).scalar()
    c.execute(delete(article_class).where(*key))
    if name:
        c.execute(
            insert(article_class).values(
                url_id=url_id,
                topic_id=topic_id(c, topic_name),
                name=clean_word(name, MOST_NAME_CHARS),
                certainty=1.0,
                words="[]",
                model="",
                marked_by=clean_word(by, 100),
                marked_at=to_stored_time(now),
            )
        )
    return ClassMark(address, str(before or ""))


def classes_of(c: Connection, article_id: int) -> list[StoredClass]:
    """The classes of an article, one a topic it was judged for."""
    own = article_class.c
    statement = (
        select(topic.c.name.label("topic"), own.name, own.certainty, own.words, own.marked_by)
        .join(article_class, own.topic_id == topic.c.id)
        .join(article, article.c.url_id == own.url_id)
        .where(article.c.id == article_id)
        .order_by(topic.c.name)
    )
    return [
        StoredClass(row.topic, row.name, row.certainty, tuple(json.loads(row.words)), row.marked_by)
        for row in c.execute(statement)
    ]


def marked_articles(c: Connection, topic_name: str) -> list[MarkedArticle]:
    """The articles whose class people said, in the order they said it.

    Raises:
        StorageError: the topic was never imported.
    """
    own = article_class.c
    statement = (
        select(article.c.title, article.c.text, own.name)
        .join(article, article.c.url_id == own.url_id)
        .where(own.topic_id == topic_id(c, topic_name), own.model == "")
        .order_by(own.marked_at, own.url_id)
    )
    return [MarkedArticle(*row) for row in c.execute(statement)]


def count_stale(c: Connection, topic_name: str, model: str) -> int:
    """How many articles on the topic were never judged by *model*, nor by a person."""
    values = {"topic_id": topic_id(c, topic_name), "after": -1, "model": model}
    number: int = _COUNT.run(c, values).fetchone()[0]
    return number


def stale(
    c: Connection, topic_name: str, model: str, after: int, most: int
) -> list[tuple[int, str, str]]:
    """The next such articles behind the URL with row id *after*: its row id, title and text."""
    values = {"topic_id": topic_id(c, topic_name), "after": after, "model": model, "most": most}
    return [
        (url_id, title, unpack_text(body))
        for url_id, title, body in _READ.run(c, values).fetchall()
    ]


def keep_classes(
    c: Connection, topic_name: str, model: str, judged: Sequence[tuple[int, ArticleClass]]
) -> None:
    """Keep what articles, by the row ids of their URLs, were judged to be about."""
    topic_row, own = topic_id(c, topic_name), article_class.c
    urls = [url_id for url_id, _judged in judged]
    c.execute(
        delete(article_class).where(
            own.url_id.in_(urls), own.topic_id == topic_row, own.model != ""
        )
    )
    for url_id, found in judged:
        _KEEP.run(
            c,
            {
                "url_id": url_id,
                "topic_id": topic_row,
                "name": found.name,
                "certainty": found.certainty,
                "words": to_json(found.words),
                "model": model,
                "marked_by": "",
            },
        )


def topic_classes(c: Connection, topic_name: str | None = None) -> tuple[str, ...]:
    """The classes of a topic, or of all: those its terms have, and those that people named.

    Raises:
        StorageError: the topic was never imported.
    """
    kinds = select(term.c.kind).distinct()
    marked = select(article_class.c.name).where(article_class.c.model == "").distinct()
    if topic_name is not None:
        row = topic_id(c, topic_name)
        kinds = kinds.where(term.c.topic_id == row)
        marked = marked.where(article_class.c.topic_id == row)
    return class_names(c.execute(kinds).scalars(), c.execute(marked).scalars())


def count_classes(c: Connection, topic_name: str, url_ids: Sequence[int]) -> dict[str, int]:
    """How many of these articles each class has, the largest first; "" of those not sure.

    Raises:
        StorageError: the topic was never imported.
    """
    own, row = article_class.c, topic_id(c, topic_name)
    counts: Counter[str] = Counter()
    for start in range(0, len(url_ids), _AT_A_TIME):
        some = url_ids[start : start + _AT_A_TIME]
        chosen = own.topic_id == row, own.url_id.in_(some)
        statement = select(own.name, func.count()).where(*chosen).group_by(own.name)
        for name, count in c.execute(statement):
            counts[name] += count
    return dict(sorted(counts.items(), key=lambda item: (not item[0], -item[1], item[0])))
