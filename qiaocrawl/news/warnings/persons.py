"""What each person chose to be told, and where: an address of their own, sealed.

A person is told by a channel of their own, called after them; what waits, is tried again or was
refused is that of any other channel. Mail goes by a mail channel of the office, to another address.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from sqlalchemy import Connection, delete, insert, select, update

from qiaocrawl.errors import SecretKeyError
from qiaocrawl.fetch.sessions.vault import Vault
from qiaocrawl.news.warnings.channels import (
    MOST_NAME_CHARS,
    Channels,
    address_of,
    all_channels,
    is_mail,
    require_mail,
)
from qiaocrawl.news.warnings.machine import PERSON_SIGN, Listener
from qiaocrawl.news.warnings.rules import QuietHours, Severity
from qiaocrawl.storage.schema import console_user, person_push
from qiaocrawl.storage.values import clean_word, from_time, to_stored_time

MAIL = "mail"
ROBOTS = ("wecom", "dingtalk", "feishu")
"""Kinds of channels whose far side is one known service: anybody may name an address there, while
one of any other server would let them ask the office's own machines."""


@dataclass(frozen=True, slots=True)
class PersonPush:
    """One person's choice.

    Attributes:
        kind: ``mail``, or one of ``ROBOTS``.
        carrier: the office's channel by which mail is sent; "" for a robot.
        digest_minute: of the day, in China's time; None for no digest.
        least: the least severe warnings that are told; None for none.
        topics: whose events and warnings; empty for all.
        quiet: hours of their own; None for the office's.
        begun_at: since when; a digest whose minute had passed then comes the next day.
    """

    user_id: int
    user_name: str
    kind: str
    carrier: str = ""
    digest_minute: int | None = None
    only_workdays: bool = False
    least: Severity | None = None
    topics: tuple[str, ...] = ()
    quiet: QuietHours | None = None
    begun_at: datetime = datetime(1970, 1, 1, tzinfo=UTC)

    @property
    def channel(self) -> str:
        """The name of their channel; the number tells two of one beginning apart."""
        return f"{PERSON_SIGN}{self.user_id} {self.user_name}"[:MOST_NAME_CHARS].rstrip()

    @property
    def listener(self) -> Listener | None:
        """Them, as somebody who is told of warnings; None where they want none."""
        if self.least is None:
            return None
        return Listener(self.channel, self.least, frozenset(self.topics), self.quiet)


def person_pushes(c: Connection, *, with_disabled: bool = False) -> list[PersonPush]:
    """Those of all who may log in, by their number; of others too if *with_disabled*."""
    statement = (
        select(person_push, console_user.c.name)
        .join(console_user, console_user.c.id == person_push.c.user_id)
        .order_by(person_push.c.user_id)
    )
    if not with_disabled:
        statement = statement.where(console_user.c.disabled_at.is_(None))
    return [_push_of(row) for row in c.execute(statement)]


def push_of_person(c: Connection, user_id: int) -> PersonPush | None:
    """That of one; None where they chose nothing."""
    return next((push for push in person_pushes(c) if push.user_id == user_id), None)


def listeners_of(c: Connection) -> tuple[Listener, ...]:
    """All who are told of warnings beside the channels of their rules."""
    return tuple(one for push in person_pushes(c) if (one := push.listener) is not None)


def keep_person_push(c: Connection, push: PersonPush, secret: bytes | None) -> None:
    """Keep *push* in the place of what they had; *secret* is their address, None to keep that."""
    values: dict[str, Any] = {
        "kind": push.kind,
        "carrier": clean_word(push.carrier, MOST_NAME_CHARS),
        "record": json.dumps(
            {
                "digest_minute": push.digest_minute,
                "only_workdays": push.only_workdays,
                "least": push.least,
                "topics": list(push.topics),
                "quiet": None if push.quiet is None else asdict(push.quiet),
            },
            ensure_ascii=False,
        ),
        "begun_at": to_stored_time(push.begun_at),
    }
    if secret is not None:
        values["secret"] = secret
    own = person_push.c.user_id == push.user_id
    if not c.execute(update(person_push).where(own).values(values)).rowcount:
        c.execute(insert(person_push).values(user_id=push.user_id, **values))


def change_topic_of_persons(c: Connection, old: str, new: str = "") -> None:
    """Let all who chose the topic *old* have *new*, or one topic less for "".

    Whoever chose that one alone is told of all then: more than they asked for is seen, nothing
    at all is not.
    """
    for push in person_pushes(c, with_disabled=True):
        if old in push.topics:
            topics = tuple(new if topic == old else topic for topic in push.topics)
            keep_person_push(c, replace(push, topics=tuple(filter(None, topics))), None)


def drop_person_push(c: Connection, user_id: int) -> None:
    """Tell that person nothing any more, and forget the address."""
    c.execute(delete(person_push).where(person_push.c.user_id == user_id))


def _push_of(row: Any) -> PersonPush:
    record = json.loads(row.record)
    quiet = record.pop("quiet")
    begun_at = from_time(row.begun_at)
    assert begun_at is not None, "the column is never NULL"
    push = PersonPush(row.user_id, row.name, row.kind, row.carrier, begun_at=begun_at)
    record["topics"] = tuple(record["topics"])
    return replace(push, **record, quiet=None if quiet is None else QuietHours(**quiet))


# --- Their addresses ------------------------------------------------------------------------------


def own_address(kind: str, given: Mapping[str, str]) -> str:
    """The address that is sealed: of mail, or a robot's as apprise has it.

    Raises:
        FieldError: a field is not right.
    """
    if kind != MAIL:
        return address_of(kind, given)
    require_mail("address", given["address"])
    return given["address"]


def seal_own(vault: Vault, user_id: int, address: str) -> bytes:
    """*address* as it is kept for that person."""
    return vault.seal(_owner(user_id), {"address": address})


def _owner(user_id: int) -> str:
    return f"person {user_id}"


def reseal_persons(c: Connection, vault: Vault) -> int:
    """Encrypt all addresses anew with the first key of *vault*; how many.

    Raises:
        SecretKeyError: none of its keys opens one.
    """
    rows = c.execute(select(person_push.c.user_id, person_push.c.secret)).all()
    for user_id, secret in rows:
        sealed = vault.seal(_owner(user_id), vault.open(_owner(user_id), bytes(secret)))
        own = person_push.c.user_id == user_id
        c.execute(update(person_push).where(own).values(secret=sealed))
    return len(rows)


def every_channel(c: Connection, file: str, keys: str) -> Channels:
    """The office's channels (see ``all_channels``) and those of all persons.

    Raises:
        ConfigError: the file is wrong.
    """
    office = all_channels(c, file, keys)
    rows = c.execute(select(person_push.c.user_id, person_push.c.secret)).all()
    secrets = {user_id: bytes(secret) for user_id, secret in rows}
    own = {
        push.channel: _address_of_person(push, secrets[push.user_id], office, keys)
        for push in person_pushes(c)
    }
    return {**office, **own}


def _address_of_person(push: PersonPush, secret: bytes, office: Channels, keys: str) -> str:
    """Where *push* is told; "" where that cannot be opened, or its mail channel is gone."""
    try:
        opened = str(Vault.from_option(keys).open(_owner(push.user_id), secret)["address"])
    except SecretKeyError:
        return ""
    return mail_by(office.get(push.carrier, ""), opened) if push.kind == MAIL else opened


def mail_carriers(office: Channels) -> tuple[str, ...]:
    """The names of the channels by which mail can be sent."""
    return tuple(name for name, address in office.items() if is_mail(address))


def mail_by(carrier: str, to: str) -> str:
    """The address *carrier* of a mailbox, with *to* as the only one who gets its mail."""
    if not is_mail(carrier):
        return ""
    parts = urlsplit(carrier)
    kept = [(k, v) for k, v in parse_qsl(parts.query) if k.lower() not in ("to", "cc", "bcc")]
    return urlunsplit((parts.scheme, parts.netloc, "/", urlencode([*kept, ("to", to)]), ""))
