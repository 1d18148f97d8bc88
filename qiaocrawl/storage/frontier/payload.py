"""The payload of a frontier row as JSON: a field's name is its key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from qiaocrawl.items import NO_PAYLOAD, Payload
from qiaocrawl.storage.converters import readable_mapping, to_json

# Types are strings here, since `from __future__ import annotations` leaves them unevaluated.
_TEXTS = {field.name for field in fields(Payload) if field.type in ("str", "str | None")}
_NUMBERS = {"hops", "sitemap", "page"}
_FLAGS = {"probe", "again"}


def payload_of(text: str | None) -> Payload:
    """The payload in JSON *text*; an empty one for what is no JSON object."""
    return payload_from(readable_mapping(text)) if text else NO_PAYLOAD


def payload_from(stored: Mapping[str, object]) -> Payload:
    """The payload of these keys; what is unknown, or of another type, goes to ``other``."""
    values = {name: _value(name, stored_value) for name, stored_value in stored.items()}
    known = {name: value for name, value in values.items() if value is not None}
    # Kept and written back: a row must survive a visit by an older version.
    other = {name: value for name, value in stored.items() if name not in known}
    return Payload(**known, other=other) if stored else NO_PAYLOAD  # type: ignore[arg-type]


def _value(name: str, stored: object) -> object | None:
    """The value of field *name*; None when there is no such field, or it takes no such value."""
    if name in _TEXTS and isinstance(stored, str):
        return stored
    if name in _NUMBERS and isinstance(stored, int):
        return stored
    # JSON's true is a bool, and a bool is an int.
    if name in _FLAGS and isinstance(stored, int):
        return bool(stored)
    if name == "also" and isinstance(stored, list | tuple):
        return tuple(map(str, stored))
    return None


def payload_keys(payload: Payload) -> dict[str, object]:
    """What is stored of *payload*: all but empty fields."""
    keys = dict(payload.other)
    for field in fields(Payload):
        value = getattr(payload, field.name)
        if field.name != "other" and value != getattr(NO_PAYLOAD, field.name):
            keys[field.name] = value
    return keys


def payload_text(payload: Payload) -> str:
    """*payload* as JSON without spaces; "" for an empty one, which most rows have."""
    return to_json(payload_keys(payload)) if payload else ""
