"""A cloud of words as SVG: bigger is in more texts, colours tell what has changed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qiaocrawl.language import CHINESE, _, using_language
from qiaocrawl.text.visible import markup_text

if TYPE_CHECKING:
    from datetime import datetime

    from numpy.typing import NDArray

    from qiaocrawl.news.trends.trend import Trend
    from qiaocrawl.news.word_groups import CloudWord, WordTrend

# --- What all our pictures share: the frame, letters that fit, text that cannot break the file ----

FONT = "Noto Sans CJK SC, Microsoft YaHei, PingFang SC, sans-serif"
_NARROW = 0.58


def document(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    """An SVG file of this size in pixels, with *title* at its top left and *parts* in it."""
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}" font-family="{FONT}">',
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
            f'<text x="14" y="26" font-size="16">{markup_text(title)}</text>',
            *parts,
            "</svg>",
            "",
        ]
    )


def width_of(content: str) -> float:
    """How wide *content* is, in letters of Chinese."""
    return sum(1.0 if ord(letter) > 0x2E80 else _NARROW for letter in content)


def shorten(content: str, letters: float) -> str:
    """*content*, or as much of it as fits with "…" behind it."""
    if width_of(content) <= letters:
        return content
    while content and width_of(content) > letters - 1.0:
        content = content[:-1]
    return f"{content.rstrip()}…"


# --- A cloud of words as SVG: bigger is in more texts, colours tell what has changed --------------

COLOURS: Mapping[WordTrend, str] = {
    "new": "#b3261e",
    "up": "#c2570c",
    "steady": "#31516f",
    "down": "#7b8794",
}
_WIDTH, _HEIGHT, _HEAD, _FOOT = 900, 520, 40, 34
_SMALLEST, _LARGEST = 13.0, 54.0
# Of the canvas, so much is words; the spiral leaves the rest between them.
_FILLED = 0.5
_LINE, _MARGIN = 1.12, 4.0
_TURNS, _STEPS = 60.0, 6_000
_SHRINKING = 0.85


class Placed(NamedTuple):
    """A word with the middle of its line and its size in pixels."""

    word: CloudWord
    x: float
    y: float
    size: float


def place(words: Sequence[CloudWord]) -> list[Placed]:
    """Where each word stands: the first in the middle, others along a spiral, none over another.

    What finds no room even when small is left out. The same words give the same places.
    """
    turns = np.linspace(0.0, 1.0, _STEPS)
    angles = turns * _TURNS * math.pi
    middle = _HEAD + (_HEIGHT - _HEAD - _FOOT) / 2
    path = np.stack(
        [
            _WIDTH / 2 + turns * _WIDTH / 2 * np.cos(angles),
            middle + turns * (_HEIGHT - _HEAD - _FOOT) / 2 * np.sin(angles),
        ],
        axis=1,
    )
    boxes = np.zeros((0, 4))
    placed: list[Placed] = []
    for word, wanted in zip(words, _sizes(words), strict=True):
        size = wanted
        while size >= _SMALLEST * _SHRINKING:
            spot = _free(path, boxes, width_of(word.text) * size + _MARGIN, _LINE * size)
            if spot is not None:
                placed.append(Placed(word, *spot[0], size))
                boxes = np.vstack([boxes, spot[1]])
                break
            size *= _SHRINKING
    return placed


def cloud_svg(
    words: Sequence[CloudWord],
    title: str,
    legend: Mapping[WordTrend, str],
    link: Callable[[CloudWord], str] | None = None,
) -> str:
    """The picture.

    Args:
        legend: what the colours are called; those that no word has are left out.
        link: the address that a word leads to.
    """
    parts = [*_legend(words, legend), *(_word_markup(own, link) for own in place(words))]
    return document(_WIDTH, _HEIGHT, title, parts)


def _sizes(words: Sequence[CloudWord]) -> list[float]:
    """Sizes by the root of the texts, so that they fill their share of the canvas."""
    if not words:
        return []
    roots = np.sqrt([word.documents for word in words])
    widths = np.array([width_of(word.text) for word in words])
    area = _FILLED * _WIDTH * (_HEIGHT - _HEAD - _FOOT)
    scale = math.sqrt(area / float((widths * _LINE * roots**2).sum()))
    return [float(size) for size in np.clip(roots * scale, _SMALLEST, _LARGEST)]


def _free(
    path: NDArray[np.float64], boxes: NDArray[np.float64], width: float, height: float
) -> tuple[tuple[float, float], NDArray[np.float64]] | None:
    """The first spot of *path* where a box of this size overlaps none, and the box."""
    x, y = path.T
    own = np.stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2], axis=1)
    free = (own[:, 0] > 0) & (own[:, 2] < _WIDTH)
    free &= (own[:, 1] > _HEAD) & (own[:, 3] < _HEIGHT - _FOOT)
    apart = (
        (own[:, None, 2] <= boxes[:, 0])
        | (own[:, None, 0] >= boxes[:, 2])
        | (own[:, None, 3] <= boxes[:, 1])
        | (own[:, None, 1] >= boxes[:, 3])
    )
    free &= apart.all(axis=1)
    if not free.any():
        return None
    at = int(free.argmax())
    return (float(x[at]), float(y[at])), own[at]


def _legend(words: Iterable[CloudWord], legend: Mapping[WordTrend, str]) -> Iterator[str]:
    trends = {word.trend for word in words}
    x = 14.0
    for trend, name in legend.items():
        if trend in trends:
            yield f'<circle cx="{x + 5}" cy="{_HEIGHT - 15}" r="5" fill="{COLOURS[trend]}"/>'
            yield f'<text x="{x + 15}" y="{_HEIGHT - 10}" font-size="13">{markup_text(name)}</text>'
            x += 15 + 13 * width_of(name) + 22


def _word_markup(own: Placed, link: Callable[[CloudWord], str] | None) -> str:
    word = own.word
    shown = (
        f'<text x="{own.x:.1f}" y="{own.y + own.size * 0.36:.1f}" font-size="{own.size:.1f}"'
        f' text-anchor="middle" fill="{COLOURS[word.trend]}">{markup_text(word.text)}'
        f"<title>{markup_text(word.text)} ×{word.documents}</title></text>"
    )
    return shown if link is None else f'<a href="{markup_text(link(word))}">{shown}</a>'


# --- Counts over time as SVG: columns, what is usual as a line, bursts, the forecast's band ------

_TREND_WIDTH, _TREND_HEIGHT, _LEFT, _RIGHT, _TOP, _TREND_FOOT = 900, 320, 46, 16, 46, 56
_COLUMN, _BURST, _USUAL, _BAND, _INK = "#9db7d0", "#b3261e", "#31516f", "#f0dcc9", "#5b6875"
_MOST_LABELS = 10
_MARKS = 4


def trend_svg(trend: Trend, title: str, language: str = CHINESE) -> str:
    """The picture; a column of a step that is not over is lighter."""
    with using_language(language):
        return document(_TREND_WIDTH, _TREND_HEIGHT, title, _parts(trend))


def _parts(trend: Trend) -> Iterator[str]:
    ahead = [
        step for step in trend.forecast if not trend.steps or step.start > trend.steps[-1].start
    ]
    starts = [*(step.start for step in trend.steps), *(step.start for step in ahead)]
    tops = [max(step.count, step.expected or 0.0) for step in trend.steps]
    highest = max([*tops, *(float(step.high) for step in ahead), 1.0])
    # So that the marks of the axis are whole numbers: articles are.
    most = math.ceil(highest / _MARKS) * _MARKS
    width = (_TREND_WIDTH - _LEFT - _RIGHT) / max(len(starts), 1)
    yield from _axis(most)
    for at, step in enumerate(trend.steps):
        colour = _BURST if step.is_burst else _COLUMN
        tip = f"{_label(trend, step.start)} {step.holiday}: {step.count}"
        yield (
            f'<rect x="{_x(at, width) + 1:.1f}" y="{_y(step.count, most):.1f}"'
            f' width="{max(width - 2, 1):.1f}" height="{_bottom() - _y(step.count, most):.1f}"'
            f' fill="{colour}" opacity="{1 if step.is_whole else 0.5}">'
            f"<title>{markup_text(tip)}</title></rect>"
        )
    for at, coming in enumerate(ahead, len(trend.steps)):
        low, high = _y(coming.low, most), _y(coming.high, most)
        yield (
            f'<rect x="{_x(at, width):.1f}" y="{high:.1f}" width="{width:.1f}"'
            f' height="{max(low - high, 1):.1f}" fill="{_BAND}"/>'
        )
    usual = [*(step.expected for step in trend.steps), *(step.expected for step in ahead)]
    line = " ".join(
        f"{_x(at + 0.5, width):.1f},{_y(value, most):.1f}"
        for at, value in enumerate(usual)
        if value is not None
    )
    yield f'<polyline points="{line}" fill="none" stroke="{_USUAL}" stroke-width="1.6"/>'
    every = -(-len(starts) // _MOST_LABELS)
    for at, start in list(enumerate(starts))[:: max(every, 1)]:
        x = _x(at + 0.5, width)
        yield _text_at(x, _bottom() + 16, _label(trend, start), ' text-anchor="middle"')
    yield from _trend_legend(trend, bool(ahead))


def _axis(most: float) -> Iterator[str]:
    for mark in range(_MARKS + 1):
        value = most * mark / _MARKS
        y = _y(value, most)
        yield f'<path d="M{_LEFT} {y:.1f} H{_TREND_WIDTH - _RIGHT}" stroke="#eef1f4"/>'
        yield _text_at(_LEFT - 6, y + 4, f"{value:.0f}", ' text-anchor="end"')


def _trend_legend(trend: Trend, has_forecast: bool) -> Iterator[str]:
    entries = [
        (_COLUMN, _("articles"), True),
        (_BURST, _("burst"), bool(trend.bursts)),
        (_USUAL, _("usual"), trend.base_days > 0),
        (_BAND, _("forecast, nine in ten"), has_forecast),
    ]
    x = float(_LEFT)
    for colour, name, is_there in entries:
        if is_there:
            yield f'<rect x="{x}" y="{_TREND_HEIGHT - 22}" width="12" height="12" fill="{colour}"/>'
            yield _text_at(x + 18, _TREND_HEIGHT - 12, name, "")
            x += 18 + 12 * width_of(name) + 20


def _label(trend: Trend, start: datetime) -> str:
    return f"{start:%m-%d %H:%M}" if trend.unit == "hour" else f"{start:%m-%d}"


def _x(at: float, width: float) -> float:
    return _LEFT + at * width


def _y(value: float, most: float) -> float:
    return _bottom() - value / most * (_bottom() - _TOP)


def _bottom() -> float:
    return _TREND_HEIGHT - _TREND_FOOT


def _text_at(x: float, y: float, content: str, more: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" fill="{_INK}"{more}>'
        f"{markup_text(content)}</text>"
    )
