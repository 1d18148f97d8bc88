"""What people mark articles with: a star, a note, tags. Whether one is on topic is a judgement."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Relevance
from qiaocrawl.language import _
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.pages.articles import page_of, save_relevance
from qiaocrawl.storage.schema import (
    article,
    article_mark,
    article_tag,
    judgement,
    relevance,
    topic,
    url,
)
from qiaocrawl.storage.topics import judgements
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import clean_text, clean_word, stored_moment

MAX_NOTE_CHARS = 2_000
MAX_TAG_CHARS = 50
MAX_TAGS = 20


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one article; ``judged`` is what an operator said for each topic."""

    starred: bool = False
    note: str = ""
    tags: tuple[str, ...] = ()
    judged: tuple[tuple[str, bool], ...] = ()


def marks_of(c: Connection, article_ids: Sequence[int]) -> dict[int, Marks]:
    """The marks of articles by their row ids; articles without any are left out."""
    if not article_ids:
        return {}
    ids = article.c.id.in_(article_ids)
    rows = c.execute(
        select(article.c.id, article_mark.c.starred, article_mark.c.note)
        .join(article_mark, article_mark.c.url_id == article.c.url_id)
        .where(ids)
    )
    marked = {row.id: (bool(row.starred), row.note) for row in rows}
    tags: dict[int, list[str]] = {}
    for article_id, tag in c.execute(
        select(article.c.id, article_tag.c.tag)
        .join(article_tag, article_tag.c.url_id == article.c.url_id)
        .where(ids)
        .order_by(article_tag.c.tag)
    ):
        tags.setdefault(article_id, []).append(tag)
    judged = _judgements_of(c, article_ids)
    return {
        article_id: Marks(
            *marked.get(article_id, (False, "")),
            tuple(tags.get(article_id, ())),
            tuple(judged.get(article_id, ())),
        )
        for article_id in {*marked, *tags, *judged}
    }


def _judgements_of(c: Connection, article_ids: Sequence[int]) -> dict[int, list[tuple[str, bool]]]:
    # In two steps: as one, SQLite reads all judgements there are for each page of a list.
    keys = select(article.c.id, url.c.key).join(url, url.c.id == article.c.url_id)
    by_key = {key: row_id for row_id, key in c.execute(keys.where(article.c.id.in_(article_ids)))}
    answers: dict[int, list[tuple[str, bool]]] = {}
    for key, name, relevant in c.execute(
        select(judgement.c.key, topic.c.name, judgement.c.relevant)
        .join(topic, topic.c.id == judgement.c.topic_id)
        .where(judgement.c.key.in_(list(by_key)))
        .order_by(topic.c.name)
    ):
        answers.setdefault(by_key[key], []).append((name, bool(relevant)))
    return answers


def judge(c: Connection, actor: Actor, article_id: int, topic_name: str, *, relevant: bool) -> None:
    """Say whether an article is on topic, as ``qiaocrawl topic judge`` does.

    Args:
        topic_name: "" for the topic that the article scored best for, or was found for.

    Raises:
        ConfigError: there is no such article.
        StorageError: the topic was never imported.
    """
    _url_id, address = page_of(c, article_id)
    name = topic_name or best_topics(c, [article_id])[article_id]
    before = _judgement(c, article_id, name)
    judgements.save_judgement(c, name, address, relevant=relevant, note="", now=time.time())
    record(
        c,
        actor,
        "article.judge",
        address,
        None if before is None else {"topic": name, "relevant": before},
        {"topic": name, "relevant": relevant},
    )


def take_back(
    c: Connection, actor: Actor, article_id: int, topic_name: str, verdict: Relevance
) -> None:
    """Take back what was said of an article and a topic; *verdict* of a scorer holds then.

    Raises:
        ConfigError: there is no such article.
        StorageError: the topic was never imported.
    """
    _url_id, address = page_of(c, article_id)
    before = _judgement(c, article_id, topic_name)
    if not judgements.drop_judgement(c, topic_name, address, now=time.time()):
        return
    save_relevance(c, article_id, {topic_name: topic_id(c, topic_name)}, [verdict])
    record(c, actor, "article.judge", address, {"topic": topic_name, "relevant": before}, None)


def _judgement(c: Connection, article_id: int, topic_name: str) -> bool | None:
    return dict(marks_of(c, [article_id]).get(article_id, Marks()).judged).get(topic_name)


def set_star(c: Connection, actor: Actor, article_id: int, *, starred: bool) -> None:
    """Put a star on an article, or take it off.

    Raises:
        ConfigError: there is no such article.
    """
    before = _save(c, actor, article_id, starred=starred)
    _record(c, actor, article_id, "article.star", before.starred, starred)


def set_note(c: Connection, actor: Actor, article_id: int, note: str) -> None:
    """Write a note on an article; "" takes it away.

    Raises:
        ConfigError: there is no such article.
    """
    note = clean_text(note.strip(), MAX_NOTE_CHARS)
    before = _save(c, actor, article_id, note=note)
    _record(c, actor, article_id, "article.note", before.note, note)


def set_tags(c: Connection, actor: Actor, article_id: int, tags: Sequence[str]) -> None:
    """Give an article these tags and no others.

    Raises:
        ConfigError: there is no such article, a tag is too long, or there are too many.
    """
    wanted = sorted({word for tag in tags if (word := clean_word(tag, MAX_TAG_CHARS + 1))})
    if len(wanted) > MAX_TAGS or any(len(tag) > MAX_TAG_CHARS for tag in wanted):
        raise ConfigError(
            _(
                "an article has at most {most} tags of {chars} characters",
                most=MAX_TAGS,
                chars=MAX_TAG_CHARS,
            )
        )
    url_id, _address = page_of(c, article_id)
    before = marks_of(c, [article_id]).get(article_id, Marks())
    c.execute(delete(article_tag).where(article_tag.c.url_id == url_id))
    if wanted:
        c.execute(insert(article_tag), [{"url_id": url_id, "tag": tag} for tag in wanted])
    _record(c, actor, article_id, "article.tags", list(before.tags), wanted)


def _save(c: Connection, actor: Actor, article_id: int, **values: object) -> Marks:
    """Change the row of an article's marks, or make it; returns what they were."""
    url_id, _address = page_of(c, article_id)
    before = marks_of(c, [article_id]).get(article_id, Marks())
    values |= {"marked_by": actor.name, "marked_at": stored_moment(time.time())}
    changed = c.execute(
        update(article_mark).where(article_mark.c.url_id == url_id).values(**values)
    )
    if not changed.rowcount:
        c.execute(
            insert(article_mark).values({"starred": False, "note": "", **values, "url_id": url_id})
        )
    return before


def _record(
    c: Connection, actor: Actor, article_id: int, action: str, before: object, after: object
) -> None:
    record(c, actor, action, page_of(c, article_id)[1], {"value": before}, {"value": after})


def best_topics(c: Connection, article_ids: Sequence[int]) -> dict[int, str]:
    """By articles: the topic each scored best for, or was found for where none judged it."""
    ids = article.c.id.in_(article_ids)
    found_for = c.execute(
        select(article.c.id, topic.c.name)
        .join(url, url.c.id == article.c.url_id)
        .join(topic, topic.c.id == url.c.topic_id)
        .where(ids)
    )
    best = {row.id: str(row.name) for row in found_for}
    scored = c.execute(
        select(relevance.c.article_id, topic.c.name)
        .join(topic, topic.c.id == relevance.c.topic_id)
        .where(relevance.c.article_id.in_(article_ids))
        .order_by(relevance.c.score, topic.c.id.desc())
    )
    return best | {article_id: str(name) for article_id, name in scored}
