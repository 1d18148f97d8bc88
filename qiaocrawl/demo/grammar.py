"""A small text grammar: ``[this|that]`` chooses, ``{slot}`` is filled from the inventories.

Within one story a slot keeps its value: every ``{person}`` is the same person, ``{person2}``
another. ``{country}`` binds a city ``{abroad}`` with it, ``{home}`` a ``{county}`` and a
``{province}``; the date slots follow the story's date.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from qiaocrawl.demo.inventory import Values, load_names

_SLOT = re.compile(r"\{(\w+)\}")
_CHOICE = re.compile(r"\[([^\[\]|]*(?:\|[^\[\]|]*)+)\]")
_RANGE = re.compile(r"(\d+)-(\d+)")
_ABROAD = ("country", "abroad", "zone")
_HOME = ("home", "province", "county")
_PLACES = (*_ABROAD, *_HOME)
_PLACED = ("assoc", "school")
# News rounds numbers from the first on to tens; ranges that end before the second are years.
_ROUND_FROM, _LAST_YEAR = 1000, 2100


class Bindings:
    """The values of one story's slots, chosen when first asked for.

    Args:
        rng: the story's own source of chance.
        slots: what the frame adds to the inventories.
        day: the story's date, for the date slots.
        kept: values taken over from another story.
    """

    def __init__(
        self,
        rng: random.Random,
        slots: Mapping[str, Values],
        day: datetime,
        kept: Mapping[str, str] | None = None,
    ) -> None:
        self._rng = rng
        self._slots = slots
        self._values: dict[str, str] = {**(kept or {}), **_date_slots(day)}

    def value(self, name: str) -> str:
        """The text of slot *name*.

        Raises:
            KeyError: no inventory knows the slot.
        """
        if name not in self._values:
            self._bind(name)
        return self._values[name]

    def fill(self, template: str) -> str:
        """*template* with its choices made and its slots filled."""
        chosen = _CHOICE.sub(lambda match: self._rng.choice(match[1].split("|")), template)
        return _SLOT.sub(lambda match: self.value(match[1]), chosen)

    def kept_of(self, templates: Iterable[str], *, without: Sequence[str]) -> dict[str, str]:
        """The places and the values that *templates* use, without people and slots *without*."""
        used = {name for text in templates for name in _SLOT.findall(text)}
        dropped = {linked for name in without for linked in linked_slots(name)}
        # Associations and schools carry their place in their name: they stay or go together.
        if dropped & {*_PLACES, *_PLACED}:
            dropped |= {*_PLACED, *(_ABROAD if dropped & set(_PLACED) else ())}
        names = used.union(_PLACES) - dropped
        return {
            name: self._values[name]
            for name in sorted(names)
            if name in self._values and not name.startswith("person")
        }

    def _bind(self, name: str) -> None:
        base, number = name.rstrip("0123456789"), name[len(name.rstrip("0123456789")) :]
        if name in self._slots:
            self._values[name] = self._draw(self._slots[name])
        elif base in _ABROAD:
            self._bind_country(number)
        elif base in _HOME:
            self._bind_home(number)
        else:
            self._values[name] = self._fresh(base)

    def _draw(self, values: Values) -> str:
        if not isinstance(values, str):
            return self.fill(self._rng.choice(values))
        limits = _RANGE.fullmatch(values)
        if limits is None:
            return self.fill(values)
        low, high = int(limits[1]), int(limits[2])
        number = self._rng.randint(low, high)
        rounded = number >= _ROUND_FROM and high > _LAST_YEAR
        return str(number // 10 * 10 if rounded else number)

    def _fresh(self, base: str) -> str:
        """A value of inventory *base* that this story does not use yet, where there is one."""
        for _ in range(20):
            text = self._person() if base == "person" else self._listed(base)
            if text not in self._values.values():
                break
        return text

    def _person(self) -> str:
        names = load_names()
        return str(self._rng.choice(names["surnames"]) + self._rng.choice(names["given"]))

    def _listed(self, base: str) -> str:
        return self._draw(tuple(load_names()["lists"][base]))

    def _bind_country(self, number: str) -> None:
        taken = {value for name, value in self._values.items() if name.startswith("country")}
        rows = [row for row in load_names()["country"] if row["name"] not in taken]
        given = self._values.get(f"country{number}")
        row = _row(load_names()["country"], "name", given) or self._rng.choice(rows)
        self._values.setdefault(f"country{number}", row["name"])
        self._values.setdefault(f"zone{number}", row["zone"])
        self._values.setdefault(f"abroad{number}", self._rng.choice(row["cities"]))

    def _bind_home(self, number: str) -> None:
        rows = load_names()["home"]
        row = _row(rows, "city", self._values.get(f"home{number}"))
        row = row or _row(rows, "province", self._values.get(f"province{number}"))
        row = row or self._rng.choice(rows)
        self._values.setdefault(f"home{number}", row["city"])
        self._values.setdefault(f"province{number}", row["province"])
        self._values.setdefault(f"county{number}", self._rng.choice(row["counties"]))


def _row(rows: Sequence[dict[str, Any]], column: str, value: str | None) -> dict[str, Any] | None:
    return next((row for row in rows if row[column] == value), None)


def linked_slots(name: str) -> tuple[str, ...]:
    """The slots that are bound together with slot *name*, itself among them."""
    base, number = name.rstrip("0123456789"), name[len(name.rstrip("0123456789")) :]
    for group in (_ABROAD, _HOME):
        if base in group:
            return tuple(f"{member}{number}" for member in group)
    return (name,)


def _date_slots(day: datetime) -> dict[str, str]:
    return {
        "year": f"{day.year}",
        "lastyear": f"{day.year - 1}",
        "month": f"{day.month}月",
        "day": f"{day.day}日",
        "md": f"{day.month}月{day.day}日",
    }
