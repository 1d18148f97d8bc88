"""TOML files of operators: read from bytes, checked by pydantic, every fault in plain words.

A record is a plain dataclass whose annotations say what is allowed: pydantic's ``Annotated``
forms and those below. :func:`check_table` makes one from a table, or names every fault in it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

Record = TypeVar("Record")

_MISSING = ("missing", "missing_argument", "string_too_short")
_WORDS = {
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a smaller number",
    "dict_type": "must be a table",
    "mapping_type": "must be a table",
    "dataclass_type": "must be a table",
}


def parse_toml(data: bytes) -> dict[str, Any]:
    """The table in *data*, UTF-8 with or without the byte order mark that Windows editors write.

    Raises:
        ValueError: it is no UTF-8, no TOML, or nested without end.
    """
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def number(low: float, high: float) -> BeforeValidator:
    """A number in [*low*, *high*]; a whole one where *low* is an ``int``."""
    types, words = (int, "a whole number") if isinstance(low, int) else ((int, float), "a number")

    def convert(value: object) -> object:
        # True is an int to Python, but no number to whoever wrote the file.
        if isinstance(value, bool) or not isinstance(value, types) or not low <= value <= high:
            raise ValueError(f"must be {words} from {low:g} to {high:g}, got {value!r}")
        return value

    return BeforeValidator(convert)


def list_or_one(kind: type, words: str) -> BeforeValidator:
    """A list, or its only entry of type *kind* written without one."""

    def convert(value: object) -> list[object]:
        if not isinstance(value, kind | list):
            raise ValueError(f"must be {words}, got {value!r}")
        return value if isinstance(value, list) else [value]

    return BeforeValidator(convert)


Text = Annotated[str, Field(min_length=1)]
Texts = Annotated[tuple[Text, ...], list_or_one(str, "a text or a list of texts")]


class _TableFaults(ValueError):
    """What is wrong with a table: pairs of a key and why."""

    def __init__(self, faults: list[tuple[str, str]]) -> None:
        super().__init__(faults)
        self.faults = faults


def raise_faults(faults: Iterable[tuple[str, str]]) -> None:
    """End the check of a table that has *faults*, each a key ("" for the table) and why."""
    if entries := list(faults):
        raise _TableFaults(entries)


def check_table(
    kind: type[Record], table: object, context: Mapping[str, object] | None = None
) -> tuple[Record | None, list[str]]:
    """The record in *table* and no faults, or None and every fault as ``key: why``.

    Args:
        kind: a dataclass; unknown keys are refused where its ``__pydantic_config__`` says so.
        context: what its validators are told beside their value.
    """
    adapter: TypeAdapter[Record] = _adapter(cast(Any, kind))
    try:
        return adapter.validate_python(table, context=dict(context or {})), []
    except ValidationError as error:
        return None, [
            fault.removeprefix(": ")
            for entry in error.errors(include_url=False)
            for fault in _faults(entry, adapter)
        ]


def load_records(
    files: Iterable[Traversable],
    kind: str,
    read: Callable[[dict[str, Any], str], tuple[list[Record], list[str]]],
) -> list[Record]:
    """The records of all *files*.

    Args:
        kind: what they are, as ``engine definitions``.
        read: the records in one file's table and every fault; it is given the file's name too.

    Raises:
        ConfigError: with every fault of every file.
    """
    records: list[Record] = []
    faults: list[str] = []
    for file in files:
        try:
            table = parse_toml(file.read_bytes())
        except (OSError, ValueError) as error:
            reason = _("cannot be read as TOML in UTF-8: {error}", error=error)
            faults.append(f"{file.name}: {reason}")
            continue
        file_records, file_faults = read(table, file.name)
        records += file_records
        faults += [f"{file.name}: {fault}" for fault in file_faults]
    if faults:
        head = _("{kind} have faults:", kind=_(kind))
        raise ConfigError("\n  ".join([head, *faults]))
    return records


def toml_files(
    shipped: Traversable, extra: Traversable | None, option: str
) -> Iterator[Traversable]:
    """The files of the folder *shipped*, then those of the operator's folder *extra*.

    Raises:
        ConfigError: *extra*, given by *option*, is no folder.
    """
    for folder in (shipped, *([extra] if extra is not None else [])):
        if not folder.is_dir():
            raise ConfigError(
                _("{option} must be a folder, got {folder!r}", option=option, folder=str(folder))
            )
        files = (file for file in folder.iterdir() if file.name.endswith(".toml"))
        yield from sorted(files, key=lambda file: file.name)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _faults(error: Any, adapter: TypeAdapter[Any]) -> Iterator[str]:
    place, value, kind = _dotted_path(error["loc"]), error["input"], error["type"]
    if kind == "value_error":
        cause = error["ctx"]["error"]
        is_table = isinstance(cause, _TableFaults)
        for key, why in cause.faults if is_table else [("", cause)]:
            yield f"{_dotted_path((*error['loc'], *([key] if key else [])))}: {why}"
    elif kind == "unexpected_keyword_argument":
        yield f"{place}: unknown key{_hint(error['loc'], adapter)}"
    elif kind in _MISSING:
        yield f"{place}: must be given"
    else:
        why = _WORDS.get(kind) or error["msg"].replace("Input should be", "must be")
        yield f"{place}: {why}, got {value!r}"


def _dotted_path(location: tuple[int | str, ...]) -> str:
    """``unwrap[1].by``: tables are counted from 1, texts of a list are not."""
    parts = [part for part in location if part != "[key]"]
    while parts and isinstance(parts[-1], int):
        parts.pop()
    return "".join(
        f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in parts
    ).removeprefix(".")


def _hint(location: tuple[int | str, ...], adapter: TypeAdapter[Any]) -> str:
    """What is allowed at *location*, and what was probably meant."""
    schema = adapter.json_schema()
    node = _resolve_table(schema, schema)
    for part in location[:-1]:
        node = _resolve_table(node["properties"][part], schema) if isinstance(part, str) else node
    keys = sorted(node["properties"])
    close = get_close_matches(str(location[-1]), keys, n=1)
    return (f"; did you mean {close[0]!r}?" if close else "") + f" (allowed: {', '.join(keys)})"


def _resolve_table(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The table *node* stands for: behind a reference, in a list, or that may be missing."""
    while "properties" not in node:
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rpartition("/")[2]]
        else:
            node = node["items"] if "items" in node else node["anyOf"][0]
    return node
