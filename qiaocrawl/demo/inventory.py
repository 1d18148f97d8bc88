"""The demo web's inventories: names, story frames, sites and page furniture, read once."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

Values = str | tuple[str, ...]
"""What a slot of a frame may hold: one text, "low-high" for a number, or texts to choose from."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One kind of event: several titles, and text lines of which those with "?" may be left out.

    ``series`` names the slots that tell its instalments apart; frames without it are one-offs.
    """

    name: str
    domain: str
    on_topic: bool
    channel: str
    titles: tuple[str, ...]
    lines: tuple[str, ...]
    pool: tuple[str, ...]
    slots: Mapping[str, Values]
    series: tuple[str, ...]
    months: tuple[int, ...]
    """When it can happen; empty: all the year."""


@dataclass(frozen=True, slots=True)
class Channel:
    """One section of a site. ``articles`` counts stories, ``reprint_share`` lies in [0, 1]."""

    slug: str
    name: str
    domains: tuple[str, ...]
    articles: int
    reprint_share: float
    number: int


@dataclass(frozen=True, slots=True)
class Site:
    """One site as ``data/sites.toml`` describes it; the file's head explains the fields."""

    host: str
    name: str
    short: str
    role: str
    tier: int
    region: str
    kind: str
    theme: str
    charset: str
    header: str
    meta: str
    title: str
    article: str
    list: str
    list_more: str
    per_page: int
    not_found: str
    dateline: str
    features: tuple[str, ...]
    robots: str
    channels: tuple[Channel, ...]
    script: str = "hans"

    def url(self, path: str) -> str:
        """The absolute URL of *path* on this site."""
        return f"http://{self.host}{path}"


_FRAME_FILES = (
    "topic_community",
    "topic_school",
    "topic_hometown",
    "topic_business",
    "topic_consular",
    "other_near",
    "other_sport",
    "other_finance",
    "other_fun",
    "other_tech",
    "other_life",
)


def read_data(name: str) -> dict[str, Any]:
    """The parsed ``data/NAME.toml``."""
    file = resources.files("qiaocrawl.demo") / "data" / f"{name}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def load_names() -> dict[str, Any]:
    """People's names, countries, home towns and lists of invented names."""
    names = read_data("names")
    return {**names, "surnames": names["surnames"].split(), "given": names["given"].split()}


@lru_cache(maxsize=1)
def load_background() -> dict[str, list[str]]:
    """Longer paragraphs that stories carry, by domain; those of the topic under "topic"."""
    return read_data("background")


@lru_cache(maxsize=1)
def load_furniture() -> dict[str, Any]:
    """The texts around articles, and the words that change in reprinted titles."""
    return read_data("furniture")


@lru_cache(maxsize=1)
def load_frames() -> tuple[Frame, ...]:
    """Every event frame, in file order."""
    return tuple(frame for name in _FRAME_FILES for frame in _frames_of(read_data(name)))


@lru_cache(maxsize=1)
def load_sites() -> tuple[Site, ...]:
    """Every site, authoritative ones first as in the file."""
    return tuple(_site_of(row) for row in read_data("sites")["site"])


def _frames_of(data: dict[str, Any]) -> list[Frame]:
    return [
        Frame(
            name=row["id"],
            domain=data["domain"],
            on_topic=data["on_topic"],
            channel=row["channel"],
            titles=tuple(row["titles"]),
            lines=tuple(row["text"].strip().splitlines()),
            pool=tuple(data["pool"].strip().splitlines()),
            slots=_slots_of(data.get("vars", {}) | row.get("vars", {})),
            series=tuple(row.get("series", ())),
            months=tuple(row.get("months", ())),
        )
        for row in data["frame"]
    ]


def _slots_of(table: dict[str, Any]) -> dict[str, Values]:
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in table.items()
    }


def _site_of(row: dict[str, Any]) -> Site:
    channels = tuple(
        Channel(slug, name, tuple(domains), articles, share, 100 + 7 * position)
        for position, (slug, name, domains, articles, share) in enumerate(row["channels"], start=1)
    )
    return Site(**{**row, "features": tuple(row["features"]), "channels": channels})
