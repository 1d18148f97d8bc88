"""A map of counts as SVG: a square a province, and beside them a square a country by continent.

Squares and no borders: each region is read as well as the largest, and nothing is said of where
one ends.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

from qiaocrawl.language import CHINESE, _, ngettext, using_language
from qiaocrawl.news.names.places import CHINA, Region, RegionCounts
from qiaocrawl.news.pictures import charts as svg
from qiaocrawl.text.visible import markup_text

# From pale to dark; they stay apart on a printer without colours.
_SHADES = ("#dbe7f2", "#b1cce5", "#7ba9d1", "#437fb3", "#1f4e7e")
_FIRST_DARK = 3
_NONE, _INK, _PALE_INK, _NOTE_INK, _EDGE = "#f4f5f7", "#1c2733", "#8b95a1", "#5b6875", "#d3d9df"
_WIDTH, _LEFT, _TOP, _GAP = 900, 14, 68, 4
_TILE_WIDTH, _TILE_HEIGHT = 56, 44
_WORLD_LEFT, _COUNTRY_WIDTH, _COUNTRIES_A_ROW, _MOST_ROWS = 518, 70, 5, 3
_HEAD, _BETWEEN = 6, 28
_LETTER, _NOTE_LETTER = 13, 12
_NAMES_IN_TIP, _UNPLACED_NAMED = 8, 6
_FOOT, _LEGEND_WIDTH = 76, 64


class _Layout(NamedTuple):
    """The shipped one: rows of provinces from the north, and the countries of each continent."""

    provinces: tuple[tuple[str, ...], ...]
    continents: Mapping[str, frozenset[str]]


def place_map_svg(counts: RegionCounts, title: str, language: str = CHINESE) -> str:
    """The picture; a province has its square always, a country if an article names it."""
    with using_language(language):
        bounds = _bounds(max((own.articles for own in _shade_regions(counts)), default=0))
        home, home_bottom = _home(counts, bounds)
        world, world_bottom = _world(counts, bounds)
        bottom = max(home_bottom, world_bottom)
        parts = [*home, *world, *_legend(bounds, bottom + 20), _draw_unplaced(counts, bottom + 58)]
        return svg.document(_WIDTH, bottom + _FOOT, title, parts)


def _shade_regions(counts: RegionCounts) -> list[Region]:
    """What has a square: China has its provinces."""
    return [*counts.provinces, *(own for own in counts.countries if own.name != CHINA)]


def _home(counts: RegionCounts, bounds: tuple[int, ...]) -> tuple[list[str], int]:
    """China by province, and where that ends."""
    rows = _layout().provinces
    by_name = {own.name: own for own in counts.provinces}
    parts = [_text_at(_LEFT, _TOP - _HEAD - 4, _home_text(counts), _NOTE_INK)]
    for row, names in enumerate(rows):
        for column, name in enumerate(names):
            if name:
                x = _LEFT + column * (_TILE_WIDTH + _GAP)
                y = _TOP + row * (_TILE_HEIGHT + _GAP)
                own = by_name.get(name) or Region(name, 0, ())
                parts.append(_tile((x, y), _TILE_WIDTH, own, bounds))
    return parts, _TOP + len(rows) * (_TILE_HEIGHT + _GAP)


def _home_text(counts: RegionCounts) -> str:
    total = next((own.articles for own in counts.countries if own.name == CHINA), 0)
    return _(
        "China: {total} articles, of these {without} without a province",
        total=total,
        without=counts.home_only,
    )


def _world(counts: RegionCounts, bounds: tuple[int, ...]) -> tuple[list[str], int]:
    """The other countries by continent, and where they end."""
    parts: list[str] = []
    top = _TOP
    for continent, countries in _layout().continents.items():
        regions = [own for own in counts.countries if own.name in countries]
        if not regions:
            continue
        shown = regions[: _COUNTRIES_A_ROW * _MOST_ROWS]
        head = f"{continent} · {ngettext('{count} country', '{count} countries', len(regions))}"
        if more := len(regions) - len(shown):
            head += f" ({_('{count} not shown', count=more)})"
        parts.append(_text_at(_WORLD_LEFT, top - _HEAD - 4, head, _NOTE_INK))
        for at, own in enumerate(shown):
            row, column = divmod(at, _COUNTRIES_A_ROW)
            x = _WORLD_LEFT + column * (_COUNTRY_WIDTH + _GAP)
            parts.append(_tile((x, top + row * (_TILE_HEIGHT + _GAP)), _COUNTRY_WIDTH, own, bounds))
        top += -(-len(shown) // _COUNTRIES_A_ROW) * (_TILE_HEIGHT + _GAP) + _BETWEEN
    if not parts:
        parts.append(_text_at(_WORLD_LEFT, _TOP + 16, _("no other country is named"), _NOTE_INK))
    return parts, top - _BETWEEN


def _tile(at: tuple[float, float], width: int, region: Region, bounds: tuple[int, ...]) -> str:
    """A square with name and count; its places as a tool tip."""
    x, y = at
    step = _step(region.articles, bounds)
    fill = _NONE if step is None else _SHADES[step]
    ink = _PALE_INK if step is None else _INK if step < _FIRST_DARK else "#fff"
    middle = x + width / 2
    name = svg.shorten(region.name, (width - 4) / _LETTER)
    count = _centred_text(middle, y + 35, str(region.articles), ink) if region.articles else ""
    return (
        f"<g><title>{markup_text(_tip(region))}</title>"
        f'<rect x="{x}" y="{y}" width="{width}" height="{_TILE_HEIGHT}" rx="4" fill="{fill}"'
        f' stroke="{_EDGE}"/>'
        f"{_centred_text(middle, y + (18 if count else 27), name, ink)}{count}</g>"
    )


def _tip(region: Region) -> str:
    places = [f"{name} {articles}" for name, articles in region.places[:_NAMES_IN_TIP]]
    counted = ngettext("{count} article", "{count} articles", region.articles)
    line = f"{region.name}{_(': ')}{counted}"
    return f"{line}\n{_(', ').join(places)}" if places else line


def _legend(bounds: tuple[int, ...], y: int) -> Iterator[str]:
    yield _text_at(_LEFT, y + 11, _("articles that name a place there"), _NOTE_INK)
    x = _LEFT + _NOTE_LETTER * svg.width_of(_("articles that name a place there")) + 16
    low = 0
    for bound, fill in zip((0, *bounds), (_NONE, *_SHADES), strict=False):
        label = str(bound) if bound == low else f"{low}–{bound}"
        low = bound + 1
        yield (
            f'<rect x="{x:.0f}" y="{y}" width="16" height="14" rx="2" fill="{fill}"'
            f' stroke="{_EDGE}"/>'
        )
        yield _text_at(x + 21, y + 12, label, _NOTE_INK)
        x += _LEGEND_WIDTH


def _draw_unplaced(counts: RegionCounts, y: int) -> str:
    """What no list knows, so that nobody takes the map for all there is."""
    if not counts.unplaced:
        return _text_at(_LEFT, y, _("All places named were found on the map."), _NOTE_INK)
    named = [f"{name} {articles}" for name, articles in counts.unplaced[:_UNPLACED_NAMED]]
    line = _(
        "not placed: {names} names of {articles} articles, most often {examples}",
        names=len(counts.unplaced),
        articles=counts.unplaced_articles,
        examples=_(", ").join(named),
    )
    return _text_at(_LEFT, y, svg.shorten(line, (_WIDTH - 2 * _LEFT) / _NOTE_LETTER), _NOTE_INK)


def _bounds(most: int) -> tuple[int, ...]:
    """The largest count of each shade: steps of like proportion, for counts are uneven."""
    steps = len(_SHADES)
    if most <= steps:
        return tuple(range(1, most + 1))
    bounds: list[int] = []
    for step in range(1, steps):
        bounds.append(max(math.floor(most ** (step / steps)), bounds[-1] + 1 if bounds else 1))
    return (*bounds, most)


def _step(articles: int, bounds: tuple[int, ...]) -> int | None:
    """The shade of a count; None of nothing."""
    if not articles:
        return None
    return next(at for at, bound in enumerate(bounds) if articles <= bound)


def _centred_text(x: float, y: float, content: str, ink: str) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{_LETTER}" fill="{ink}" text-anchor="middle">'
        f"{markup_text(content)}</text>"
    )


def _text_at(x: float, y: float, content: str, ink: str) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{_NOTE_LETTER}" fill="{ink}">'
        f"{markup_text(content)}</text>"
    )


@cache
def _layout() -> _Layout:
    file = resources.files(__package__).joinpath("data", "tiles.toml")
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    return _Layout(
        tuple(tuple(row) for row in table["provinces"]),
        {name: frozenset(own.split()) for name, own in table["continents"].items()},
    )
