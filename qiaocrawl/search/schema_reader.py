"""Takes keys out of the tables of an engine definition and names what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from cssselect import SelectorError
from lxml import etree
from parsel.csstranslator import HTMLTranslator

_FIELD = re.compile(r"\{([^{}]*)\}")
_CSS = HTMLTranslator()


class TableReader:
    """Takes keys out of one table; what is wrong goes to ``faults``, shared by all sub-tables."""

    def __init__(self, table: Mapping[str, object], prefix: str, faults: list[str]) -> None:
        self._table = table
        self._prefix = prefix
        self._known: set[str] = set()
        self.faults = faults

    def fault(self, key: str, why: str) -> None:
        """Note what is wrong with *key*."""
        self.faults.append(f"{self._prefix}{key}: {why}")

    def has(self, key: str) -> bool:
        """Whether *key* is given; it counts as known from now on."""
        self._known.add(key)
        return key in self._table

    def text(self, key: str, default: str | None = "") -> str:
        """A string; without *default* it must be given and not be empty."""
        value = self._table[key] if self.has(key) else default
        if value is None or (default is None and value == ""):
            self.fault(key, "must be given")
            return ""
        if not isinstance(value, str):
            self.fault(key, f"must be a text, got {value!r}")
            return ""
        return value

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        """One of the *allowed* texts."""
        value = self.text(key, None)
        if value and value not in allowed:
            self.fault(key, f"must be one of {', '.join(allowed)}, got {value!r}")
        return value

    def count(self, key: str, default: int, low: int, high: int) -> int:
        """A whole number in [low, high]."""
        value = self._table[key] if self.has(key) else default
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.fault(key, f"must be a whole number from {low} to {high}, got {value!r}")
            return default
        return value

    def flag(self, key: str) -> bool:
        """true or false; false when not given."""
        value = self._table[key] if self.has(key) else False
        if not isinstance(value, bool):
            self.fault(key, f"must be true or false, got {value!r}")
        return value is True

    def texts(self, key: str) -> tuple[str, ...]:
        """A string or a list of strings; empty when not given."""
        value = self._table[key] if self.has(key) else []
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(v, str) and v for v in values):
            self.fault(key, f"must be a text or a list of texts, got {value!r}")
            return ()
        return tuple(values)

    def table(self, key: str) -> TableReader:
        """A sub-table; empty when not given."""
        value = self._table[key] if self.has(key) else {}
        if not isinstance(value, dict):
            self.fault(key, f"must be a table [{self._prefix}{key}], got {value!r}")
            value = {}
        return TableReader(value, f"{self._prefix}{key}.", self.faults)

    def tables(self, key: str) -> list[TableReader]:
        """An array of tables; empty when not given, one where it is a single table."""
        value = self._table[key] if self.has(key) else []
        value = [value] if isinstance(value, dict) else value
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            self.fault(key, f"must be tables [[{self._prefix}{key}]], got {value!r}")
            value = []
        return [
            TableReader(entry, f"{self._prefix}{key}[{number}].", self.faults)
            for number, entry in enumerate(value, start=1)
        ]

    def items(self) -> list[tuple[str, object]]:
        """All keys and values of a table that may hold any key."""
        self._known.update(self._table)
        return list(self._table.items())

    def refuse_unknown(self) -> None:
        """Note every key nobody asked for, with the closest known one."""
        for key in self._table:
            if key not in self._known:
                close = get_close_matches(key, self._known, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                allowed = ", ".join(sorted(self._known))
                self.fault(key, f"unknown key{hint} (allowed: {allowed})")


def check_fields(reader: TableReader, key: str, template: str, allowed: tuple[str, ...]) -> None:
    """Note every ``{field}`` of *template* that is not *allowed*."""
    for field in _FIELD.findall(template):
        if field not in allowed:
            names = ", ".join(f"{{{name}}}" for name in allowed)
            reader.fault(key, f"may hold {names}, got {{{field}}}")


def check_selector(reader: TableReader, key: str, selector: str) -> None:
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


def check_nothing(reader: TableReader, key: str, path: str) -> None:
    """A dotted path into JSON has no form that could be wrong."""
