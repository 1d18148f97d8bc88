"""What one colleague hands to another, with a day; and addresses by which strangers read an event.

Of the address of an event the database has the digest only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, func, insert, or_, select, update

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.people import User, digest, user_by_id
from qiaocrawl.storage.schema import console_user, event_link, handover
from qiaocrawl.storage.values import clean_text, clean_word, from_time, to_stored_time
from qiaocrawl.text.zones import SHANGHAI

ARTICLE, EVENT, WARNING = "article", "event", "warning"
KIND_NAMES = {ARTICLE: N_("article"), EVENT: N_("news event"), WARNING: N_("warning")}
MOST_NOTE_CHARS = 2_000
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Handover:
    """One thing that was handed over; times are aware.

    Attributes:
        target: row of the article's URL, of a URL of the event, or the warning's own name.
        due: the day it is to be done, in China; None for none.
        is_gone: whoever it was handed to may not log in any more.
    """

    id: int
    kind: str
    target: str
    title: str
    giver_id: int
    giver: str
    receiver_id: int
    receiver: str
    due: date | None
    note: str
    made_at: datetime
    done_at: datetime | None
    answer: str
    answered_by: str
    answered_at: datetime | None
    is_gone: bool

    def is_overdue(self, now: datetime) -> bool:
        """Whether its day is over and it is not done."""
        today = now.astimezone(SHANGHAI).date()
        return self.done_at is None and self.due is not None and self.due < today


@dataclass(frozen=True, slots=True)
class Handing:
    """What is to be handed over: to the user of a row, until a day as it was written."""

    kind: str
    target: str
    title: str
    receiver_id: int
    due: str
    note: str


# --- Hand-overs -----------------------------------------------------------------------------------


def hand_over(c: Connection, actor: Actor, giver: User, new: Handing, now: datetime) -> int:
    """Hand *new* to a colleague; its row.

    Raises:
        ConfigError: nobody of that row may log in, or the day is none or is over.
    """
    receiver = _receiver(c, new.receiver_id)
    day, title = _due_day(new.due, now), clean_word(new.title, 500)
    values = {
        "kind": new.kind,
        "target": new.target,
        "title": title,
        "from_user_id": giver.id,
        "to_user_id": receiver.id,
        "due": "" if day is None else day.isoformat(),
        "note": clean_text(new.note, MOST_NOTE_CHARS),
        "made_at": to_stored_time(now),
        "done_at": None,
        "answer": "",
        "answered_by": "",
        "answered_at": None,
    }
    made = c.execute(insert(handover).values(values)).inserted_primary_key
    assert made is not None
    after = {"to": receiver.name, "due": values["due"], "note": values["note"]}
    record(c, actor, "handover.give", title, None, after)
    return int(made[0])


def _receiver(c: Connection, user_id: int) -> User:
    receiver = user_by_id(c, user_id)
    if receiver is None or receiver.disabled_at is not None:
        raise ConfigError(_("choose a colleague who can log in"))
    return receiver


def _due_day(text: str, now: datetime) -> date | None:
    if not text:
        return None
    try:
        day = date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        day = None
    if day is None:
        raise ConfigError(
            _("days are written like {example}, got {given!r}", example="2026-11-02", given=text)
        )
    if day < now.astimezone(SHANGHAI).date():
        raise ConfigError(_("the day {day} is over already", day=text))
    return day


def one_handover(c: Connection, number: int) -> Handover | None:
    """That of a row."""
    row = c.execute(_handovers().where(handover.c.id == number)).first()
    return None if row is None else _of_row(row)


def handovers_of(c: Connection, user: User, *, limit: int = 200) -> list[Handover]:
    """What *user* was given and gave: what is open first, by its day; then the newest done."""
    mine = or_(handover.c.to_user_id == user.id, handover.c.from_user_id == user.id)
    return _ordered(c, mine, limit)


def left_by_gone(c: Connection, *, limit: int = 200) -> list[Handover]:
    """What is open and was given to somebody who may not log in any more."""
    return [own for own in _ordered(c, handover.c.done_at.is_(None), limit) if own.is_gone]


def handovers_about(c: Connection, kind: str, targets: Sequence[str]) -> list[Handover]:
    """What is open of one thing."""
    about = handover.c.kind == kind, handover.c.target.in_(targets), handover.c.done_at.is_(None)
    return [_of_row(row) for row in c.execute(_handovers().where(*about).order_by(handover.c.id))]


def count_open(c: Connection, user_id: int) -> int:
    """How many things the user has still to do."""
    own = handover.c.to_user_id == user_id, handover.c.done_at.is_(None)
    count: int = c.execute(select(func.count()).select_from(handover).where(*own)).scalar_one()
    return count


def answer(c: Connection, actor: Actor, own: Handover, text: str, *, done: bool) -> None:
    """Answer *own*, and say that it is done, or that it is not after all.

    Raises:
        ConfigError: nothing would be said.
    """
    text = clean_text(text, MOST_NOTE_CHARS).strip()
    if not text and done == (own.done_at is not None):
        raise ConfigError(_("write something first"))
    now = to_stored_time(datetime.now(UTC))
    values: dict[str, Any] = {"done_at": now if done else None}
    if text:
        values |= {"answer": text, "answered_by": actor.name, "answered_at": now}
    c.execute(update(handover).where(handover.c.id == own.id).values(values))
    before = {"done": own.done_at is not None, "answer": own.answer}
    record(c, actor, "handover.answer", own.title, before, {"done": done, "answer": text})


def pass_on(c: Connection, actor: Actor, own: Handover, receiver_id: int) -> str:
    """Give *own* to another colleague; who that is.

    Raises:
        ConfigError: nobody of that row may log in.
    """
    receiver = _receiver(c, receiver_id)
    c.execute(
        update(handover).where(handover.c.id == own.id).values(to_user_id=receiver.id, done_at=None)
    )
    record(c, actor, "handover.pass", own.title, {"to": own.receiver}, {"to": receiver.name})
    return receiver.name


_GIVER, _RECEIVER = console_user.alias("giver"), console_user.alias("receiver")


def _handovers() -> Select[Any]:
    return (
        select(
            handover,
            _GIVER.c.name.label("giver"),
            _RECEIVER.c.name.label("receiver"),
            _RECEIVER.c.disabled_at.label("gone_at"),
        )
        .join(_GIVER, _GIVER.c.id == handover.c.from_user_id)
        .join(_RECEIVER, _RECEIVER.c.id == handover.c.to_user_id)
    )


def _ordered(c: Connection, condition: Any, limit: int) -> list[Handover]:
    columns = handover.c
    statement = (
        _handovers()
        .where(condition)
        .order_by(
            columns.done_at.is_not(None),
            columns.done_at.desc(),
            columns.due == "",
            columns.due,
            columns.id,
        )
    )
    return [_of_row(row) for row in c.execute(statement.limit(limit))]


def _of_row(row: Any) -> Handover:
    made_at = from_time(row.made_at)
    assert made_at is not None
    return Handover(
        row.id,
        row.kind,
        row.target,
        row.title,
        row.from_user_id,
        row.giver,
        row.to_user_id,
        row.receiver,
        date.fromisoformat(row.due) if row.due else None,
        row.note,
        made_at,
        from_time(row.done_at),
        row.answer,
        row.answered_by,
        from_time(row.answered_at),
        row.gone_at is not None,
    )


# --- Addresses by which strangers read one event for a while --------------------------------------

LINK_DAYS = (1, 7, 30)
"""How long one may be good."""
# Strangers must not write a row with every look.
_OPENED_SECONDS = 60


@dataclass(frozen=True, slots=True)
class EventLink:
    """An address of an event; times are aware. *opened*: in how many minutes it was looked at."""

    id: int
    url_id: int
    title: str
    receiver: str
    made_by: str
    made_at: datetime
    ends_at: datetime
    revoked_at: datetime | None
    opened: int
    opened_at: datetime | None

    def is_good(self, now: datetime) -> bool:
        """Whether it opens something."""
        return self.revoked_at is None and now < self.ends_at


def add_link(
    c: Connection, actor: Actor, secret: str, about: tuple[int, str], receiver: str, days: int
) -> int:
    """Let whoever has *secret* read an event for so many days; its row.

    Args:
        about: row of a URL of the event, and its title.

    Raises:
        ConfigError: not so many days, or nobody is named.
    """
    if days not in LINK_DAYS:
        raise ConfigError(
            _(
                "a link is good for {allowed} days, got {given!r}",
                allowed="/".join(map(str, LINK_DAYS)),
                given=days,
            )
        )
    receiver = clean_word(receiver, 100)
    if not receiver:
        raise ConfigError(_("write who the link is for"))
    now = datetime.now(UTC)
    url_id, title = about[0], clean_word(about[1], 500)
    values = {
        "digest": digest(secret),
        "url_id": url_id,
        "title": title,
        "receiver": receiver,
        "made_by": actor.name,
        "made_at": to_stored_time(now),
        "ends_at": to_stored_time(now + timedelta(days=days)),
        "revoked_at": None,
        "opened": 0,
        "opened_at": None,
    }
    made = c.execute(insert(event_link).values(values)).inserted_primary_key
    assert made is not None
    record(c, actor, "link.add", title, None, {"receiver": receiver, "days": days})
    return int(made[0])


def links_of(c: Connection, url_ids: Sequence[int]) -> list[EventLink]:
    """Those of one event, the newest first; those that ended are left out."""
    columns = event_link.c
    good = columns.ends_at > to_stored_time(datetime.now(UTC)), columns.revoked_at.is_(None)
    statement = select(event_link).where(columns.url_id.in_(url_ids), *good)
    return [_link_of_row(row) for row in c.execute(statement.order_by(columns.id.desc()))]


def find_link(c: Connection, secret: str) -> EventLink | None:
    """The one that has *secret*, also where it ended."""
    row = c.execute(select(event_link).where(event_link.c.digest == digest(secret))).first()
    return None if row is None else _link_of_row(row)


def note_opened(c: Connection, own: EventLink, now: datetime) -> None:
    """Count that it was looked at, once a minute."""
    before = to_stored_time(now - timedelta(seconds=_OPENED_SECONDS))
    columns = event_link.c
    c.execute(
        update(event_link)
        .where(columns.id == own.id, or_(columns.opened_at.is_(None), columns.opened_at < before))
        .values(opened=columns.opened + 1, opened_at=to_stored_time(now))
    )


def revoke_link(c: Connection, actor: Actor, number: int) -> bool:
    """Let it open nothing any more; False where there is no such one that does."""
    columns = event_link.c
    row = c.execute(
        select(event_link).where(columns.id == number, columns.revoked_at.is_(None))
    ).first()
    if row is None:
        return False
    now = to_stored_time(datetime.now(UTC))
    c.execute(update(event_link).where(columns.id == number).values(revoked_at=now))
    record(c, actor, "link.revoke", row.title, {"receiver": row.receiver}, None)
    return True


def _link_of_row(row: Any) -> EventLink:
    made_at, ends_at = from_time(row.made_at), from_time(row.ends_at)
    assert made_at is not None
    assert ends_at is not None
    return EventLink(
        row.id,
        row.url_id,
        row.title,
        row.receiver,
        row.made_by,
        made_at,
        ends_at,
        from_time(row.revoked_at),
        row.opened,
        from_time(row.opened_at),
    )
