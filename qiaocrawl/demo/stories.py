"""Stories: what happened, told once by a small grammar. Sites publish and reprint them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from qiaocrawl.demo.inventory import Frame, Values, load_background, load_frames, load_names
from qiaocrawl.demo.model import CHINA_TIME

# --- A small text grammar: ``[this|that]`` chooses, ``{slot}`` is filled from the inventories -----
# Within one story a slot keeps its value: every ``{person}`` is the same person, ``{person2}``
# another. ``{country}`` binds a city ``{abroad}`` with it, ``{home}`` a ``{county}`` and a
# ``{province}``; the date slots follow the story's date.

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
            text = self._person() if base == "person" else self._draw_from_list(base)
            if text not in self._values.values():
                break
        return text

    def _person(self) -> str:
        names = load_names()
        return str(self._rng.choice(names["surnames"]) + self._rng.choice(names["given"]))

    def _draw_from_list(self, base: str) -> str:
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


FIRST_DAY = datetime(2025, 1, 6, tzinfo=CHINA_TIME)
LAST_DAY = datetime(2026, 11, 17, tzinfo=CHINA_TIME)
MIN_CHARACTERS = 120
"""The shortest body of a story."""

_DAYS = [FIRST_DAY + timedelta(days=number) for number in range((LAST_DAY - FIRST_DAY).days)]
_OPTIONAL_SHARE = 0.62
# So many frames that can have several instalments get one when they are told.
_SERIES_SHARE = 0.4
_ATTEMPTS = 8
_POOL_COUNTS = (0, 1, 1, 2, 2, 3, 4, 5)
# How many longer paragraphs a story carries: features reach some 1,500 characters.
_BACKGROUND_COUNTS = (0, 0, 1, 1, 2, 2, 3, 4, 7, 12)

_DIGEST_CHARACTERS = 2300


@dataclass(frozen=True, slots=True)
class Story:
    """One event in words: ``titles`` says the same several times, the first is the original's.

    ``lead_city`` and ``happened_at`` are for date lines; ``lines`` holds no date line.
    """

    key: str
    frame: str
    domain: str
    on_topic: bool
    titles: tuple[str, ...]
    lines: tuple[str, ...]
    happened_at: datetime
    lead_city: str
    author: str
    title_template: str = ""
    values: Mapping[str, str] = field(default_factory=dict)


class StoryTeller:
    """Tells new stories of a domain, frame after frame, and now and then an instalment.

    Args:
        seed: all chance comes from it.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._rng = random.Random(f"{seed}/stories")
        self._told = 0
        self._waiting: dict[str, list[Frame]] = {}
        self._instalments: dict[str, Story] = {}
        self._titles: set[str] = set()

    def tell(self, domain: str) -> Story:
        """A new story of *domain*."""
        before = self._instalments.pop(domain, None)
        if before is not None:
            return self._write(_frame_named(before.frame), before)
        frame = self._next_frame(domain)
        story = self._write(frame, None)
        if frame.series and self._rng.random() < _SERIES_SHARE:
            self._instalments[domain] = story
        return story

    def digest(self, stories: Sequence[Story], title: str, day: datetime) -> Story:
        """A long round-up of *stories* under a formulaic *title*."""
        self._told += 1
        lines: list[str] = []
        for story in stories:
            if sum(map(len, lines)) > _DIGEST_CHARACTERS:
                break
            lines += [story.titles[0], *story.lines[:4]]
        first = stories[0]
        return Story(
            key=f"s{self._told:04d}",
            frame="digest",
            domain=first.domain,
            on_topic=first.on_topic,
            titles=(title,),
            lines=tuple(lines),
            happened_at=day,
            lead_city=first.lead_city,
            author=first.author,
        )

    def _next_frame(self, domain: str) -> Frame:
        if not self._waiting.get(domain):
            frames = [frame for frame in load_frames() if frame.domain == domain]
            self._waiting[domain] = self._rng.sample(frames, len(frames))
        return self._waiting[domain].pop()

    def _write(self, frame: Frame, before: Story | None) -> Story:
        """A story whose titles no other one has; *before* makes it an instalment of that."""
        self._told += 1
        for attempt in range(_ATTEMPTS):
            story = self._draft(frame, before, f"{self._seed}/story/{self._told}/{attempt}")
            titles = tuple(title for title in story.titles if title not in self._titles)
            if titles[:1] == story.titles[:1]:
                break
        self._titles.update(titles)
        return replace(story, titles=titles or story.titles)

    def _draft(self, frame: Frame, before: Story | None, seed: str) -> Story:
        rng = random.Random(seed)
        day = _instalment_day(rng, before, frame.months) if before else _some_day(rng, frame.months)
        bindings = Bindings(rng, frame.slots, day, before.values if before else None)
        templates = _title_order(rng, frame, before)
        titles = tuple(bindings.fill(template) for template in templates)
        return Story(
            key=f"s{self._told:04d}",
            frame=frame.name,
            domain=frame.domain,
            on_topic=frame.on_topic,
            titles=titles,
            lines=_lines(rng, frame, bindings),
            happened_at=day,
            lead_city=bindings.value(_place(frame)),
            author=bindings.value("person9"),
            title_template=templates[0],
            values=bindings.kept_of(templates[:1], without=frame.series),
        )


def _title_order(rng: random.Random, frame: Frame, before: Story | None) -> list[str]:
    """The frame's titles; an instalment begins with the one its forerunner had."""
    order = rng.sample(frame.titles, len(frame.titles))
    if before is not None:
        return sorted(order, key=lambda template: template != before.title_template)
    # A title that shows the instalment first, so that the next one is not called the same.
    linked = {slot for name in frame.series for slot in linked_slots(name)}
    return sorted(order, key=lambda title: not any(f"{{{slot}}}" in title for slot in linked))


def _lines(rng: random.Random, frame: Frame, bindings: Bindings) -> tuple[str, ...]:
    """The story's paragraphs: the frame's own in their order, some of the domain's between."""
    own = [
        line.removeprefix("?")
        for line in frame.lines
        if not line.startswith("?") or rng.random() < _OPTIONAL_SHARE
    ]
    count = min(rng.choice(_POOL_COUNTS), len(frame.pool))
    for line in rng.sample(frame.pool, count):
        own.insert(rng.randint(len(own) // 2 + 1, len(own) - 1), line)
    background = load_background()["topic" if frame.on_topic else frame.domain]
    for line in rng.sample(background, min(rng.choice(_BACKGROUND_COUNTS), len(background))):
        own.insert(len(own) - 1, line)
    lines = tuple(bindings.fill(line) for line in own)
    if sum(map(len, lines)) >= MIN_CHARACTERS:
        return lines
    more = (bindings.fill(rng.choice(frame.pool)),)
    return (*lines, *more)


def _place(frame: Frame) -> str:
    """The slot of the city a story is filed from."""
    if not frame.on_topic:
        return "town"
    overseas = ("{abroad}", "{country}", "{assoc}", "{school}")
    return "abroad" if any(slot in frame.lines[0] for slot in overseas) else "home"


def _frame_named(name: str) -> Frame:
    return next(frame for frame in load_frames() if frame.name == name)


def _some_day(rng: random.Random, months: Sequence[int]) -> datetime:
    """A day of the demo web's time, in one of *months* where any are given."""
    day = rng.choice([day for day in _DAYS if day.month in months] if months else _DAYS)
    return day + timedelta(minutes=rng.randint(7 * 60, 22 * 60))


def _instalment_day(rng: random.Random, before: Story, months: Sequence[int]) -> datetime:
    """The same time of another year for what has its season, else some weeks off."""
    if months:
        return _some_day(rng, months)
    step = timedelta(days=rng.randint(12, 200), minutes=rng.randint(0, 300))
    day = before.happened_at + step
    return day if day <= LAST_DAY else before.happened_at - step
