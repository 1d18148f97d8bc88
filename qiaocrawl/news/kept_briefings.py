"""Briefings as they were made: kept, read again, and what they told, to tell what is new since."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, Select, insert, select

from qiaocrawl.errors import StorageError
from qiaocrawl.language import _
from qiaocrawl.storage.packed_text import compress, decompress
from qiaocrawl.storage.schema import briefing, briefing_file, topic
from qiaocrawl.storage.values import clean_text, to_stored_time

if TYPE_CHECKING:
    pass

ENDINGS = ("html", "md", "docx")


class ToldStory(NamedTuple):
    """A story of a briefing: its number, its title, its articles then."""

    number: int
    title: str
    articles: int


class KeptBriefing(NamedTuple):
    """A briefing that is kept; times are aware.

    Args:
        topic: the topic's name.
        articles: of the stretch.
    """

    id: int
    topic: str
    since: datetime
    before: datetime
    made_at: datetime
    articles: int
    stories: tuple[ToldStory, ...]


def keep_briefing(c: Connection, new: KeptBriefing, files: Mapping[str, bytes]) -> int:
    """Keep *new*, whose own id is not looked at, with its files by ending; its id.

    Raises:
        StorageError: the topic was never imported.
    """
    topic_id = c.execute(select(topic.c.id).where(topic.c.name == new.topic)).scalar()
    if topic_id is None:
        raise StorageError(_("topic {name!r} was never imported", name=new.topic))
    values = {
        "topic_id": topic_id,
        "since_at": to_stored_time(new.since),
        "before_at": to_stored_time(new.before),
        "made_at": to_stored_time(new.made_at),
        "articles": new.articles,
        "stories": json.dumps(
            [(own.number, clean_text(own.title, 500), own.articles) for own in new.stories],
            ensure_ascii=False,
        ),
    }
    made = c.execute(insert(briefing).values(values)).inserted_primary_key
    assert made is not None
    number = int(made[0])
    for ending, data in files.items():
        row = {"briefing_id": number, "ending": ending, "data": compress(data)}
        c.execute(insert(briefing_file).values(row))
    return number


def list_briefings(c: Connection, topic_name: str = "", limit: int = 100) -> list[KeptBriefing]:
    """The newest *limit*, of one topic or of all, the newest first."""
    statement = _all().order_by(briefing.c.made_at.desc(), briefing.c.id.desc()).limit(limit)
    if topic_name:
        statement = statement.where(topic.c.name == topic_name)
    return [_briefing_of_row(row) for row in c.execute(statement)]


def one_briefing(c: Connection, number: int) -> KeptBriefing:
    """The briefing *number*.

    Raises:
        StorageError: there is none.
    """
    row = c.execute(_all().where(briefing.c.id == number)).first()
    if row is None:
        raise StorageError(
            _("no briefing {number}; `qiaocrawl briefing list` shows all", number=number)
        )
    return _briefing_of_row(row)


def briefing_before(
    c: Connection, topic_name: str, since: datetime, before: datetime
) -> KeptBriefing | None:
    """The last briefing of earlier days: it ended before the middle of this stretch.

    One that is made again an hour later is so compared with the day before, not with itself.
    """
    middle = since + (before - since) / 2
    row = c.execute(
        _all()
        .where(topic.c.name == topic_name, briefing.c.before_at <= to_stored_time(middle))
        .order_by(briefing.c.before_at.desc(), briefing.c.id.desc())
        .limit(1)
    ).first()
    return None if row is None else _briefing_of_row(row)


def briefing_file_of(c: Connection, number: int, ending: str) -> bytes:
    """The file of a briefing with *ending*: html, md or docx.

    Raises:
        StorageError: there is no such briefing, or it was kept without one.
    """
    one_briefing(c, number)
    columns = briefing_file.c
    chosen = columns.briefing_id == number, columns.ending == ending
    data = c.execute(select(columns.data).where(*chosen)).scalar()
    if data is None:
        raise StorageError(
            _("briefing {number} has no .{ending} file", number=number, ending=ending)
        )
    return decompress(data)


def _all() -> Select[Any]:
    columns = briefing.c
    return select(
        columns.id,
        topic.c.name,
        columns.since_at,
        columns.before_at,
        columns.made_at,
        columns.articles,
        columns.stories,
    ).join(topic, topic.c.id == columns.topic_id)


def _briefing_of_row(row: Any) -> KeptBriefing:
    since, before, made_at = (
        at.replace(tzinfo=UTC) for at in (row.since_at, row.before_at, row.made_at)
    )
    stories = tuple(ToldStory(*own) for own in json.loads(row.stories))
    return KeptBriefing(row.id, row.name, since, before, made_at, row.articles, stories)
