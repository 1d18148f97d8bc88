"""Where warnings go: channels of a file, and those that were entered in a form, encrypted.

A channel is a name and an address as apprise has it. Addresses hold passwords, so messages name
the channel and never its address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from sqlalchemy import Connection, delete, insert, select, update

from qiaocrawl.errors import ConfigError, SecretKeyError
from qiaocrawl.fetch.sessions.vault import Vault
from qiaocrawl.language import N_, _
from qiaocrawl.news.warnings.guarded import MARK, leads_to_private
from qiaocrawl.news.warnings.signed import (
    is_signed_address,
    new_secret,
    signed_address,
)
from qiaocrawl.storage.schema import warning_channel
from qiaocrawl.storage.values import clean_word, from_time, to_stored_time
from qiaocrawl.text.toml_file import parse_toml

Channels = Mapping[str, str]
"""The address of each channel: one, so that what one refuses is not sent to another again. "" where
it cannot be opened."""

# --- Those of a file ------------------------------------------------------------------------------


def read_channels(file: str) -> Channels:
    """The channels of a TOML file: ``name = "mailto://…"``.

    Args:
        file: its path; "" for none.

    Raises:
        ConfigError: it cannot be read, or with every channel whose address is wrong.
    """
    table = _table(file)
    faults = [name for name, address in table.items() if not _is_right(address)]
    if faults:
        raise ConfigError(
            _("{file}: no address that apprise knows: {names}", file=file, names=", ".join(faults))
        )
    return table


def channel_names(file: str) -> tuple[str, ...]:
    """The names of the channels of a file, which may be shown; its addresses are not looked at.

    Raises:
        ConfigError: it cannot be read.
    """
    return tuple(_table(file))


def _table(file: str) -> dict[str, Any]:
    if not file:
        return {}
    try:
        return parse_toml(Path(file).read_bytes())
    except (OSError, ValueError) as error:
        reason = _("cannot be read as TOML in UTF-8: {error}", error=error)
        raise ConfigError(f"{file}: {reason}") from None


def _is_right(address: object) -> bool:
    from apprise import Apprise

    if not isinstance(address, str):
        return False
    return is_signed_address(address) or Apprise.instantiate(address) is not None


# --- Kinds a form offers: what is asked for each, and the address it makes ------------------------


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that is asked for a channel.

    Attributes:
        label, help: marked with ``N_``.
        example: of what is to be written; no words.
        is_secret: typed unseen, and not shown again in a form that has a fault.
    """

    name: str
    label: str
    help: str = ""
    example: str = ""
    is_secret: bool = False
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """What a channel may be.

    Attributes:
        confirms: its far side says that it took a message; else it is only known to have left.
        address: makes the address of what was written; ValueError, with the name of a field and
            what would be right, where it cannot.
    """

    title: str
    fields: tuple[Field, ...]
    address: Callable[[Mapping[str, str]], str]
    confirms: bool = True


class FieldError(ValueError):
    """What is written in the field *name* is not right; the words say what would be."""

    def __init__(self, name: str, words: str) -> None:
        super().__init__(words)
        self.name = name


_KEY = re.compile(r"[\w-]{8,200}", re.ASCII)
_MAIL = re.compile(r"[^\s@:/?#]+@[\w-]+(?:\.[\w-]+)*", re.ASCII)
_HOST = re.compile(r"[\w.-]+(?::\d{1,5})?", re.ASCII)


def _key_in(given: Mapping[str, str], mark: str) -> str:
    """The key of a robot: what follows *mark* in the address that was pasted, or the key alone."""
    text = given["address"]
    found = _KEY.match(text.partition(mark)[2] if mark in text else text)
    rest = text.partition(mark)[2] if mark in text else text
    if found is None or rest[found.end() :].partition("&")[0].strip("/"):
        raise FieldError(
            "address",
            _("Paste the whole address of the robot, in which {mark} stands.", mark=mark),
        )
    return found[0]


def _wecom(given: Mapping[str, str]) -> str:
    return f"wecombot://{_key_in(given, 'key=')}/"


def _dingtalk(given: Mapping[str, str]) -> str:
    token, secret = _key_in(given, "access_token="), given["secret"]
    if secret and not _KEY.fullmatch(secret):
        raise FieldError("secret", _("The signing secret begins with SEC, without spaces."))
    return f"dingtalk://{secret + '@' if secret else ''}{token}/"


def _feishu(given: Mapping[str, str]) -> str:
    return f"feishu://{_key_in(given, '/hook/')}/"


def _webhook(given: Mapping[str, str]) -> str:
    try:
        parts = urlsplit(given["address"])
        has_host = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        has_host = False
    if not has_host:
        raise FieldError("address", _("It begins with https:// or http:// and a host."))
    _refuse_inside(given["address"])
    scheme = "jsons" if parts.scheme == "https" else "json"
    # apprise takes what has no sign before it for options of its own.
    query = urlencode([(f"-{name}", value) for name, value in parse_qsl(parts.query)])
    return f"{scheme}://{parts.netloc}{parts.path or '/'}{'?' if query else ''}{query}"


def _refuse_inside(address: str) -> None:
    try:
        is_inside = leads_to_private(address)
    except ValueError:
        raise FieldError("address", _("It begins with https:// or http:// and a host.")) from None
    if is_inside:
        words = _("This is no public address; whoever looks after the machine can allow it.")
        raise FieldError("address", f"{words} (QIAO_ALLOW_ADDRESSES)")


def _program(given: Mapping[str, str]) -> str:
    _refuse_inside(given["address"])
    return signed_address(given["address"], new_secret())


def require_mail(name: str, address: str) -> None:
    """Refuse what was written in the field *name* and is no e-mail address.

    Raises:
        FieldError: it is none, or several.
    """
    if not _MAIL.fullmatch(address):
        words = _("Write one e-mail address, such as {example}.", example="wang@example.cn")
        raise FieldError(name, words)


def _mail(given: Mapping[str, str]) -> str:
    for name in ("to", "user"):
        require_mail(name, given[name])
    server = given["server"].removeprefix("smtp://")
    if not _HOST.fullmatch(server):
        words = _("Write the name of the server, such as {example}.", example="smtp.example.cn")
        raise FieldError("server", words)
    host, _colon, port = server.partition(":")
    # 465 is TLS from the first byte on; all others begin without, and change.
    mode = "ssl" if (port or "465") == "465" else "starttls"
    if given["server"] != server:
        mode, port = "insecure", port or "25"
    user, _at, domain = given["user"].rpartition("@")
    options = {
        "smtp": host,
        "mode": mode,
        "user": given["user"],
        "from": given["user"],
        "to": given["to"],
        "format": "text",
    }
    login = f"{quote(user, safe='')}:{quote(given['password'], safe='')}"
    return f"mailtos://{login}@{domain}:{port or '465'}/?{urlencode(options)}"


def _other(given: Mapping[str, str]) -> str:
    if not _is_right(given["address"]):
        raise FieldError("address", _("This is no address that apprise knows."))
    return given["address"]


PROGRAM = "program"
"""The kind that is told of new articles and events, see :mod:`qiaocrawl.news.warnings.hooks`."""
_ROBOT = N_("Address of the robot (webhook)")

KINDS: Mapping[str, Kind] = {
    "wecom": Kind(
        N_("WeCom group"),
        (
            Field(
                "address",
                _ROBOT,
                N_("In the group: … at the top right, group robots, add one, copy its webhook."),
                "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=…",
            ),
        ),
        _wecom,
    ),
    "dingtalk": Kind(
        N_("DingTalk group"),
        (
            Field(
                "address",
                _ROBOT,
                N_(
                    "In the group: settings, robots, add a custom one. Choose signing as its "
                    "security; a robot that wants a keyword refuses what has it not."
                ),
                "https://oapi.dingtalk.com/robot/send?access_token=…",
            ),
            Field(
                "secret",
                N_("Signing secret"),
                N_("Where signing was chosen."),
                "SEC…",
                is_secret=True,
                is_optional=True,
            ),
        ),
        _dingtalk,
    ),
    "feishu": Kind(
        N_("Feishu group"),
        (
            Field(
                "address",
                _ROBOT,
                N_(
                    "In the group: settings, robots, add a custom one, copy its webhook. Choose no "
                    "signing; a robot that wants a keyword refuses what has it not."
                ),
                "https://open.feishu.cn/open-apis/bot/v2/hook/…",
            ),
        ),
        _feishu,
    ),
    "mail": Kind(
        N_("E-mail"),
        (
            Field(
                "to",
                N_("To whom"),
                N_("One person each: then it is seen of each whether it left."),
                "wang@example.cn",
            ),
            Field("user", N_("Mailbox that sends"), "", "office@example.cn"),
            Field(
                "password",
                N_("Its password"),
                N_("Of many mailboxes an authorisation code, which their settings give."),
                is_secret=True,
            ),
            Field(
                "server",
                N_("Sending server (SMTP)"),
                N_("With smtp:// before it for a server of your own that has no encryption."),
                "smtp.example.cn",
            ),
        ),
        _mail,
        confirms=False,
    ),
    "webhook": Kind(
        N_("Own server (webhook)"),
        (
            Field(
                "address",
                N_("Address"),
                N_("A message comes as JSON by POST: title, message, type."),
                "https://example.cn/notify",
            ),
        ),
        _webhook,
    ),
    PROGRAM: Kind(
        N_("Program (signed webhook)"),
        (
            Field(
                "address",
                N_("Address"),
                N_(
                    "It is told of new articles and events as JSON by POST, signed with a secret "
                    "that is shown once when you save; each time the address is saved there is a "
                    "new one."
                ),
                "https://example.cn/hooks/qiaocrawl",
            ),
        ),
        _program,
    ),
    "other": Kind(
        N_("Another service"),
        (
            Field(
                "address",
                N_("Address as apprise has it"),
                N_(
                    "SMS gateways and some hundred services; whoever looks after the machine knows."
                ),
            ),
        ),
        _other,
    ),
}


def address_of(kind: str, given: Mapping[str, str]) -> str:
    """The address that *given* makes, a text for each field of *kind*.

    Raises:
        FieldError: a field is not right.
    """
    one = KINDS[kind]
    for field in one.fields:
        if not given[field.name] and not field.is_optional:
            raise FieldError(field.name, _("{name} is missing", name=_(field.label)))
    address = one.address(given)
    if not _is_right(address):
        raise FieldError(one.fields[0].name, _("This is no address that a message can be sent to."))
    return address


# --- Those that were entered in a form ------------------------------------------------------------

MOST_NAME_CHARS = 64


class KeptChannel(NamedTuple):
    """A channel of the database; its address is sealed."""

    name: str
    kind: str
    secret: bytes
    changed_by: str
    changed_at: datetime | None


def kept_channels(c: Connection) -> dict[str, KeptChannel]:
    """All of them, by name."""
    columns = warning_channel.c
    rows = c.execute(select(warning_channel).order_by(columns.name))
    return {
        row.name: KeptChannel(
            row.name, row.kind, bytes(row.secret), row.changed_by, from_time(row.changed_at)
        )
        for row in rows
    }


def seal_address(vault: Vault, name: str, address: str) -> bytes:
    """*address* as it is kept for the channel *name*."""
    return vault.seal(_owner(name), {"address": address})


def _owner(name: str) -> str:
    return f"channel {name}"


def keep_channel(
    c: Connection, name: str, kind: str, secret: bytes, by: str, now: datetime
) -> None:
    """Keep a channel, in the place of one of that name."""
    columns = warning_channel.c
    values = {
        "kind": kind,
        "secret": secret,
        "changed_by": clean_word(by, 100),
        "changed_at": to_stored_time(now),
    }
    if not c.execute(update(warning_channel).where(columns.name == name).values(values)).rowcount:
        c.execute(insert(warning_channel).values(name=name, **values))


def drop_channel(c: Connection, name: str) -> None:
    """Forget a channel and its address; rules that tell it say that it has none."""
    c.execute(delete(warning_channel).where(warning_channel.c.name == name))


def reseal_channels(c: Connection, vault: Vault) -> int:
    """Encrypt all addresses anew with the first key of *vault*; how many.

    Raises:
        SecretKeyError: none of its keys opens one.
    """
    kept = kept_channels(c)
    for name, one in kept.items():
        secret = vault.seal(_owner(name), vault.open(_owner(name), one.secret))
        c.execute(
            update(warning_channel).where(warning_channel.c.name == name).values(secret=secret)
        )
    return len(kept)


def known_channels(c: Connection, file: str) -> tuple[str, ...]:
    """The names of all channels: those of *file*, which win, and those that were entered."""
    of_file = channel_names(file)
    return (*of_file, *(name for name in kept_channels(c) if name not in of_file))


def require_channel(name: str, known: Collection[str]) -> None:
    """Refuse a channel that is not among *known*.

    Raises:
        ConfigError: it is none of them; the message lists them.
    """
    if name not in known:
        raise ConfigError(
            _(
                "channel {name!r} must be one of {allowed}",
                name=name,
                allowed=_(", ").join(known) or _("none"),
            )
        )


def all_channels(c: Connection, file: str, keys: str) -> Channels:
    """Channels of the database and of *file*, whose word counts where both have a name.

    Args:
        keys: QIAO_SECRET_KEY. An address that they do not open is "".

    Raises:
        ConfigError: the file is wrong.
    """
    kept = kept_channels(c)
    return {name: _opened(one, keys) for name, one in kept.items()} | dict(read_channels(file))


def _opened(one: KeptChannel, keys: str) -> str:
    try:
        address = str(Vault.from_option(keys).open(_owner(one.name), one.secret)["address"])
    except SecretKeyError:
        return ""
    # Those of the file were named by who looks after the machine; robots are at known places.
    return f"{MARK}{address}" if one.kind in _ANYWHERE and not is_mail(address) else address


_ANYWHERE = frozenset({"webhook", "other"})
"""Kinds whose far side is whatever an administrator wrote."""


def is_mail(address: str) -> bool:
    """Whether *address* is a mailbox, which is no matter of HTTP."""
    return address.startswith(("mailto://", "mailtos://"))
