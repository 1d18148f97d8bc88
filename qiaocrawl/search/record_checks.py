"""Checks single values of an engine definition, beyond their type."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from datetime import date, time
from typing import Annotated, Any

from cssselect import SelectorError
from lxml import etree
from parsel.csstranslator import HTMLTranslator
from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from qiaocrawl.text.toml_file import Text, listed

_CSS = HTMLTranslator()


def field_faults(key: str, template: object, allowed: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Every ``{field}`` in the texts of *template* that is not *allowed*, as a fault of *key*."""
    if isinstance(template, Mapping | list):
        for entry in template.values() if isinstance(template, Mapping) else template:
            yield from field_faults(key, entry, allowed)
    elif isinstance(template, str):
        names = ", ".join(f"{{{name}}}" for name in allowed)
        # "{term}" and "{page}": names in braces.
        for field in re.findall(r"\{([^{}]*)\}", template):
            if field not in allowed:
                yield key, f"may hold {names}, got {{{field}}}"


def matching(pattern: str, words: str) -> AfterValidator:
    """A text that is empty or fits *pattern* as a whole; *words* say what it must be."""

    def check(text: str) -> str:
        if text and not re.fullmatch(pattern, text):
            raise ValueError(f"must {words}, got {text!r}")
        return text

    return AfterValidator(check)


def _charset(name: str) -> str:
    try:
        codecs.lookup(name or "utf-8")
    except (LookupError, ValueError):
        raise ValueError(f"must be a charset such as utf-8 or gb18030, got {name!r}") from None
    return name


def check_selector(selector: str) -> str:
    """*selector* as it is.

    Raises:
        ValueError: it is neither empty nor CSS nor ``xpath:…``.
    """
    try:
        if selector.startswith("xpath:"):
            etree.XPath(selector.removeprefix("xpath:"))
        elif selector:
            _CSS.css_to_xpath(selector)
    except (etree.XPathSyntaxError, SelectorError) as error:
        raise ValueError(f"must be CSS or 'xpath:…', got {selector!r} ({error})") from None
    return selector


def key_of_table(info: ValidationInfo, key: str) -> Any:
    """The value of *key* in the whole table that is checked, as it is written; None without."""
    # Set by read_definition(): single values are checked before the whole is there.
    table = (info.context or {}).get("table", {})
    return table.get(key)


def _path(path: str, info: ValidationInfo) -> str:
    # A dotted path into JSON has no form that could be wrong.
    return check_selector(path) if key_of_table(info, "format") == "html" else path


def _header_line(value: object) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError(f"must be a text of one line, got {value!r}")
    if not value.isascii():
        raise ValueError(f"must be ASCII, got {value!r}")
    return value


def _json_value(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _json_value(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_json_value(entry) for entry in value]
    # TOML has dates and infinities; JSON has neither.
    if isinstance(value, date | time) or value in (float("inf"), -float("inf")):
        raise ValueError(f"may hold texts, numbers, true and false, got {value!r}")
    return value


def _body(value: object) -> object:
    if value == {}:
        raise ValueError("must not be empty")
    return _json_value(value)


Charset = Annotated[str, AfterValidator(_charset)]
Selector = Annotated[str, AfterValidator(check_selector)]
Path = Annotated[str, AfterValidator(_path)]
Paths = Annotated[
    tuple[Annotated[Text, AfterValidator(_path)], ...], listed(str, "a text or a list of texts")
]
HeaderName = Annotated[str, matching(r"[\x21-\x7e]+", "be ASCII")]
HeaderLine = Annotated[str, BeforeValidator(_header_line)]
HttpStatus = Annotated[str, matching(r"[1-5]\d\d", "be an HTTP status")]
Body = Annotated[Mapping[str, object], BeforeValidator(_body)]
