"""Programs that are told of each new article and event, by the messages of warnings.

What is new becomes a message of its own, named by what it tells, before anything is sent: it is
there once however many processes look, and whenever one is killed. A program that refuses for long
is told nothing until somebody looks; then what it missed is sent after all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python
from sqlalchemy import Connection, delete, func, insert, select, update

from qiaocrawl.language import N_, _
from qiaocrawl.news.stories.hot import (
    HotStory,
    LastDays,
    StoryWish,
    event_record,
    hot_stories,
    opened_since,
)
from qiaocrawl.news.warnings.signed import DATA, envelope
from qiaocrawl.news.warnings.stored import (
    empty_sent,
    enqueue,
    give_up_waiting,
    kept_among,
    lock_warnings,
    message_id_of,
    wait_again,
)
from qiaocrawl.reading.records import ArticleChoice, article_records
from qiaocrawl.storage import Database
from qiaocrawl.storage.schema import article, relevance, topic, warning_hook
from qiaocrawl.storage.values import clean_word, from_time, to_stored_time

ARTICLE, EVENT = "article.new", "event.new"
_OVERLAP = timedelta(days=1)
"""What was stored so long before the last look is looked at again: a transaction may have been
open then, and a judgement may have come later."""
_MOST_AT_ONCE = 500
_MOST_EVENTS = 300
_STOPPED = N_("stopped: {why}")
_LEAST_DAYS, _MOST_DAYS = 3, 60


@dataclass(frozen=True, slots=True)
class Hook:
    """What one program is told.

    Attributes:
        topic: of what is on this topic; "" for any.
        event_outlets: events are told once so many outlets have them; 0 for no events.
        begun_at: events that began before are not new.
        from_article: articles with higher row ids are new.
        looked_to: what was stored until then was looked at.
        stopped: why it is told nothing until somebody looks; "" while it is.
    """

    channel: str
    topic: str = ""
    with_articles: bool = False
    event_outlets: int = 0
    begun_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    from_article: int = 0
    looked_to: datetime = field(default_factory=lambda: datetime.now(UTC))
    stopped: str = ""

    @property
    def is_any(self) -> bool:
        """Whether it is told anything."""
        return self.with_articles or self.event_outlets > 0


class _Letter(NamedTuple):
    id: str
    title: str
    body: str


# --- Stored, a row a channel ----------------------------------------------------------------------


def stored_hooks(c: Connection) -> dict[str, Hook]:
    """All of them by their channel."""
    return {row.channel: _hook_of(row) for row in c.execute(select(warning_hook))}


def keep_hook(c: Connection, hook: Hook) -> Hook:
    """Keep *hook* from now on, in the place of what its channel had; one told nothing goes.

    What was told before goes on where it was; what is told from now on is what is new from now on.
    """
    before = stored_hooks(c).get(hook.channel)
    c.execute(delete(warning_hook).where(warning_hook.c.channel == hook.channel))
    if not hook.is_any:
        return hook
    if before is not None and (before.topic, before.with_articles) == (hook.topic, True):
        since = before.from_article, before.looked_to
    else:
        newest = c.execute(select(func.max(article.c.id))).scalar() or 0
        since = newest, datetime.now(UTC)
    kept = replace(hook, from_article=since[0], looked_to=since[1])
    if before is not None and before.topic == hook.topic and before.event_outlets:
        kept = replace(kept, begun_at=before.begun_at)
    c.execute(
        insert(warning_hook).values(
            channel=clean_word(kept.channel, 64),
            topic=clean_word(kept.topic, 100),
            with_articles=kept.with_articles,
            event_outlets=kept.event_outlets,
            begun_at=to_stored_time(kept.begun_at),
            from_article=kept.from_article,
            looked_to=to_stored_time(kept.looked_to),
            stopped=kept.stopped,
        )
    )
    return kept


def stop_hook(c: Connection, channel: str, why: str) -> None:
    """Tell the program of *channel* nothing until somebody looks; what waits is given up."""
    mine = warning_hook.c.channel == channel
    c.execute(update(warning_hook).where(mine).values(stopped=clean_word(why, 500)))
    give_up_waiting(c, channel, DATA, _STOPPED.format(why=why))


def resume_hook(c: Connection, channel: str, now: datetime) -> int:
    """Tell it again, and send what was given up; how many messages that are."""
    mine = warning_hook.c.channel == channel
    c.execute(update(warning_hook).where(mine).values(stopped=""))
    return wait_again(c, channel, DATA, now.timestamp())


def _hook_of(row: Any) -> Hook:
    begun_at, looked_to = from_time(row.begun_at), from_time(row.looked_to)
    assert begun_at is not None
    assert looked_to is not None
    return Hook(
        row.channel,
        row.topic,
        bool(row.with_articles),
        row.event_outlets,
        begun_at,
        row.from_article,
        looked_to,
        row.stopped,
    )


# --- What is new becomes messages -----------------------------------------------------------------


def queue_new(database: Database, now: datetime, *, looks_at_events: bool = True) -> int:
    """Make the messages of what is new and not told yet; how many.

    Args:
        now: aware.
        looks_at_events: which takes longer than articles.
    """
    made = 0
    with database.reading() as c:
        hooks = [hook for hook in stored_hooks(c).values() if not hook.stopped]
    for hook in hooks:
        # Read before anything is locked: a transaction that writes holds up the crawls.
        with database.reading() as c:
            letters = list(islice(_article_letters(c, hook), _MOST_AT_ONCE))
            is_whole = len(letters) < _MOST_AT_ONCE
            if looks_at_events:
                letters += _event_letters(c, hook, now)
        if looks_at_events and hook.with_articles:
            with database.engine.begin() as c:
                empty_sent(c, DATA, now.timestamp())
        if letters or now - hook.looked_to > _OVERLAP:
            made += _keep_letters(database, hook, letters, now if is_whole else None)
    return made


def _keep_letters(
    database: Database, hook: Hook, letters: Sequence[_Letter], looked_to: datetime | None
) -> int:
    with database.engine.begin() as c:
        lock_warnings(c)
        kept = stored_hooks(c).get(hook.channel)
        # Changed or taken away meanwhile: the next look tells what is wanted now.
        if kept is None or (kept.topic, kept.stopped) != (hook.topic, ""):
            return 0
        made = [
            enqueue(c, one.id, hook.channel, one.title, one.body, datetime.now(UTC), DATA)
            for one in letters
        ]
        if looked_to is not None:
            mine = warning_hook.c.channel == hook.channel
            moved = {"looked_to": to_stored_time(looked_to)}
            c.execute(update(warning_hook).where(mine).values(moved))
        return sum(made)


def _article_letters(c: Connection, hook: Hook) -> Iterator[_Letter]:
    if not hook.with_articles:
        return
    statement = (
        select(article.c.id)
        .join(relevance, relevance.c.article_id == article.c.id)
        .where(
            article.c.id > hook.from_article,
            article.c.updated_at >= to_stored_time(hook.looked_to - _OVERLAP),
            relevance.c.relevant.is_(True),
        )
        .distinct()
        .order_by(article.c.id)
    )
    if hook.topic:
        own = topic.c.id == relevance.c.topic_id
        statement = statement.join(topic, own).where(topic.c.name == hook.topic)
    ids = {_id_of(hook, ARTICLE, number): number for number in c.execute(statement).scalars()}
    told = kept_among(c, [*ids])
    untold = [number for own, number in ids.items() if own not in told]
    for start in range(0, len(untold), _MOST_AT_ONCE):
        some = tuple(untold[start : start + _MOST_AT_ONCE])
        choice = ArticleChoice(article_ids=some)
        for row in article_records(c, after=0, limit=len(some), choice=choice):
            fetched_at = row["fetched_at"]
            body = envelope(ARTICLE, fetched_at, to_jsonable_python(row))
            yield _Letter(_id_of(hook, ARTICLE, row["id"]), row["title"], body)


def _event_letters(c: Connection, hook: Hook, now: datetime) -> list[_Letter]:
    if not hook.event_outlets:
        return []
    days = (now - hook.looked_to).days + _LEAST_DAYS
    period = LastDays(now, min(days, _MOST_DAYS))
    found = hot_stories(c, period, StoryWish(hook.topic, False, hook.event_outlets, _MOST_EVENTS))
    new = opened_since(c, [one.id for one in found], hook.begun_at)
    letters = [_event_letter(hook, one, now) for one in found if one.id in new]
    told = kept_among(c, [one.id for one in letters])
    return [one for one in letters if one.id not in told]


def _event_letter(hook: Hook, one: HotStory, now: datetime) -> _Letter:
    body = envelope(EVENT, now, to_jsonable_python(event_record(one)))
    return _Letter(_id_of(hook, EVENT, one.id), one.title or _("Event"), body)


def _id_of(hook: Hook, kind: str, number: int) -> str:
    return message_id_of(kind, hook.channel, str(number))
