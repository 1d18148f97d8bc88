"""Briefings of the desk as they are stored: written, approved, locked, sent.

Every change takes the row of its briefing first, so that what two people do at once is done one
after the other; each is noted in the log of changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.language import _
from qiaocrawl.news.drafts.paper import (
    APPROVED,
    DRAFT,
    LEAD,
    REVIEW,
    SCRIPTS,
    SENT,
    Draft,
    Item,
    draft_of_record,
    draft_record,
    item_of_record,
    item_record,
)
from qiaocrawl.storage.audit_log import Actor, record
from qiaocrawl.storage.packed_text import compress, decompress
from qiaocrawl.storage.schema import (
    briefing_draft,
    briefing_item,
    briefing_receipt,
    briefing_version,
    briefing_version_file,
    topic,
)
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import clean_text, clean_word, from_time, to_stored_time

MOST_TITLE_CHARS, MOST_NOTE_CHARS, MOST_ITEMS = 200, 4_000, 100
MOST_ISSUE = 99_999


@dataclass(frozen=True, slots=True)
class ListedDraft:
    """A briefing of the archive: without its items, but with how many there are."""

    draft: Draft
    items: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """Who was sent a copy; *refusal* is why it did not arrive, "" where it did."""

    receiver: str
    way: str
    sent_by: str
    sent_at: datetime
    refusal: str


@dataclass(frozen=True, slots=True)
class Version:
    """A copy as it was approved.

    Attributes:
        digest: SHA-256 of what it says, in hexadecimal digits; *files*: of its files, by ending.
    """

    id: int
    number: int
    digest: str
    approved_by: str
    approved_at: datetime
    files: Mapping[str, str]
    receipts: tuple[Receipt, ...] = ()


# --- Read -----------------------------------------------------------------------------------------


def list_drafts(c: Connection, limit: int = 100) -> list[ListedDraft]:
    """The newest *limit*, the newest first."""
    told = select(func.count()).where(
        briefing_item.c.draft_id == briefing_draft.c.id, briefing_item.c.place >= 0
    )
    statement = (
        _drafts()
        .add_columns(told.scalar_subquery().label("items"))
        .order_by(briefing_draft.c.made_at.desc(), briefing_draft.c.id.desc())
        .limit(limit)
    )
    return [ListedDraft(_draft_of_row(row), row.items) for row in c.execute(statement)]


def one_draft(c: Connection, number: int) -> Draft:
    """The briefing *number* with its items.

    Raises:
        StorageError: there is none.
    """
    row = c.execute(_drafts().where(briefing_draft.c.id == number)).first()
    if row is None:
        raise StorageError(_("There is no such briefing."))
    own = briefing_item.c.draft_id == number, briefing_item.c.place >= 0
    rows = c.execute(select(briefing_item).where(*own).order_by(briefing_item.c.place))
    items = (
        item_of_record(row.record, row.kind, row.about_id, row.id, row.revision) for row in rows
    )
    return replace(_draft_of_row(row), items=tuple(items))


def open_draft(c: Connection, name: str) -> int | None:
    """The briefing that is written now: the one *name* changed last, else that of anybody."""
    columns = briefing_draft.c
    statement = (
        select(columns.id)
        .where(columns.state == DRAFT)
        .order_by((columns.changed_by == name).desc(), columns.changed_at.desc(), columns.id.desc())
        .limit(1)
    )
    return c.execute(statement).scalar()


def versions_of(c: Connection, number: int) -> list[Version]:
    """Its locked copies, the newest first, each with who got it."""
    columns = briefing_version.c
    versions = []
    statement = select(briefing_version).where(columns.draft_id == number)
    for row in c.execute(statement.order_by(columns.number.desc())).all():
        files = briefing_version_file.c
        digests = select(files.ending, files.digest).where(files.version_id == row.id)
        sent = select(briefing_receipt).where(briefing_receipt.c.version_id == row.id)
        versions.append(
            Version(
                row.id,
                row.number,
                row.digest.hex(),
                row.approved_by,
                _aware(row.approved_at),
                {own.ending: own.digest.hex() for own in c.execute(digests)},
                tuple(
                    Receipt(own.receiver, own.way, own.sent_by, _aware(own.sent_at), own.refusal)
                    for own in c.execute(sent.order_by(briefing_receipt.c.id))
                ),
            )
        )
    return versions


def file_of_version(c: Connection, number: int, version: int, ending: str) -> bytes:
    """The file of a locked copy.

    Raises:
        StorageError: there is none, or it is not what was approved any more.
    """
    statement = (
        select(briefing_version_file.c.digest, briefing_version_file.c.data)
        .join(briefing_version, briefing_version.c.id == briefing_version_file.c.version_id)
        .where(
            briefing_version.c.draft_id == number,
            briefing_version.c.number == version,
            briefing_version_file.c.ending == ending,
        )
    )
    row = c.execute(statement).first()
    if row is None:
        raise StorageError(_("There is no such briefing."))
    data = decompress(row.data)
    if hashlib.sha256(data).digest() != row.digest:
        raise StorageError(
            _("The locked copy is not what was approved: its digest is another one.")
        )
    return data


def draft_of_version(c: Connection, number: int, version: int) -> Draft:
    """What a locked copy says.

    Raises:
        StorageError: there is none, or it is not what was approved any more.
    """
    columns = briefing_version.c
    row = c.execute(
        select(columns.record, columns.digest).where(
            columns.draft_id == number, columns.number == version
        )
    ).first()
    if row is None:
        raise StorageError(_("There is no such briefing."))
    if hashlib.sha256(row.record.encode()).digest() != row.digest:
        raise StorageError(
            _("The locked copy is not what was approved: its digest is another one.")
        )
    return draft_of_record(row.record)


def next_issue(c: Connection, now: datetime) -> int:
    """The number after the last one of this year."""
    year = datetime(now.year, 1, 1, tzinfo=UTC)
    columns = briefing_draft.c
    last = select(func.max(columns.issue)).where(columns.made_at >= to_stored_time(year))
    return int(c.execute(last).scalar() or 0) + 1


def _drafts() -> Select[Any]:
    return select(briefing_draft, topic.c.name.label("topic")).outerjoin(
        topic, topic.c.id == briefing_draft.c.topic_id
    )


def _draft_of_row(row: Any) -> Draft:
    return Draft(
        row.id,
        row.kind,
        row.topic or "",
        row.title,
        row.issue,
        _aware(row.since_at),
        _aware(row.before_at),
        row.state,
        row.script,
        row.note,
        row.version,
        row.made_by,
        _aware(row.made_at),
        row.changed_by,
        _aware(row.changed_at),
        row.returned,
    )


def _aware(stored: datetime) -> datetime:
    moment = from_time(stored)
    assert moment is not None
    return moment


# --- Written --------------------------------------------------------------------------------------


def add_draft(c: Connection, actor: Actor, new: Draft, items: Sequence[Item]) -> int:
    """Store *new*, whose own id and items are not looked at; its id.

    Raises:
        StorageError: its topic was never imported.
    """
    values = {
        "kind": new.kind,
        "topic_id": topic_id(c, new.topic) if new.topic else None,
        "title": clean_word(new.title, MOST_TITLE_CHARS),
        "issue": new.issue,
        "since_at": to_stored_time(new.since),
        "before_at": to_stored_time(new.before),
        "state": DRAFT,
        "script": new.script,
        "note": clean_text(new.note, MOST_NOTE_CHARS),
        "version": 1,
        "made_by": actor.name,
        "made_at": to_stored_time(new.made_at),
        "changed_by": actor.name,
        "changed_at": to_stored_time(new.made_at),
        "returned": "",
    }
    made = c.execute(insert(briefing_draft).values(values)).inserted_primary_key
    assert made is not None
    number = int(made[0])
    for place, item in enumerate(items):
        _insert(c, number, item, place)
    record(c, actor, "briefing.begin", _target(number, new.title), None, {"items": len(items)})
    return number


def add_item(c: Connection, actor: Actor, number: int, item: Item) -> int:
    """Put *item* at the end; its row. One that tells of the same is not put in twice.

    Raises:
        ConfigError: the briefing is locked, has it, or has very many.
    """
    draft = _take(c, number)
    if len(draft.items) >= MOST_ITEMS:
        raise ConfigError(_("a briefing has at most {most} items", most=MOST_ITEMS))
    if item.about_id is not None and any(
        (own.kind, own.about_id) == (item.kind, item.about_id) for own in draft.items
    ):
        raise ConfigError(_("It is in this briefing already: {title}", title=item.heading))
    highest = select(func.max(briefing_item.c.place)).where(briefing_item.c.draft_id == number)
    place = c.execute(highest).scalar()
    row = _insert(c, number, item, max(-1, -1 if place is None else place) + 1)
    said = item.heading or (item.sentences[0].text if item.sentences else "")
    _touch(c, actor, draft, "briefing.put", None, {"item": said})
    return row


def drop_item(c: Connection, actor: Actor, number: int, row: int) -> Item:
    """Take an item out; :func:`put_back` undoes it.

    Raises:
        ConfigError: the briefing is locked, or has no such item.
    """
    draft = _take(c, number)
    item = _item(draft, row)
    place = briefing_item.c.place
    # Below zero: gone from the briefing, and known where it stood.
    c.execute(update(briefing_item).where(briefing_item.c.id == row).values(place=-1 - place))
    _touch(c, actor, draft, "briefing.drop", {"item": item.heading}, None)
    return item


def put_back(c: Connection, actor: Actor, number: int, row: int) -> None:
    """Undo :func:`drop_item`.

    Raises:
        ConfigError: the briefing is locked, or nothing of it was taken out so.
    """
    draft = _take(c, number)
    place = briefing_item.c.place
    own = briefing_item.c.id == row, briefing_item.c.draft_id == number, place < 0
    if not c.execute(update(briefing_item).where(*own).values(place=-1 - place)).rowcount:
        raise ConfigError(_("there is nothing to take back"))
    _touch(c, actor, draft, "briefing.put", None, {"item": row})


def move_item(c: Connection, actor: Actor, number: int, row: int, step: int) -> None:
    """Let an item stand *step* places further down (-1: up); at an end it stays.

    Raises:
        ConfigError: as :func:`drop_item`.
    """
    draft = _take(c, number)
    order = [item.id for item in draft.items]
    at = order.index(_item(draft, row).id)
    to = min(max(at + step, 0), len(order) - 1)
    order.insert(to, order.pop(at))
    for place, item_id in enumerate(order):
        c.execute(update(briefing_item).where(briefing_item.c.id == item_id).values(place=place))
    if to != at:
        _touch(c, actor, draft, "briefing.move", {"place": at + 1}, {"place": to + 1})


def save_item(c: Connection, actor: Actor, number: int, item: Item) -> Item | None:
    """Keep *item* as it is now; None where that went well, else what a colleague made of it.

    Raises:
        ConfigError: as :func:`drop_item`, or nothing would be left of it.
    """
    draft = _take(c, number)
    old = _item(draft, item.id)
    if old.revision != item.revision:
        return old
    if not item.heading and not item.sentences:
        raise ConfigError(_("nothing is left of it: write something, or take it out"))
    values = {"record": _checked(item_record(item)), "revision": old.revision + 1}
    c.execute(update(briefing_item).where(briefing_item.c.id == item.id).values(values))
    _touch(c, actor, draft, "briefing.edit", _words(old), _words(item))
    return None


def save_head(
    c: Connection, actor: Actor, number: int, title: str, issue: int | None, script: str, note: str
) -> None:
    """Keep title, number of the issue, script and the editor's note.

    Raises:
        ConfigError: the briefing is locked, has no title, or there is no such script.
    """
    draft = _take(c, number)
    title = clean_word(title, MOST_TITLE_CHARS)
    if not title:
        raise ConfigError(_("a briefing needs a title"))
    if script not in SCRIPTS:
        raise ConfigError(
            _("script {given!r} must be one of {allowed}", given=script, allowed=", ".join(SCRIPTS))
        )
    note = clean_text(note, MOST_NOTE_CHARS)
    values = {"title": title, "issue": issue, "script": script, "note": note}
    c.execute(update(briefing_draft).where(briefing_draft.c.id == number).values(values))
    before = {name: getattr(draft, name) for name in values}
    _touch(c, actor, draft, "briefing.edit", before, values)


def drop_draft(c: Connection, actor: Actor, number: int) -> None:
    """Delete a briefing of which nothing was ever approved.

    Raises:
        ConfigError: it is locked, or was approved before.
    """
    draft = _take(c, number)
    if versions_of(c, number):
        raise ConfigError(_("What was approved once stays."))
    c.execute(delete(briefing_item).where(briefing_item.c.draft_id == number))
    c.execute(delete(briefing_draft).where(briefing_draft.c.id == number))
    before = {"items": [_words(item) for item in draft.items]}
    record(c, actor, "briefing.delete", _target(number, draft.title), before, None)


def _take(c: Connection, number: int, *states: str) -> Draft:
    """The briefing, which nobody else changes until the transaction ends."""
    own = briefing_draft.c.id == number
    # SQLite knows no FOR UPDATE: a write takes its lock.
    state = briefing_draft.c.state
    c.execute(update(briefing_draft).where(own).values(state=state))
    draft = one_draft(c, number)
    allowed = states or (DRAFT,)
    if draft.state not in allowed:
        raise ConfigError(
            _("The briefing is not as it was when this page was opened. Look at it again.")
        )
    return draft


def _item(draft: Draft, row: int) -> Item:
    found = next((item for item in draft.items if item.id == row), None)
    if found is None:
        raise ConfigError(_("the briefing has no such item any more"))
    return found


def _insert(c: Connection, number: int, item: Item, place: int) -> int:
    values = {
        "draft_id": number,
        "place": place,
        "kind": item.kind,
        "about_id": item.about_id,
        "record": _checked(item_record(item)),
        "revision": 1,
    }
    made = c.execute(insert(briefing_item).values(values)).inserted_primary_key
    assert made is not None
    return int(made[0])


def _checked(text: str) -> str:
    """JSON that every database takes; it is escaped, so nothing of it is cut."""
    return clean_text(text, 10_000_000)


def _words(item: Item) -> dict[str, Any]:
    words = {"heading": item.heading, "sentences": [own.text for own in item.sentences]}
    # Who stands for what a model drafted.
    return {**words, "facts": item.facts} if item.kind == LEAD else words


def _target(number: int, title: str) -> str:
    return f"{number} {title}"


def _touch(
    c: Connection,
    actor: Actor,
    draft: Draft,
    action: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    **values: Any,
) -> None:
    """Note who changed it when."""
    changed = {"changed_by": actor.name, "changed_at": to_stored_time(datetime.now(UTC))}
    c.execute(
        update(briefing_draft).where(briefing_draft.c.id == draft.id).values({**changed, **values})
    )
    record(c, actor, action, _target(draft.id, draft.title), before, after)


# --- Approved, locked, sent -----------------------------------------------------------------------


def submit(c: Connection, actor: Actor, number: int) -> None:
    """Ask for approval.

    Raises:
        ConfigError: it is not being written, or says nothing.
    """
    draft = _take(c, number)
    if not draft.items:
        raise ConfigError(_("The briefing says nothing yet: put something in first."))
    if any(item.waits_for_word for item in draft.items):
        raise ConfigError(
            _("Its lead was drafted by a model: an editor says first that it may stay so.")
        )
    states = {"state": DRAFT}, {"state": REVIEW}
    _touch(c, actor, draft, "briefing.submit", *states, state=REVIEW, returned="")


def give_back(c: Connection, actor: Actor, number: int, reason: str) -> None:
    """Give it back to be written on; also what nobody looked at yet, by who asked.

    Raises:
        ConfigError: it does not wait for approval.
    """
    draft = _take(c, number, REVIEW)
    reason = clean_text(reason, MOST_NOTE_CHARS)
    states = {"state": REVIEW}, {"state": DRAFT, "reason": reason}
    _touch(c, actor, draft, "briefing.return", *states, state=DRAFT, returned=reason)


def approve(
    c: Connection, actor: Actor, seen: Draft, files: Mapping[str, bytes], now: datetime
) -> None:
    """Lock *seen* with its files: from now on it is what was approved.

    Args:
        seen: as it was when *files* were made of it.

    Raises:
        ConfigError: it does not wait for approval, or is another one by now.
    """
    draft = _take(c, seen.id, REVIEW)
    said = draft_record(draft)
    if said != draft_record(seen):
        raise ConfigError(
            _("The briefing is not as it was when this page was opened. Look at it again.")
        )
    digest = hashlib.sha256(said.encode())
    values = {
        "draft_id": draft.id,
        "number": draft.version,
        "record": said,
        "digest": digest.digest(),
        "approved_by": actor.name,
        "approved_at": to_stored_time(now),
    }
    made = c.execute(insert(briefing_version).values(values)).inserted_primary_key
    assert made is not None
    for ending, data in files.items():
        row = {
            "version_id": made[0],
            "ending": ending,
            "digest": hashlib.sha256(data).digest(),
            "data": compress(data),
        }
        c.execute(insert(briefing_version_file).values(row))
    after = {"state": APPROVED, "version": draft.version, "digest": digest.hexdigest()}
    _touch(c, actor, draft, "briefing.approve", {"state": REVIEW}, after, state=APPROVED)


def reopen(c: Connection, actor: Actor, number: int) -> None:
    """Write the next version; what was approved stays as it is.

    Raises:
        ConfigError: it was not approved.
    """
    draft = _take(c, number, APPROVED, SENT)
    version = draft.version + 1
    before, after = {"version": draft.version}, {"version": version}
    _touch(c, actor, draft, "briefing.reopen", before, after, state=DRAFT, version=version)


def note_sent(
    c: Connection, actor: Actor, number: int, version: int, receipts: Sequence[Receipt]
) -> None:
    """Note who was sent a locked copy.

    Raises:
        ConfigError: it is not the copy that was approved last.
    """
    draft = _take(c, number, APPROVED, SENT)
    newest = versions_of(c, number)[0]
    if newest.number != version:
        raise ConfigError(
            _("The briefing is not as it was when this page was opened. Look at it again.")
        )
    for own in receipts:
        values = {
            "version_id": newest.id,
            "receiver": clean_word(own.receiver, 100),
            "way": own.way,
            "sent_by": own.sent_by,
            "sent_at": to_stored_time(own.sent_at),
            "refusal": clean_word(own.refusal, 500),
        }
        c.execute(insert(briefing_receipt).values(values))
    told = {own.receiver: own.refusal or "arrived" for own in receipts}
    # One that reached nobody is not sent.
    state = SENT if any(not own.refusal for own in receipts) else draft.state
    _touch(c, actor, draft, "briefing.send", None, told, state=state)
