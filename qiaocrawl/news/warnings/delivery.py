"""Sends the messages that are due, each in a transaction of its own."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from qiaocrawl.language import N_, _
from qiaocrawl.news.warnings.answers import (
    Part,
    Refusal,
    heard_answers,
    heard_log,
    refusal_in,
    room_of,
)
from qiaocrawl.news.warnings.channels import Channels
from qiaocrawl.news.warnings.failures import reason_of_error, reason_of_words
from qiaocrawl.news.warnings.guarded import MARK, guarded_requests
from qiaocrawl.news.warnings.hooks import stop_hook
from qiaocrawl.news.warnings.markup import Form, form_of
from qiaocrawl.news.warnings.signed import DATA, is_signed_address, send_signed
from qiaocrawl.news.warnings.stored import (
    GIVEN_UP,
    DueMessage,
    add_claimed,
    note_failed,
    note_part,
    note_sent,
    put_off,
    take_due,
)

if TYPE_CHECKING:
    from apprise import NotifyBase
    from sqlalchemy import Connection

    from qiaocrawl.storage import Database

logger = logging.getLogger(__name__)

# Stored as they are, and said in the language of who reads.
NO_CHANNEL = N_("no channel is called so")
"""Why a message to a channel that was deleted did not arrive."""
_NO_ADDRESS = N_("its address is none that apprise knows")
_NOT_OPENED = N_("its address cannot be opened: it was stored with another key; enter it again")
_REFUSED = N_("not accepted")
_PART = N_("part {number} of {count}: {why}")
_REASON_CHARS = 200
_BETWEEN_PARTS = re.compile("[/:@?&=,]+")
# Shorter ones are words of any message.
_SECRET_CHARS = 4


@dataclass(slots=True)
class DeliveryReport:
    """How many messages were sent, wait for another attempt, and were given up."""

    sent: int = 0
    waiting: int = 0
    given_up: int = 0


def deliver_due(
    database: Database, channels: Channels, now: float, *, only_known: bool = False
) -> DeliveryReport:
    """Send all messages that are due; one that fails keeps no other from being sent.

    A channel that asks to wait is left alone for the rest of this call.

    Args:
        now: epoch seconds.
        only_known: messages to others than *channels* are left as they are: another process may
            know their addresses.
    """
    report, begun, last = DeliveryReport(), time.monotonic(), 0
    busy_until: dict[str, float] = {}
    known = list(channels) if only_known else None
    while True:
        # One at a time: a claim must not run out while others are being sent.
        at = now + time.monotonic() - begun
        with database.engine.begin() as c:
            messages = take_due(c, at, limit=1, after=last, channels=known)
        if not messages:
            return report
        (message,) = messages
        last = message.id
        if message.channel in busy_until:
            with database.engine.begin() as c:
                put_off(c, message, busy_until[message.channel])
            report.waiting += 1
            continue
        refusal = _send(database, message, channels.get(message.channel), at)
        if refusal is None:
            with database.engine.begin() as c:
                note_sent(c, message, datetime.fromtimestamp(at, UTC))
            report.sent += 1
            continue
        with database.engine.begin() as c:
            state, next_at = _note_refusal(c, message, refusal, at)
        if refusal.is_busy:
            busy_until[message.channel] = next_at
        if state == GIVEN_UP:
            report.given_up += 1
        else:
            report.waiting += 1
        logger.warning(
            "channel %s: message %d was not delivered: %s",
            message.channel,
            message.id,
            refusal.reason,
        )


def _note_refusal(
    c: Connection, message: DueMessage, refusal: Refusal, now: float
) -> tuple[str, float]:
    """A program that gave a message up, or wants no more, is told nothing until somebody looks."""
    if refusal.is_gone:
        state, next_at = note_failed(c, message, refusal.reason, now, most=1)
    else:
        state, next_at = note_failed(c, message, refusal.reason, now, is_final=refusal.is_final)
    if message.severity == DATA and state == GIVEN_UP:
        stop_hook(c, message.channel, refusal.reason)
    return state, next_at


def send_test(database: Database, channels: Channels, channel: str, now: datetime) -> str:
    """Send one message that says it is a test, once; why it did not arrive, "" if it did.

    Args:
        now: aware.
    """
    title = _("Test of the channel {channel}", channel=channel)
    body = _("Warnings of qiaocrawl come by this channel. This is a test: nothing has happened.")
    return send_now(database, channels.get(channel), Letter(channel, title, body), now)


class Letter(NamedTuple):
    """What somebody sends to a channel by hand; *file* goes with it where the channel takes one."""

    channel: str
    title: str
    body: str
    file: Path | None = None


def send_now(database: Database, address: str | None, letter: Letter, now: datetime) -> str:
    """Send *letter* once; why it did not arrive, "" if it did.

    It is kept as any other message, so that people see what became of it.

    Args:
        address: of its channel; None where there is none, "" where it cannot be opened.
        now: aware.
    """
    with database.engine.begin() as c:
        message = add_claimed(c, letter.channel, letter.title, letter.body, now)
    refusal = _send(database, message, address, now.timestamp(), letter.file)
    with database.engine.begin() as c:
        if refusal is not None:
            note_failed(c, message, refusal.reason, now.timestamp(), most=1)
            return refusal.reason
        note_sent(c, message, now)
    return ""


def _send(
    database: Database,
    message: DueMessage,
    address: str | None,
    now: float,
    file: Path | None = None,
) -> Refusal | None:
    """Send *message*, or the parts of it that have not arrived; why that failed, None if not."""
    begun = time.monotonic()
    if not address:
        return Refusal(NO_CHANNEL if address is None else _NOT_OPENED)
    if is_signed_address(address):
        return send_signed(address, message, now)
    from apprise import Apprise, NotifyBase

    is_guarded = address.startswith(MARK)
    address = address.removeprefix(MARK)
    plugin = Apprise.instantiate(address)
    if plugin is None:
        return Refusal(_NO_ADDRESS)
    # apprise reports what is optional as sent, whatever became of it.
    plugin.optional = False
    service = _service_of(plugin)
    room = room_of(service, plugin.body_maxlen, NotifyBase.body_maxlen)
    form = form_of(service, address, room)
    parts = form.parts(message.title, message.body)
    hide = partial(_without_secrets, address=address)
    for place, part in enumerate(parts, start=1):
        if part.end <= message.sent_chars:
            continue
        # A file goes once, with the last part; a service that takes none gets the text alone.
        own = file if place == len(parts) and plugin.attachment_support else None
        with guarded_requests(is_on=is_guarded) as refused:
            refusal = _send_part(plugin, service, form, part, message.severity, own, hide)
        if refused:
            (first, *_others) = refused
            return Refusal(first.reason, is_final=first.is_final, is_busy=not first.is_final)
        if refusal is not None:
            reason = refusal.reason[:_REASON_CHARS] or _REFUSED
            if len(parts) > 1:
                reason = _PART.format(number=place, count=len(parts), why=reason)
            return refusal._replace(reason=reason)
        if place < len(parts):
            # At once: what has arrived is not sent again, whatever becomes of the next one.
            with database.engine.begin() as c:
                note_part(c, message, part.end, now + time.monotonic() - begun)
    return None


def _send_part(
    plugin: NotifyBase,
    service: str,
    form: Form,
    part: Part,
    severity: str,
    file: Path | None,
    hide: Callable[[str], str],
) -> Refusal | None:
    title, text = form.write(part)
    with heard_log() as log, heard_answers() as heard:
        if form.send is not None:
            form.send(plugin, title, text)
            is_sent = any(answer.ok for answer in heard.answers)
        else:
            is_sent = _send_by_apprise(plugin, title, text, severity, file)
    refusals = [
        refusal
        for answer in heard.answers
        if (refusal := refusal_in(answer, service, hide)) is not None
        # A plug-in may ask again with success, after a session that ran out.
        and (answer.ok or not is_sent)
    ]
    if refusals:
        return refusals[-1]
    if is_sent:
        return None
    if heard.errors:
        return Refusal(reason_of_error(heard.errors[-1], hide))
    return Refusal(reason_of_words(log.words, log.error, hide))


def _send_by_apprise(
    plugin: NotifyBase, title: str, text: str, severity: str, file: Path | None
) -> bool:
    from apprise import Apprise, NotifyFormat, NotifyType

    sender = Apprise()
    sender.add(plugin)
    return bool(
        sender.notify(
            title=title,
            body=text,
            notify_type=NotifyType.INFO if severity == "notice" else NotifyType.WARNING,
            body_format=NotifyFormat.TEXT,
            attach=None if file is None else str(file),
        )
    )


def _service_of(plugin: NotifyBase) -> str:
    """The first scheme of a service; most have one with TLS and one without."""
    for schemes in (plugin.protocol, plugin.secure_protocol):
        if schemes:
            return str(schemes if isinstance(schemes, str) else schemes[0])
    return ""


def _without_secrets(reason: str, address: str) -> str:
    """What a library says of a failure, without the address or a part of it: some are passwords."""
    _scheme, _colon, rest = address.partition("://")
    parts = [part for part in _BETWEEN_PARTS.split(rest) if len(part) >= _SECRET_CHARS]
    for part in sorted({address, *parts, *map(unquote, parts)}, key=len, reverse=True):
        reason = reason.replace(part, "…")
    return reason
