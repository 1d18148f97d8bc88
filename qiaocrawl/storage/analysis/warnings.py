"""Keeps warnings, and messages until they are delivered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from secrets import token_hex
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, or_, select, update

from qiaocrawl.analysis.warnings.rules import SEVERITIES
from qiaocrawl.analysis.warnings.state import Message, StoryWarning, from_record, to_record
from qiaocrawl.analysis.warnings.wording import message_text, message_title
from qiaocrawl.storage.clock import latest_due
from qiaocrawl.storage.converters import clean_text, clean_word, to_stored_time
from qiaocrawl.storage.raw_sql import Statement
from qiaocrawl.storage.schema import story_warning, warning_message, warning_notice

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
# What the far side has read and does not want: nothing but an operator changes that, who has a
# working day for it (0, 1, 5, 11 and 17 hours after the first attempt).
_REFUSED_PAUSES_SECONDS = (3_600.0, 4 * 3_600.0, 6 * 3_600.0, 6 * 3_600.0)


class DueMessage(NamedTuple):
    """A message that is to be sent now; ``attempts`` counts this one.

    Attributes:
        sent_chars: so much of the body has arrived, in parts.
    """

    id: int
    channel: str
    severity: str
    title: str
    body: str
    attempts: int
    sent_chars: int = 0


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
    c: Connection, before: Mapping[str, StoryWarning], after: Mapping[str, StoryWarning],
    messages: Iterable[Message], now: datetime,
) -> None:  # fmt: skip
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


def take_due(c: Connection, now: float, limit: int = 100, after: int = 0) -> list[DueMessage]:
    """Messages to be sent now, the oldest first; no other process gets them for five minutes.

    A process that dies between sending and :func:`note_sent` sends again: a warning that comes
    twice does less harm than one that never comes.

    Args:
        now: epoch seconds.
        after: those with higher row ids only.
    """
    columns = warning_message.c
    latest = latest_due(now, max(_LONGEST_PAUSE_SECONDS, _CLAIM_SECONDS))
    is_due = or_(columns.next_at <= now, columns.next_at > latest)
    due = columns.state == WAITING, is_due, columns.id > after
    rows = c.execute(
        select(columns.id, columns.channel, columns.severity, columns.title, columns.body,
               columns.attempts, columns.sent_chars)
        .where(*due).order_by(columns.id).limit(limit)
    ).all()  # fmt: skip
    taken = []
    for row in rows:
        claim = update(warning_message).where(columns.id == row.id, *due)
        values = {"attempts": columns.attempts + 1, "next_at": now + _CLAIM_SECONDS}
        if c.execute(claim.values(values)).rowcount:
            taken.append(DueMessage(*row[:5], row.attempts + 1, row.sent_chars))
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
    c: Connection, message: DueMessage, error: str, now: float, *, is_final: bool = False,
    most: int = _MOST_ATTEMPTS,
) -> tuple[str, float]:  # fmt: skip
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
        "opened_for": warning.id, "story": warning.story, "severity": warning.severity,
        "status": warning.status, "changed_at": to_stored_time(warning.changed_at),
        "record": json.dumps(to_record(warning), ensure_ascii=False),
    }  # fmt: skip


def _keep_message(c: Connection, message: Message, now: datetime) -> None:
    kept = select(warning_message.c.id).where(warning_message.c.message_id == message.id)
    if c.execute(kept).first() is not None:
        return
    title, body = message_title(message), message_text(message)
    made = c.execute(insert(warning_message).values(
        message_id=message.id, channel=message.channel, severity=message.severity,
        title=clean_text(title, 1_000), body=clean_text(body, 100_000),
        created_at=to_stored_time(now), state=WAITING, attempts=0, next_at=now.timestamp(),
        error="", sent_chars=0,
    )).inserted_primary_key  # fmt: skip
    assert made is not None
    c.execute(insert(warning_notice), [
        {"message_id": made[0], "opened_for": notice.warning.id} for notice in message.notices
    ])  # fmt: skip


def add_claimed(c: Connection, channel: str, title: str, body: str, now: datetime) -> DueMessage:
    """A message of no warning that whoever made it sends at once; nobody else does before."""
    made = c.execute(insert(warning_message).values(
        message_id=token_hex(16), channel=clean_word(channel, 64), severity=SEVERITIES[0],
        title=clean_text(title, 1_000), body=clean_text(body, 100_000),
        created_at=to_stored_time(now), state=WAITING, attempts=1,
        next_at=now.timestamp() + _CLAIM_SECONDS, error="", sent_chars=0,
    )).inserted_primary_key  # fmt: skip
    assert made is not None
    return DueMessage(int(made[0]), channel, SEVERITIES[0], title, body, 1)
