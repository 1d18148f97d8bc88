"""A cloud of words as SVG: bigger is in more texts, colours tell what has changed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qiaocrawl.analysis import svg

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.analysis.words.cloud import CloudWord, Trend

COLOURS: Mapping[Trend, str] = {
    "new": "#b3261e", "up": "#c2570c", "steady": "#31516f", "down": "#7b8794",
}  # fmt: skip
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
        [_WIDTH / 2 + turns * _WIDTH / 2 * np.cos(angles),
         middle + turns * (_HEIGHT - _HEAD - _FOOT) / 2 * np.sin(angles)], axis=1
    )  # fmt: skip
    boxes = np.zeros((0, 4))
    placed: list[Placed] = []
    for word, wanted in zip(words, _sizes(words), strict=True):
        size = wanted
        while size >= _SMALLEST * _SHRINKING:
            spot = _free(path, boxes, svg.width_of(word.text) * size + _MARGIN, _LINE * size)
            if spot is not None:
                placed.append(Placed(word, *spot[0], size))
                boxes = np.vstack([boxes, spot[1]])
                break
            size *= _SHRINKING
    return placed


def cloud_svg(
    words: Sequence[CloudWord],
    title: str,
    legend: Mapping[Trend, str],
    link: Callable[[CloudWord], str] | None = None,
) -> str:
    """The picture.

    Args:
        legend: what the colours are called; those that no word has are left out.
        link: the address that a word leads to.
    """
    parts = [*_legend(words, legend), *(_shown(own, link) for own in place(words))]
    return svg.document(_WIDTH, _HEIGHT, title, parts)


def _sizes(words: Sequence[CloudWord]) -> list[float]:
    """Sizes by the root of the texts, so that they fill their share of the canvas."""
    if not words:
        return []
    roots = np.sqrt([word.documents for word in words])
    widths = np.array([svg.width_of(word.text) for word in words])
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
        (own[:, None, 2] <= boxes[:, 0]) | (own[:, None, 0] >= boxes[:, 2])
        | (own[:, None, 3] <= boxes[:, 1]) | (own[:, None, 1] >= boxes[:, 3])
    )  # fmt: skip
    free &= apart.all(axis=1)
    if not free.any():
        return None
    at = int(free.argmax())
    return (float(x[at]), float(y[at])), own[at]


def _legend(words: Iterable[CloudWord], legend: Mapping[Trend, str]) -> Iterator[str]:
    trends = {word.trend for word in words}
    x = 14.0
    for trend, name in legend.items():
        if trend in trends:
            yield f'<circle cx="{x + 5}" cy="{_HEIGHT - 15}" r="5" fill="{COLOURS[trend]}"/>'
            yield f'<text x="{x + 15}" y="{_HEIGHT - 10}" font-size="13">{svg.text(name)}</text>'
            x += 15 + 13 * svg.width_of(name) + 22


def _shown(own: Placed, link: Callable[[CloudWord], str] | None) -> str:
    word = own.word
    text = (
        f'<text x="{own.x:.1f}" y="{own.y + own.size * 0.36:.1f}" font-size="{own.size:.1f}"'
        f' text-anchor="middle" fill="{COLOURS[word.trend]}">{svg.text(word.text)}'
        f"<title>{svg.text(word.text)} ×{word.documents}</title></text>"
    )
    return text if link is None else f"<a href={svg.attribute(link(word))}>{text}</a>"
