"""Options of a command that belong together, as one record."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """*command* as Typer takes it: the fields of each dataclass parameter are options of their own.

    Their annotations and defaults are those of the fields.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    options: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            options += _options_of(groups[name])
        else:
            options.append(parameter.replace(annotation=hints[name]))

    @functools.wraps(command)
    def call(**given: Any) -> None:
        records = {
            name: kind(**{entry.name: given.pop(entry.name) for entry in fields(kind)})  # type: ignore[operator]
            for name, kind in groups.items()
        }
        command(**given, **records)

    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options]
    )
    call.__annotations__ = {option.name: option.annotation for option in options}
    return call


def _options_of(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            entry.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=entry.default,
            annotation=hints[entry.name],
        )
        for entry in fields(kind)
    ]
