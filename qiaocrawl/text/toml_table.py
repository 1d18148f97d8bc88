"""Reads TOML files that people write, key by key, and collects every fault."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any


def parse_toml(data: bytes) -> dict[str, Any]:
    """The table in *data*, UTF-8 with or without the byte order mark that Windows editors write.

    Raises:
        ValueError: it is no UTF-8, no TOML, or nested without end.
    """
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError("it is nested too deep") from None


class TomlTable:
    """Takes keys out of one table; ``faults`` is shared by all tables of a file.

    Args:
        table: as :mod:`tomllib` gives it.
        prefix: stands before its keys in faults, such as ``form.``.
    """

    def __init__(self, table: Mapping[str, object], prefix: str, faults: list[str]) -> None:
        self._table = table
        self._prefix = prefix
        self._known: set[str] = set()
        self._inner: list[TomlTable] = []
        self.faults = faults

    def fault(self, key: str, why: str) -> None:
        """Note that *key* is wrong, and why."""
        self.faults.append(f"{self._prefix}{key}: {why}")

    def has(self, key: str) -> bool:
        """Whether *key* is given; it counts as known from now on."""
        self._known.add(key)
        return key in self._table

    def text(self, key: str, default: str | None = "") -> str:
        """A text; without *default* it must be given and not be empty."""
        value = self._table[key] if self.has(key) else default
        if value is None or (default is None and value == ""):
            self.fault(key, "must be given")
            return ""
        if not isinstance(value, str):
            self.fault(key, f"must be a text, got {value!r}")
            return ""
        return value

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        """One of the texts *allowed*; must be given."""
        value = self.text(key, None)
        if value and value not in allowed:
            self.fault(key, f"must be one of {', '.join(allowed)}, got {value!r}")
        return value

    def flag(self, key: str) -> bool:
        """true or false; false when not given."""
        value = self._table[key] if self.has(key) else False
        if not isinstance(value, bool):
            self.fault(key, f"must be true or false, got {value!r}")
        return value is True

    def count(self, key: str, default: int, low: int, high: int) -> int:
        """A whole number in [low, high]."""
        value = self._table[key] if self.has(key) else default
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.fault(key, f"must be a whole number from {low} to {high}, got {value!r}")
            return default
        return value

    def number(self, key: str, default: float, low: float, high: float) -> float:
        """A number in [*low*, *high*]."""
        value = self._table[key] if self.has(key) else default
        wrong = isinstance(value, bool) or not isinstance(value, int | float)
        if wrong or not low <= float(str(value)) <= high:
            self.fault(key, f"must be a number from {low:g} to {high:g}, got {value!r}")
            return default
        return float(str(value))

    def numbers(self, key: str, low: int, high: int) -> tuple[int, ...]:
        """A whole number or a list of them, each in [*low*, *high*]."""
        value = self._table[key] if self.has(key) else []
        values = value if isinstance(value, list) else [value]
        right = (type(v) is int and low <= v <= high for v in values)
        if not all(right):
            self.fault(key, f"must be whole numbers from {low} to {high}, got {value!r}")
            return ()
        return tuple(values)

    def texts(self, key: str) -> tuple[str, ...]:
        """A text or a list of texts; () when not given."""
        value = self._table[key] if self.has(key) else []
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(v, str) and v for v in values):
            self.fault(key, f"must be a text or a list of texts, got {value!r}")
            return ()
        return tuple(values)

    def pairs(self, key: str) -> dict[str, str]:
        """A table of texts; {} when not given."""
        value = self._table[key] if self.has(key) else {}
        if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
            self.fault(key, f"must be a table of texts [{self._prefix}{key}], got {value!r}")
            return {}
        return dict(value)

    def table(self, key: str) -> TomlTable:
        """The table *key*; empty when not given."""
        value = self._table[key] if self.has(key) else {}
        if not isinstance(value, dict):
            self.fault(key, f"must be a table [{self._prefix}{key}], got {value!r}")
            value = {}
        inner = TomlTable(value, f"{self._prefix}{key}.", self.faults)
        self._inner.append(inner)
        return inner

    def tables(self, key: str) -> list[TomlTable]:
        """An array of tables; empty when not given, one where it is a single table."""
        value = self._table[key] if self.has(key) else []
        value = [value] if isinstance(value, dict) else value
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            self.fault(key, f"must be tables [[{self._prefix}{key}]], got {value!r}")
            value = []
        entries = [
            TomlTable(entry, f"{self._prefix}{key}[{number}].", self.faults)
            for number, entry in enumerate(value, start=1)
        ]
        self._inner += entries
        return entries

    def items(self) -> list[tuple[str, object]]:
        """All keys and values of a table that may hold any key."""
        self._known.update(self._table)
        return list(self._table.items())

    def refuse_unknown(self) -> None:
        """Note every key nobody asked for, here and in the tables taken from here."""
        for key in self._table:
            if key not in self._known:
                close = get_close_matches(key, self._known, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                allowed = ", ".join(sorted(self._known))
                self.fault(key, f"unknown key{hint} (allowed: {allowed})")
        for inner in self._inner:
            inner.refuse_unknown()
