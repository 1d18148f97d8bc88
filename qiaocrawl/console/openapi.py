"""What programs may ask the console for, described by the code that answers.

An operation names a record of what may be asked (the choices behind the ``?``, or the JSON that is
sent) and one of what is answered. The same records check the question, write the answer, and are
the OpenAPI document: pydantic turns them into JSON Schema.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import ConfigDict, TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl import __version__
from qiaocrawl.console.page import READER, Page
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _
from qiaocrawl.text.toml_file import check_table

Item = TypeVar("Item")
Value = TypeVar("Value")

_PART = re.compile(r"\{(\w+)(:int)?\}")
_SCHEMAS = "#/components/schemas/"
_ERRORS = {
    "400": N_("a choice that is none, or a value that is not allowed; it is named"),
    "401": N_("no token, or one that is none"),
    "403": N_("the role does not allow it, or a password has to be chosen first"),
    "404": N_("there is no such thing"),
    "405": N_("the address is there, but not for this method"),
    "413": N_("more was sent than is taken"),
    "500": N_("a fault of the console; its log has it"),
    "503": N_("the database is away or busy; try again"),
}


class Asked:
    """What every record of a question has: what it does not know is refused by name."""

    __pydantic_config__ = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Nothing(Asked):
    """Nothing can be chosen."""


@dataclass(frozen=True, slots=True)
class Items(Generic[Item]):
    """Some of the records; ``next_cursor`` brings the next ones, null is the end."""

    items: Sequence[Item]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Found(Generic[Item]):
    """The first of the records; ``more`` says that there are more than were asked for."""

    items: Sequence[Item]
    more: bool = False

    @classmethod
    def first(cls, items: Sequence[Item], limit: int) -> Found[Item]:
        """The first *limit* of *items*, which hold one more where there is one."""
        return cls(items[:limit], len(items) > limit)


@dataclass(frozen=True, slots=True)
class Error:
    """What was wrong, in words."""

    error: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing a program may ask.

    Attributes:
        path: as pages have it, such as ``/api/v1/events/{event:int}``.
        summary: marked with ``N_``.
        answers: gives the answer to a request and its record *asked*.
        asked: record of the choices of a GET, or of the JSON of a POST.
        answer: record, or parametrised generic, of what *answers* gives.
    """

    name: str
    path: str
    summary: str
    answers: Callable[[Request, Any], Awaitable[Any]]
    asked: type
    answer: Any
    role: str = READER
    method: str = "GET"

    def page(self) -> Page:
        """As a page of the console, behind its gate."""

        async def answer(request: Request) -> Response:
            given = _choices(request, self.asked) if self.method == "GET" else await _sent(request)
            record, faults = check_table(self.asked, given)
            if record is None:
                raise ConfigError("; ".join(faults))
            found = await self.answers(request, record)
            return Response(_adapter(self.answer).dump_json(found), media_type="application/json")

        return Page(self.path, self.name, answer, self.role, self.method, for_programs=True)


def _choices(request: Request, asked: type) -> dict[str, str]:
    """What stands behind the ``?``; a known choice without a value was not made."""
    known = {own.name for own in fields(asked)}
    given = _once(request.query_params.multi_items())
    return {name: value for name, value in given.items() if value or name not in known}


def _once(pairs: Sequence[tuple[str, Value]]) -> dict[str, Value]:
    """Each name with its value.

    Raises:
        ConfigError: one is there twice: nobody knows which was meant.
    """
    twice = [name for name, count in Counter(name for name, _value in pairs).items() if count > 1]
    if twice:
        raise ConfigError(_("given more than once: {names}", names=", ".join(twice)))
    return dict(pairs)


async def _sent(request: Request) -> object:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ConfigError(
            _("what is sent must be JSON (Content-Type: application/json), got {kind!r}", kind=kind)
        )
    try:
        sent: object = json.loads(await request.body() or b"{}", object_pairs_hook=_once)
        # Halves of characters, which JSON can escape, are stored by no database.
        json.dumps(sent, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ConfigError(_("what was sent is no JSON: {error}", error=error)) from None
    return sent


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


# --- The document ---------------------------------------------------------------------------------


def document(operations: Sequence[Operation], root: str) -> dict[str, Any]:
    """The OpenAPI document of *operations*, in the language of who asks.

    Args:
        root: the path a reverse proxy shows the console under, "" for none.
    """
    wanted: list[tuple[str, Any, TypeAdapter[Any]]] = [("", "serialization", _adapter(Error))]
    for own in operations:
        wanted.append((f"{own.name} answer", "serialization", _adapter(own.answer)))
        wanted.append((f"{own.name} asked", "validation", _adapter(own.asked)))
    known, definitions = TypeAdapter.json_schemas(wanted, ref_template=_SCHEMAS + "{model}")
    schemas = definitions.get("$defs", {})
    paths: dict[str, dict[str, Any]] = {}
    for own in operations:
        answer = known[(f"{own.name} answer", "serialization")]
        asked = known[(f"{own.name} asked", "validation")]
        described = _operation(own, answer, asked, schemas)
        paths.setdefault(_PART.sub(r"{\1}", own.path), {})[own.method.lower()] = described
    # Choices stand with each operation, not among the records that are sent.
    asked_by = {True: set[str](), False: set[str]()}
    for own in operations:
        asked = known[(f"{own.name} asked", "validation")]
        asked_by[own.method == "GET"].add(_name_in(asked))
    for name in asked_by[True] - asked_by[False]:
        del schemas[name]
    described = {
        "openapi": "3.1.0",
        "info": {"title": "qiaocrawl", "version": __version__},
        "servers": [{"url": root or "/"}],
        "security": [{"bearer": []}, {"basic": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "basic": {
                    "type": "http",
                    "scheme": "basic",
                    "description": N_("any name; the token is the password"),
                },
            },
            "schemas": schemas,
        },
    }
    translated: dict[str, Any] = _translated(described)
    return translated


def _operation(
    own: Operation, answer: Mapping[str, Any], asked: Mapping[str, Any], schemas: Mapping[str, Any]
) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": own.name.removeprefix("api."),
        "summary": own.summary,
        "x-role": own.role,
        "parameters": list(_path_parameters(own.path)),
        "responses": {
            "200": {"description": N_("as asked for"), **_json(answer)},
            **{
                status: {"description": text, **_json({"$ref": f"{_SCHEMAS}Error"})}
                for status, text in _ERRORS.items()
            },
        },
    }
    if own.method == "GET":
        described["parameters"] += _parameters(schemas[_name_in(asked)])
    else:
        described["requestBody"] = {"required": True, **_json(asked)}
    return described


def _json(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _name_in(reference: Mapping[str, Any]) -> str:
    return str(reference["$ref"]).removeprefix(_SCHEMAS)


def _path_parameters(path: str) -> Iterator[dict[str, Any]]:
    for name, is_number in _PART.findall(path):
        kind = "integer" if is_number else "string"
        yield {"name": name, "in": "path", "required": True, "schema": {"type": kind}}


def _parameters(asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    required = asked.get("required", ())
    return [
        {
            "name": name,
            "in": "query",
            "description": schema.get("description", ""),
            "required": name in required,
            "schema": {key: value for key, value in schema.items() if key != "description"},
        }
        for name, schema in asked["properties"].items()
    ]


def _translated(node: Any) -> Any:
    if isinstance(node, dict):
        return {
            key: _(value)
            if key in ("summary", "description") and isinstance(value, str) and value
            else _translated(value)
            for key, value in node.items()
        }
    return [_translated(one) for one in node] if isinstance(node, list) else node


# --- The same for people --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShownField:
    """A choice or a field: its name, what it may be, and what it is for."""

    name: str
    kind: str
    description: str
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class ShownOperation:
    """An operation as its page shows it; ``sent`` and ``answer`` are names of records.

    Attributes:
        list_end: what stands behind the list of them in an answer; "" for one record.
    """

    method: str
    path: str
    summary: str
    choices: tuple[ShownField, ...]
    sent: str
    answer: str
    list_end: str


@dataclass(frozen=True, slots=True)
class ShownRecord:
    """A record as its page shows it."""

    name: str
    fields: tuple[ShownField, ...]


def readable(described: Mapping[str, Any]) -> tuple[list[ShownOperation], list[ShownRecord]]:
    """What the document *described* says, for a page."""
    operations, schemas = [], described["components"]["schemas"]
    for path, methods in described["paths"].items():
        for method, own in methods.items():
            choices = tuple(
                ShownField(
                    one["name"], _kind(one["schema"]), one.get("description", ""), one["required"]
                )
                for one in own["parameters"]
                if one["in"] == "query"
            )
            sent = _record(own["requestBody"]) if "requestBody" in own else ""
            answer, list_end = _record(own["responses"]["200"]), ""
            if (inside := schemas[answer]["properties"]).keys() & _LIST_ENDS:
                answer, list_end = _name_in(inside["items"]["items"]), [*inside][1]
            summary = own["summary"]
            operations.append(
                ShownOperation(method.upper(), path, summary, choices, sent, answer, list_end)
            )
    named = {one.sent for one in operations}
    records = [
        ShownRecord(name, _fields(schema, is_sent=name in named))
        for name, schema in schemas.items()
        if (inside := schema.get("properties", {})) and not inside.keys() & _LIST_ENDS
    ]
    return operations, records


def _fields(schema: Mapping[str, Any], *, is_sent: bool) -> tuple[ShownField, ...]:
    required = schema.get("required", ()) if is_sent else ()
    return tuple(
        ShownField(name, _kind(own), own.get("description", ""), name in required)
        for name, own in schema["properties"].items()
    )


_LIST_ENDS = frozenset(own.name for kind in (Items, Found) for own in fields(kind)[1:])
# Larger bounds are those of the database, and tell nobody anything.
_MOST_SHOWN = 2**53


def _record(part: Mapping[str, Any]) -> str:
    return _name_in(part["content"]["application/json"]["schema"])


def _kind(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return _name_in(schema)
    if "anyOf" in schema:
        return " | ".join(map(_kind, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"[{_kind(schema['items'])}, …]"
    bounds = [schema[name] for name in ("minimum", "maximum") if name in schema]
    bounds = bounds if len(bounds) == 2 and bounds[1] < _MOST_SHOWN else []
    kind = str(schema.get("format") or schema.get("type") or "null")
    return f"{kind} {'–'.join(map(str, bounds))}".strip()
