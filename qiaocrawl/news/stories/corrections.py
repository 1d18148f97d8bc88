"""What people say of stories: these are one, these articles are another; until it is done.

The next analysis does it and keeps it; before that it can be taken back without a trace.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, select

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.news.stories.lists import articles_of, one_story
from qiaocrawl.news.stories.stored import add_correction, url_id_of
from qiaocrawl.news.stories.story import Correction
from qiaocrawl.reading.listing import OutletNames
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.schema import article, story_article, story_correction
from qiaocrawl.storage.values import from_time

_CLOSED = ("merged", "ended")
_AT_A_TIME = 500


@dataclass(frozen=True, slots=True)
class StoryMember:
    """An article of a story as its page shows it.

    Attributes:
        article_id: None where the article is stored no more.
        key: what a correction names it by.
    """

    article_id: int | None
    key: str
    url: str
    outlet: str
    title: str
    published_at: datetime | None
    is_reprint: bool

    @property
    def url_id(self) -> int:
        """The row id of its URL."""
        return url_id_of(self.key)


@dataclass(frozen=True, slots=True)
class PendingCorrection:
    """A correction that is still to be done; ``titles`` are those of the articles it moves."""

    id: int
    kind: str
    by: str
    at: datetime | None
    titles: tuple[str, ...]


def members_of(c: Connection, number: int) -> list[StoryMember]:
    """The articles of a story, by publication."""
    found = articles_of(c, number)
    names = OutletNames(c, None)
    ids = _articles_by_url(c, [url_id_of(one.key) for one in found])
    return [
        StoryMember(
            ids.get(url_id_of(one.key)),
            one.key,
            one.url,
            names.of(one.site).name if one.site else "",
            one.title,
            one.published_at,
            one.is_reprint,
        )
        for one in found
    ]


def merge_stories(c: Connection, actor: Actor, number: int, other: int, now: datetime) -> int:
    """Say that two stories are one; returns the number of what was said.

    Raises:
        ConfigError: there is no such story, or it cannot be corrected.
    """
    if number == other:
        raise ConfigError(_("a story cannot be merged with itself: {number}", number=number))
    own, others = _keys(c, number), _keys(c, other)
    titles = [one_story(c, one).title for one in (number, other)]
    said = _say(c, actor, Correction("merge", own[:1], others[:1]), now)
    record(c, actor, "story.merge", f"{number} {titles[0]}", None, {"with": f"{other} {titles[1]}"})
    return said


def take_out(
    c: Connection, actor: Actor, number: int, articles: Collection[int], now: datetime
) -> int:
    """Say that some articles of a story, by row id, are another one, each with its copies.

    Raises:
        ConfigError: they are none of it, or nothing would be left.
    """
    keys = _keys(c, number)
    texts = _texts(c, number)
    every = members_of(c, number)
    chosen = {texts.get(one.key) for one in every if one.article_id in articles}
    members = [one for one in every if texts.get(one.key) in chosen]
    out = tuple(one.key for one in members)
    rest = tuple(key for key in keys if key not in out)
    if not out:
        raise ConfigError(_("choose at least one article of this event"))
    if not rest:
        raise ConfigError(
            _("nothing would be left of the event: the others have the same text or are chosen")
        )
    taken = {"articles": [one.title for one in members]}
    said = _say(c, actor, Correction("split", out, rest[:1]), now)
    record(c, actor, "story.split", f"{number} {one_story(c, number).title}", None, taken)
    return said


def take_back(c: Connection, actor: Actor, correction: int) -> None:
    """Take back what was said.

    Raises:
        ConfigError: it is done already.
    """
    own = story_correction.c.id == correction, story_correction.c.minute.is_(None)
    row = c.execute(select(story_correction).where(*own)).first()
    if row is None:
        raise ConfigError(_("that is done already; say the opposite of it instead"))
    c.execute(delete(story_correction).where(*own))
    before = {"kind": row.kind, "by": row.corrected_by}
    record(c, actor, "story.take_back", f"{correction}", before, None)


def pending_of(c: Connection, members: Sequence[StoryMember]) -> list[PendingCorrection]:
    """What was said of these articles and is still to be done."""
    titles = {url_id_of(one.key): one.title for one in members}
    rows = c.execute(
        select(story_correction)
        .where(story_correction.c.minute.is_(None))
        .order_by(story_correction.c.id)
    )
    found = []
    for row in rows:
        own, others = json.loads(row.url_ids), json.loads(row.other_url_ids)
        if any(url_id in titles for url_id in (*own, *others)):
            moved = tuple(titles[url_id] for url_id in own if url_id in titles)
            at = from_time(row.corrected_at)
            found.append(PendingCorrection(row.id, row.kind, row.corrected_by, at, moved))
    return found


def _keys(c: Connection, number: int) -> tuple[str, ...]:
    if one_story(c, number).state in _CLOSED:
        raise ConfigError(_("this event is over or part of another: it cannot be changed"))
    return tuple(one.key for one in articles_of(c, number))


def _say(c: Connection, actor: Actor, correction: Correction, now: datetime) -> int:
    add_correction(c, correction, by=actor.name, now=now)
    return int(c.execute(select(func.max(story_correction.c.id))).scalar_one())


def _texts(c: Connection, number: int) -> dict[str, int]:
    """Which text each article of a story has: copies of one cannot be in two stories."""
    columns = story_article.c
    rows = c.execute(select(columns.url_id, columns.voice_url_id).where(columns.story_id == number))
    voices = {row.url_id: row.voice_url_id for row in rows}
    return {one.key: voices[url_id_of(one.key)] for one in articles_of(c, number)}


def _articles_by_url(c: Connection, url_ids: Sequence[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for start in range(0, len(url_ids), _AT_A_TIME):
        some = url_ids[start : start + _AT_A_TIME]
        rows = select(article.c.url_id, article.c.id).where(article.c.url_id.in_(some))
        found |= {row.url_id: row.id for row in c.execute(rows)}
    return found
