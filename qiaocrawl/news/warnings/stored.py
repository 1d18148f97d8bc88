"""Keeps warnings, and messages until they are delivered."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from secrets import token_hex
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from qiaocrawl.news.stories.texts import stories_with
from qiaocrawl.news.warnings.machine import (
    Message,
    Status,
    StoryWarning,
    from_record,
    message_text,
    message_title,
    to_record,
)
from qiaocrawl.news.warnings.rules import SEVERITIES
from qiaocrawl.storage.engine import latest_due
from qiaocrawl.storage.schema import (
    article,
    relevance,
    story_article,
    story_warning,
    topic,
    warning_message,
    warning_notice,
)
from qiaocrawl.storage.sql import Statement
from qiaocrawl.storage.values import clean_text, clean_word, from_time, to_stored_time

WAITING, SENT, GIVEN_UP = "waiting", "sent", "given_up"

# The row that is there once there are stories.
_LOCK = Statement(
    "SELECT id FROM story_clock WHERE id = 1",
    mysql="SELECT id FROM story_clock WHERE id = 1 FOR UPDATE",
)
_AT_A_TIME = 500
# Of an attempt whose process died; after that another one may try.
_CLAIM_SECONDS = 300.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 60.0, 6 * 3_600.0
_GROWTH = 4
_MOST_ATTEMPTS = 10
# So long what was sent to programs can be looked up; there may be a thousand a day.
_KEPT_SECONDS = 30 * 86_400.0
# What the far side has read and does not want: nothing but an operator changes that, who has a
# working day for it (0, 1, 5, 11 and 17 hours after the first attempt).
_REFUSED_PAUSES_SECONDS = (3_600.0, 4 * 3_600.0, 6 * 3_600.0, 6 * 3_600.0)


class DueMessage(NamedTuple):
    """A message that is to be sent now; ``attempts`` counts this one.

    Attributes:
        sent_chars: so much of the body has arrived, in parts.
        message_id: of what it tells.
    """

    id: int
    channel: str
    severity: str
    title: str
    body: str
    attempts: int
    sent_chars: int = 0
    message_id: str = ""


class StuckMessage(NamedTuple):
    """A message that was tried in vain, and why."""

    channel: str
    title: str
    attempts: int
    state: str
    error: str


def load_warnings(c: Connection) -> dict[str, StoryWarning]:
    """All warnings, by story."""
    records = c.execute(select(story_warning.c.record)).scalars()
    warnings = (from_record(json.loads(record)) for record in records)
    return {warning.story: warning for warning in warnings}


def lock_warnings(c: Connection) -> None:
    """Let no other worker change warnings until the transaction of *c* ends.

    To be called before they are read. SQLite has one writer anyway.
    """
    _LOCK.run(c).fetchall()


def keep_step(
    c: Connection,
    before: Mapping[str, StoryWarning],
    after: Mapping[str, StoryWarning],
    messages: Iterable[Message],
    now: datetime,
) -> None:
    """Keep what a step made: warnings and messages in the one transaction of *c*.

    So a channel counts as told exactly when its message is kept. A message that is there already
    is left as it is.
    """
    unchanged = {story for story, warning in after.items() if before.get(story) == warning}
    gone = [warning.id for story, warning in before.items() if story not in unchanged]
    for start in range(0, len(gone), _AT_A_TIME):
        ids = gone[start : start + _AT_A_TIME]
        c.execute(delete(story_warning).where(story_warning.c.opened_for.in_(ids)))
    rows = [_row(warning) for story, warning in after.items() if story not in unchanged]
    if rows:
        c.execute(insert(story_warning), rows)
    for message in messages:
        _keep_message(c, message, now)


def take_due(
    c: Connection,
    now: float,
    limit: int = 100,
    after: int = 0,
    channels: Sequence[str] | None = None,
) -> list[DueMessage]:
    """Messages to be sent now, the oldest first; no other process gets them for five minutes.

    A process that dies between sending and :func:`note_sent` sends again: a warning that comes
    twice does less harm than one that never comes.

    Args:
        now: epoch seconds.
        after: those with higher row ids only.
        channels: those to these only; None for all.
    """
    columns = warning_message.c
    latest = latest_due(now, max(_LONGEST_PAUSE_SECONDS, _CLAIM_SECONDS))
    is_due = or_(columns.next_at <= now, columns.next_at > latest)
    due = [columns.state == WAITING, is_due, columns.id > after]
    if channels is not None:
        due.append(columns.channel.in_(channels))
    rows = c.execute(
        select(
            columns.id,
            columns.channel,
            columns.severity,
            columns.title,
            columns.body,
            columns.attempts,
            columns.sent_chars,
            columns.message_id,
        )
        .where(*due)
        .order_by(columns.id)
        .limit(limit)
    ).all()
    taken = []
    for row in rows:
        claim = update(warning_message).where(columns.id == row.id, *due)
        values = {"attempts": columns.attempts + 1, "next_at": now + _CLAIM_SECONDS}
        if c.execute(claim.values(values)).rowcount:
            taken.append(DueMessage(*row[:5], row.attempts + 1, row.sent_chars, row.message_id))
    return taken


def put_off(c: Connection, message: DueMessage, until: float) -> None:
    """A message is not tried now, since its channel asks to wait; it counts as no attempt."""
    columns = warning_message.c
    c.execute(
        update(warning_message)
        .where(columns.id == message.id)
        .values(attempts=columns.attempts - 1, next_at=until)
    )


def note_part(c: Connection, message: DueMessage, sent_chars: int, now: float) -> None:
    """So much of a message has arrived; nobody else sends it while the rest is being sent."""
    c.execute(
        update(warning_message)
        .where(warning_message.c.id == message.id)
        .values(sent_chars=sent_chars, next_at=now + _CLAIM_SECONDS)
    )


def stuck_messages(c: Connection, limit: int = 20) -> list[StuckMessage]:
    """Messages that were not accepted yet or are given up, the newest first."""
    columns = warning_message.c
    statement = (
        select(columns.channel, columns.title, columns.attempts, columns.state, columns.error)
        .where(columns.state.in_((WAITING, GIVEN_UP)), columns.error != "")
        .order_by(columns.id.desc())
        .limit(limit)
    )
    return [StuckMessage(*row) for row in c.execute(statement)]


def note_sent(c: Connection, message: DueMessage, now: datetime) -> None:
    """A message was delivered."""
    c.execute(
        update(warning_message)
        .where(warning_message.c.id == message.id)
        .values(state=SENT, sent_at=to_stored_time(now), error="")
    )


def note_failed(
    c: Connection,
    message: DueMessage,
    error: str,
    now: float,
    *,
    is_final: bool = False,
    most: int = _MOST_ATTEMPTS,
) -> tuple[str, float]:
    """A message was not delivered; returns its state, and when it is tried again.

    It waits a minute, then four times as long each time, six hours at most; after *most* attempts
    it is given up.

    Args:
        now: epoch seconds.
        is_final: the far side has refused it: it waits for an operator, with few attempts.
    """
    pause = min(_FIRST_PAUSE_SECONDS * _GROWTH ** (message.attempts - 1), _LONGEST_PAUSE_SECONDS)
    if is_final:
        pauses = _REFUSED_PAUSES_SECONDS
        most = min(most, len(pauses) + 1)
        pause = pauses[min(message.attempts, len(pauses)) - 1]
    state = GIVEN_UP if message.attempts >= most else WAITING
    c.execute(
        update(warning_message)
        .where(warning_message.c.id == message.id)
        .values(state=state, next_at=now + pause, error=clean_word(error, 500))
    )
    return state, now + pause


def _row(warning: StoryWarning) -> dict[str, object]:
    return {
        "opened_for": warning.id,
        "story": warning.story,
        "severity": warning.severity,
        "status": warning.status,
        "changed_at": to_stored_time(warning.changed_at),
        "record": json.dumps(to_record(warning), ensure_ascii=False),
    }


def _keep_message(c: Connection, message: Message, now: datetime) -> None:
    made = _insert(
        c,
        message.id,
        message.channel,
        message.severity,
        message_title(message),
        message_text(message),
        now,
    )
    if made:
        c.execute(
            insert(warning_notice),
            [{"message_id": made, "opened_for": notice.warning.id} for notice in message.notices],
        )


def is_kept(c: Connection, message_id: str) -> bool:
    """Whether the message is there, sent or not."""
    kept = select(warning_message.c.id).where(warning_message.c.message_id == message_id)
    return c.execute(kept).first() is not None


def kept_among(c: Connection, message_ids: Sequence[str]) -> set[str]:
    """Those of *message_ids* that are there, sent or not."""
    columns, found = warning_message.c, set[str]()
    for some in _parts(message_ids):
        rows = c.execute(select(columns.message_id).where(columns.message_id.in_(some)))
        found.update(rows.scalars())
    return found


def message_id_of(*parts: str) -> str:
    """32 digits for what a message tells."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def enqueue(
    c: Connection,
    message_id: str,
    channel: str,
    title: str,
    body: str,
    now: datetime,
    severity: str = SEVERITIES[0],
) -> bool:
    """Keep a message of no warning until it is sent; whether it was not there yet.

    Args:
        message_id: 32 digits of what it tells, by which it is known again.
    """
    return bool(_insert(c, message_id, channel, severity, title, body, now))


def give_up_waiting(c: Connection, channel: str, severity: str, error: str) -> int:
    """Try no more to send the messages of *severity* to a channel; how many waited."""
    columns = warning_message.c
    waiting = columns.channel == channel, columns.severity == severity, columns.state == WAITING
    values = {"state": GIVEN_UP, "error": clean_word(error, 500)}
    return c.execute(update(warning_message).where(*waiting).values(values)).rowcount


def wait_again(c: Connection, channel: str, severity: str, now: float) -> int:
    """Let the messages of *severity* that were given up be sent after all; how many."""
    columns = warning_message.c
    mine = columns.channel == channel, columns.severity == severity, columns.state == GIVEN_UP
    values = {"state": WAITING, "attempts": 0, "next_at": now}
    return c.execute(update(warning_message).where(*mine).values(values)).rowcount


def empty_sent(c: Connection, severity: str, now: float) -> int:
    """Let go of the texts of messages of *severity* that were sent long ago; how many.

    Their names stay, so that nothing is told again.
    """
    columns = warning_message.c
    old = columns.next_at.between(now - 2 * _KEPT_SECONDS, now - _KEPT_SECONDS)
    mine = columns.state == SENT, columns.severity == severity, old, columns.body != ""
    return c.execute(update(warning_message).where(*mine).values(body="")).rowcount


def count_states(c: Connection, channel: str, severity: str) -> dict[str, int]:
    """How many messages of *severity* to a channel wait, were sent, and were given up."""
    columns = warning_message.c
    mine = columns.channel == channel, columns.severity == severity
    statement = select(columns.state, func.count()).where(*mine).group_by(columns.state)
    return {row[0]: row[1] for row in c.execute(statement)}


def _insert(
    c: Connection,
    message_id: str,
    channel: str,
    severity: str,
    title: str,
    body: str,
    now: datetime,
) -> int:
    """The number of the new message; 0 where it is there already."""
    if is_kept(c, message_id):
        return 0
    made = c.execute(
        insert(warning_message).values(
            message_id=message_id,
            channel=clean_word(channel, 64),
            severity=severity,
            title=clean_text(title, 1_000),
            body=clean_text(body, 100_000),
            created_at=to_stored_time(now),
            state=WAITING,
            attempts=0,
            next_at=now.timestamp(),
            error="",
            sent_chars=0,
        )
    ).inserted_primary_key
    assert made is not None
    return int(made[0])


def waiting_channels(c: Connection, sign: str) -> set[str]:
    """The channels whose names begin with *sign* and to which something waits to be sent."""
    columns = warning_message.c
    is_own = columns.channel.startswith(sign, autoescape=True)
    statement = select(columns.channel).where(columns.state == WAITING, is_own).distinct()
    return set(c.execute(statement).scalars())


def forget_waiting(c: Connection, channel: str) -> None:
    """Send *channel* nothing of what waits: nobody is there any more."""
    columns = warning_message.c
    waiting = select(columns.id).where(columns.channel == channel, columns.state == WAITING)
    ids = list(c.execute(waiting).scalars())
    c.execute(delete(warning_notice).where(warning_notice.c.message_id.in_(ids)))
    c.execute(delete(warning_message).where(columns.id.in_(ids)))


def add_claimed(c: Connection, channel: str, title: str, body: str, now: datetime) -> DueMessage:
    """A message of no warning that whoever made it sends at once; nobody else does before."""
    message_id = token_hex(16)
    made = c.execute(
        insert(warning_message).values(
            message_id=message_id,
            channel=clean_word(channel, 64),
            severity=SEVERITIES[0],
            title=clean_text(title, 1_000),
            body=clean_text(body, 100_000),
            created_at=to_stored_time(now),
            state=WAITING,
            attempts=1,
            next_at=now.timestamp() + _CLAIM_SECONDS,
            error="",
            sent_chars=0,
        )
    ).inserted_primary_key
    assert made is not None
    number = int(made[0])
    return DueMessage(number, channel, SEVERITIES[0], title, body, 1, message_id=message_id)


# --- Warnings as people read them: with their story, its topics, and what arrived where -----------

Item = TypeVar("Item")


class Delivery(NamedTuple):
    """What became of a message to a channel.

    Args:
        state: waiting, sent or given_up.
        next_at: when it is tried again, if it waits.
        error: why the last attempt failed; "" for none that failed.
    """

    channel: str
    severity: str
    state: str
    attempts: int
    created_at: datetime
    next_at: datetime
    sent_at: datetime | None
    error: str


class WarningLine(NamedTuple):
    """A warning, the number of its story (None where its articles are gone), its topics by name
    with their titles, and its messages in their order."""

    warning: StoryWarning
    story: int | None
    topics: dict[str, str]
    deliveries: tuple[Delivery, ...]


def count_by_status(c: Connection) -> dict[str, int]:
    """How many warnings are open, closed and muted."""
    columns = story_warning.c
    rows = c.execute(select(columns.status, func.count()).group_by(columns.status))
    return {row[0]: row[1] for row in rows}


def warnings_of(c: Connection, statuses: Sequence[Status]) -> list[StoryWarning]:
    """The warnings of these states, in no order."""
    columns = story_warning.c
    records = c.execute(select(columns.record).where(columns.status.in_(statuses))).scalars()
    return [from_record(json.loads(record)) for record in records]


def lines_of(c: Connection, warnings: Sequence[StoryWarning]) -> list[WarningLine]:
    """*warnings*, in their order, with what is told beside them."""
    numbers: dict[int, int] = {}
    for some in _parts([int(own.story) for own in warnings]):
        numbers |= stories_with(c, some)
    topics = _topics(c, sorted(set(numbers.values())))
    deliveries = _deliveries(c, [own.id for own in warnings])
    lines = []
    for own in warnings:
        number = numbers.get(int(own.story))
        # One that was forgotten and opened again has its name from before.
        told = tuple(one for one in deliveries[own.id] if one.created_at >= own.opened_at)
        lines.append(WarningLine(own, number, topics[number] if number else {}, told))
    return lines


def last_deliveries(c: Connection) -> dict[str, Delivery]:
    """What became of the newest message to each channel that was tried."""
    columns = warning_message.c
    newest = select(func.max(columns.id)).where(columns.attempts > 0).group_by(columns.channel)
    rows = c.execute(select(*_DELIVERY).where(columns.id.in_(newest)))
    return {row.channel: _delivery(row) for row in rows}


def count_waiting(c: Connection) -> dict[str, int]:
    """Messages that wait, by channel."""
    columns = warning_message.c
    statement = select(columns.channel, func.count()).where(columns.state == "waiting")
    return {row[0]: row[1] for row in c.execute(statement.group_by(columns.channel))}


_DELIVERY = tuple(
    warning_message.c[name]
    for name in (
        "channel",
        "severity",
        "state",
        "attempts",
        "created_at",
        "next_at",
        "sent_at",
        "error",
    )
)


def _topics(c: Connection, numbers: Sequence[int]) -> defaultdict[int, dict[str, str]]:
    """The topics that articles of each story are on, by name, with their titles."""
    found: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for some in _parts(numbers):
        statement = (
            select(story_article.c.story_id, topic.c.name, topic.c.title)
            .join(article, article.c.url_id == story_article.c.url_id)
            .join(relevance, relevance.c.article_id == article.c.id)
            .join(topic, topic.c.id == relevance.c.topic_id)
            .where(story_article.c.story_id.in_(some), relevance.c.relevant.is_(True))
            .distinct()
            .order_by(topic.c.name)
        )
        for number, name, title in c.execute(statement):
            found[number][name] = title
    return found


def _deliveries(c: Connection, names: Sequence[str]) -> defaultdict[str, list[Delivery]]:
    found: defaultdict[str, list[Delivery]] = defaultdict(list)
    for some in _parts(names):
        statement = (
            select(warning_notice.c.opened_for, *_DELIVERY)
            .join(warning_message, warning_message.c.id == warning_notice.c.message_id)
            .where(warning_notice.c.opened_for.in_(some))
            .order_by(warning_message.c.id)
        )
        for row in c.execute(statement):
            found[row.opened_for].append(_delivery(row))
    return found


def _delivery(row: Any) -> Delivery:
    created_at = from_time(row.created_at)
    assert created_at is not None
    next_at = datetime.fromtimestamp(row.next_at, created_at.tzinfo)
    return Delivery(
        row.channel,
        row.severity,
        row.state,
        row.attempts,
        created_at,
        next_at,
        from_time(row.sent_at),
        row.error,
    )


def _parts(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + _AT_A_TIME] for start in range(0, len(items), _AT_A_TIME))
