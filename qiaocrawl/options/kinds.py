"""What the value of an option may be: each kind reads one, or says what is allowed.

A converter takes what an operator wrote (a text, or a value of ``settings.py``) and raises
ValueError with what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

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

    def converted(value: object) -> Any:
        return None if str(value).strip() in ("", "0", "0.0", "None") else convert(value)

    return converted


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
