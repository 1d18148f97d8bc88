"""Checks of what an engine definition holds, beyond the type of a value."""

from __future__ import annotations

import re

from cssselect import SelectorError
from lxml import etree
from parsel.csstranslator import HTMLTranslator

from qiaocrawl.text.toml_table import TomlTable

_FIELD = re.compile(r"\{([^{}]*)\}")
_CSS = HTMLTranslator()


def check_fields(reader: TomlTable, key: str, template: str, allowed: tuple[str, ...]) -> None:
    """Note every ``{field}`` of *template* that is not *allowed*."""
    for field in _FIELD.findall(template):
        if field not in allowed:
            names = ", ".join(f"{{{name}}}" for name in allowed)
            reader.fault(key, f"may hold {names}, got {{{field}}}")


def check_selector(reader: TomlTable, key: str, selector: str) -> None:
    """Note a selector that is neither CSS nor ``xpath:…``."""
    if not selector:
        return
    try:
        if selector.startswith("xpath:"):
            etree.XPath(selector.removeprefix("xpath:"))
        else:
            _CSS.css_to_xpath(selector)
    except (etree.XPathSyntaxError, SelectorError) as error:
        reader.fault(key, f"must be CSS or 'xpath:…', got {selector!r} ({error})")


def check_nothing(reader: TomlTable, key: str, path: str) -> None:
    """A dotted path into JSON has no form that could be wrong."""
