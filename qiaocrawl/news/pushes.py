"""What channels are told beside warnings: the morning's digest, and what needs a hand.

Both go by the messages of warnings: kept before they are sent, sent in parts, tried again, told
when they were refused. A message has its name of what it tells and when, so that however many
processes look, and whenever one is killed, it is there once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from sqlalchemy import Connection, delete, insert, select, update

from qiaocrawl.language import _, ngettext
from qiaocrawl.news.stories.hot import HotStory, LastDays, StoryWish, hot_stories
from qiaocrawl.news.today import LIMITS, Today, today
from qiaocrawl.news.trends.usual import HolidayCalendar, is_off
from qiaocrawl.news.warnings.machine import PERSON_SIGN, SEVERITY_NAMES
from qiaocrawl.news.warnings.office_rules import kept_quiet_hours
from qiaocrawl.news.warnings.persons import person_pushes
from qiaocrawl.news.warnings.rules import Severity, minute_of_day
from qiaocrawl.news.warnings.stored import (
    enqueue,
    forget_waiting,
    is_kept,
    lock_warnings,
    message_id_of,
    waiting_channels,
)
from qiaocrawl.reading.alarms import alarms
from qiaocrawl.storage import Database
from qiaocrawl.storage.schema import article, story_article, url, warning_push
from qiaocrawl.storage.values import clean_word, from_time, to_stored_time
from qiaocrawl.text.zones import SHANGHAI, start_of_days

_MOST_EVENTS, _MOST_NEWEST = 10, 7
_DIGEST_DAYS = 2
"""Events of yesterday and today: what came in the night, and the day before it."""
_BETWEEN_ALARMS = timedelta(hours=1)
"""One message about what needs a hand in so long, or what comes and goes would fill a phone."""
_NUMBERS = re.compile(r"\d[\d.,:]*")
_MOST_ALARMS = 20


@dataclass(frozen=True, slots=True)
class Push:
    """What one channel is told beside warnings.

    Attributes:
        digest_minute: of the day, in China's time; None for no digest.
        topic: of the digest's events; "" for all.
        topics: the same of a person, who may choose several.
        only_workdays: no digest on days off.
        with_alarms: what needs a hand is told when it begins, and when all is well again.
        begun_at: since when; a digest whose minute had passed then comes the next day.
        told: what of the alarms was told and still holds, each without its numbers.
        told_at: when that was.
    """

    channel: str
    digest_minute: int | None = None
    topic: str = ""
    only_workdays: bool = False
    with_alarms: bool = False
    begun_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    told: tuple[str, ...] = ()
    told_at: datetime | None = None
    topics: tuple[str, ...] = ()

    @property
    def is_any(self) -> bool:
        """Whether the channel is told anything here."""
        return self.digest_minute is not None or self.with_alarms

    def digest_at(self, day: datetime) -> datetime | None:
        """When the digest of the day of *day* is due; None for no digest."""
        if self.digest_minute is None:
            return None
        return start_of_days(day, 1) + timedelta(minutes=self.digest_minute)

    def next_digest(self, now: datetime, calendar: HolidayCalendar) -> datetime | None:
        """When the next digest is due, for people to see; None for no digest."""
        for days in range(32):
            at = self.digest_at(now + timedelta(days=days))
            if at is not None and at > now and not self._is_left_out(at, calendar):
                return at
        return None

    def digest_is_due(self, now: datetime, calendar: HolidayCalendar) -> bool:
        """Whether that of today should be on its way at *now* (aware)."""
        at = self.digest_at(now)
        return at is not None and self.begun_at < at <= now and not self._is_left_out(at, calendar)

    def _is_left_out(self, at: datetime, calendar: HolidayCalendar) -> bool:
        return self.only_workdays and is_off(calendar.kind_of(at.astimezone(SHANGHAI).date()))


def written_minute(text: str) -> int:
    """The minute of the day that a person wrote, as 7:30 or with a Chinese colon.

    Raises:
        ValueError: it is none.
    """
    return minute_of_day(text.replace("：", ":").zfill(5))


# --- Stored, a row a channel ----------------------------------------------------------------------


def stored_pushes(c: Connection) -> dict[str, Push]:
    """All of them by their channel."""
    return {row.channel: _push_of(row) for row in c.execute(select(warning_push))}


def keep_push(c: Connection, push: Push) -> None:
    """Keep *push* in the place of what its channel had; one that is told nothing goes."""
    c.execute(delete(warning_push).where(warning_push.c.channel == push.channel))
    if push.is_any:
        c.execute(insert(warning_push).values(**_row_of(push)))


def _push_of(row: Any) -> Push:
    begun_at = from_time(row.begun_at)
    assert begun_at is not None, "the column is never NULL"
    return Push(
        row.channel,
        row.digest_minute,
        row.topic,
        bool(row.only_workdays),
        bool(row.with_alarms),
        begun_at,
        tuple(json.loads(row.told)),
        from_time(row.told_at),
    )


def _row_of(push: Push) -> dict[str, object]:
    return {
        "channel": clean_word(push.channel, 64),
        "digest_minute": push.digest_minute,
        "topic": clean_word(push.topic, 100),
        "only_workdays": push.only_workdays,
        "with_alarms": push.with_alarms,
        "begun_at": to_stored_time(push.begun_at),
        "told": json.dumps(push.told, ensure_ascii=False),
        "told_at": None if push.told_at is None else to_stored_time(push.told_at),
    }


# --- What is due becomes messages -----------------------------------------------------------------


def queue_due(
    database: Database, now: datetime, calendar: HolidayCalendar, *, looks_at_alarms: bool = True
) -> int:
    """Make the messages that are due at *now* (aware) and not there yet; how many.

    To be called before what waits is sent.
    """
    # All that takes long is read first: a transaction that writes holds up the crawls.
    with database.reading() as c:
        pushes, persons = stored_pushes(c), _of_persons(c)
        gone = waiting_channels(c, PERSON_SIGN) - {own.channel for own in persons}
        letters = _digests_due(c, [*pushes.values(), *persons], now, calendar)
        quiet = kept_quiet_hours(c)
        is_quiet = quiet is not None and quiet.is_quiet(now, calendar)
        listens = any(push.with_alarms for push in pushes.values())
        found: dict[str, str] | None = None
        if looks_at_alarms and listens and not is_quiet:
            found = {_kind_of(text): text for text in alarms(c, LIMITS, now=now.timestamp())}
    if gone:
        with database.engine.begin() as c:
            for channel in gone:
                forget_waiting(c, channel)
    if not letters and found is None:
        return 0
    with database.engine.begin() as c:
        lock_warnings(c)
        made = sum(
            enqueue(c, _digest_id(channel, now), channel, *letter, now)
            for channel, letter in letters.items()
        )
        if found is None:
            return made
        # Read again: another process may have told meanwhile.
        told = [push for push in stored_pushes(c).values() if push.with_alarms]
        return made + sum(_queue_alarms(c, push, found, now) for push in told)


def _digests_due(
    c: Connection, pushes: Iterable[Push], now: datetime, calendar: HolidayCalendar
) -> dict[str, tuple[str, str]]:
    """By channel, title and text of the digests that are due and not there yet."""
    return {
        push.channel: digest(c, now, *(push.topics or (push.topic,)))
        for push in pushes
        if push.digest_is_due(now, calendar) and not is_kept(c, _digest_id(push.channel, now))
    }


def _of_persons(c: Connection) -> list[Push]:
    return [
        Push(
            own.channel,
            own.digest_minute,
            "",
            own.only_workdays,
            begun_at=own.begun_at,
            topics=own.topics,
        )
        for own in person_pushes(c)
    ]


def _digest_id(channel: str, now: datetime) -> str:
    return message_id_of("digest", channel, str(now.astimezone(SHANGHAI).date()))


def _queue_alarms(c: Connection, push: Push, found: dict[str, str], now: datetime) -> bool:
    if push.told_at is not None and now - push.told_at < _BETWEEN_ALARMS:
        return False
    new = [text for kind, text in found.items() if kind not in push.told]
    is_over = bool(push.told) and not found
    still = tuple(kind for kind in push.told if kind in found)
    if not new and not is_over:
        if still != push.told:
            _note_told(c, replace(push, told=still))
        return False
    title, body = _alarm_letter(new)
    made = enqueue(
        c, message_id_of("alarms", push.channel, now.isoformat()), push.channel, title, body, now
    )
    _note_told(c, replace(push, told=tuple(found), told_at=now))
    return made


def _note_told(c: Connection, push: Push) -> None:
    values = {name: value for name, value in _row_of(push).items() if name.startswith("told")}
    c.execute(update(warning_push).where(warning_push.c.channel == push.channel).values(**values))


def _kind_of(alarm: str) -> str:
    """*alarm* without its numbers, by which it is known again: they grow from day to day."""
    return _NUMBERS.sub("#", alarm)[:200]


# --- Their words ----------------------------------------------------------------------------------


def digest(c: Connection, now: datetime, *topics: str) -> tuple[str, str]:
    """Title and text of the morning's digest, with the address of each event's first report.

    A day without anything says so, and when the last round was: nothing found and nothing looked
    for are not the same.

    Args:
        topics: their events only; none, and "", for all.
    """
    local = now.astimezone(SHANGHAI)
    shown = today(c, now)
    events = _events(c, LastDays(now, _DIGEST_DAYS), topics)
    title = _("News of the morning, {month}/{day}", month=local.month, day=local.day)
    parts = [_head(shown, events), *_event_lines(c, events, shown)]
    if not events:
        parts += _newest_lines(shown)
    parts += _needs_lines(shown)
    return title, "\n".join(parts)


def _events(c: Connection, period: LastDays, topics: Sequence[str]) -> list[HotStory]:
    """The hottest of *topics*; an event that is of several is there once."""
    found = {
        event.id: event
        for topic in topics or ("",)
        for event in hot_stories(c, period, StoryWish(topic=topic, limit=_MOST_EVENTS))
    }
    if len(topics) < 2:
        return list(found.values())
    return sorted(found.values(), key=lambda event: -len(event.outlets))[:_MOST_EVENTS]


def _head(shown: Today, events: Sequence[HotStory]) -> str:
    if not shown.published and not events:
        run = shown.run
        if run is None or run.ended is None:
            return _("Nothing on topic came out since yesterday; no round has ended yet.")
        at = run.ended.astimezone(SHANGHAI)
        return _(
            "Nothing on topic came out since yesterday. The last round ended {at}.",
            at=f"{at:%m-%d %H:%M}",
        )
    articles = ngettext("{count} report on topic", "{count} reports on topic", shown.published)
    told = ngettext(
        "{count} event of several outlets", "{count} events of several outlets", len(events)
    )
    return _("Since yesterday: {articles}, {events}.", articles=articles, events=told)


def _event_lines(c: Connection, events: Sequence[HotStory], shown: Today) -> list[str]:
    urls = _first_urls(c, [one.id for one in events])
    lines = []
    for number, one in enumerate(events, 1):
        outlets = ngettext("{count} outlet", "{count} outlets", len(one.outlets))
        severity = cast("Severity | None", shown.events.severities.get(one.id))
        facts = [outlets, *([_(SEVERITY_NAMES[severity])] if severity else [])]
        if one.outlets:
            facts.append(_("first: {outlet}", outlet=one.outlets[0]))
        lines += ["", f"{number}. {one.title}", "   " + " · ".join(facts)]
        if one.id in urls:
            lines.append(f"   {urls[one.id]}")
    return lines


def _first_urls(c: Connection, stories: Sequence[int]) -> dict[int, str]:
    """The address of the first report of each story."""
    rows = c.execute(
        select(story_article.c.story_id, url.c.url)
        .join(article, article.c.url_id == story_article.c.url_id)
        .join(url, url.c.id == story_article.c.url_id)
        .where(story_article.c.story_id.in_(stories))
        # Those without a day last.
        .order_by(
            article.c.published_at.is_(None).desc(),
            article.c.published_at.desc(),
            article.c.id.desc(),
        )
    )
    return {row.story_id: row.url for row in rows}


def _newest_lines(shown: Today) -> list[str]:
    lines = []
    for one in shown.newest[:_MOST_NEWEST]:
        lines += ["", f"· {one.title}", f"  {one.url}"]
    return ["", _("The newest reports:"), *lines] if lines else []


def _needs_lines(shown: Today) -> list[str]:
    needs = [
        *shown.needs.alarms[:_MOST_ALARMS],
        *(_("nobody is logged in to {site}", site=site) for site in shown.needs.logins),
    ]
    if not needs:
        return []
    return ["", _("Needs a hand:"), *(f"· {text}" for text in needs)]


def _alarm_letter(new: Collection[str]) -> tuple[str, str]:
    if not new:
        return _("The crawls are well again"), _("What needed a hand has been mended.")
    more = len(new) - _MOST_ALARMS
    lines = [f"· {text}" for text in list(new)[:_MOST_ALARMS]]
    if more > 0:
        lines.append(_("and {more} more: `qiaocrawl health`", more=more))
    title = ngettext("{count} thing needs a hand", "{count} things need a hand", len(new))
    return title, "\n".join(lines)
