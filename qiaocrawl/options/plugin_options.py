"""Options of plug-ins written as text: ``c=.2,d=.5`` are the arguments ``c`` and ``d``."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

PluginOptions = dict[str, float | str]


def option_defaults(factory: Callable[..., Any]) -> PluginOptions:
    """The options a plug-in has, by name, with their defaults: its keyword-only arguments."""
    parameters = inspect.signature(factory).parameters.values()
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        # Parameters with defaults of other types are not options: they cannot be written as text.
        and isinstance(parameter.default, int | float | str)
    }


def plugin_options(what: str, defaults: Mapping[str, float | str], text: str) -> PluginOptions:
    """The options written in *text*, each of the type of its default.

    Args:
        what: names the plug-in in errors, such as ``strategy 'rwb'``.
        defaults: the options there are.
        text: ``NAME=VALUE`` with commas between; "" keeps every default.

    Raises:
        ConfigError: what is no ``NAME=VALUE``, an unknown name, one that comes twice, or a
            number that is none (or no whole one where the default is).
    """
    options: PluginOptions = {}
    # Empty pieces, such as after a trailing comma, are allowed.
    for piece in filter(None, map(str.strip, text.split(","))):
        name, equals, written = map(str.strip, piece.partition("="))
        if not equals:
            raise ConfigError(
                _(
                    "options of {what} are written NAME=VALUE,…, got {piece!r}",
                    what=what,
                    piece=piece,
                )  # fmt: skip
            )
        if name not in defaults:
            raise ConfigError(_unknown(what, name, defaults))
        if name in options:
            raise ConfigError(_("option {name!r} of {what} is given twice", name=name, what=what))
        default = defaults[name]
        options[name] = (
            written if isinstance(default, str) else _number(what, name, written, default)
        )
    return options


def within(what: str, option: str, value: float, low: float, high: float) -> float:
    """*value* of *option*, if it lies in [*low*, *high*].

    Raises:
        ConfigError: it does not, or is no number.
    """
    # Written this way round, so that NaN, which compares false, is refused too.
    if not low <= value <= high:
        raise ConfigError(
            _(
                "option {option!r} of {what} must lie in [{low:g}, {high:g}], got {value!r}",
                option=option,
                what=what,
                low=low,
                high=high,
                value=value,
            )  # fmt: skip
        )
    return value


def _unknown(what: str, name: str, defaults: Mapping[str, float | str]) -> str:
    if not defaults:
        return _("{what} has no options, got {name!r}", what=what, name=name)
    close = get_close_matches(name, defaults, n=1)
    hint = _("; did you mean {close!r}?", close=close[0]) if close else ""
    allowed = ", ".join(f"{option}={default}" for option, default in defaults.items())
    return _(
        "{what} has no option {name!r}{hint} (there are: {allowed})",
        what=what, name=name, hint=hint, allowed=allowed,
    )  # fmt: skip


def _number(what: str, name: str, written: str, default: float) -> float:
    # The type comes from the default: "replays=8" is a whole number, "c=.2" is not.
    whole = isinstance(default, int)
    try:
        value = int(written) if whole else float(written)
    except ValueError:
        value = math.nan
    # float() reads "nan" and "inf" as well.
    if not math.isfinite(value):
        kind = _("a whole number") if whole else _("a number")
        raise ConfigError(
            _(
                "option {name!r} of {what} must be {kind}, got {written!r}",
                name=name,
                what=what,
                kind=kind,
                written=written,
            )  # fmt: skip
        )
    return value
