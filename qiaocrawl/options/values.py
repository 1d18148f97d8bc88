"""The values of the options in the table, read and checked.

Options are read once at the start, with the precedence of the operator's hands:
``-s QIAO_X=…`` over the environment over ``settings.py`` over the default in the table.
A wrong value or a misspelt name raises :class:`~qiaocrawl.errors.ConfigError`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.options.table import OPTIONS, RENAMED, Option

PREFIX = "QIAO_"

_BY_NAME = {option.name: option for option in OPTIONS}
DEFAULTS = {option.name: option.default for option in OPTIONS}
"""Values of the options nobody set."""


def given_in_environment() -> dict[str, str]:
    """The ``QIAO_*`` variables of this process."""
    return {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}


_in_settings_file: dict[str, object] = {}


def use_settings_file(values: Mapping[str, object]) -> None:
    """Let :meth:`Options.from_environment` begin with these, of the project's settings module."""
    _in_settings_file.clear()
    _in_settings_file.update(values)


def written(value: object) -> str:
    """*value* of an option as an operator writes it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple | list | frozenset):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def given_in_settings_file() -> dict[str, object]:
    """What :func:`use_settings_file` was given."""
    return dict(_in_settings_file)


class Options(Mapping[str, Any]):
    """The checked options of one run; ``options["QIAO_MAX_DEPTH"]`` gives the typed value."""

    def __init__(self, given: Mapping[str, object]) -> None:
        # A misspelt option that was ignored would cost a night's crawl.
        unknown = [name for name in given if name.startswith(PREFIX) and name not in _BY_NAME]
        if unknown:
            raise ConfigError(_unknown_message(sorted(unknown)[0]))
        self._values = {
            option.name: _convert(option, given.get(option.name, option.default))
            for option in OPTIONS
        }

    @classmethod
    def from_environment(cls, given: Mapping[str, object] | None = None) -> Options:
        """Options of settings module and environment, *given* (command line) winning over both."""
        return cls({**_in_settings_file, **given_in_environment(), **(given or {})})

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _convert(option: Option, value: object) -> Any:
    try:
        return option.convert(value)
    except ValueError as error:
        shown = _("(not shown)") if option.secret else repr(value)
        text = _("{option} {reason}, got {value}", option=option.name, reason=error, value=shown)
        raise ConfigError(text) from None


def _unknown_message(name: str) -> str:
    if name in RENAMED:
        return _("option {name} is now called {new_name}", name=name, new_name=RENAMED[name])
    close = get_close_matches(name, _BY_NAME, n=1)
    if not close:
        return _("unknown option {name}", name=name)
    return _("unknown option {name}; did you mean {close}?", name=name, close=close[0])
