"""Sends the messages that are due, each in a transaction of its own."""

from __future__ import annotations

import logging
import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import unquote

from qiaocrawl.language import N_, _
from qiaocrawl.storage.analysis.warnings import (
    GIVEN_UP,
    DueMessage,
    add_claimed,
    note_failed,
    note_sent,
    take_due,
)

if TYPE_CHECKING:
    from qiaocrawl.runs.warn.channels import Channels
    from qiaocrawl.storage import Database

logger = logging.getLogger(__name__)

# Stored as they are, and said in the language of who reads.
_NO_CHANNEL = N_("no channel is called so")
_REFUSED = N_("not accepted")
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


def deliver_due(database: Database, channels: Channels, now: float) -> DeliveryReport:
    """Send all messages that are due; one that fails keeps no other from being sent.

    Args:
        now: epoch seconds.
    """
    report, begun, last = DeliveryReport(), time.monotonic(), 0
    while True:
        # One at a time: a claim must not run out while others are being sent.
        at = now + time.monotonic() - begun
        with database.engine.begin() as c:
            messages = take_due(c, at, limit=1, after=last)
        if not messages:
            return report
        (message,) = messages
        last = message.id
        error = _send(message, channels.get(message.channel, ""))
        with database.engine.begin() as c:
            if not error:
                note_sent(c, message, datetime.fromtimestamp(at, UTC))
                report.sent += 1
            elif note_failed(c, message, error, at) == GIVEN_UP:
                report.given_up += 1
            else:
                report.waiting += 1
        if error:
            logger.warning("channel %s: message %d was not delivered: %s", message.channel,
                           message.id, error)  # fmt: skip


def send_test(database: Database, channels: Channels, channel: str, now: datetime) -> str:
    """Send one message that says it is a test, once; why it did not arrive, "" if it did.

    It is kept as any other message, so that people see what became of it.

    Args:
        now: aware.
    """
    title = _("Test of the channel {channel}", channel=channel)
    body = _("Warnings of qiaocrawl come by this channel. This is a test: nothing has happened.")
    with database.engine.begin() as c:
        message = add_claimed(c, channel, title, body, now)
    error = _send(message, channels.get(channel, ""))
    with database.engine.begin() as c:
        if error:
            note_failed(c, message, error, now.timestamp(), most=1)
        else:
            note_sent(c, message, now)
    return error


def _send(message: DueMessage, address: str) -> str:
    """Why it was not delivered; "" if it was."""
    if not address:
        return _NO_CHANNEL
    from apprise import Apprise, LogCapture, NotifyFormat, NotifyType

    kind = NotifyType.INFO if message.severity == "notice" else NotifyType.WARNING
    sender = Apprise()
    sender.add(address)
    with LogCapture(level=logging.WARNING, fmt="%(message)s") as log:  # type: ignore[no-untyped-call]
        is_sent = sender.notify(
            title=message.title, body=message.body, notify_type=kind, body_format=NotifyFormat.TEXT
        )
        if is_sent:
            return ""
        reason: str = log.getvalue().strip().partition("\n")[0]
    return _without_secrets(reason, address)[:_REASON_CHARS] or _REFUSED


def _without_secrets(reason: str, address: str) -> str:
    """What a library says of a failure, without the address or a part of it: some are passwords."""
    _scheme, _colon, rest = address.partition("://")
    parts = [part for part in _BETWEEN_PARTS.split(rest) if len(part) >= _SECRET_CHARS]
    for part in sorted({address, *parts, *map(unquote, parts)}, key=len, reverse=True):
        reason = reason.replace(part, "…")
    return reason
