"""The articles that are in no story yet, and what people said about stories."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, insert, select, update

from qiaocrawl.analysis.stories.story import Correction, Item
from qiaocrawl.storage.converters import clean_word, from_time, to_stored_time
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.raw_sql import ListStatement, Statement
from qiaocrawl.storage.schema import story, story_article, story_correction

# A page that says it was published later than this after it was fetched is wrong.
_MOST_AHEAD = timedelta(days=1)

_WAITING = Statement(
    "SELECT e.seq, e.article_id, a.fetched_at, s.minute FROM title_entry e"
    " JOIN article a ON a.id = e.article_id LEFT JOIN story_article s ON s.url_id = a.url_id"
    " WHERE e.seq > :after AND s.story_id IS NULL ORDER BY e.seq"
)
_TEXTS = ListStatement(
    "SELECT a.id, a.url_id, u.`key`, a.title, a.text, a.published_at, a.fetched_at"
    " FROM article a JOIN url u ON u.id = a.url_id WHERE a.id IN ({list})"
)
_ALIKE = ListStatement(
    "SELECT v.article_id, u.id, u.`key` FROM verdict v JOIN verdict o ON o.group_id = v.group_id"
    " AND o.article_id <> v.article_id JOIN article a ON a.id = o.article_id"
    " JOIN url u ON u.id = a.url_id WHERE v.article_id IN ({list})"
)
_NEWEST = Statement("SELECT COALESCE(MAX(seq), 0) FROM title_entry")
_KEYS = ListStatement("SELECT id, `key` FROM url WHERE id IN ({list})")


class Waiting(NamedTuple):
    """An article in no story: its row id, and the minute it came, or was taken for before."""

    seq: int
    article_id: int
    minute: int


def minute_of(when: datetime) -> int:
    """The minute of *when* since the epoch."""
    return int(when.timestamp() // 60)


def key_of(url_key: bytes, url_id: int) -> str:
    """What a desk knows an article by: it sorts by the URL, whoever stored it first."""
    return f"{url_key.hex()}:{url_id}"


def url_id_of(key: str) -> int:
    """The row id of the URL in a key."""
    return int(key.rpartition(":")[2])


def keys_of(c: Connection, url_ids: Sequence[int]) -> list[str]:
    """What a desk knows the articles at these URLs by, in their order."""
    keys = {row[0]: key_of(bytes(row[1]), row[0]) for row in _KEYS.fetch(c, url_ids)}
    return [keys[url_id] for url_id in url_ids]


def newest_entry(c: Connection) -> int:
    """The number of the last entry of the log of titles."""
    number: int = _NEWEST.run(c).fetchone()[0]
    return number


def waiting(c: Connection, after: int) -> list[Waiting]:
    """The articles in no story whose titles are behind entry *after* of the log."""
    rows = _WAITING.run(c, {"after": after}).fetchall()
    return [
        Waiting(seq, article_id, minute_of(fetched) if taken_for is None else taken_for)
        for seq, article_id, fetched_at, taken_for in rows
        if (fetched := from_time(fetched_at)) is not None
    ]


def read_items(c: Connection, article_ids: Sequence[int]) -> list[Item]:
    """Articles as a desk takes them, in any order; those that are gone are left out."""
    alike: dict[int, list[str]] = defaultdict(list)
    for article_id, url_id, key in _ALIKE.fetch(c, article_ids):
        alike[article_id].append(key_of(bytes(key), url_id))
    items = []
    for article_id, url_id, key, title, text, published_at, fetched_at in _TEXTS.fetch(
        c, article_ids
    ):
        published, fetched = from_time(published_at), from_time(fetched_at)
        assert fetched is not None
        if published is not None and published > fetched + _MOST_AHEAD:
            published = None
        items.append(Item(
            key_of(bytes(key), url_id), title, unpack_text(text),
            None if published is None else published.timestamp(), tuple(sorted(alike[article_id])),
        ))  # fmt: skip
    return items


# --- corrections --------------------------------------------------------------------------------


def add_correction(c: Connection, correction: Correction, *, by: str, now: datetime) -> None:
    """Note what a person said; the next analysis does it.

    Keys of the correction are those of :func:`key_of`.
    """
    c.execute(insert(story_correction).values(
        kind=correction.kind,
        url_ids=json.dumps([url_id_of(key) for key in correction.keys]),
        other_url_ids=json.dumps([url_id_of(key) for key in correction.others]),
        corrected_by=clean_word(by, 100),
        corrected_at=to_stored_time(now),
        minute=None,
    ))  # fmt: skip


def corrections(c: Connection, minute: int | None) -> list[tuple[int, Correction]]:
    """Row ids and corrections done in *minute*; None: those that are still to be done."""
    table = story_correction
    of_minute = table.c.minute.is_(None) if minute is None else table.c.minute == minute
    found = []
    for row in c.execute(select(table).where(of_minute).order_by(table.c.id)):
        own, others = json.loads(row.url_ids), json.loads(row.other_url_ids)
        found.append((row.id, Correction(
            row.kind, tuple(keys_of(c, own)), tuple(keys_of(c, others)),
            _asleep(c, [*own, *others]),
        )))  # fmt: skip
    return found


def mark_done(c: Connection, correction_ids: Sequence[int], minute: int) -> None:
    """These corrections were done in *minute*."""
    table = story_correction
    c.execute(update(table).where(table.c.id.in_(correction_ids)).values(minute=minute))


def correction_minutes(c: Connection, after: int) -> list[int]:
    """The minutes behind *after* in which corrections were done: a rebuild does them again."""
    table = story_correction
    statement = select(table.c.minute).where(table.c.minute > after).distinct()
    return sorted(c.execute(statement).scalars())


def _asleep(c: Connection, url_ids: Sequence[int]) -> tuple[int, ...]:
    """The stories of these URLs that sleep."""
    statement = (
        select(story.c.id)
        .distinct()
        .join(story_article, story_article.c.story_id == story.c.id)
        .where(story_article.c.url_id.in_(url_ids), story.c.state == "asleep")
        .order_by(story.c.id)
    )
    return tuple(c.execute(statement).scalars())
