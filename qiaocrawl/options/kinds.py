"""What the value of an option may be: each kind reads one, or says what is allowed.

A converter takes what an operator wrote (a text, or a value of ``settings.py``) and raises
ValueError with what is allowed.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

Converter = Callable[[object], Any]

_YEAR_HOURS = 8_760
_MOST_ADDRESS_CHARS = 400


def text(value: object) -> str:
    """Any text, without white space around it."""
    return str(value).strip()


def root_path(value: object) -> str:
    """A path of plain names, without / at its end; "" for none."""
    path = str(value).strip().rstrip("/")
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)*", path) or "/." in path:
        raise ValueError(_("must be a path such as /desk, or empty"))
    return path


def web_address(value: object) -> str:
    """An address that begins with http:// or https://; "" for none."""
    address = str(value).strip()
    if address and not re.fullmatch(r"https?://[^\s/]+(/\S*)?", address):
        raise ValueError(_("must be an address such as https://HOST/PATH, or empty"))
    return address


def number(low: float, high: float, *, open_low: bool = False) -> Converter:
    """A number within bounds; *open_low* leaves the lower bound out."""
    bounds = f"{'(' if open_low else '['}{low:g}, {high:g}]"

    def convert(value: object) -> float:
        try:
            given = float(str(value))
        except ValueError:
            given = float("nan")
        inside = low < given <= high if open_low else low <= given <= high
        if not inside:
            raise ValueError(_("must be a number in {bounds}", bounds=bounds))
        return given

    return convert


def own_or(convert: Converter) -> Converter:
    """None for "" and 0, which leave the choice to who asks; else what *convert* makes of it."""

    def convert_or_none(value: object) -> Any:
        return None if str(value).strip() in ("", "0", "0.0", "None") else convert(value)

    return convert_or_none


def count(low: int, high: int) -> Converter:
    """A whole number within bounds."""

    def convert(value: object) -> int:
        try:
            given = int(str(value))
        except ValueError:
            given = low - 1
        if not low <= given <= high:
            raise ValueError(_("must be a whole number from {low} to {high}", low=low, high=high))
        return given

    return convert


def flag(value: object) -> bool:
    """On or off."""
    words = {"1": True, "true": True, "yes": True, "on": True}
    words |= {"0": False, "false": False, "no": False, "off": False}
    word = str(value).strip().lower()
    if word not in words:
        raise ValueError(_("must be one of 1, 0, true, false, yes, no, on, off"))
    return words[word]


def render_mode(value: object) -> str:
    """Whose pages are opened in a browser: off, sites or auto; on is auto."""
    word = str(value).strip().lower()
    if word in ("sites", "auto"):
        return word
    try:
        return "auto" if flag(value) else "off"
    except ValueError:
        raise ValueError(_("must be one of off, sites, auto, on")) from None


def names(value: object) -> tuple[str, ...]:
    """Names with commas between, as a tuple."""
    if not isinstance(value, str | list | tuple | set | frozenset):
        raise ValueError(_("must be names with commas between, or a list of names"))
    parts: Iterable[object] = value.split(",") if isinstance(value, str) else value
    return tuple(name for name in (str(part).strip() for part in parts) if name)


def pairs(*allowed: str) -> Converter:
    """``name=word`` pairs, comma separated, each word one of *allowed*."""

    def convert(value: object) -> tuple[str, ...]:
        given = names(value)
        for part in given:
            name, _equals, word = part.rpartition("=")
            if not name.strip() or word not in allowed:
                raise ValueError(
                    _("must be name=word pairs, each word one of {names}", names=", ".join(allowed))
                )
        return given

    return convert


def amounts(low: int, high: int) -> Converter:
    """``name=number`` pairs, comma separated; each as it was given, without white space."""

    def convert(value: object) -> tuple[str, ...]:
        given: list[str] = []
        for part in names(value):
            name, _equals, amount = (piece.strip() for piece in part.partition("="))
            if not name or not amount.isdecimal() or not low <= int(amount) <= high:
                raise ValueError(
                    _("must be name=number pairs, each from {low} to {high}", low=low, high=high)
                )
            given.append(f"{name}={amount}")
        return tuple(given)

    return convert


def ascending_hours(value: object) -> tuple[float, ...]:
    """Hours, each later than the one before it, with commas between."""
    parts = value.split(",") if isinstance(value, str) else value
    try:
        hours = tuple(float(part) for part in parts if str(part).strip())  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        hours = (0.0,)
    rises = all(low < high for low, high in zip((0.0, *hours), hours, strict=False))
    if not rises or any(not hour <= _YEAR_HOURS for hour in hours):
        raise ValueError(
            _("must be ascending numbers in (0, {most}], comma separated", most=_YEAR_HOURS)
        )
    return hours


def choice(*allowed: str) -> Converter:
    """One of the words *allowed*; the empty one is shown as two quotes."""
    names = ", ".join(name or '""' for name in allowed)

    def convert(value: object) -> str:
        word = str(value).strip()
        if word not in allowed:
            raise ValueError(_("must be one of {names}", names=names))
        return word

    return convert


def numbered(*allowed: str, stem: str) -> Converter:
    """One of the words *allowed*, or *stem* and a number from 1 to 9999, such as pick3."""

    def convert(value: object) -> str:
        word = str(value).strip()
        if word not in allowed and not re.fullmatch(rf"{stem}[1-9]\d{{0,3}}", word, re.ASCII):
            names = ", ".join((*allowed, f"{stem}K"))
            raise ValueError(_("must be one of {names}", names=names))
        return word

    return convert


def keys(value: object) -> str:
    """Keys of Fernet (32 bytes as URL-safe base64) with commas between."""
    given = str(value).strip()
    for key in filter(None, (part.strip() for part in given.split(","))):
        if not re.fullmatch(r"[A-Za-z0-9_-]{43}=", key):
            raise ValueError(_("must be keys that `qiaocrawl session key new` made"))
    return given


def database_url(value: object) -> str:
    """A SQLAlchemy URL of SQLite or MySQL."""
    url = str(value).strip()
    if not url.startswith(("sqlite:", "mysql+pymysql:")):
        raise ValueError(_("must be a SQLAlchemy URL that starts with sqlite: or mysql+pymysql:"))
    # An egg (scrapyd) runs wherever its server does: a relative file would land there.
    in_egg = not Path(__file__).is_file()
    if in_egg and url.startswith("sqlite:") and not url.startswith("sqlite:////"):
        raise ValueError(_("must be absolute (sqlite:////FOLDER/FILE) in an egg"))
    return url


def page_store(value: object) -> str:
    """``database``, or the address of a place fsspec reaches; no credentials stand in it."""
    address = str(value).strip().rstrip("/")
    if address == "database":
        return address
    scheme, there, rest = address.partition("://")
    if not there or not rest or scheme in ("memory", "http", "https", "data") or "::" in address:
        raise ValueError(
            _("must be database, file:///FOLDER, s3://BUCKET/FOLDER or another address of fsspec")
        )
    if "@" in rest.partition("/")[0] or "?" in rest:
        raise ValueError(_("must not hold a password: credentials belong in the environment"))
    if scheme == "file" and (not rest.startswith("/") or "/../" in f"{rest}/"):
        raise ValueError(_("must be absolute, such as file:///srv/pages"))
    if len(address) > _MOST_ADDRESS_CHARS:
        raise ValueError(_("must be at most {most} characters long", most=_MOST_ADDRESS_CHARS))
    return address


def scrapyd_servers(value: object) -> tuple[str, ...]:
    """URLs of scrapyd servers, each with a slash at its end."""
    urls = names(value)
    for url in urls:
        if not re.fullmatch(r"https?://([^/@\s]+@)?[^/@\s:]+(:\d+)?(/\S*)?", url):
            raise ValueError(_("must be URLs such as http://USER:PASSWORD@127.0.0.1:6800"))
    return tuple(url.rstrip("/") + "/" for url in urls)


# --- Options of plug-ins written as text: ``c=.2,d=.5`` are the arguments ``c`` and ``d`` ---------

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
                )
            )
        if name not in defaults:
            raise ConfigError(_unknown_option(what, name, defaults))
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
            )
        )
    return value


def _unknown_option(what: str, name: str, defaults: Mapping[str, float | str]) -> str:
    if not defaults:
        return _("{what} has no options, got {name!r}", what=what, name=name)
    close = get_close_matches(name, defaults, n=1)
    hint = _("; did you mean {close!r}?", close=close[0]) if close else ""
    allowed = ", ".join(f"{option}={default}" for option, default in defaults.items())
    return _(
        "{what} has no option {name!r}{hint} (there are: {allowed})",
        what=what,
        name=name,
        hint=hint,
        allowed=allowed,
    )


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
            )
        )
    return value
